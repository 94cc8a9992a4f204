"""Real tagged PDFs against what was written down by hand from their pages (`make conformance DATA=...`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsemark.corpora.tagged.read import TaggedDocument, read_tagged

pytestmark = pytest.mark.conformance

# --- pr-138-example: two pages of rates, made with InDesign ------------------------------------------------

_APR, _CMP = "Annual percentage rate", "Comparison rate"
_PI, _PACKAGE = "Principal and Interest rates p.a.", "Principal and Interest Package rates p.a. **"
_IO, _IO_PACKAGE = "Interest Only rates p.a.", "Interest Only Package rates p.a. **"
_SECOND, _SEVENTH = "Principal and Interest Reference Rate", "Interest Only Reference Rate"
_HEADS = [
    [
        "Loan Type",
        _SECOND,
        _PI,
        _PI,
        _PACKAGE,
        _PACKAGE,
        _SEVENTH,
        _IO,
        _IO,
        _IO_PACKAGE,
        _IO_PACKAGE,
        "Offset#",
    ],
    ["Loan Type", _SECOND, _APR, _CMP, _APR, _CMP, _SEVENTH, _APR, _CMP, _APR, _CMP, "Offset#"],
]


def rates(name: str, first: str, four: str, second: str, more: str, offset: str) -> list[str]:
    """A row: rates are given without their percent signs."""
    shown = [[f"{rate}%" if rate != "–" else rate for rate in part.split()] for part in (four, more)]
    return [name, first, *shown[0], second, *shown[1], offset]


_NO = "– –"
INVESTMENT = [
    *_HEADS,
    ["Complete"] * 12,
    rates("Standard Variable Rate", "Investment Home Loan Standard Variable Rate", "5.95 6.09 5.45 5.84",
          "Investment Home Loan Standard Variable Interest Only Rate", "6.39 6.27 5.89 5.99", "Full"),
    rates("1 Year Fixed Rate", "Investment Home Loan 1 Year Fixed Rate", "4.29 5.93 4.14 5.71",
          "Investment Home Loan 1 Year Fixed Interest Only Rate", "4.54 5.95 4.39 5.73", "1.50% Partial"),
    rates("2 Year Fixed Rate", "Investment Home Loan 2 Year Fixed Rate", "4.04 5.73 3.89 5.55",
          "Investment Home Loan 2 Year Fixed Interest Only Rate", "4.34 5.78 4.19 5.59", "1.50% Partial"),
    rates("3 Year Fixed Rate", "Investment Home Loan 3 Year Fixed Rate", "4.14 5.59 3.99 5.44",
          "Investment Home Loan 3 Year Fixed Interest Only Rate", "4.34 5.65 4.19 5.48", "1.50% Partial"),
    rates("4 Year Fixed Rate", "Investment Home Loan 4 Year Fixed Rate", "4.54 5.59 4.39 5.47",
          "Investment Home Loan 4 Year Fixed Interest Only Rate", "5.04 5.77 4.89 5.62", "1.50% Partial"),
    rates("5 Year Fixed Rate", "Investment Home Loan 5 Year Fixed Rate", "4.54 5.49 4.39 5.40",
          "Investment Home Loan 5 Year Fixed Interest Only Rate", "5.14 5.75 4.99 5.62", "1.50% Partial"),
    ["Extra"] * 12,
    *(
        rates(name, "Investment Home Loan Extra Variable Rate*", f"{one} {_NO}",
              "Investment Home Loan Extra Variable Interest Only Rate*", f"{two} {_NO}", "–")
        for name, one, two in (
            ("Extra Home Loan (2 Year Introductory Rate)*", "4.14 4.73", "4.88 5.05"),
            ("Extra Home Loan (4 Year Introductory Rate)*", "4.14 4.62", "4.88 4.93"),
            ("Extra Home Loan (Loan to Valuation Ratio <=70%)", "4.09 4.10", "4.83 4.40"),
            ("Extra Home Loan (Loan to Valuation Ratio 70.01% – 80%)", "4.24 4.25", "4.98 4.55"),
            ("Extra Home Loan (Loan to Valuation Ratio 80.01% – 90%)", "4.24 4.25", "4.98 4.55"),
        )
    ),
    ["Viridian Line of Credit"] * 12,
    rates("Viridian Line of Credit", "Investment Residential Equity Rate", "6.53 – 6.03 –",
          "–", "– – – –", "–"),
]  # fmt: skip
OWNER = [
    *_HEADS,
    ["Complete"] * 12,
    rates("Standard Variable Rate", "Standard Variable Rate", "5.37 5.51 4.87 5.27",
          "Standard Variable Interest Only Rate", "5.92 5.73 5.42 5.46", "Full"),
    *(
        rates(f"{n} Year Fixed Rate", f"{n} Year Fixed Rate", one, f"{n} Year Fixed Interest Only Rate", two,
              "1.50% Partial")
        for n, one, two in (
            (1, "4.04 5.38 3.89 5.18", "4.69 5.45 4.54 5.23"),
            (2, "3.94 5.25 3.79 5.07", "4.44 5.34 4.29 5.15"),
            (3, "3.94 5.13 3.79 4.98", "4.49 5.27 4.34 5.11"),
            (4, "4.24 5.12 4.09 5.00", "4.79 5.31 4.64 5.16"),
            (5, "4.24 5.04 4.09 4.95", "5.04 5.37 4.89 5.24"),
        )
    ),
    ["Extra"] * 12,
    *(
        rates(name, "Extra Variable Rate*", f"{one} {_NO}",
              "Extra Variable Interest Only Rate*", f"{two} {_NO}", "–")
        for name, one, two in (
            ("Extra Home Loan (2 Year Introductory Rate)*", "3.84 4.39", "4.46 4.65"),
            ("Extra Home Loan (4 Year Introductory Rate)*", "3.84 4.29", "4.46 4.55"),
            ("Extra Home Loan (Loan to Valuation Ratio <=70%)", "3.79 3.80", "4.41 4.04"),
            ("Extra Home Loan (Loan to Valuation Ratio 70.01% – 80%)", "3.89 3.90", "4.51 4.14"),
            ("Extra Home Loan (Loan to Valuation Ratio 80.01% – 95%)", "3.89 3.90", "4.51 4.14"),
        )
    ),
    ["Viridian Line of Credit"] * 12,
    rates("Viridian Line of Credit", "Residential Equity Rate", "6.53 – 6.03 –", "–", "– – – –", "–"),
]  # fmt: skip
REFERENCES = [
    ["Loan Type", "Reference Rates"],
    ["3 Year Special Economiser/Rate Saver†",
     "Base Variable Rate* 4.44% p.a. (Comparison Rate 4.93% p.a.) "
     "Base Variable Interest Only Rate* 4.99% p.a. (Comparison Rate 5.15% p.a.)"],
    ["Economiser/Rate Saver†",
     "Base Variable Rate 4.91% p.a. (Comparison Rate 5.06% p.a.) "
     "Base Variable Interest Only Rate 5.46% p.a. (Comparison Rate 5.27% p.a.)"],
    ["No Fee†",
     "No Fee Variable Rate 4.67% p.a. (Comparison Rate 4.67% p.a.) "
     "No Fee Variable Interest Only Rate 5.22% p.a. (Comparison Rate 4.89% p.a.)"],
    ["12 Month Discounted Variable Rate†",
     "Standard Variable Rate* 4.67% p.a. (Comparison Rate 5.45% p.a.) "
     "Standard Variable Interest Only Rate* 5.22% p.a. (Comparison Rate 5.67% p.a.)"],
    ["Extra Variable Rate", "Extra Variable Rate 4.60% p.a."],
    ["Extra Variable Interest Only Rate", "Extra Variable Interest Only Rate 5.22% p.a."],
    ["Equity Unlock Loan for Seniors^", "Residential Equity Rate* 6.52% p.a. (Comparison Rate 6.59% p.a)"],
]  # fmt: skip

# --- chelsea_pdta: a report made with Acrobat from Word ----------------------------------------------------

_OPINIONS = ["Totalement en accord", "En accord", "En désaccord", "Totalement en désaccord", "Total"]
VOTES = {
    33: "157 60 16 14 247", 34: "167 59 13 7 246", 35: "42 116 74 22 254", 36: "181 69 9 3 262",
    37: "76 120 42 11 249", 39: "165 69 14 14 262", 40: "203 47 5 13 268", 41: "158 66 17 9 250",
    42: "96 66 28 10 200", 43: "135 53 9 4 201", 44: "107 51 22 16 196", 45: "78 54 30 35 197",
    46: "129 50 15 2 196", 47: "162 22 5 1 190", 48: "142 36 5 5 188", 49: "55 88 17 15 175",
    50: "85 35 14 6 140", 51: "73 30 10 11 124", 52: "10 7 26 67 110", 53: "53 11 3 1 68",
    54: "21 28 8 12 69", 55: "4 0 0 0 4",
}  # fmt: skip
"""By page; the table of page 38 is not in the tree."""


def read(folder: Path, name: str) -> TaggedDocument:
    found = read_tagged(folder / "tagged" / f"{name}.pdf")
    assert found is not None
    return found


def accepted(document: TaggedDocument) -> dict[int, list[list[list[str]]]]:
    """The tables by page, as texts on their grids."""
    found: dict[int, list[list[list[str]]]] = {}
    for table in document.tables:
        for part in table.parts:
            found.setdefault(part.page, []).append(part.table.text_rows())
    return found


def test_rates(reference_data: Path) -> None:
    document = read(reference_data, "pr-138-example")
    tables = accepted(document)
    assert tables[2][0] == INVESTMENT
    assert tables[1] == [OWNER, REFERENCES]
    assert [len(rows) for rows in tables[2]] == [17, 7]
    assert tables[2][1][4:] == [
        [
            "12 Month Discounted Variable Rate†",
            "Investment Home Loan Standard Variable Rate* 5.25% p.a. (Comparison Rate 5.94% p.a.) "
            "Investment Home Loan Standard Variable Interest Only Rate* 5.69% p.a. "
            "(Comparison Rate 6.21% p.a.)",
        ],
        ["Extra Variable Rate", "Investment Home Loan Extra Variable Rate 4.95% p.a."],
        [
            "Extra Variable Interest Only Rate",
            "Investment Home Loan Extra Variable Interest Only Rate 5.69% p.a.",
        ],
    ]
    assert not any(table.refused for table in document.tables)
    assert [part.table.header_rows for table in document.tables for part in table.parts] == [2, 0, 2, 0]


def test_votes(reference_data: Path) -> None:
    document = read(reference_data, "chelsea_pdta")
    tables = accepted(document)
    for page, votes in VOTES.items():
        assert tables.pop(page) == [[_OPINIONS, votes.split()]], page
    ((page, (rows,)),) = tables.items()
    assert page == 20
    assert [row[0] for row in rows] == [
        "Pistes cyclables mieux entretenues",
        "Plus de sentiers qui acceptent les chiens",
        "Carte du réseau",
        "Plus de sécurité des routes/accotement sécuritaires pour les cyclistes",
    ]
    assert rows[2][1] == (
        "Current location and identification of crosswalks are very unsafe. "
        "L'emplacement actuel et l'identification des passages pour piétons sont très dangereux."
    )


def test_what_is_refused_and_why(reference_data: Path) -> None:
    """Spans are missing in five tables of the report, and Excel tags cells in the order of their kinds."""
    refused = [t for t in read(reference_data, "chelsea_pdta").tables if t.refused]
    frames = [t.pages for t in refused if "only one row" in t.refused]
    without_spans = [
        t.pages for t in refused if "rows overlap" in t.refused or "columns overlap" in t.refused
    ]
    assert sorted(frames) == sorted(without_spans) == [(26,), (27,), (28,), (29,), (30,)]
    assert [t.refused for t in refused if not t.pages] == ["none of its cells has text"]
    assert len(refused) == 11
    (table,) = read(reference_data, "ca-warn-report").tables
    assert table.refused == "the cells of row 4 are in another order than their tags"


def test_word_and_latex(reference_data: Path) -> None:
    assert accepted(read(reference_data, "word365_structure")) == {
        1: [
            [
                ["En-tête 1", "En-tête 2", "En-tête 3"],
                ["Ligne 1", "Alouette", "Farfadet"],
                ["Linge 2", "Belette", "Bibitte"],
            ]
        ]
    }
    latex = read(reference_data, "stem-article-2col-se")
    assert accepted(latex) == {
        2: [[["Example", "Example"], ["Name", "Value"], ["This", "11"], ["That", "2"]]]
    }
    titles = [e.text for page in latex.pages.values() for e in page.elements if e.category == "title"]
    assert titles == [
        "A Two Column Example", "Abstract", "Contents", "1 Introduction", "2 Document structures",
        "2.1 Mathematics", "2.2 Lists", "2.3 Figures and Tables", "2.4 Theorems", "2.5 Verbatim",
        "3 Citations", "References",
    ]  # fmt: skip
