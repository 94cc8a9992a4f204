"""What is displayed: formulas of one and of several lines, and short programs."""

from __future__ import annotations

import random

_LONG_SHARE = 0.25


def display_formula(rng: random.Random) -> tuple[str, str]:
    """LaTeX of a formula, without delimiters, and a symbol of it."""
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
    chosen = rng.choice(lines if rng.random() < _LONG_SHARE else one_line)
    symbols = [symbol for symbol in (g, d, c, b, a) if symbol in chosen] or ["k"]
    return chosen, rng.choice(symbols)


def program(rng: random.Random) -> tuple[str, ...]:
    """Lines of a function."""
    name, data = (
        rng.choice(["fit", "update", "estimate", "run_step", "evaluate"]),
        rng.choice(["batch", "samples", "x", "rows"]),
    )
    value, size = rng.choice(["loss", "error", "score", "total"]), rng.choice([16, 32, 64, 100])
    step = rng.choice(["0.01", "1e-3", "0.1"])
    return (
        f"def {name}({data}, steps={size}):",
        f"    {value} = 0.0",
        "    for t in range(steps):",
        f"        y = model({data}[t])",
        f"        {value} += (y - target[t]) ** 2",
        f"        model.step(rate={step})",
        f"    return {value} / steps",
    )


def algorithm(rng: random.Random, units: str, method: str, quantity: str) -> tuple[str, ...]:
    """Lines of pseudocode with marks; `␣` stands for a step of indentation."""
    symbol = rng.choice(["\\theta", "w", "z", "\\mu"])
    head = f"Require: {units} ⟦math:x_1, \\dots, x_n⟧, tolerance ⟦math:\\varepsilon⟧"
    bodies = [
        [
            f"⟦math:{symbol}_0 \\leftarrow 0⟧",
            "repeat",
            f"␣for each of the {units} do",
            f"␣␣update ⟦math:{symbol}_i⟧ by {method}",
            "␣end for",
            f"until ⟦math:\\|{symbol}_t - {symbol}_{{t-1}}\\| < \\varepsilon⟧",
            f"return ⟦math:{symbol}_t⟧",
        ],
        [
            "⟦math:S \\leftarrow \\emptyset⟧",
            "for ⟦math:i = 1, \\dots, n⟧ do",
            f"␣compute {quantity} ⟦math:q_i⟧ of ⟦math:x_i⟧",
            "␣if ⟦math:q_i > \\varepsilon⟧ then",
            "␣␣⟦math:S \\leftarrow S \\cup \\{x_i\\}⟧",
            "␣end if",
            "end for",
            f"apply {method} to ⟦math:S⟧",
            "return ⟦math:S⟧",
        ],
        [
            f"sort the {units} by {quantity}",
            "⟦math:k \\leftarrow 1⟧",
            "while ⟦math:k < n⟧ do",
            f"␣fit ⟦math:{symbol}⟧ to ⟦math:x_1, \\dots, x_k⟧ with {method}",
            "␣if the error is below ⟦math:\\varepsilon⟧ then",
            f"␣␣return ⟦math:{symbol}⟧",
            "␣end if",
            "␣⟦math:k \\leftarrow 2k⟧",
            "end while",
        ],
    ]
    body = rng.choice(bodies)
    return (head, *(f"{number}: {line}" for number, line in enumerate(body, 1)))
