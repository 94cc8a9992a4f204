"""OHR-Bench's scoring: how much of the evidence a search brings, and how right an answer is.

Everything is as in `opendatalab/OHR-Bench` at commit 1f421eb; `docs/boards/ohr-bench.md` lists what is wrong
with it and kept. `parsemark rag` (`engine/rag.py`) searches and asks.
"""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator
from rapidfuzz.distance import LCSseq

from parsemark.errors import CorpusError, FormatError
from parsemark.extras import needed_for
from parsemark.formats import markdown_of
from parsemark.metrics.base import MAX_CHARACTER_PAIRS, check_pairs
from parsemark.metrics.bleu import ORDER, bleu_parts
from parsemark.model import Page, Prediction
from parsemark.plain_words import counted, first_problem, listed
from parsemark.protocols.board_truth import own_truth
from parsemark.protocols.boards.measured_protocol import MeasuredProtocol, Measures
from parsemark.protocols.figures.figure import FigureSums
from parsemark.protocols.figures.summary import Summary
from parsemark.protocols.result_files import BoardRun, Files, as_json, read_lines
from parsemark.protocols.run_data.tables import RunTables
from parsemark.system.files import cache_folder

QUESTIONS = "ohr_bench_questions"
"""Where a page keeps its questions as the board's file has them, each perhaps with `generated` (parser to the
answer that a model gave) and `retrieval_results` (parser to the chunks that a search fetched)."""
_CHUNK = dict.fromkeys(("file_name", "page_idx", "text"))
_FORM = {
    **dict.fromkeys(("doc_name", "ID", "answers", "evidence_page_no", "evidence_context", "generated")),
    "retrieval_results": {"*": _CHUNK},
}
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_VERDICTS = ("yes", "no", "noanswer")
_STAGES = {
    "generated": {"f1": "F1", "em": "EM", "rouge_l": "rouge-L", "bleu_avg": "bleu-avg"},
    "end_to_end": {"e2e_f1": "F1"},
}
"""Where a stage keeps its answer, and our figures of it with the board's names."""


class ResultLine(BaseModel):
    """What a search fetched and a model answered for one question from one parser's outputs."""

    model_config = ConfigDict(extra="forbid", strict=True)

    parser: str
    ID: str
    retrieval_results: list[dict[str, Any]] | None = None
    """Chunks, each with `file_name`, `page_idx` and `text`."""
    generated: str | None = None  # from the pages of the evidence
    end_to_end: str | None = None  # from what was fetched
    failed: dict[str, str] | None = None  # by stage, how asking ended and why: its empty answer is none

    @field_validator("retrieval_results")
    @classmethod
    def _whole(cls, chunks: list[dict[str, Any]] | None) -> list[dict[str, Any]] | None:
        for chunk in chunks or ():
            if missing := {"file_name", "page_idx", "text"} - chunk.keys():
                raise ValueError(f"a chunk has no {min(missing)}")
            if not isinstance(chunk["text"], str):
                raise ValueError("the text of a chunk is no text")
        return chunks


@lru_cache(4)
def read_results(path: str) -> Mapping[tuple[str, str], ResultLine]:
    """Parser and question to what was found, from a file that `parsemark rag` or a system of one's own wrote.

    CorpusError where it cannot be read, or names the line that is not of this form.
    """
    found: dict[tuple[str, str], ResultLine] = {}
    for number, text in read_lines(path, "results"):
        try:
            line = ResultLine.model_validate_json(text)
        except ValidationError as error:
            why = first_problem(error)
            raise CorpusError(f"{path}, line {number} is no result for a question: {why}.") from error
        if (line.parser, line.ID) in found:
            raise CorpusError(f"{path}, line {number}: {line.ID} of {line.parser} is there twice.")
        found[line.parser, line.ID] = line
    return found


@lru_cache
def _speaks_of(path: str, stage: str) -> bool:
    """Whether any line of a file of results has a stage: who has no line for a question earns 0 then."""
    return any(getattr(line, stage) is not None for line in read_results(path).values()) if path else False


@dataclass(frozen=True)
class OhrBenchProtocol(MeasuredProtocol):
    """Evidence and answers, as OHR-Bench scores them.

    Without `retrieval_results` of a question its page counts as fetched: what is measured then is the parser.

    Args:
        results: A file of what a search fetched and a model answered, a line of JSON for each question and
            parser, as `parsemark rag` writes it; what it does not have is taken from the question itself. A
            question without a line is worth nothing in the stages that other lines have.
        empty_left_out: Empty answers and searches leave the mean, as upstream has it; else worth nothing.
    """

    name: ClassVar[str] = "ohr-bench"
    title: ClassVar[str] = "OHR-Bench: evidence and answers"
    comparability: ClassVar[int] = 1
    needs_only_pages: ClassVar[bool] = False
    truth_keys: ClassVar[tuple[str, ...]] = (QUESTIONS,)

    empty_left_out: bool = True
    results: str = ""

    def __post_init__(self) -> None:
        if self.results:
            read_results(self.results)  # a wrong file is refused before anything is parsed

    def measure(self, truth: Page, prediction: Prediction) -> Measures | None:
        """The values of each question of a page."""
        found: dict[str, dict[str, float | None]] = {info.name: {} for info in self.infos}
        for number, question in enumerate(own_truth(truth, QUESTIONS, list, _FORM) or (), 1):
            own = str(question.get("ID", number))
            own = f"{own} ({number})" if own in found["lcs"] else own
            found["lcs"][own] = self._evidence(question, prediction)
            for stage, names in _STAGES.items():
                given = self._given(question, prediction.parser, stage)
                scores = {} if given is None else answer_scores(str(given), str(question["answers"]))
                is_asked = not self.empty_left_out if scores else _speaks_of(self.results, stage)
                for figure, name in names.items():
                    if scores.get("valid"):
                        found[figure][own] = float(scores[name])
                    elif is_asked:
                        found[figure][own] = 0.0
        return {name: values or None for name, values in found.items()}

    def summary_of(self, tables: RunTables, sums: Sequence[FigureSums], **parts: Any) -> Summary:
        """The summary, which names parsers and questions of the file of results that are not in the run."""
        summary = super().summary_of(tables, sums, **parts)
        lines = read_results(self.results) if self.results else {}
        given = {"parser": {parser for parser, _ in lines}, "question": {own for _, own in lines}}
        here = {"parser": tables.parsers, "question": tables.read("scores", "element")["element"].to_list()}
        unknown = {what: sorted(given[what].difference(here[what])) for what in given}
        notes = [
            f"{self.results} has lines for {counted(len(names), what)} not in this run, which count for "
            f"nothing: {listed(names)}."
            for what, names in unknown.items()
            if names
        ]
        counts = "in no mean" if self.empty_left_out else "worth nothing"
        for parser in tables.parsers:
            own = [line.failed for (name, _), line in lines.items() if name == parser and line.failed]
            if failed := [why for stages in own for why in stages.values()]:
                notes.append(
                    f"{parser}: {counted(len(failed), 'answer')} failed, {counts}. The first: {failed[0]}"
                )
        return summary.model_copy(update={"notes": [*summary.notes, *notes]})

    def _given(self, question: Mapping[str, Any], parser: str, what: str) -> Any:
        """What a stage gave for a question: by the file of results, else by the question itself."""
        line = read_results(self.results).get((parser, str(question.get("ID")))) if self.results else None
        given = None if line is None else getattr(line, what)
        return question.get(what, {}).get(parser) if given is None else given

    def _evidence(self, question: Mapping[str, Any], prediction: Prediction) -> float | None:
        fetched = self._given(question, prediction.parser, "retrieval_results")
        if fetched is None:
            if _speaks_of(self.results, "retrieval_results"):
                return 0.0
            return evidence_share([markdown_of(prediction)], question["evidence_context"])
        lcs = retrieval_lcs({**question, "retrieval_results": fetched})
        return 0.0 if lcs is None and not self.empty_left_out else lcs

    def result_files(self, board: BoardRun) -> Files:
        """`retrieval_base/PARSER/DOCUMENT.json`, which the board's programs index, and the numbers."""
        for parser in board.parsers:
            documents: dict[str, list[dict[str, Any]]] = {}
            for sample, document, number in board.pages():
                text = markdown_of(board.prediction(sample, parser))
                documents.setdefault(document, []).append({"page_idx": number - 1, "text": text})
            for document, pages in documents.items():
                yield f"retrieval_base/{parser}/{document}.json", as_json(pages)
        yield from super().result_files(board)


def normalised(text: str) -> str:
    """A text without case, ASCII punctuation, articles and runs of white space.

    >>> normalised("The Cat's 3.5 hats!")
    'cats 35 hats'
    """
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_PUNCTUATION)).split())


def _common_words(a: Sequence[str], b: Sequence[str]) -> int:
    check_pairs("words", len(a), len(b), MAX_CHARACTER_PAIRS)
    return int(LCSseq.similarity(a, b))


def evidence_share(hits: Sequence[str], evidence: str | Sequence[str]) -> float:
    """The share of the evidence's words that stand in the hits, in order; .5 where it has no word."""
    wanted = normalised(evidence if isinstance(evidence, str) else "\n".join(evidence)).split()
    if not wanted:
        return 0.5
    return _common_words(normalised("\n\n".join(hits)).split(), wanted) / len(wanted)


def evidence_pages(question: Mapping[str, Any]) -> list[Any]:
    """The pages on which the evidence of a question stands, counted from 0."""
    pages = question["evidence_page_no"]
    return pages if isinstance(pages, list) else [pages]


def retrieval_lcs(question: Mapping[str, Any]) -> float | None:
    """The share of the evidence that a search brought; None where it brought nothing at all."""
    fetched = question["retrieval_results"]
    if not fetched:
        return None
    name = question["doc_name"].split("/")[-1]
    wanted = evidence_pages(question)
    hits = [chunk["text"] for chunk in fetched if chunk["file_name"] == name and chunk["page_idx"] in wanted]
    return evidence_share(hits, question["evidence_context"]) if hits else 0.0


def answer_scores(generated: str, answer: str) -> dict[str, Any]:
    """The values of a generated answer; an empty one is not valid and leaves the means."""
    rouge = [re.sub("[^a-z0-9]+", " ", text.lower()).split() for text in (generated, answer)]
    common = _common_words(*rouge)
    precisions, ratio = bleu_parts([generated], [answer])
    if not ratio:
        precisions = [0.0] * ORDER
    average = math.exp(sum(map(math.log, precisions)) / ORDER) if min(precisions) else 0.0
    return {
        "bleu-avg": average,
        **{f"bleu-{n}": value for n, value in enumerate(precisions, 1)},
        "rouge-L": 2 * common / (len(rouge[0]) + len(rouge[1])) if common else 0.0,
        "F1": _f1(generated, answer),
        "EM": int(normalised(generated) == normalised(answer)),
        "length": len(generated),
        "valid": bool(generated.strip()),
    }


def _f1(generated: str, answer: str) -> float:
    a, b = normalised(generated), normalised(answer)
    if a != b and (a in _VERDICTS or b in _VERDICTS):
        return 0.0
    words = [_cut(a), _cut(b)] if _is_cjk(generated) or _is_cjk(answer) else [a.split(), b.split()]
    common = (Counter(words[0]) & Counter(words[1])).total()
    precision, recall = common / max(1, len(words[0])), common / max(1, len(words[1]))
    return 2 * precision * recall / (precision + recall) if common else 0.0


def _is_cjk(text: str) -> bool:
    return any("CJK" in unicodedata.name(sign, "") for sign in text)


def _cut(text: str) -> list[str]:
    if len(text) > 100_000:
        raise FormatError("The answer has more than 100,000 characters")
    return list(_segmenter().lcut(text))


@cache
def _segmenter() -> Any:
    """Jieba with its dictionary in our cache: by itself it believes a file that anyone may put into /tmp."""
    with needed_for("Words of Chinese answers"):
        import jieba
    jieba.setLogLevel(60)
    found = jieba.Tokenizer()
    folder = cache_folder("jieba")
    with suppress(OSError):  # without a place for it the dictionary is read anew each time
        folder.mkdir(parents=True, exist_ok=True)
    found.tmp_dir = str(folder)
    return found
