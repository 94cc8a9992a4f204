"""OHR-Bench's scoring: how much of the evidence a search brings, and how right an answer is.

Everything is as in `opendatalab/OHR-Bench` at commit 1f421eb; `docs/ohr-bench.md` lists what is wrong with it
and kept. `rag.py` searches and asks.
"""

import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, ClassVar

from rapidfuzz.distance import LCSseq

from parsemark.errors import FormatError, UsageError
from parsemark.formats import markdown_of, neutral
from parsemark.judges import get_judge
from parsemark.metrics import MAX_CHARACTER_PAIRS, bleu_parts, check_pairs
from parsemark.model import Page, Prediction
from parsemark.plain_words import counted, listed
from parsemark.protocols import (
    BoardRun,
    FigureSums,
    Files,
    PageProtocol,
    RunTables,
    Summary,
    WholeRun,
    as_json,
)
from parsemark.system import cache_folder
from parsemark_boards.measured_protocol import MeasuredProtocol, Measures, own_truth
from parsemark_boards.ohr_bench.results import QUESTIONS, TrueQuestion, evidence_pages, read_results

TOP = 2  # chunks that a search fetches, as in the benchmark's scripts
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_VERDICTS = ("yes", "no", "noanswer")
_STAGES = {
    "generated": {"f1": "F1", "em": "EM", "rouge_l": "rouge-L", "bleu_avg": "bleu-avg"},
    "end_to_end": {"e2e_f1": "F1"},
}
"""Where a stage keeps its answer, and our figures of it with the benchmark's names."""


@lru_cache
def _speaks_of(path: str, stage: str) -> bool:
    """Return whether any line of a file of results has a stage: who has no line for a question earns 0
    then.
    """
    return any(getattr(line, stage) is not None for line in read_results(path).values()) if path else False


@dataclass(frozen=True)
class OhrBenchProtocol(MeasuredProtocol):
    """Evidence and answers, as OHR-Bench scores them.

    Without `retrieval_results` of a question its page counts as fetched: what is measured then is the parser.

    Args:
        judge: A language model that answers each question, from the pages of its evidence and from what a
            search fetched: `openai(model=…)`. Empty: no model is asked.
        top: Number of chunks that the search fetches for each question; 0 for no search, 2 with a judge.
        max_cost: Most US dollars to spend on the judge; 0 for no limit.
        concurrency: Questions to the judge at a time.
        results: A file of what a search fetched and a model answered, a line of JSON for each question and
            parser, in place of `judge` and `top`; what it does not have is taken from the question itself. A
            question without a line is worth nothing in the stages that other lines have.
        empty_left_out: Empty answers and searches leave the mean, as upstream has it; else worth nothing.
    """

    name: ClassVar[str] = "ohr-bench"
    title: ClassVar[str] = "OHR-Bench: evidence and answers"
    upstream: ClassVar[str] = "OHR-Bench 1f421eb (December 2025)"
    comparability: ClassVar[int] = 1
    needs_only_pages: ClassVar[bool] = False
    truth_models: ClassVar[Mapping[str, Any]] = {QUESTIONS: list[TrueQuestion]}

    empty_left_out: bool = True
    results: str = ""
    judge: str = ""
    top: int = 0
    max_cost: float = 0.0
    concurrency: int = 8

    def __post_init__(self) -> None:
        # What is wrong is refused before anything is parsed.
        if self.results:
            read_results(self.results)
        if self.judge:
            get_judge(self.judge)
        if self.results and (self.judge or self.top):
            raise UsageError("'ohr-bench': give either `results`, or `judge` and `top`.")
        if not (0 <= self.top <= 100 and self.max_cost >= 0 and 1 <= self.concurrency <= 512):
            raise UsageError(
                "'ohr-bench': top must be from 0 to 100, max_cost at least 0, and concurrency from 1 to 512."
            )

    @property
    def asks(self) -> bool:
        """Return whether a language model is asked."""
        return bool(self.judge)

    @property
    def needs_whole_run(self) -> bool:
        """Return whether questions are searched in all documents of their domain."""
        return bool(self.judge or self.top)

    def prepared(self, run: WholeRun) -> PageProtocol:
        """Search and ask, and return the protocol that scores the results."""
        from parsemark_boards.ohr_bench.rag import write_results

        path = write_results(
            run,
            neutral if self.serialise == "neutral" else lambda prediction: prediction,
            top=self.top or TOP,
            judge=self.judge,
            max_cost_usd=self.max_cost or None,
            concurrency=self.concurrency,
        )
        return replace(self, results=str(path), judge="", top=0)

    def measure(self, truth: Page, prediction: Prediction) -> Measures | None:
        """Return the values of each question of a page."""
        if self.needs_whole_run:
            raise RuntimeError(f"{self} searches a whole run: score it with `parsemark score` or `bench`")
        found: dict[str, dict[str, float | None]] = {info.name: {} for info in self.infos}
        for number, question in enumerate(own_truth(truth, QUESTIONS) or (), 1):
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
        """Return the summary, which names parsers and questions of the file of results that are not in the
        run.
        """
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
        n_failed = 0
        for parser in tables.parsers:
            own = [line.failed for (name, _), line in lines.items() if name == parser and line.failed]
            if failed := [why for stages in own for why in stages.values()]:
                n_failed += len(failed)
                notes.append(
                    f"{parser}: {counted(len(failed), 'answer')} failed, {counts}. The first: {failed[0]}"
                )
        return summary.model_copy(update={"notes": [*summary.notes, *notes], "failed_calls": n_failed})

    def _given(self, question: Mapping[str, Any], parser: str, what: str) -> Any:
        """Return a stage's value for a question: from the file of results, else from the question itself."""
        line = read_results(self.results).get((parser, str(question.get("ID")))) if self.results else None
        given = None if line is None else getattr(line, what)
        return question.get(what, {}).get(parser) if given is None else given

    def _evidence(self, question: Mapping[str, Any], prediction: Prediction) -> float | None:
        fetched = self._given(question, prediction.parser, "retrieval_results")
        if fetched is None:
            if _speaks_of(self.results, "retrieval_results"):
                return 0.0
            return evidence_share([markdown_of(prediction)], question["evidence_context"])
        lcs = retrieval_lcs({**question, "retrieval_results": [dict(chunk) for chunk in fetched]})
        return 0.0 if lcs is None and not self.empty_left_out else lcs

    def result_files(self, board: BoardRun) -> Files:
        """Return `retrieval_base/PARSER/DOCUMENT.json`, which the benchmark's programs index, and the
        numbers.
        """
        for parser in board.parsers:
            documents: dict[str, list[dict[str, Any]]] = {}
            for sample, document, number in board.pages():
                text = markdown_of(board.prediction(sample, parser))
                documents.setdefault(document, []).append({"page_idx": number - 1, "text": text})
            for document, pages in documents.items():
                yield f"retrieval_base/{parser}/{document}.json", as_json(pages)
        yield from super().result_files(board)


def normalised(text: str) -> str:
    """Return a text without case, ASCII punctuation, articles and runs of white space.

    >>> normalised("The Cat's 3.5 hats!")
    'cats 35 hats'
    """
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text.lower().translate(_PUNCTUATION)).split())


def _common_words(a: Sequence[str], b: Sequence[str]) -> int:
    check_pairs("words", len(a), len(b), MAX_CHARACTER_PAIRS)
    return int(LCSseq.similarity(a, b))


def evidence_share(hits: Sequence[str], evidence: str | Sequence[str]) -> float:
    """Return the share of the evidence's words that stand in the hits, in order; .5 where it has no word."""
    wanted = normalised(evidence if isinstance(evidence, str) else "\n".join(evidence)).split()
    if not wanted:
        return 0.5
    return _common_words(normalised("\n\n".join(hits)).split(), wanted) / len(wanted)


def retrieval_lcs(question: Mapping[str, Any]) -> float | None:
    """Return the share of the evidence that a search brought; None where it brought nothing at all."""
    fetched = question["retrieval_results"]
    if not fetched:
        return None
    name = question["doc_name"].split("/")[-1]
    wanted = evidence_pages(question)
    hits = [chunk["text"] for chunk in fetched if chunk["file_name"] == name and chunk["page_idx"] in wanted]
    return evidence_share(hits, question["evidence_context"]) if hits else 0.0


def answer_scores(generated: str, answer: str) -> dict[str, Any]:
    """Return the values of a generated answer; an empty one is not valid and leaves the means."""
    rouge = [re.sub("[^a-z0-9]+", " ", text.lower()).split() for text in (generated, answer)]
    common = _common_words(*rouge)
    precisions, ratio = bleu_parts([generated], [answer])
    if not ratio:
        precisions = [0.0] * len(precisions)
    average = math.exp(sum(map(math.log, precisions)) / len(precisions)) if min(precisions) else 0.0
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
    """Return Jieba with its dictionary in our cache: by itself it believes a file that anyone may put into
    /tmp.
    """
    import jieba

    jieba.setLogLevel(60)
    found = jieba.Tokenizer()
    folder = cache_folder("jieba")
    with suppress(OSError):  # without a place for it the dictionary is read anew each time
        folder.mkdir(parents=True, exist_ok=True)
    found.tmp_dir = str(folder)
    return found
