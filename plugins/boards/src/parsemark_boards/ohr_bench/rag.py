"""OHR-Bench's search and answers: each question is searched in a parser's outputs, and a model answers it.

The results are one line of JSON for each question and parser, in the form in which another system may write
them too: `ohr-bench(results=FILE)` scores such a file.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from parsemark.errors import UsageError
from parsemark.formats import markdown_of
from parsemark.judges import (
    Answered,
    AnswerStore,
    Asker,
    AskOptions,
    Call,
    Judge,
    JudgeOutcome,
    Question,
    fenced,
    get_judge,
    object_schema,
    read_reply,
)
from parsemark.model import Prediction
from parsemark.protocols import WholeRun
from parsemark.protocols.answers.retrieval import ChunkIndex, chunks_of
from parsemark.system import write_text
from parsemark_boards.measured_protocol import own_truth
from parsemark_boards.ohr_bench.results import QUESTIONS, FetchedChunk, ResultLine, evidence_pages

CHUNK_WORDS = 1024  # as in the benchmark's scripts
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


def write_results(
    run: WholeRun,
    read: Callable[[Prediction], Prediction],
    *,
    top: int,
    judge: str,
    max_cost_usd: float | None,
    concurrency: int,
) -> Path:
    """Search, and ask the judge if there is one; write the results into the folder of the run.

    The file's name follows from its content. `read` turns outputs into what is searched.
    """
    lines: list[ResultLine]
    if judge:
        with AnswerStore() as answers:
            asker = Asker(answers, AskOptions(concurrency=concurrency, max_cost_usd=max_cost_usd))
            lines = [
                line for p in run.parsers for line in answered(run, p, read, get_judge(judge), asker, top)
            ]
            run.note(f"{_statuses(judge, lines)} Spent now: ${asker.spent_usd():.4f} (known prices).")
    else:
        lines = [line for parser in run.parsers for line, *_ in searched(run, parser, read, top)]
    text = "".join(line.model_dump_json(exclude_none=True) + "\n" for line in lines)
    path = run.folder.resolve() / f"ohr-bench-{hashlib.sha256(text.encode()).hexdigest()[:16]}.jsonl"
    write_text(path, text)
    run.note(f"Search results and answers: {path}")
    return path


def _statuses(judge: str, lines: Sequence[ResultLine]) -> str:
    """Return how many answers ended in which way."""
    failed = [why.partition(":")[0] for line in lines for why in (line.failed or {}).values()]
    counts = Counter(failed) + Counter({str(Answered.OK): 2 * len(lines) - len(failed)})
    return f"{judge}: {', '.join(f'{n} {status}' for status, n in sorted(counts.items()))}."


def questions_of(run: WholeRun) -> list[Mapping[str, Any]]:
    """Return the questions of all pages, each once; raise UsageError if there are none, or two have one
    ID.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for sample, *_ in run.pages:
        truth = run.truth(sample)
        for question in (own_truth(truth, QUESTIONS) if truth is not None else None) or ():
            if missing := {"ID", "questions"} - question.keys():
                raise UsageError(f"A question of {sample} has no {min(missing)!r}: {str(question)[:80]}")
            if found.setdefault(own := str(question["ID"]), question) != question:
                raise UsageError(f"Two questions have the ID {own!r}, one of them on {sample}. Rename it.")
    if not found:
        raise UsageError(f"No page of this run has questions ({QUESTIONS} in its annotation).")
    return list(found.values())


def searched(
    run: WholeRun, parser: str, read: Callable[[Prediction], Prediction], top: int
) -> Iterator[tuple[ResultLine, Mapping[str, Any], str]]:
    """Yield what a search of its domain fetches for each question, the question, and its evidence's pages."""
    questions = questions_of(run)
    domains = {q["doc_name"].rpartition("/")[2]: q["doc_name"].rpartition("/")[0] for q in questions}
    pages: dict[str, dict[int, str]] = defaultdict(dict)
    chunks: dict[str, list[FetchedChunk]] = defaultdict(list)
    for sample, document, number in run.pages:
        text = markdown_of(read(run.prediction(sample, parser)))
        name = document.rpartition("/")[2]
        pages[name][number - 1] = text
        for piece in chunks_of(text, "tokens", CHUNK_WORDS):
            chunk = FetchedChunk(file_name=name, page_idx=number - 1, text=piece)
            chunks[domains.get(name, "")].append(chunk)
    indexes = {domain: ChunkIndex([chunk.text for chunk in own]) for domain, own in chunks.items()}
    for question in questions:
        domain, _, name = question["doc_name"].rpartition("/")
        first = indexes[domain].first(question["questions"], top) if domain in indexes else []
        evidence = [pages[name].get(page, "") for page in evidence_pages(question)]
        fetched = [chunks[domain][k] for k in first]
        line = ResultLine(parser=parser, ID=str(question.get("ID")), retrieval_results=fetched)
        yield line, question, "\n\n".join(evidence)


def answered(
    run: WholeRun,
    parser: str,
    read: Callable[[Prediction], Prediction],
    judge: Judge,
    asker: Asker,
    top: int,
) -> Iterator[ResultLine]:
    """Yield the same with what a model answers: from the pages of the evidence, and from what was fetched.

    An answer that is not asked for or fails is empty, and `failed` says why.
    """
    lines = list(searched(run, parser, read, top))

    def calls() -> Iterator[Call]:
        for line, question, evidence in lines:
            fetched = "\n\n".join(chunk.text for chunk in line.retrieval_results or ())
            for name, text in (("generated", evidence), ("end_to_end", fetched)):
                call = Call(judge, _question(question["questions"], text), read_answer, (line, name))
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

    read_answer = partial(read_reply, form=BriefAnswer)
    asker.ask(calls(), keep)
    yield from (line for line, *_ in lines)


def _question(question: str, text: str) -> Question:
    rule, shown = fenced({"QUESTION": question, "TEXT": text})
    user = f"{shown}\n\nThat was all the data. Answer with the JSON object."
    return Question(f"{_TASK}\n\n{rule}\n\n{_FORM}", user, object_schema({"response": {"type": "string"}}))
