"""Comparisons of stored runs: two parsers of one run, or the parsers that two runs share."""

from __future__ import annotations

import difflib
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from parsemark.errors import UnknownNameError, UsageError
from parsemark.plain_words import counted, rounded, signed, signed_interval
from parsemark.protocols import FigureInfo, Summary, Verdict, get_protocol
from parsemark.protocols import comparison as protocol_comparison
from parsemark.protocols.comparison import Comparison, format_p, in_words
from parsemark.protocols.run_tables import RunTables
from parsemark.report.names import safe_name, viewer_link
from parsemark.report.wording import DIGITS, format_value
from parsemark.store import Run

SHOWN_PAGES = 10
LINKED_PAGES = 3


def compare_parsers(run: Run, a: str, b: str, protocol: str | None = None) -> Comparison:
    """A against B on the pages of one run."""
    for name in (a, b):
        _require(run, name)
    summary = _summary(run, protocol)
    recipe = get_protocol(summary.protocol)
    with run.report_damage():
        return protocol_comparison.compare_parsers(recipe, summary, run.run_tables(summary.protocol), a, b)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The parsers that two runs share, each against itself: new run minus old run."""

    figure: str
    comparisons: tuple[Comparison, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]

    def drops(self, below: float = 0.0) -> list[Comparison]:
        """Parsers whose primary figure is worse, and by more than allowed."""
        if math.isnan(below):
            raise UsageError("A difference that is allowed must be a number.")
        worse = (c for c in self.comparisons if c.primary.state == "worse")
        return [c for c in worse if c.gain is not None and c.gain < below]


def compare_runs(old: Run, new: Run, protocol: str | None = None) -> RunComparison:
    """Every parser that both runs have, on the pages of both.

    Raises:
        UsageError: The runs are of different corpora, pages, or protocol versions, or share no parser.
    """
    old_names, new_names = set(parsers_of(old)), set(parsers_of(new))
    shared = sorted(old_names & new_names)
    if not shared:
        raise UsageError(
            f"{old.path} and {new.path} have no parser in common, so there is nothing to compare."
        )
    require_same_corpus(old, new)
    # Without a wish: the first protocol of the new run that the old one was scored by, too.
    wanted = protocol or next((spec for spec in new.protocols if spec in old.protocols), None)
    summary = _summary(new, wanted)
    sides = [(_summary(run, wanted), run.run_tables(_summary(run, wanted).protocol)) for run in (old, new)]
    with old.report_damage(), new.report_damage():
        protocol_comparison.require_comparable(sides[0][0], sides[1][0])
        require_same_pages(sides[0][1], sides[1][1])
        found = protocol_comparison.compare_runs(get_protocol(summary.protocol), sides[0], sides[1], shared)
    only_old, only_new = sorted(old_names - new_names), sorted(new_names - old_names)
    return RunComparison(summary.primary, tuple(found), tuple(only_old), tuple(only_new))


def require_same_corpus(old: Run, new: Run) -> None:
    """Refuse runs whose pages have other truths."""
    before, now = old.manifest.corpus, new.manifest.corpus
    if before.hash != now.hash:
        raise UsageError(
            f"The runs are of different corpora: {before.name} {before.version} ({before.hash[:8]}) and "
            f"{now.name} {now.version} ({now.hash[:8]}). Make the old run again, or save a new baseline."
        )


def require_same_pages(old: RunTables, new: RunTables) -> None:
    """Refuse runs of which one left out pages: it may be better on the others alone."""
    before, now = set(old.samples["sample"]), set(new.samples["sample"])
    if before != now:
        some = sorted(before ^ now)[:3]
        raise UsageError(
            f"The runs are of different pages: {len(before - now)} only in the old one, {len(now - before)} "
            f"only in the new one ({', '.join(some)}, …). Run both with the same --pages."
        )


def comparison_markdown(comparison: Comparison, *, better_first: bool = True) -> str:
    """Words, figures and most changed pages, ready for a pull request."""
    lines = [
        in_words(comparison, better_first=better_first),
        "",
        f"| figure | {_cell(comparison.a)} | {_cell(comparison.b)} "
        "| difference | 95 % interval | p | verdict |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    lines += [f"| {v.figure} | {_numbers(v, comparison.info(v.figure))} |" for v in comparison.verdicts]
    if comparison.pages:
        lines += ["", f"Pages that differ most ({len(comparison.pages)} of {comparison.n_pages} differ):", ""]
        lines += [
            f"- `{page.sample}`: {rounded(page.a)} against {rounded(page.b)}"
            for page in comparison.pages[:SHOWN_PAGES]
        ]
    return "\n".join(lines) + "\n"


def side_by_side(run: Run, comparison: Comparison, *, older: Path | None = None) -> str:
    """Where the two can be looked at beside the truth: addresses in the run's report, or how to make one.

    Args:
        run: The run whose report is meant; of two runs the new one.
        comparison: Of two parsers, or of one parser in two runs.
        older: The older run that the second one is of, if it is of another.
    """
    report = run.path / "report"
    a = comparison.a.removesuffix(" (new)") if older else comparison.a
    shown = [a] if older else [a, comparison.b]
    if not report_holds(report, shown, older=older is not None):
        again = f" --against {shlex.quote(str(older))}" if older else ""
        return f"Side by side: parsemark report {shlex.quote(str(run.path))}{again}, then Compare.\n"
    beside = {"beside_older": a} if older else {"beside": comparison.b}
    base = report.resolve().as_uri()
    lines = [f"Side by side: <{base}/{viewer_link(parser=a, queue='apart', **beside)}>"]
    lines += [
        f"- `{page.sample}`: <{base}/{viewer_link(page=page.sample, parser=a, **beside)}>"
        for page in comparison.pages[:LINKED_PAGES]
    ]
    return "\n".join(lines) + "\n"


def report_holds(report: Path, parsers: Sequence[str], *, older: bool) -> bool:
    """Whether a run's report is there with these parsers, and has an older run where that is asked for."""
    parts = [report / "viewer.html", *([report / "data" / "older"] if older else [])]
    parts += [report / f"parser-{safe_name(name)}.html" for name in parsers]
    return all(part.exists() for part in parts)


def runs_markdown(result: RunComparison, below: float | None = None) -> str:
    """The comparison of two runs for a pull request: one row for each parser, then the details."""
    worse = result.drops()
    head = f"**{counted(len(worse), 'significant drop')}" if worse else "No significant drop"
    if worse and below is not None:
        head += f", {len(result.drops(below)) or 'none'} below {below:g}"
    head += ".**" if worse else "."
    lines = [
        head,
        "",
        f"| parser | new | old | difference in {result.figure} | 95 % interval | p | verdict |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    lines += [
        f"| {_parser(c)} | {_numbers(c.primary, c.info(c.primary.figure))} |" for c in result.comparisons
    ]
    for label, names in (("Only in the old run", result.only_old), ("Only in the new run", result.only_new)):
        if names:
            lines += ["", f"{label}: {', '.join(_cell(n) for n in names)}."]
    for c in worse:
        lines += ["", f"### {_parser(c)}", "", comparison_markdown(c, better_first=False).rstrip()]
    return "\n".join(lines) + "\n"


def parsers_of(run: Run) -> list[str]:
    """The parsers that have rows in a run."""
    return sorted(run.table("parses")["parser"].unique())


def _summary(run: Run, protocol: str | None) -> Summary:
    """The summary of a protocol, given by its spec or by its name; by default the first one of the run."""
    if protocol is None:
        return run.summary(next(iter(run.protocols), None))
    spec = str(get_protocol(protocol))
    return run.summary(spec)


def _require(run: Run, parser: str) -> None:
    names = parsers_of(run)
    if parser not in names:
        raise UnknownNameError(
            "parser", parser, difflib.get_close_matches(parser, names, n=3, cutoff=0.3) or names
        )


def _parser(comparison: Comparison) -> str:
    return _cell(comparison.a.removesuffix(" (new)"))


def _numbers(v: Verdict, info: FigureInfo) -> str:
    values = [format_value(value, info.style) for value in (v.value_a, v.value_b)]
    interval = signed_interval(v.low, v.high).replace(" to ", " … ")
    state = v.state.replace("_", " ")
    return " | ".join([*values, signed(v.difference, DIGITS[info.style]), interval, format_p(v.p), state])


def _cell(text: str) -> str:
    """A name that cannot break out of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
