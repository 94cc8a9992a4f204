"""Outlines, links and the values of forms as facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name, OutlineItem
from tests.corpora.tagging import HEIGHT, Text, write_tagged

from parsemark.corpora import load_corpus
from parsemark.corpora.tagged.outline_links_forms import _line_of, embedded_facts
from parsemark.model import Box, Fact, Page, Prediction
from parsemark.protocols import get_protocol
from parsemark.protocols.answers.derive import question

TEXTS: list[Text] = [
    (-1, 150, 12, "7"),
    (-1, 20, 30, "1 Introduction"), (-1, 20, 60, "See our site for more."), (-1, 20, 90, "1.1 Aims and"),
    (-1, 20, 104, "scope of it all"), (-1, 20, 140, "Much is said here of methods."),
]  # fmt: skip
TITLES = (("Introduction", 0), ("Aims and scope of it all", 1), ("Methods", 1), ("Nowhere", 0))


def document(path: Path) -> Path:
    def add(pdf: pikepdf.Pdf, root: Any) -> None:
        del pdf.Root.StructTreeRoot
        with pdf.open_outline() as outline:
            items = [OutlineItem(title, 0) for title, _ in TITLES]
            outline.root.extend([items[0], items[3]])
            items[0].children.extend(items[1:3])
        action = Dictionary(S=Name.URI, URI="https://example.org/more")
        link = Dictionary(
            Type=Name.Annot, Subtype=Name.Link, Rect=[56, HEIGHT - 62, 74, HEIGHT - 50], A=action
        )
        field = Dictionary(
            Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, T="family", V="Okonkwo 7", Rect=[20, 20, 90, 40]
        )
        hidden = [pdf.make_indirect(Dictionary({**field, "/T": f"hidden {f}", "/F": f})) for f in (2, 32, 6)]
        pdf.pages[0].Annots = Array([pdf.make_indirect(link), pdf.make_indirect(field), *hidden, 7])
        pdf.Root.AcroForm = Dictionary(Fields=Array([pdf.pages[0].Annots[1], *hidden]))

    return write_tagged(path, [TEXTS, []], [], change=add)


def said(facts: tuple[Fact, ...]) -> list[tuple[str, dict[str, Any], str]]:
    return [(fact.kind, dict(fact.arguments), fact.derivation) for fact in facts]


def test_what_a_document_embeds(tmp_path: Path) -> None:
    (page,) = embedded_facts(document(tmp_path / "a.pdf")).items()
    assert page[0] == 1
    assert said(page[1]) == [
        ("heading", {"text": "1 Introduction"}, "outline"),
        ("heading", {"text": "1.1 Aims and scope of it all"}, "outline"),
        (
            "level",
            {"text": "1 Introduction", "other": "1.1 Aims and scope of it all", "answer": "above"},
            "outline",
        ),
        ("link", {"text": "site", "target": "https://example.org/more"}, "link annotation"),
        ("field", {"field": "family", "answer": "Okonkwo 7"}, "form field"),
    ], "a line that only holds the words of an entry is not its heading, and an entry may have none"
    assert [question(fact) for fact in page[1]][3:] == [
        "Where does “site” lead?",
        "What is filled in at “family”?",
    ]


def test_a_corpus_of_them(tmp_path: Path) -> None:
    document(tmp_path / "a.pdf")
    (sample,) = load_corpus(f"embedded:{tmp_path}").samples()
    assert sample.truth is not None and sample.truth.only_facts and len(sample.truth.facts) == 5


@pytest.mark.parametrize(
    ("line", "kind", "value"),
    [
        ("See our [site](https://example.org/more) for more.", "link", 1),
        ('See our <a href="https://example.org/more/">site</a>.', "link", 1),
        ("See our [site](https://example.org/less).", "link", 0),
        ("See our site https://example.org/more", "link", 0),
        ("Name: okonkwo 7", "field", 1),
        ("Name: okonkwo", "field", 0),
        ("# 1 Introduction", "heading", 1),
    ],
)
def test_they_are_asked(line: str, kind: str, value: float) -> None:
    facts = (
        Fact(
            "1",
            "link",
            "answers",
            {"text": "site", "target": "https://example.org/more"},
            derivation="link annotation",
        ),
        Fact("2", "field", "answers", {"field": "family", "answer": "Okonkwo 7"}, derivation="form field"),
        Fact("3", "heading", "answers", {"text": "1 Introduction"}, derivation="outline"),
    )
    page = Page("p", 10, 10, facts=facts, only_facts=True)
    rows = get_protocol("answers").score_page(page, Prediction("p", "parser", text=line), None).scores
    assert [row.value for row in rows if row.category == kind] == [value]


def test_a_running_head_is_no_heading() -> None:
    head, body = ("FINAL RESULTS", Box(0, 10, 90, 20)), ("Words of a page", Box(0, 50, 90, 60))
    title = ("1 Final results", Box(0, 30, 90, 40))
    assert _line_of("Final results", [head, body], (10, 60)) is None
    assert _line_of("Final results", [head, title, body], (10, 60)) == ("1 Final results", title[1])
    assert _line_of("Final results", [body, ("Final results", head[1])], (10, 60)) == (
        "Final results",
        head[1],
    )
