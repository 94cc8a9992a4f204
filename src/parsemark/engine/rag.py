"""The stages of OHR-Bench on a run: search each question in parsers' outputs, and ask a model to answer it.

What comes out is one line for each question and parser, in the form in which a system of one's own may write
it, too: `ohr-bench(results=FILE)` scores it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from pydantic import BaseModel

from parsemark.errors import UsageError
from parsemark.formats import markdown_of
from parsemark.judges import Answered, Asker, Judge
from parsemark.judges.base import Call, JudgeOutcome, Question, object_schema
from parsemark.judges.fence import fenced
from parsemark.judges.replies import read_reply
from parsemark.parsers import read_raw
from parsemark.protocols.answers.retrieval import ChunkIndex, chunks_of
from parsemark.protocols.board_truth import own_truth
from parsemark.protocols.boards.ohr_bench import QUESTIONS, ResultLine, evidence_pages
from parsemark.store import Run

SIZE, TOP = 1024, 2
"""Words of a chunk, and how many chunks a question fetches, as the board's scripts have it."""
MAX_CHARACTERS = 400_000  # a text that is longer is not shown at all
_TASK = (
    "You are shown a question and a text in which a program has put what documents say. Answer the question "
    "from the text alone, as briefly as possible: a number, a name, a few words, without a sentence around "
    "them. If the text does not answer it, the answer is “Not answerable”."
)
_FORM = 'Answer with one JSON object: "response", the answer as a text.'


class BriefAnswer(BaseModel, extra="ignore", strict=True, frozen=True):
    """What a model answered."""

    response: str


def questions_of(run: Run) -> list[Mapping[str, Any]]:
    """The questions of all pages, each once; UsageError if the run has none, or two of one ID."""
    found: dict[str, Mapping[str, Any]] = {}
    for sample in run.table("samples")["sample"]:
        truth = run.truth(sample)
        for question in (own_truth(truth, QUESTIONS, list) if truth is not None else None) or ():
            if missing := {"ID", "doc_name", "questions", "evidence_page_no"} - question.keys():
                raise UsageError(f"A question of {sample} has no {min(missing)!r}: {str(question)[:80]}")
            if found.setdefault(own := str(question["ID"]), question) != question:
                raise UsageError(f"Two questions have the ID {own!r}, one of them on {sample}. Rename it.")
    if not found:
        raise UsageError(f"No page of {run.path} has questions ({QUESTIONS}); see docs/boards/ohr-bench.md.")
    return list(found.values())


def searched(run: Run, parser: str, top: int = TOP) -> Iterator[tuple[ResultLine, Mapping[str, Any], str]]:
    """What a search of its domain fetches for each question; with the question, and the evidence's pages."""
    questions = questions_of(run)
    domains = {q["doc_name"].rpartition("/")[2]: q["doc_name"].rpartition("/")[0] for q in questions}
    pages: dict[str, dict[int, str]] = defaultdict(dict)
    chunks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    table = run.table("samples").select("sample", "document", "page_number")
    places = {sample: (document, number) for sample, document, number in table.iter_rows()}
    for record in run.records():
        if record.parser != parser or record.blob is None or record.sample not in places:
            continue
        document, number = places[record.sample]
        text = markdown_of(read_raw(run.raw(record.blob), record.sample, parser))
        name = document.rpartition("/")[2]
        pages[name][number - 1] = text
        for piece in chunks_of(text, "tokens", SIZE):
            chunk = {"file_name": name, "page_idx": number - 1, "text": piece}
            chunks[domains.get(name, "")].append(chunk)
    indexes = {domain: ChunkIndex([chunk["text"] for chunk in own]) for domain, own in chunks.items()}
    for question in questions:
        domain, _, name = question["doc_name"].rpartition("/")
        first = indexes[domain].first(question["questions"], top) if domain in indexes else []
        evidence = [pages[name].get(page, "") for page in evidence_pages(question)]
        fetched = [chunks[domain][k] for k in first]
        line = ResultLine(parser=parser, ID=str(question.get("ID")), retrieval_results=fetched)
        yield line, question, "\n\n".join(evidence)


def answered(
    run: Run, parser: str, judge: Judge, asker: Asker, top: int, advance: Callable[[int], None]
) -> Iterator[ResultLine]:
    """The same with what a model answers: from the pages of the evidence, and from what was fetched.

    An answer that is not asked for or fails is empty, and `failed` says why.
    """
    lines = list(searched(run, parser, top))

    def calls() -> Iterator[Call]:
        for line, question, evidence in lines:
            fetched = "\n\n".join(chunk["text"] for chunk in line.retrieval_results or ())
            for name, text in (("generated", evidence), ("end_to_end", fetched)):
                call = Call(judge, _question(question["questions"], text), read, (line, name))
                if len(question["questions"]) + len(text) <= MAX_CHARACTERS:
                    yield call
                else:
                    why = f"The question and its text have more than {MAX_CHARACTERS:,} characters."
                    keep(call, JudgeOutcome(Answered.UNFIT, message=why))

    def keep(call: Call, outcome: JudgeOutcome) -> None:
        line, name = call.tag
        is_answered = outcome.status is Answered.OK
        setattr(line, name, outcome.value.response if is_answered else "")
        if not is_answered:
            line.failed = {**(line.failed or {}), name: f"{outcome.status}: {outcome.message or 'no reason'}"}
        advance(1)

    read = partial(read_reply, form=BriefAnswer)
    asker.ask(calls(), keep)
    yield from (line for line, *_ in lines)


def _question(question: str, text: str) -> Question:
    rule, shown = fenced({"QUESTION": question, "TEXT": text})
    user = f"{shown}\n\nThat was all the data. Answer with the JSON object."
    return Question(f"{_TASK}\n\n{rule}\n\n{_FORM}", user, object_schema({"response": {"type": "string"}}))
