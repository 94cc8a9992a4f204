"""What `compare` decided, as sentences, Markdown and JUnit."""

import math
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

from parsemark.plain_words import (
    DIGITS,
    attribute_name,
    counted,
    format_value,
    markdown_cell,
    one_line,
    rounded,
    signed,
    signed_interval,
    state_words,
)
from parsemark.protocols import FigureInfo, Summary, Verdict
from parsemark.report.names import safe_name, viewer_link
from parsemark.store import Run
from parsemark.verdicts.comparison import Comparison, RunComparison, SliceDifference, slice_differences
from parsemark.verdicts.error_types import Changes, errors_beside, errors_between
from parsemark.verdicts.gate import GateResult

SHOWN_PAGES = 10
LINKED_PAGES = 3
PageLink = Callable[[str, str], str]  # parser and page to where the page can be looked at


def in_words(v: Verdict, info: FigureInfo, extent: str, *, better_first: bool = True) -> str:
    """Return the answer to "is A better than B?" as one or two sentences. `extent`: on how many pages of how
    many documents.

    With `better_first` the better one, and its number, is named first; without, A stays first, and signs are
    those of A minus B.
    """
    if v.state == "worse" and better_first:
        v = v.seen_from(v.b)
    a, b, label, interval = v.a, v.b, info.label, ""
    if v.low is not None and v.high is not None:
        interval = f", 95 % CI {signed_interval(v.low, v.high)}"
    values = f"{rounded(v.value_a)} ({a}) vs {rounded(v.value_b)} ({b})"
    evidence = f"{label} {values}, difference {signed(v.difference)}{interval}, on {extent}"
    if v.difference is None:
        without = " and ".join(name for name, value in ((a, v.value_a), (b, v.value_b)) if value is None)
        return f"{a} and {b} cannot be compared: {without} has no {label} on these pages ({values})."
    if v.state in ("better", "worse"):
        more = v.also_for_new_types
        also = " This also holds for new document types." if more == "yes" else ""
        also = " Whether this holds for new document types is open." if more == "open" else also
        return f"{a} is {v.state} than {b}: {evidence}.{also}"
    if v.state == "equal":
        return f"{a} and {b} are equal on every document: {label} {rounded(v.value_a)}, on {extent}."
    if v.state == "equivalent":
        return f"{a} and {b} are equivalent within ±{info.margin or 0:g}: {evidence}."
    if v.low is None:
        return (
            f"{a} and {b} are not compared: {label} {values} on {extent}. There are too few documents for a "
            "confidence interval, so whether the difference holds for other documents is unknown."
        )
    return f"{a} and {b} are statistically indistinguishable: {evidence}."


def comparison_markdown(comparison: Comparison, *, better_first: bool = True) -> str:
    """Return words, figures and most changed pages, ready for a pull request."""
    first = comparison.primary
    words = in_words(first, comparison.info(first.figure), comparison.extent, better_first=better_first)
    if comparison.is_incomplete:
        values = f"{rounded(first.value_a)} vs {rounded(first.value_b)} so far"
        words = f"Whether {first.a} or {first.b} is better is open: the run is incomplete ({values})."
    lines = [
        words,
        "",
        f"| score | {markdown_cell(comparison.a)} | {markdown_cell(comparison.b)} "
        "| difference | 95 % CI | verdict |",
        "|---|---:|---:|---:|---:|---|",
    ]
    infos = [(v, comparison.info(v.figure)) for v in comparison.verdicts]
    lines += [f"| {markdown_cell(info.label)} | {_numbers(v, info)} |" for v, info in infos]
    lines += ["", buckets_markdown(comparison)]
    if comparison.pages:
        lines += ["", f"Pages that differ most ({len(comparison.pages)} of {comparison.n_pages} differ):", ""]
        lines += [
            f"- `{page.sample}`: {rounded(page.a)} vs {rounded(page.b)}"
            for page in comparison.pages[:SHOWN_PAGES]
        ]
    return "\n".join(lines) + "\n"


def buckets_markdown(comparison: Comparison) -> str:
    """Count the pages on which each is better, and of those on which neither is, the perfect ones, in a line.

    Of two runs, the words are those of `gate`: fixed, regressed, still failing, unchanged.
    """
    if not comparison.a.endswith(" (new)"):
        a_better, b_better, imperfect, perfect = comparison.buckets.values()
        a, b = markdown_cell(comparison.a), markdown_cell(comparison.b)
        equal = f"equal but imperfect {imperfect:,}, both perfect {perfect:,}"
        return f"Pages: {a} better {a_better:,}, {b} better {b_better:,}, {equal}."
    counts = ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in comparison.buckets.items())
    return f"Pages, {markdown_cell(comparison.b)} → {markdown_cell(comparison.a)}: {counts}."


def slices_markdown(slices: Sequence[SliceDifference], a: str, b: str) -> str:
    """Return the primary figure on each group of pages, without tests: many groups are small."""
    lines = [
        "",
        f"| pages with | pages | {markdown_cell(a)} | {markdown_cell(b)} | difference |",
        "|---|---:|---:|---:|---:|",
    ]
    for part in slices:
        difference = None if part.a is None or part.b is None else part.a - part.b
        group = f"{attribute_name(part.attribute)}: {part.value}"
        cells = (group, str(part.n_pages), rounded(part.a), rounded(part.b))
        lines.append(f"| {' | '.join(map(markdown_cell, cells))} | {signed(difference)} |")
    return "\n".join(lines) + "\n"


def side_by_side(run: Run, comparison: Comparison, *, older: Path | None = None) -> str:
    """Return where the two can be looked at beside the truth: addresses in the report of the run (of two, the
    new one), or how to make one. `older`: the run that the second one is of, if it is of another.
    """
    report = run.path / "report"
    a = comparison.a.removesuffix(" (new)") if older else comparison.a
    shown = [a] if older else [a, comparison.b]
    # The report has to be there with these parsers, and with an older run where that is asked for.
    parts = [report / "viewer.html", *(report / f"parser-{safe_name(name)}.html" for name in shown)]
    if not all(part.exists() for part in (*parts, *([report / "data" / "older"] if older else []))):
        again = f" --old {shlex.quote(str(older))}" if older else ""
        return f"Side by side: parsemark report {shlex.quote(str(run.path))}{again}, then Compare.\n"
    beside = {"beside_older": a} if older else {"beside": comparison.b}
    base = report.resolve().as_uri()
    lines = [f"Side by side: <{base}/{viewer_link(parser=a, queue='apart', **beside)}>"]
    lines += [
        f"- `{page.sample}`: <{base}/{viewer_link(page=page.sample, parser=a, **beside)}>"
        for page in comparison.pages[:LINKED_PAGES]
    ]
    return "\n".join(lines) + "\n"


def report_link(run: Run, base: str | None) -> PageLink | None:
    """Return where the pages of a run can be looked at: in the report at an address, or in the run's own
    one.
    """
    report = run.path / "report"
    if base is None and not (report / "viewer.html").is_file():
        return None
    root = base.rstrip("/") if base is not None else report.resolve().as_uri()
    return lambda parser, sample: f"<{root}/{viewer_link(page=sample, parser=parser)}>"


def runs_markdown(result: RunComparison, below: float | None = None) -> str:
    """Return the comparison of two runs for a pull request: one row for each parser, then the details."""
    worse = result.drops()
    label = result.comparisons[0].info(result.figure).label if result.comparisons else result.figure
    head = f"**{counted(len(worse), 'significant drop')}" if worse else "No significant drop"
    untested = [c for c in result.comparisons if c.primary.low is None and c.primary.state != "equal"]
    if untested and len(untested) == len(result.comparisons):
        head = "Too few documents to test for a drop"
    if worse and below is not None:
        head += f", {len(result.drops(below)) or 'none'} below {below:g}"
    head += ".**" if worse else "."
    lines = [
        head,
        "",
        f"| parser | new | old | difference in {label} | 95 % CI | verdict |",
        "|---|---:|---:|---:|---:|---|",
    ]
    found = [(_parser(c), c.primary, c.info(c.primary.figure)) for c in result.comparisons]
    lines += [f"| {parser} | {_numbers(verdict, info)} |" for parser, verdict, info in found]
    for label, names in (("Only in the old run", result.only_old), ("Only in the new run", result.only_new)):
        if names:
            lines += ["", f"{label}: {', '.join(markdown_cell(n) for n in names)}."]
    for c in worse:
        lines += ["", f"### {_parser(c)}", "", comparison_markdown(c, better_first=False).rstrip()]
    return "\n".join(lines) + "\n"


def _parser(comparison: Comparison) -> str:
    return markdown_cell(comparison.a.removesuffix(" (new)"))


def _numbers(v: Verdict, info: FigureInfo) -> str:
    values = [format_value(value, info.style) for value in (v.value_a, v.value_b)]
    interval = "–" if v.state == "equal" else signed_interval(v.low, v.high).replace(" to ", " … ")
    state = state_words(v.state)
    return " | ".join([*values, signed(v.difference, DIGITS[info.style]), interval, state])


def gate_markdown(result: GateResult, link: PageLink | None = None) -> str:
    """Write a gate for a pull request: checks, errors by type, and pages that got worse with their links."""
    failed = result.failed
    checks = counted(len(result.checks), "check")
    head = f"**Gate failed: {len(failed)} of {checks}.**" if failed else f"Gate passed: {checks}."
    lines = [head, "", *(f"- {markdown_cell(verdict)}" for verdict in result.verdicts)]
    if result.buckets:
        heads = [name.replace("_", " ") for name in next(iter(result.buckets.values()))]
        lines += ["", f"| pages | {' | '.join(heads)} |", f"|---|{'---:|' * len(heads)}"]
        for parser, counts in result.buckets.items():
            lines.append(f"| {markdown_cell(parser)} | {' | '.join(f'{n:,}' for n in counts.values())} |")
    lines += ["", "| | parser | check | result | allowed |", "|---|---|---|---|---|"]
    for check in sorted(result.checks, key=lambda c: c.passed):
        cells = (check.parser, check.name, check.found, check.allowed)
        lines.append(f"| {'✓' if check.passed else '✗'} | {' | '.join(map(markdown_cell, cells))} |")
    below = {(page.parser, str(page)) for page in result.worse}
    for check in failed:
        # Pages that got worse are listed once, below.
        if pages := [page for page in check.pages if (check.parser, page) not in below]:
            lines += ["", f"{markdown_cell(check.parser)}, {markdown_cell(check.name)}:", ""]
            lines += [f"- {markdown_cell(page)}" for page in _first(pages)]
    for parser, changes in result.errors.items():
        lines += ["", *errors_markdown(parser, changes)]
    lines += _worse_markdown(result, link)
    questions = dict.fromkeys((check.name, check.question) for check in result.checks if check.question)
    if questions:
        lines += ["", "What each check asks:", ""]
        lines += [f"- {markdown_cell(name)}: {question}" for name, question in questions]
    lines += ["", *(f"- {markdown_cell(note)}" for note in result.notes)] if result.notes else []
    return "\n".join(lines) + "\n"


def errors_markdown(parser: str, changes: Changes, sides: str = "old → new") -> list[str]:
    """Return the number of elements with each error type on both sides."""
    who = markdown_cell(parser)
    if changes is None:
        return [f"{who}: this protocol lists no errors by type."]
    if not changes:
        return [f"{who}: no errors of any type."]
    changed = [str(change) for change in changes if change.old != change.new]
    if not changed:
        return [f"{who}: the same number of elements with each type of error."]
    n_same = len(changes) - len(changed)
    rest = f" ({counted(n_same, 'other type')} unchanged)" if n_same else ""
    named = f"{who}, number" if who else "Number"
    return [f"{named} of elements with each type of error, {sides}: {', '.join(changed)}{rest}."]


def _worse_markdown(result: GateResult, link: PageLink | None) -> list[str]:
    """List the pages that got worse, also where the gate is passed."""
    lines: list[str] = []
    for parser in dict.fromkeys(page.parser for page in result.worse):
        own = [page for page in result.worse if page.parser == parser]
        lines += ["", f"{markdown_cell(parser)}: {counted(len(own), 'page')} got worse.", ""]
        said = [markdown_cell(str(p)) + (f" [look]({link(parser, p.sample)})" if link else "") for p in own]
        lines += [f"- {line}" for line in _first(said)]
    return lines


def _first(lines: Sequence[str]) -> list[str]:
    """Return the first lines, and how many there are besides."""
    more = len(lines) - SHOWN_PAGES
    return [*lines[:SHOWN_PAGES], *([f"and {more} more (--json has them all)"] if more > 0 else [])]


def parsers_text(run: Run, found: Comparison, protocol: str | None = None, *, slices: bool = False) -> str:
    """Return all that `compare` prints of two parsers of a run."""
    summary = run.summary(protocol)
    changes, both = errors_beside(run, summary.protocol, found.a, found.b), f"{found.a} and {found.b}"
    has_changed = any(change.old != change.new for change in changes or ())
    sides = markdown_cell(f"{found.b} → {found.a}")
    (errors,) = errors_markdown("" if has_changed else both, changes, sides)
    groups = slice_differences((summary, found.a), (summary, found.b)) if slices else []
    sliced = slices_markdown(groups, found.a, found.b) if slices else ""
    parts = (comparison_markdown(found), f"\n{errors}\n", sliced, _of_which(summary))
    return "".join((*parts, "\n" + side_by_side(run, found)))


def two_runs_text(
    old: Run, new: Run, result: RunComparison, below: float | None = None, *, slices: bool = False
) -> str:
    """Return all that `compare` prints of two runs."""
    parts = [runs_markdown(result, below)]
    shared = [comparison.a.removesuffix(" (new)") for comparison in result.comparisons]
    summary, before = new.summary(result.protocol), old.summary(result.protocol)
    for parser, changes in errors_between(old, new, summary.protocol, shared).items():
        parts.append("\n" + "\n".join(errors_markdown(parser, changes)) + "\n")
        if slices:
            groups = slice_differences((summary, parser), (before, parser))
            parts.append(slices_markdown(groups, "new", "old"))
    changed = sorted(result.comparisons, key=lambda c: math.inf if c.gain is None else c.gain)
    return "".join([*parts, _of_which(summary), "\n", side_by_side(new, changed[0], older=old.path)])


def _of_which(summary: Summary) -> str:
    return f"\nScores of protocol {summary.protocol}.\n" + "".join(
        f"\nNote: {note}\n" for note in summary.notes
    )


def gate_junit(result: GateResult) -> str:
    """Write a gate for the test views of forges: one test case per check, also for those not made."""
    n_skipped = len(result.skipped)
    counts = {"tests": len(result.checks) + n_skipped, "failures": len(result.failed), "skipped": n_skipped}
    named = {"name": "parsemark gate"} | {key: str(n) for key, n in counts.items()}
    suite = ElementTree.Element("testsuite", named)
    for check in result.checks:
        case = ElementTree.SubElement(suite, "testcase", classname=_xml(check.parser), name=_xml(check.name))
        if not check.passed:
            message = _xml(f"{check.found}, allowed {check.allowed}")
            failure = ElementTree.SubElement(case, "failure", message=message)
            errors = errors_markdown(check.parser, result.errors.get(check.parser, ()))
            failure.text = _xml("\n".join([*_first(check.pages), *errors]))
    for left in result.skipped:
        case = ElementTree.SubElement(suite, "testcase", classname=_xml(left.parser), name=_xml(left.name))
        ElementTree.SubElement(case, "skipped", message=_xml(left.why))
    said = [str(page) for page in result.worse]
    said += [line for parser, changes in result.errors.items() for line in errors_markdown(parser, changes)]
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join(said))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def gate_annotations(result: GateResult) -> str:
    """Write what failed, and what got worse without failing, as annotations of a GitHub job."""
    lines = []
    for check in result.failed:
        text = "\n".join([f"{check.found}, allowed {check.allowed}", *_first(check.pages)])
        lines.append(_annotation("error", f"{check.parser}: {check.name}", text))
    for parser, changes in result.errors.items():
        more = [str(change) for change in changes or () if change.new > change.old]
        worse = _first([str(page) for page in result.worse if page.parser == parser])
        if more or worse:
            lines.append(_annotation("warning", f"{parser} got worse", "\n".join([", ".join(more), *worse])))
    return "".join(f"{line}\n" for line in lines)


def _annotation(level: str, title: str, text: str) -> str:
    """Return one workflow command; what others wrote cannot end it or begin another."""
    clean = one_line(title, 200).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    body = "\n".join(one_line(line, 400) for line in text.splitlines() if line)
    return f"::{level} title={clean}::" + body.replace("%", "%25").replace("\n", "%0A")


def _xml(text: str) -> str:
    """Remove the characters that XML cannot have."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
