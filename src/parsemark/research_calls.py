"""The commands for research as calls, with the same parameters: pairs, `study` and `judge`."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, TextIO

from parsemark import api
from parsemark.errors import MissingDependencyError, UsageError

if TYPE_CHECKING:
    from parsemark.engine.events import Events
    from parsemark.judges import Asker, Judge
    from parsemark.judges.attacks import Resistance
    from parsemark.metrics.pair_files import MetricSummary as MetricSummary
    from parsemark.protocols.semantic.matchers import MatcherComparison
    from parsemark.store import Run
    from parsemark.study import StudyResult
    from parsemark.study import StudyVerdicts as StudyVerdicts
    from parsemark.study.sample import PairCandidate
    from parsemark.verdicts.boards_agreement import BoardAgreement as BoardAgreement

Advance = Callable[
    ..., None
]  # called with the number of new pages or bytes (1), and a total where it is known


def _silent(n: int = 1, total: int | None = None) -> None: ...


@dataclass(frozen=True)
class Bill:
    """What asking judges has cost."""

    spent_usd: float = 0.0
    counted_usd: float = 0.0  # against the limit, with the most that unknown prices may be
    over_usd: float = 0.0  # by how much the limit was passed, which was reported when it happened

    @classmethod
    def of(cls, asker: Asker) -> Bill:
        """Return the bill of all that was asked so far."""
        return cls(asker.spent_usd(), asker.counted_usd(), asker.over_limit_usd())


@contextmanager
def _asking(
    judges: Sequence[str], max_cost: float | None, answers: str | Path | None
) -> Iterator[tuple[list[Judge], Asker]]:
    """Yield the judges, each once, and what asks them; processes of one command share the limit on cost."""
    from parsemark.judges import AnswerStore, Asker, AskOptions, get_judge
    from parsemark.judges.ask import join_session, session_name

    join_session(session_name())
    chosen = [get_judge(spec) for spec in judges]
    for judge in chosen:
        _ = judge.prompt_text  # a prompt that cannot be used is refused before anything is asked
    options = AskOptions(max_cost_usd=max_cost)
    with AnswerStore(None if answers is None else Path(answers)) as store:
        yield list(dict.fromkeys(chosen)), Asker(store, options)


@dataclass(frozen=True)
class ScoredPairs:
    """What metrics and judges made of a file of pairs."""

    metrics: Sequence[MetricSummary] = ()
    judges: Mapping[str, Sequence[float]] = field(default_factory=dict)  # by judge, scores from 0 to 10
    statuses: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    failed_lines: frozenset[int] = frozenset()
    bill: Bill | None = None  # None where no judge was asked


def pairs(
    file: str | Path,
    prediction: str | Path | None = None,
    *,
    metrics: Sequence[str] | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    raw: bool = False,
    judges: Sequence[str] = (),
    repeats: int = 1,
    max_cost: float | None = None,
    answers: str | Path | None = None,
    tell: Callable[[int, str], None] | None = None,
    progress: Callable[[str, int | None], Advance] | None = None,
) -> ScoredPairs:
    """Score one pair of tables, or a file of pairs, with metrics or with language models.

    Args:
        file: One pair per line, `{"id": …, "truth": …, "pred": …}`; `-` for standard input. With a
            `prediction`, the true table.
        prediction: File with the predicted table, to score one pair.
        metrics: Specs of metrics, `all` for every table metric; by default four, and none with `judges`.
        out: File with one line per pair and metric; `-` for standard output.
        workers: Number of processes.
        raw: Keep the white space of HTML as written, as the reference implementations do.
        judges: Specs of language models, such as `openai(model=NAME,base_url=URL)`.
        repeats: Number of times that each question is asked.
        max_cost: Spending limit for judges, in USD.
        answers: File that stores judges' answers; by default in the cache folder.
        tell: Called with the number of a line without a score, and the reason.
        progress: Called with what is done and its total; returns what to call with each step.
    """
    from parsemark.judges.pairs import judge_lines
    from parsemark.metrics import DEFAULT_METRICS
    from parsemark.metrics.pair_files import PairSummary, expand_metrics, score_lines

    chosen = expand_metrics(metrics or ([] if judges else DEFAULT_METRICS))
    summary, failed_lines = PairSummary(chosen), set[int]()
    report, begin = tell or (lambda line, why: None), progress or (lambda title, total: _silent)
    judged, bill = None, None
    try:
        with ExitStack() as opened:
            source, sink = _open(file, prediction, out, opened)
            write = sink.write if sink is not None else lambda _: 0
            if judges:
                with _asking(judges, max_cost, answers) as (asked, asker):
                    lines = _lines(source, _silent)
                    advance = begin("Asking judges", None)
                    judged = judge_lines(
                        lines, asked, asker, repeats=repeats, write=write, tell=report, advance=advance
                    )
                    bill = Bill.of(asker)
                failed_lines |= set(judged.failed)
                if chosen and prediction is None and is_standard(file):
                    raise UsageError("Metrics and judges together need a file of pairs, not standard input.")
                if chosen:
                    source.seek(0)
            if chosen:
                advance = begin(
                    "Scoring",
                    None if prediction is not None or is_standard(file) else Path(file).stat().st_size,
                )
                for result in score_lines(_lines(source, advance), chosen, workers, raw=raw):
                    summary.add(result.score)
                    if result.score.value is None and result.line not in failed_lines:
                        failed_lines.add(result.line)
                        report(result.line, result.score.message or "")
                    write(result.as_json() + "\n")
    except OSError as error:
        raise UsageError(f"{error.filename or out}: {error.strerror}") from error
    scores = {} if judged is None else judged.scores
    statuses = {} if judged is None else judged.statuses
    return ScoredPairs(summary.rows() if chosen else (), scores, statuses, frozenset(failed_lines), bill)


def is_standard(path: str | Path | None) -> bool:
    """Return whether a path stands for standard input or output."""
    return str(path) == "-"


def _open(
    file: str | Path, prediction: str | Path | None, out: str | Path | None, opened: ExitStack
) -> tuple[BinaryIO, TextIO | None]:
    """Return source and sink; the source is opened first, so that a wrong name costs no earlier scores."""
    from parsemark.system import replacing

    source: BinaryIO = sys.stdin.buffer
    if prediction is not None:
        truth, predicted = (Path(p).read_text("utf-8", "surrogateescape") for p in (file, prediction))
        pair = {"id": Path(file).stem, "truth": truth, "pred": predicted}
        source = io.BytesIO(json.dumps(pair).encode())
    elif not is_standard(file):
        source = Path(file).open("rb")  # noqa: SIM115 - closed with the others
        opened.enter_context(source)
    if out is None:
        return source, None
    if is_standard(out):
        return source, sys.stdout
    target, origin = Path(out), Path(file)
    if target.exists() and origin.exists() and target.samefile(origin):
        raise UsageError(f"--out is the file of pairs, {out}; choose another file.")
    temporary = opened.enter_context(replacing(target))  # a link in its place is replaced, not followed
    return source, opened.enter_context(temporary.open("w", encoding="utf-8"))


def _lines(source: BinaryIO, advance: Callable[[int], None]) -> Iterator[str]:
    for line in source:
        advance(len(line))
        yield line.decode("utf-8", errors="surrogateescape")  # such a line is refused as all bad ones are


def study_run(
    file: str | Path,
    *,
    metrics: Sequence[str] | None = None,
    out: str | Path = "study",
    prepare: Literal["auto", "none", "study"] = "auto",
    figures: bool = True,
    judges: Sequence[str] = (),
    repeats: int = 1,
    bias: bool = False,
    max_cost: float | None = None,
    answers: str | Path | None = None,
    progress: Callable[[str, int | None], Advance] | None = None,
) -> Study:
    """Correlate metrics, scores stored in the file, and judges with the mean human rating.

    Args:
        file: A ratings file, written by `study rate` or published with a study.
        metrics: Specs of metrics; by default `reader`, or `formula_reader` for formulas.
        out: Folder of the results.
        prepare: `study` normalises the HTML for structural metrics as in the published study, and `none` uses
            it as it is. `auto` is `study` if the file contains metric values of that study, else `none`.
        figures: Draw scatter plots (needs the extra `figures`).
        judges: Specs of language models, such as `openai(model=NAME,base_url=URL)`.
        repeats: Number of times that each question is asked.
        bias: Also measure the biases of the judges.
        max_cost: Spending limit for judges, in USD.
        answers: File that stores judges' answers; by default in the cache folder.
        progress: Called with what is done and its total; returns what to call with each step.
    """
    from parsemark.study import read_ratings, run_study, write_results
    from parsemark.study.disagreements import write_page
    from parsemark.study.judging import judge_ratings, questions_of
    from parsemark.study.plots import draw_scatter

    begin, folder = progress or (lambda title, total: _silent), Path(out)
    ratings = read_ratings(Path(file))
    chosen = metrics or (["reader"] if ratings.kind == "table" else ["formula_reader"])
    judged, bill = None, None
    if judges:
        with _asking(judges, max_cost, answers) as (asked, asker):
            step = begin("Asking judges", questions_of(ratings, asked, repeats, bias))
            judged = judge_ratings(ratings, asked, asker, repeats=repeats, bias=bias, advance=step)
            bill = Bill.of(asker)
    result = run_study(ratings, chosen, prepare, begin("Scoring", len(ratings.pairs)), judged)
    written = write_results(result, folder)
    write_page(result, [c for c in result.columns if c.source == "metric"], folder / "disagreements.html")
    written.append(folder / "disagreements.html")
    missing = None
    if figures:
        try:
            draw_scatter(result, [c.name for c in result.columns], folder / "scatter.png")
            written.append(folder / "scatter.png")
        except MissingDependencyError as error:
            missing = str(error)
    return Study(result, judged, bill, tuple(written), missing)


@dataclass(frozen=True)
class Study:
    """A study of metrics against people, and its files."""

    result: StudyResult
    judged: StudyVerdicts | None
    bill: Bill | None
    files: Sequence[Path]
    missing: str | None = None  # why there are no scatter plots

    @property
    def prompts(self) -> Mapping[str, Mapping[str, float | None]]:
        """Return Pearson's correlation of each judge by prompt."""
        from parsemark.study import prompt_table

        return prompt_table(self.result)

    @property
    def costs(self) -> dict[str, dict[str, float]]:
        """Return the cost of each judge."""
        from parsemark.study import cost_table

        return cost_table(self.result)


@dataclass(frozen=True)
class PairSample:
    """The pairs that were drawn from a run."""

    pairs: Sequence[PairCandidate]
    n_pictures: int


def study_sample(
    run: str | Path | Run,
    *,
    pairs: int = 100,
    out: str | Path = "pairs.json",
    metric: str | None = None,
    overwrite: bool = False,
    progress: Callable[[str, int | None], Advance] | None = None,
) -> PairSample:
    """Sample matched pairs of a run for people to rate, balanced over parser, complexity and score.

    Args:
        run: The run.
        pairs: Number of pairs.
        out: File to write; pictures of the pages go into a folder beside it.
        metric: Metric used to balance the sample: low and high scores are sampled equally often; default: the
            run's first.
        overwrite: Replace the file.
        progress: Called with what is done and its total; returns what to call with each step.
    """
    from parsemark.study.sample import draw_pairs, write_tasks

    target = Path(out)
    if target.exists() and not overwrite:
        raise UsageError(
            f"{out} already exists, and ratings belong to its pairs. Choose another file, or use --overwrite."
        )
    opened = api.load_run(run)
    drawn = draw_pairs(opened, pairs, metric=metric)
    begin = progress or (lambda title, total: _silent)
    n_pictures = write_tasks(opened, drawn, target, begin("Drawing pages", len(drawn)))
    return PairSample(drawn, n_pictures)


def study_agreement(
    run: str | Path | Run,
    *,
    protocols: Sequence[str] | None = None,
    neutral: bool = True,
    workers: int | None = None,
    events: Events | None = None,
) -> BoardAgreement:
    """Score a run under the rules of every benchmark and measure why they rank its parsers differently.

    Args:
        run: The run. Protocols that it has been scored with already are not scored again.
        protocols: Protocols to score with; by default the run's, and every benchmark that can
            score any pages.
        neutral: Also score outputs converted to a common notation, to measure its effect on scores.
        workers: Number of parallel workers; by default one per CPU.
        events: Receives progress, and notes on protocols that cannot be used here.
    """
    from parsemark.engine.scoring.score import score_run
    from parsemark.protocols import canonical_specs, get_protocol, page_protocols, with_options
    from parsemark.verdicts.boards_agreement import board_agreement

    opened, wanted = api.load_run(run), []
    specs = canonical_specs(protocols or [*opened.protocols, *page_protocols()])
    rules = get_protocol("tables").matching_rules
    matching = [spec for spec in specs if get_protocol(spec).table_matching or spec in rules]
    by_rule = list(rules) if len(matching) > 1 else []  # one measure under the rules of both
    for spec in dict.fromkeys([*specs, *by_rule]):
        try:
            get_protocol(spec).preload()
        except MissingDependencyError as error:
            if protocols:
                raise
            if events is not None:
                events.note(f"Left out: {spec}. {error}")
            continue
        wanted += [spec, with_options(spec, serialise="neutral")] if neutral else [spec]
    missing = [  # or scored by another version of its rules
        spec
        for spec in dict.fromkeys(wanted)
        if spec not in opened.protocols
        or opened.summary(spec).comparability != get_protocol(spec).comparability
    ]
    if missing:
        score_run(opened, protocols=missing, n_workers=workers, events=events)
    asked = {with_options(spec, serialise="raw") for spec in specs} if protocols else ()
    return board_agreement(opened, asked)


@dataclass(frozen=True)
class JudgeCheck:
    """Whether judges obey instructions inside table cells."""

    rows: Sequence[Resistance]
    bill: Bill


def study_judge_check(
    judges: Sequence[str],
    *,
    max_cost: float | None = None,
    answers: str | Path | None = None,
    progress: Callable[[str, int | None], Advance] | None = None,
) -> JudgeCheck:
    """Test whether instructions inside table cells change a judge's score.

    Args:
        judges: Specs of language models, such as `openai(model=NAME,base_url=URL)`.
        max_cost: Spending limit for judges, in USD.
        answers: File that stores judges' answers; by default in the cache folder.
        progress: Called with what is done and its total; returns what to call with each step.
    """
    from parsemark.judges.attacks import ATTACKS, resistance

    begin = progress or (lambda title, total: _silent)
    with _asking(judges, max_cost, answers) as (asked, asker):
        rows = resistance(asked, asker, begin("Asking judges", len(asked) * (len(ATTACKS) + 2)))
        return JudgeCheck(rows, Bill.of(asker))


@dataclass(frozen=True)
class MatcherComparisons:
    """The deterministic matcher beside one by language model, for each parser of a run."""

    rows: Sequence[MatcherComparison]
    bill: Bill


def study_judge_matchers(
    run: str | Path | Run,
    *,
    judge: str,
    max_cost: float | None = None,
    answers: str | Path | None = None,
    progress: Callable[[str, int | None], Advance] | None = None,
) -> MatcherComparisons:
    """Compare matching by n-grams with matching by a language model, one true table at a time.

    Args:
        run: The run.
        judge: Spec of the model that locates the matches.
        max_cost: Spending limit for the judge, in USD.
        answers: File that stores judges' answers; by default in the cache folder.
        progress: Called with what is done and its total; returns what to call with each step.
    """
    from parsemark.protocols.semantic.matchers import compare_matchers

    opened, begin = api.load_run(run), progress or (lambda title, total: _silent)
    keys = [(r.sample, r.parser) for r in opened.records()]
    pages = (
        (page, opened.prediction(sample, parser))
        for sample, parser in keys
        if (page := opened.truth(sample)) is not None
    )
    with _asking([judge], max_cost, answers) as ((chosen,), asker):
        rows = compare_matchers(pages, chosen, asker, begin("Asking judges", len(keys)))
        return MatcherComparisons(rows, Bill.of(asker))


@dataclass(frozen=True)
class StoredAnswers:
    """The answers of judges that are stored."""

    path: Path
    totals: Sequence[tuple[str, int, float]]  # judge, number of answers, and their cost in USD


def study_judge_answers(answers: str | Path | None = None) -> StoredAnswers:
    """Return how many answers of judges are stored, and what they cost; by default in the cache folder."""
    from parsemark.judges import AnswerStore

    with AnswerStore(None if answers is None else Path(answers)) as store:
        return StoredAnswers(store.path, list(store.totals()))
