"""A parser over its versions: as a page of the report with a chart of every figure, and as Markdown."""

import math
from functools import partial
from textwrap import fill
from typing import Any

from parsemark.plain_words import (
    counted,
    format_p,
    format_value,
    markdown_cell,
    rounded,
    signed,
    signed_interval,
)
from parsemark.report.charts import chart_to_json
from parsemark.report.chunks import write_chunk
from parsemark.report.drawing import Chart, ChartAxis, Series
from parsemark.report.names import safe_name, viewer_link
from parsemark.report.site import CHART_SCRIPTS, ReportPage, Site
from parsemark.verdicts.bisection import Bisection
from parsemark.verdicts.comparison import PageDifference
from parsemark.verdicts.history import (
    History,
    HistoryFigure,
    HistoryStep,
    VersionChange,
    histories_in,
    history_of,
    version_of,
    version_order,
)

SHOWN_PAGES = 12


def _write(site: Site) -> None:
    """Write `versions.html`: charts, steps, and the pages that changed at each."""
    source = site.source
    found = [history_of(source.run, names, source.protocol) for names in histories_in(source.run).values()]
    charts = {c.key: chart_to_json(c) for history in found for c in history_charts(history)}
    write_chunk(site.root, "versions", {"colours": source.colours, "charts": charts})
    site.page("versions", scripts=(*CHART_SCRIPTS, "js/charts.js"), parts=list(map(_part, found)))


def _part(history: History) -> dict[str, Any]:
    """Return the data of both the page and the Markdown."""
    changes = []
    for change in (change for change in history.changes if change.pages):
        link = partial(viewer_link, parser=change.after, beside=change.before)
        shown = [(p.sample, _worth(p), link(page=p.sample)) for p in change.pages[:SHOWN_PAGES]]
        n_more = max(0, len(change.pages) - SHOWN_PAGES)
        changes.append({"words": change_words(change), "pages": shown, "n_more": n_more})
    return {
        "name": history.parser,
        "charts": [chart.key for chart in history_charts(history)],
        "labels": [figure.label for figure in history.figures],
        "rows": _rows(history),
        "steps": [step_words(figure, step) for figure, step in history.steps],
        "changes": changes,
        "n_pages": counted(history.n_pages, "page"),
        "n_documents": counted(history.n_documents, "document"),
    }


def _rows(history: History) -> list[list[str]]:
    """Return the version by version: its values, each with an arrow where a real step led to it."""
    rows = []
    for k, name in enumerate(history.versions):
        cells = [version_of(name)]
        for figure in history.figures:
            step = figure.steps[k - 1] if k else None
            arrow = {"better": " ▲", "worse": " ▼"}.get(step.state, "") if step else ""
            cells.append(format_value(figure.points[k].value, figure.style) + arrow)
        rows.append(cells)
    return rows


def history_charts(history: History) -> list[Chart]:
    """Return a chart of every figure: values over versions, and rings where a step is real."""
    names = tuple(version_of(name) for name in history.versions)
    return [chart for figure in history.figures if (chart := _chart(history, figure, names)) is not None]


def _chart(history: History, figure: HistoryFigure, names: tuple[str, ...]) -> Chart | None:
    known = [(k, p) for k, p in enumerate(figure.points) if p.value is not None]
    if not known:
        return None
    intervals = [(p.low, p.high) for _, p in known if p.low is not None and p.high is not None]
    whole = len(intervals) == len(known)
    lows, highs = zip(*intervals, strict=True) if whole else ((), ())
    x, y = tuple(float(k) for k, _ in known), tuple(p.value or 0.0 for _, p in known)
    own, labels = history.versions[-1], tuple(names[k] for k, _ in known)
    series = [
        Series(history.parser, "line", x, y, parser=own),
        Series("versions", "points", x, y, parser=own, low=lows, high=highs, labels=labels),
    ]
    for state in ("better", "worse"):
        at = [(k, p.value or 0.0) for k, p in known if k and figure.steps[k - 1].state == state]
        if at:
            place, values = zip(*at, strict=True)
            steps = tuple(f"{names[k - 1]} → {names[k]}" for k in place)
            series.append(Series(f"{state} than before", "points", place, values, labels=steps))
    is_score = figure.style == "score"
    together = "The intervals of all versions are simultaneous 95 % CIs. " if whole else ""
    return Chart(
        safe_name(f"history-{history.parser}-{figure.name}"),
        figure.label,
        f"{history.parser} over its versions. Grey points: significant steps.",
        f"{together}A grey point marks a version that differs significantly from the one before.",
        ChartAxis("version", kind="category", categories=names),
        ChartAxis(figure.label, 0.0, None if not is_score else max(1.0, *y)),
        tuple(series),
    )


def step_words(figure: HistoryFigure, step: HistoryStep) -> str:
    """Return a real step in one sentence."""
    before, after = version_of(step.before), version_of(step.after)
    if figure.style != "score":
        change = f"{figure.label} {signed(None if step.difference is None else 100 * step.difference, 0)} %"
    else:
        change = f"{figure.label} {signed(step.difference)} ({signed_interval(step.low, step.high)})"
    p = "" if step.p is None else f", p {format_p(step.p)}"
    return f"{before} → {after}: {step.state}, {change}{p}"


def change_words(change: VersionChange) -> str:
    """Return how many pages a version gives other outputs for, and what that is worth."""
    better, worse = change.n_better, change.n_worse
    scores = f"{better} with a higher score, {worse} with a lower one"
    worth = scores if better + worse else "no score changed"
    return (
        f"{version_of(change.before)} → {version_of(change.after)}: the output changed on "
        f"{counted(len(change.pages), 'page')}; {worth}"
    )


def _worth(page: PageDifference) -> str:
    if not math.isfinite(page.difference):
        return "(not scored)"
    return f"{rounded(page.b)} → {rounded(page.a)}" if page.difference else "(same score)"


def history_markdown(history: History, width: int | None = None) -> str:
    """Return versions and figures, the real steps, and the pages that changed. What does not fit into the
    width of a terminal is a paragraph for each version, and lines are broken.
    """
    part = _part(history)
    heads, *rows = [
        f"| {' | '.join(map(markdown_cell, row))} |" for row in [["version", *part["labels"]], *part["rows"]]
    ]
    lines = [heads, f"|---{'|---:' * len(part['labels'])}|", *rows, ""]
    if width is not None and max(map(len, lines)) > width:
        lines = []
        for version, *own in part["rows"]:
            said = (f"{label} {value}" for label, value in zip(part["labels"], own, strict=True))
            lines += [f"{version}: {'; '.join(said)}", ""]
    if part["steps"]:
        lines += ["Significant changes (5 % error rate over all versions and scores together):", ""]
        lines += [f"- {words}" for words in part["steps"]]
    else:
        lines.append("No change is significant (5 % error rate over all versions and scores together).")
    for change in part["changes"]:
        named = ", ".join(f"`{sample}` {values}" for sample, values, _ in change["pages"])
        named += f" and {change['n_more']} more" if change["n_more"] else ""
        lines += ["", f"{change['words']}{f': {named}' if named else ''}."]
    if not part["changes"]:
        lines += ["", "All versions give equal outputs on every page."]
    if width is not None:
        lines = [fill(line, width, subsequent_indent="  ", break_on_hyphens=False) for line in lines]
    return "\n".join(lines) + "\n"


def bisection_words(parser: str, found: Bisection, what: str) -> str:
    """Return the result in one line, and its evidence in the next, or the next two."""
    if found.first_bad is None:
        first, last = found.versions[0], found.versions[-1]
        same = f"{parser}: {last} is as good as {first} in {what}."
        return f"{same} Nothing broke, or --good and --bad are swapped."
    good, bad = (found.probe(v) for v in (found.last_good, found.first_bad))
    is_mended = version_order(f"x@{found.versions[0]}") > version_order(f"x@{found.versions[-1]}")
    before, after = (bad, good) if is_mended else (good, bad)
    is_known = before.value is not None and after.value is not None
    values = f" {rounded(before.value)} → {rounded(after.value)}" if is_known else ""
    between = f" (or one of {', '.join(found.unknown)}, which cannot be used here)" if found.unknown else ""
    tried = f"{found.n_tried} of {len(found.versions)} versions tried"
    did, was = ("fixed", "bad") if is_mended else ("broke", "good")
    reading = ""
    if found.is_reading:
        reading = (
            "\nThe outputs of both are nearly equal, so the change of the score comes from how the output is "
            "read."
        )
    return (
        f"{parser} {after.version} {did} {what}{values}{between}: {was} until {before.version}; {tried}.\n"
        f"{found.step_words()}{reading}"
    )


PAGE = ReportPage(
    "versions",
    _write,
    "Versions",
    under="compare",
    is_there=lambda site: bool(histories_in(site.source.run)),
)
