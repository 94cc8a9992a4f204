"""Questions of OHR-Bench, and what a search fetched and a model answered: a line of JSON for each."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from parsemark.errors import CorpusError
from parsemark.plain_words import first_problem
from parsemark.protocols import read_lines
from parsemark_boards.truth_model import TruthModel

QUESTIONS = "ohr_bench_questions"
"""Where a page keeps its questions as the benchmark's file has them. A question may also have `generated`
(parser to a model's answer) and `retrieval_results` (parser to the chunks that a search fetched)."""


class FetchedChunk(TruthModel):
    """A chunk that a search fetched."""

    file_name: str
    page_idx: Any
    text: str


class TrueQuestion(TruthModel):
    """A question as in `qas_v2.json`, with what systems gave for it."""

    doc_name: str
    evidence_page_no: Any
    evidence_context: str | list[str]
    answers: Any
    ID: str | int | None = None
    questions: str | None = None
    generated: dict[str, Any] = Field(default_factory=dict)
    end_to_end: dict[str, Any] = Field(default_factory=dict)
    retrieval_results: dict[str, list[FetchedChunk]] = Field(default_factory=dict)


def evidence_pages(question: Mapping[str, Any]) -> list[Any]:
    """Return the pages on which the evidence of a question stands, counted from 0."""
    pages = question["evidence_page_no"]
    return pages if isinstance(pages, list) else [pages]


class ResultLine(BaseModel):
    """What a search fetched and a model answered for one question from one parser's outputs."""

    model_config = ConfigDict(extra="forbid", strict=True)

    parser: str
    ID: str
    retrieval_results: list[FetchedChunk] | None = None
    generated: str | None = None  # from the pages of the evidence
    end_to_end: str | None = None  # from what was fetched
    failed: dict[str, str] | None = None  # by stage, how asking ended and why: its empty answer is none


@lru_cache(4)
def read_results(path: str) -> Mapping[tuple[str, str], ResultLine]:
    """Return the results by parser and question, from a file that `rag.py` or a system of one's own wrote.

    CorpusError where it cannot be read, or names the line that is not of this form.
    """
    found: dict[tuple[str, str], ResultLine] = {}
    for number, text in read_lines(path, "results"):
        try:
            line = ResultLine.model_validate_json(text)
        except ValidationError as error:
            why = first_problem(error)
            raise CorpusError(f"{path}, line {number} is not a result for a question: {why}.") from error
        if (line.parser, line.ID) in found:
            raise CorpusError(f"{path}, line {number}: {line.ID} of {line.parser} occurs twice.")
        found[line.parser, line.ID] = line
    return found
