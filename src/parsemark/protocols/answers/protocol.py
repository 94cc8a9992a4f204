"""The recipe: facts of a page asked of an output, and the shares that it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from parsemark.model import Fact, Page, Prediction, Status
from parsemark.plain_words import counted
from parsemark.protocols.contract import PageProtocol
from parsemark.protocols.presentation import PageView, PageViews, Presentation
from parsemark.protocols.run_data.rows import PageScores, ScoreRow
from parsemark.protocols.run_scores.sums import FigureSums
from parsemark.store.run_tables import RunTables
from parsemark.store.summary import Summary


@dataclass(frozen=True)
class AnswersProtocol(PageProtocol):
    """Which factual questions about a page can be answered from a parser's output.

    Facts come from the exact truth: values under their headers, numbers and names in their sentences, what
    comes before what, headings, formulas, captions, and what must not be there. They are looked up, never
    guessed: `docs/reference/answers.md`.

    Args:
        scope: `page`, or `document`: pages are asked together, and a search over chunks must find answers.
        facts: A file of `corpus export --format assertions`, in place of what the truth gives.
    """

    name: ClassVar[str] = "answers"
    title: ClassVar[str] = "Answer look-up"
    comparability: ClassVar[int] = 5
    needs_only_pages: ClassVar[bool] = True
    figures_by_kind: ClassVar[Mapping[str, str]] = {
        "text": "right.name", "tables": "right.cell_text", "headings": "right.heading",
        "order": "right.order", "formulas": "right.formula",
    }  # fmt: skip
    reads_facts: ClassVar[bool] = True
    rules: ClassVar[str] = "answers"

    scope: Literal["page", "document"] = "page"
    facts: str = ""

    def __post_init__(self) -> None:
        from parsemark.protocols.answers.files import read_facts

        if self.facts:
            read_facts(self.facts)  # a wrong file is refused before anything is parsed

    @classmethod
    def check_fact(cls, fact: Fact) -> None:
        """Raise CorpusError for a fact that cannot be asked."""
        from parsemark.protocols.answers import ask

        ask.check_fact(fact)

    @property
    def whole_documents(self) -> bool:
        """Return whether the pages of a document are asked together."""
        return self.scope == "document"

    def score_page(
        self, truth: Page | None, prediction: Prediction, page_text: str | None = None
    ) -> PageScores:
        """Ask every fact of one page."""
        facts = self._facts(truth, prediction)
        if not facts:
            return PageScores(scores=[ScoreRow.of_page(prediction, "facts", None, Status.NO_TRUTH)])
        if prediction.status is Status.METRIC_FAILED or (
            prediction.status is not Status.OK and prediction.text is None
        ):
            failed = None, prediction.status, prediction.message
            return PageScores(scores=[_row(prediction, fact, "", *failed) for fact in facts])
        return PageScores(scores=self._asked(facts, truth, prediction, page_text))

    def _facts(self, truth: Page | None, prediction: Prediction) -> tuple[Fact, ...]:
        from parsemark.protocols.answers.derive import facts_of_page
        from parsemark.protocols.answers.files import read_facts
        from parsemark.protocols.whole_documents import joined_facts

        if self.facts:
            asked = read_facts(self.facts)
            return joined_facts([asked.get(page, ()) for page in prediction.pages or (prediction.sample,)])
        return () if truth is None else facts_of_page(truth)

    def _asked(
        self, facts: Sequence[Fact], truth: Page | None, prediction: Prediction, page_text: str | None
    ) -> list[ScoreRow]:
        from parsemark.formats import markdown_of
        from parsemark.formats.document import predicted_elements
        from parsemark.protocols.answers.ask import GivenAnswer, ask
        from parsemark.protocols.answers.output import AskedOutput, share_of_page
        from parsemark.protocols.answers.retrieval import ASKED, CHUNKINGS, FOUND, Retriever

        output = AskedOutput(tuple(predicted_elements(prediction)), prediction.text or "")
        answers = {fact.id: ask(fact, output) for fact in facts}
        if not any(answers[f.id].state == "right" for f in facts if f.kind != "absent"):
            # Who says nothing of a page has left nothing out.
            answers |= {fact.id: GivenAnswer("not found") for fact in facts if fact.kind == "absent"}
        credit = share_of_page(output, truth, facts, page_text)  # what a right answer counts
        rows = []
        for fact in facts:
            state, said = answers[fact.id]
            pred = "answer" if state != "not found" else ""
            value = credit if state == "right" else 0.0
            rows.append(_row(prediction, fact, pred, value, Status.OK, said or None))
        if not self.whole_documents:
            return rows
        wanted = [fact for fact in facts if fact.kind in ASKED]
        for chunking in CHUNKINGS:
            retriever = Retriever(markdown_of(prediction), chunking, truth)
            for fact in wanted:
                lost = "parse" if answers[fact.id].state != "right" else retriever.lost(fact)
                place = prediction.sample, fact.id, "", lost, fact.kind, prediction.parser, FOUND + chunking
                rows.append(ScoreRow(*place, 0.0 if lost else credit, Status.OK, lost or None))
        return rows

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return the sums behind the figures; see `figures.py`."""
        from parsemark.protocols.answers.figures import figure_sums

        return figure_sums(tables)

    def summarise(self, tables: RunTables) -> Summary:
        """Sum up a run, with notes on assertions that were not asked or not decidable."""
        import polars as pl

        from parsemark.protocols.answers.files import read_facts
        from parsemark.protocols.run_scores.aggregate import failed_scores

        sums = self.figure_sums(tables)
        columns = ("sample", "element", "metric", "parser", "status", "message")
        rows = tables.read("scores", *columns)
        failed = rows.filter(rows["status"] == str(Status.METRIC_FAILED))
        notes = [
            f"{parser}: {counted(own['sample'].n_unique(), 'page')} could not be scored and counts as not "
            f"answered. {why}"
            for parser, own, why in failed_scores(failed, tables.parsers)
        ]
        asked = read_facts(self.facts) if self.facts else {}
        if unknown := sorted(set(asked) - set(tables.places.samples)):
            facts = counted(sum(len(asked[sample]) for sample in unknown), "assertion")
            names = ", ".join(unknown[:3]) + (", …" if len(unknown) > 3 else "")
            notes.append(f"{self.facts} has {facts} for pages that are not in the run: {names}.")
        with_truth = tables.read("samples", "sample", where=pl.col("truth").is_not_null())["sample"]
        n_known = len(set(asked or with_truth) & set(tables.places.samples))
        return self.summary_of(tables, sums, notes=notes, counts={"pages with truth": n_known})

    def presentation(self) -> Presentation:
        """Show facts page by page."""
        from parsemark.protocols.answers.derive import question
        from parsemark.protocols.facts.protocol import view_of_facts

        def view(truth: Page, prediction: Prediction) -> PageView:
            facts = self._facts(truth, prediction)
            return view_of_facts(facts, self.score_page(truth, prediction), prediction, "right", question)

        return Presentation(
            pages=PageViews(
                "right", "Numbers: shares of the page's assertions that are answered rightly.", view
            )
        )


def _row(
    asked: Prediction, fact: Fact, pred: str, value: float | None, status: Status, message: str | None
) -> ScoreRow:
    """Return one fact: its `pred` says whether the output has an answer at all."""
    from parsemark.protocols.answers.ask import ANSWER

    return ScoreRow(asked.sample, fact.id, pred, "", fact.kind, asked.parser, ANSWER, value, status, message)
