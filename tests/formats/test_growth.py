"""Readers take time linear in any input, and only FormatError comes out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.growth import HTML, LATEX, MARKDOWN, N_SHAPES, NUMBERS, TEXT, excess, inputs

from parsemark.formats import read_document, read_tables
from parsemark.formats.latex import latex_to_text, read_definitions, read_latex_table
from parsemark.formats.latex.formula import read_formula
from parsemark.formats.notation import fold_notation

READERS: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "any table": (read_tables, TEXT + MARKDOWN[:8] + HTML[:8] + LATEX[:4]),
    "html": (lambda t: read_tables(t, "html"), HTML),
    "html cell": (lambda t: read_tables(f"<table><tr><td>{t}</td></tr></table>", "html"), HTML),
    "markdown cell": (
        lambda t: read_tables(f"| a | b |\n|---|---|\n| {t} | b |".replace("\n\n", "\n"), "markdown"),
        MARKDOWN + HTML[-8:],
    ),
    "drawn cell": (lambda t: read_tables(f"+---+\n| {t} |\n+---+", "grid"), TEXT),
    "csv": (lambda t: read_tables(t, "csv"), TEXT),
    "plain": (lambda t: read_tables(t, "plain"), TEXT),
    "latex cell": (
        lambda t: read_latex_table(rf"\begin{{tabular}}{{ll}} a & {t} \\ b & c \end{{tabular}}"),
        LATEX,
    ),
    "latex columns": (
        lambda t: read_latex_table(rf"\begin{{tabular}}{{{t}}} a & b \end{{tabular}}"),
        LATEX[:12],
    ),
    "latex text": (latex_to_text, LATEX),
    "latex definitions": (read_definitions, LATEX),
    "folded notation": (fold_notation.__wrapped__, LATEX + NUMBERS + MARKDOWN[2:12] + HTML[-8:]),
    "formula": (read_formula, LATEX),
    "markdown document": (lambda t: read_document(t, "markdown"), MARKDOWN + TEXT),
    "html document": (lambda t: read_document(t, "html"), HTML),
    "latex document": (lambda t: read_document(t, "latex"), LATEX),
    "text document": (lambda t: read_document(t, "text"), TEXT),
}


@pytest.mark.parametrize("name", READERS)
def test_no_input_costs_more_than_its_size(name: str) -> None:
    read, pieces = READERS[name]
    found: list[str] = []
    for number, (shape, make) in enumerate(inputs(pieces)):
        if number % N_SHAPES != number // N_SHAPES % N_SHAPES:
            continue  # one shape of each piece; all of them are measured by bench/growth.py
        if growth := excess(read, make):
            found.append(f"{shape}: {growth.seconds} s, exponent {growth.exponent:.2f}")
    assert not found


def test_a_form_to_be_signed_is_no_table() -> None:
    assert read_tables("Sign:\n" + "_" * 60 + " (date)") == []


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("latex cell", lambda n: "\\\\[" + " " * n),
        ("any table", lambda n: "```" + " " * n + "x"),
        ("html", lambda n: "<table><tr><td colspan=" + " " * n + "><td colspan=" + " " * n + ">"),
        ("folded notation", lambda n: " __a" * (n // 4)),
        ("folded notation", lambda n: "1" + ",111" * (n // 4)),
        ("folded notation", lambda n: "\\(" * (n // 2)),
        ("folded notation", lambda n: "\\cite{" * (n // 6)),
        ("folded notation", lambda n: "\\begin{}" * (n // 8)),
        ("formula", lambda n: "x" + " " * n + "y"),
        ("formula", lambda n: "a\\over " * (n // 7)),
        ("markdown cell", lambda n: "\\*" * (n // 2)),
        ("folded notation", lambda n: "&#" + "1" * n + ";"),
        ("latex columns", lambda n: "*{" + "9" * (n - 5) + "}{c}"),
    ],
)
def test_what_was_once_slow_or_fatal(name: str, make: Callable[[int], str]) -> None:
    assert excess(READERS[name][0], make) is None
