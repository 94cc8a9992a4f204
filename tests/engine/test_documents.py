"""Parsers of whole documents: one call for all pages, and each page has its own record."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.engine.fakes import FakeParser

from parsemark.budget import PageBudget, SpentError
from parsemark.corpora import Corpus
from parsemark.engine.parsing.page_worker import PageOutcome, shared_by_pages
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.score import score_run
from parsemark.model import Element, Page, Sample, Status, Table
from parsemark.parsers import Info, WorkerCommand
from parsemark.parsers.parser import KIT
from parsemark.store import ParseRecord, Run

SCRIPT = Path(__file__).with_name("document_worker.py")
HEAD, FIRST, SECOND = ["city", "people"], ["Lisbon", "545796"], ["Porto", "231800"]


@dataclass(frozen=True)
class DocumentParser(FakeParser):
    """The worker of documents, started as parsers are."""

    name: str = "whole"
    info: Info = dataclasses.field(default_factory=lambda: Info(scope="document", gives=("cells",)))

    def command(self, hidden: object = ()) -> WorkerCommand:
        argv = (sys.executable, "-P", str(KIT), str(SCRIPT))
        return WorkerCommand(
            argv, {"PYTHONPATH": str(KIT.parent), "PATH": "/usr/bin:/bin"}, str(SCRIPT.parent)
        )


def part(rows: Sequence[Sequence[str]], number: int) -> Element:
    return Element("t0", "table", table=Table.from_rows(rows), attributes={"part": number, "parts": 2})


def make_documents(folder: Path, documents: Sequence[Sequence[str]]) -> Corpus:
    """A corpus of documents, given by what the parser says of their pages.

    The truth of each document is a table over its first two pages, whose head is repeated.
    """
    folder.mkdir(parents=True)
    samples = []
    for k, pages in enumerate(documents):
        pdf = folder / f"d{k}.pdf"
        pdf.write_text("\n".join(pages) + "\n")
        for number in range(1, len(pages) + 1):
            rows = {1: [HEAD, FIRST], 2: [HEAD, SECOND]}.get(number)
            elements = () if rows is None else (part(rows, number),)
            name = f"d{k}-p{number}"
            samples.append(Sample(name, f"d{k}", number, Page(name, 600, 800, elements), pdf))
    return Corpus.of("documents", samples, root=folder, version="1", licence="CC0")


def parsed(tmp_path: Path, documents: Sequence[Sequence[str]]) -> Run:
    corpus = make_documents(tmp_path / "corpus", documents)
    return parse_corpus(tmp_path / "run", corpus, [DocumentParser()], ParseOptions())


def by_sample(run: Run) -> dict[str, ParseRecord]:
    return {record.sample: record for record in run.records()}


def n_asked(tmp_path: Path, document: int) -> int:
    return len((tmp_path / "corpus" / f"d{document}.log").read_text().split())


def test_a_document_is_asked_for_once_and_every_page_has_its_own_output(tmp_path: Path) -> None:
    run = parsed(tmp_path, [["a,b;1,2", "c,d;3,4", ""], ["e,f;5,6"]])
    records = by_sample(run)
    assert [n_asked(tmp_path, k) for k in (0, 1)] == [1, 1]
    assert {record.status for record in records.values()} == {Status.OK}
    score_run(run, n_workers=1)
    texts = {s: [c.text for t in run.prediction(s, "whole").tables for c in t.table.cells] for s in records}
    assert texts == {
        "d0-p1": ["a", "b", "1", "2"],
        "d0-p2": ["c", "d", "3", "4"],
        "d0-p3": [],
        "d1-p1": ["e", "f", "5", "6"],
    }
    shares = {
        (records[s].wall_s, records[s].cpu_s, records[s].peak_memory_mb) for s in records if s[1] == "0"
    }
    assert len(shares) == 1, "the pages of a document share what it took"


@pytest.mark.parametrize(
    ("line", "why", "attempts"), [("fail", "page 2 is too hard", 1), ("crash", "SIGABRT", 2)]
)
def test_a_document_that_fails_costs_its_pages_and_no_others(
    tmp_path: Path, line: str, why: str, attempts: int
) -> None:
    records = by_sample(parsed(tmp_path, [["a,b;1,2", line], ["e,f;5,6"]]))
    for sample in ("d0-p1", "d0-p2"):
        assert records[sample].status is Status.PARSER_FAILED
        assert why in (records[sample].error or "")
        assert records[sample].attempts == attempts
    assert records["d1-p1"].status is Status.OK


def test_a_page_that_the_answer_lacks_has_failed_alone(tmp_path: Path) -> None:
    records = by_sample(parsed(tmp_path, [["a,b;1,2", "leave out", "c,d;3,4"]]))
    assert [records[f"d0-p{n}"].status for n in (1, 2, 3)] == [Status.OK, Status.PARSER_FAILED, Status.OK]
    assert records["d0-p2"].error == "The parser's document has no page 2."


def test_an_answer_that_is_no_document_is_named(tmp_path: Path) -> None:
    records = by_sample(parsed(tmp_path, [["number", "a,b;1,2"]]))
    assert {r.status for r in records.values()} == {Status.PARSER_FAILED}
    assert "page 1: its output is not a JSON object" in (records["d0-p2"].error or "")


def test_a_run_goes_on_with_the_pages_that_are_missing(tmp_path: Path) -> None:
    corpus = make_documents(tmp_path / "corpus", [["a,b;1,2", "c,d;3,4"]])
    first = parse_corpus(tmp_path / "run", corpus, [DocumentParser()], ParseOptions(pages="1"))
    before = by_sample(first)["d0-p1"]
    run = parse_corpus(tmp_path / "run", corpus, [DocumentParser()], ParseOptions())
    assert by_sample(run)["d0-p1"] == before
    assert n_asked(tmp_path, 0) == 2
    parse_corpus(tmp_path / "run", corpus, [DocumentParser()], ParseOptions())
    assert n_asked(tmp_path, 0) == 2, "nothing is left to do"


def test_a_table_over_two_pages_that_is_given_whole_is_whole(tmp_path: Path) -> None:
    """By hand: the true table is one head and two rows; given once, on the page on which it begins."""
    whole = ";".join(",".join(row) for row in (HEAD, FIRST, SECOND))
    run = parsed(tmp_path, [[whole, ""]])
    of_document, of_pages = score_run(run, n_workers=1, protocols=["tables(scope=document)", "tables"])
    assert of_document.figure("whole", of_document.primary).value == 1
    assert of_document.counts["tables"] == 1
    assert of_pages.counts["tables"] == 2
    assert (of_pages.figure("whole", "td_recall").value or 0) <= 0.5, "page by page the second part is missed"


def test_the_same_table_in_two_parts_counts_the_same(tmp_path: Path) -> None:
    parts = [";".join(",".join(row) for row in (HEAD, own)) for own in (FIRST, SECOND)]
    (summary,) = score_run(parsed(tmp_path, [parts]), n_workers=1, protocols=["tables(scope=document)"])
    assert summary.figure("whole", summary.primary).value == 1


def test_what_a_document_took_is_shared_by_its_pages() -> None:
    output = b'{"format": "document", "pages": {"1": {"format": "text", "content": "x"}}}'
    whole = PageOutcome(
        Status.OK,
        output,
        wall_s=6.0,
        cpu_s=3.0,
        peak_memory_mb=50.0,
        cost_usd=0.3,
        attempts=2,
        stderr_tail="!",
    )
    one, two, three = shared_by_pages(whole, [1, 2, 3])
    assert (one.wall_s, one.cpu_s, one.peak_memory_mb, one.attempts) == (2.0, 1.0, 50.0, 2)
    assert one.cost_usd == pytest.approx(0.1)
    assert one.output == b'{"content": "x", "format": "text"}'
    assert (
        two.output is None
        and two.status is Status.PARSER_FAILED
        and two == dataclasses.replace(three, error=two.error)
    )


def test_a_budget_holds_a_whole_document() -> None:
    budget = PageBudget(1.0)
    budget.settle("p", budget.reserve("p", 4), 0.4, 4)
    price = budget.reserve("p", 5)
    assert price == pytest.approx(0.5)
    with pytest.raises(SpentError):
        budget.reserve("p", 2)
    budget.settle("p", price, 0.5, 5)
    assert budget.reserve("p") == pytest.approx(0.1)
