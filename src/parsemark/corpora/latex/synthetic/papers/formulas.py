"""Displayed formulas: sums, integrals, estimators, systems of equations over several lines."""

from __future__ import annotations

import random

_LONG_SHARE = 0.25


def display_formula(rng: random.Random) -> str:
    """LaTeX of a formula, without delimiters."""
    a, b, c = rng.sample(["x", "y", "u", "w", "h", "q", "z", "v", "s"], k=3)
    g, d = rng.sample(
        ["\\alpha", "\\beta", "\\theta", "\\lambda", "\\mu", "\\sigma", "\\phi", "\\gamma"], k=2
    )
    i, n = rng.choice(["i", "j", "k"]), rng.choice(["n", "N", "m", "K"])
    one_line = [
        f"{a}_{i} = {g}_0 + {g}_1 {b}_{i} + {g}_2 {c}_{i} + \\varepsilon_{i}",
        f"\\hat{{{g}}} = \\arg\\min_{{{g}}} \\frac{{1}}{{{n}}} \\sum_{{{i}=1}}^{{{n}}} \\left( {a}_{i} - f({b}_{i}; {g}) \\right)^2",
        f"\\mathcal{{L}}({g}) = \\sum_{{{i}=1}}^{{{n}}} \\log p({a}_{i} \\mid {b}_{i}, {g}) + {d} \\| {g} \\|_2^2",
        f"\\frac{{\\partial {a}}}{{\\partial t}} + {b} \\, \\nabla {a} = {g} \\nabla^2 {a}",
        f"{a}(t) = {a}_0 \\, e^{{-t/\\tau}} + {b} \\int_0^t {c}(s) \\, ds",
        f"P({a} > {b}) \\leq \\frac{{E[{a}]}}{{{b}}}",
        f"{a} = \\frac{{{b}_{{\\max}} - {b}_{{\\min}}}}{{{c}}} \\sqrt{{\\frac{{2 {g}}}{{{d}}}}}",
        f"{g}_{{t+1}} = {g}_t - \\eta \\, \\nabla_{{{g}}} \\mathcal{{L}}({g}_t)",
        f"\\rho_{{{a}{b}}} = \\frac{{\\sum_{{{i}}} ({a}_{i} - \\bar{{{a}}}) ({b}_{i} - \\bar{{{b}}})}}{{{n} \\, \\sigma_{{{a}}} \\sigma_{{{b}}}}}",
        "k = A \\exp \\left( -\\frac{E_a}{R T} \\right)",
        f"\\Delta {a} = {a}_{{\\mathrm{{post}}}} - {a}_{{\\mathrm{{pre}}}}",
    ]
    lines = [
        f"\\begin{{aligned}} {a}_{{{i}}} &= {b}_{{{i}}} + {g} {c}_{{{i}}}, \\\\ {b}_{{{i}+1}} &= {b}_{{{i}}} + {d} \\left( {a}_{{{i}}} - {c}_{{{i}}} \\right) \\end{{aligned}}",
        f"f({a}) = \\begin{{cases}} {a}^2 & \\text{{if }} {a} < {b}, \\\\ {c} & \\text{{otherwise}} \\end{{cases}}",
        f"\\begin{{aligned}} E[{a}] &= \\sum_{{{i}=1}}^{{{n}}} p_{i} {a}_{i} \\\\ &\\leq {g} + \\frac{{{d}}}{{{n}}} \\sum_{{{i}=1}}^{{{n}}} | {b}_{i} | \\end{{aligned}}",
    ]
    return rng.choice(lines if rng.random() < _LONG_SHARE else one_line)
