"""One page for a folder of runs: what was run, when, on which corpus, the leader, and a trend per parser."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import quote

from parsemark.errors import ParsemarkError, UsageError
from parsemark.report.build import MARK, old_report
from parsemark.report.charts import chart_to_json
from parsemark.report.chunks import write_chunk
from parsemark.report.colours import colour_indices
from parsemark.report.drawing import Chart, ChartAxis, Series
from parsemark.report.site import CHART_SCRIPTS, Link, SitePages, new_site
from parsemark.store import Manifest, Run
from parsemark.store.summary import Summary

MOST_IN_TREND = 40  # runs of one chart, the newest ones


@dataclass(frozen=True)
class ListedRun:
    """A run of the folder, or why it cannot be read."""

    name: str
    manifest: Manifest | None = None
    summaries: tuple[Summary, ...] = field(default_factory=tuple)
    report: str = ""  # address of its report, where it has one
    problem: str = ""

    @property
    def answers(self) -> list[tuple[str, str, str]]:
        """Return protocol, leader and the leader's score with its interval, for each protocol."""
        return [(s.protocol, s.ranking.best or "–", _score(s)) for s in self.summaries]


def runs_in(folder: Path) -> list[Path]:
    """Return the runs that lie in a folder, itself excepted."""
    return sorted(path.parent for path in folder.glob("*/manifest.json"))


def build_runs_index(folder: Path, out: Path) -> Path:
    """Write the page of a folder of runs and return it; UsageError if the folder holds no run."""
    paths = runs_in(folder)
    if not paths:
        raise UsageError(f"{folder} is not a run and contains none.")
    runs = [_listed(path, out) for path in paths]
    runs.sort(key=lambda run: (run.manifest.created if run.manifest else "", run.name), reverse=True)
    with new_site(out, MARK, "parsemark report", partial(old_report, folder, out)) as made:
        _RunsIndex(made).write(runs)
    return out / "index.html"


class _RunsIndex(SitePages):
    """The folder of the page."""

    def navigation(self) -> list[Link]:
        """Return the page itself: it is the only one."""
        return [Link("index", "index.html", "Runs")]

    def write(self, runs: Sequence[ListedRun]) -> None:
        """Write the page with its data."""
        self.write_assets()
        names = sorted({parser for run in runs for summary in run.summaries for parser in summary.parsers})
        charts = _trends(runs)
        data = {"colours": colour_indices(names), "charts": {c.key: chart_to_json(c) for c in charts}}
        write_chunk(self.root, "runs", data)
        scripts = (*CHART_SCRIPTS, "js/charts.js")
        self.page("index", template="runs.html", scripts=scripts, runs=runs, charts=charts)


def _listed(path: Path, out: Path) -> ListedRun:
    try:
        run = Run.open(path)
        summaries = tuple(run.summary(spec) for spec in run.protocols)
    except (ParsemarkError, OSError) as error:
        return ListedRun(path.name, problem=str(error))
    has_report = (path / "report" / "index.html").is_file()
    report = Path(path / "report" / "index.html").resolve()
    address = quote(str(_relative(report, out.resolve()))) if has_report else ""
    return ListedRun(path.name, run.manifest, summaries, address)


def _relative(path: Path, start: Path) -> Path:
    """Return the way from a folder to a file, also over folders above."""
    shared = 0
    while shared < min(len(path.parts), len(start.parts)) and path.parts[shared] == start.parts[shared]:
        shared += 1
    return Path(*[".."] * (len(start.parts) - shared), *path.parts[shared:])


def _score(summary: Summary) -> str:
    best = summary.ranking.best
    figure = summary.figure(best, summary.primary) if best else None
    if figure is None or figure.value is None:
        return "–"
    interval = f" ({figure.low:.2f} to {figure.high:.2f})" if figure.interval else ""
    return f"{summary.info(summary.primary).label} {figure.value:.2f}{interval}"


def _trends(runs: Sequence[ListedRun]) -> list[Chart]:
    """Return one chart for each protocol and corpus that several runs share, oldest run first."""
    groups: dict[tuple[str, int, str], list[tuple[ListedRun, Summary]]] = {}
    for run in reversed(runs):
        for summary in run.summaries:
            corpus = run.manifest.corpus.hash if run.manifest else ""
            groups.setdefault((summary.protocol, summary.comparability, corpus), []).append((run, summary))
    charts = []
    for number, ((protocol, _, _), members) in enumerate(groups.items(), start=1):
        shown = members[-MOST_IN_TREND:]
        series = [line for parser in _parsers(shown) for line in _line(parser, shown)]
        info = shown[-1][1].info(shown[-1][1].primary)
        manifest = shown[-1][0].manifest
        if len(shown) < 2 or not series or manifest is None:
            continue
        corpus = f"{manifest.corpus.name} {manifest.corpus.version}"
        axis = ChartAxis("run", kind="category", categories=tuple(run.name for run, _ in shown))
        axes = axis, ChartAxis(info.label, 0.0, info.top)
        words = "One line per parser, oldest run first. Bars: 95 % CI."
        chart = Chart.of(f"trend-{number}", f"{protocol} on {corpus}", words, "", axes, series)
        charts += [chart] if chart else []
    return charts


def _parsers(members: Sequence[tuple[ListedRun, Summary]]) -> list[str]:
    return sorted({parser for _, summary in members for parser in summary.parsers})


def _line(parser: str, members: Sequence[tuple[ListedRun, Summary]]) -> list[Series]:
    """Return a parser's line over the runs, and its points, which lead to the reports."""
    figures = [(k, run, summary.figure(parser, summary.primary)) for k, (run, summary) in enumerate(members)]
    known = [(k, run, f) for k, run, f in figures if f is not None and f.value is not None]
    if not known:
        return []
    x, y = tuple(float(k) for k, _, _ in known), tuple(f.value or 0.0 for _, _, f in known)
    ends = [f.interval for _, _, f in known]
    low, high = (tuple(e[i] for e in ends if e) if all(ends) else () for i in (0, 1))
    links = tuple(run.report for _, run, _ in known)
    labels = tuple(f"{parser}, {run.name}" for _, run, _ in known)
    line = Series(parser, "line", x, y, parser=parser, low=low, high=high)
    points = Series(parser, "points", x, y, parser=parser, labels=labels, links=links if all(links) else ())
    return [line, points]
