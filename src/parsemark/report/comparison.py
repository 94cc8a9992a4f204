"""Comparisons of stored runs: two parsers of one run, or the parsers that two runs share."""

from __future__ import annotations

from dataclasses import dataclass

from parsemark.errors import UnknownNameError, UsageError
from parsemark.matching import bbox, ngrams
from parsemark.protocols.tables_comparison import PRIMARY, Comparison, Contestant, compare, in_words
from parsemark.protocols.tables_summary import headline_rule_of
from parsemark.stats.comparison import ALPHA, holm
from parsemark.store import Run

SHOWN_PAGES = 10


def compare_parsers(run: Run, a: str, b: str) -> Comparison:
    """A against B on the pages of one run."""
    for name in (a, b):
        _require(run, name)
    return compare(_contestant(run, a, a), _contestant(run, b, b), _rule(run, run, a, b))


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The parsers that two runs share, each against itself: new run minus old run."""

    comparisons: tuple[Comparison, ...]
    corrected: tuple[float, ...]
    """Holm-corrected p-values of the primary figure, one for each comparison."""
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]

    def drops(self, below: float) -> list[Comparison]:
        """Parsers whose primary figure fell significantly, and by more than allowed."""
        return [
            c
            for c, p in zip(self.comparisons, self.corrected, strict=True)
            if p < ALPHA and c.primary.difference < below
        ]


def compare_runs(old: Run, new: Run) -> RunComparison:
    """Every parser that both runs have, on the pages that both runs have."""
    old_names, new_names = set(parsers_of(old)), set(parsers_of(new))
    shared = sorted(old_names & new_names)
    if not shared:
        raise UsageError(
            f"{old.path} and {new.path} have no parser in common, so there is nothing to compare."
        )
    comparisons = tuple(
        compare(_contestant(new, n, f"{n} (new)"), _contestant(old, n, f"{n} (old)"), _rule(old, new, n, n))
        for n in shared
    )
    corrected = tuple(holm([c.primary.p for c in comparisons]))
    return RunComparison(
        comparisons, corrected, tuple(sorted(old_names - new_names)), tuple(sorted(new_names - old_names))
    )


def comparison_markdown(comparison: Comparison) -> str:
    """Words, figures and most changed pages, ready for a pull request."""
    lines = [
        in_words(comparison),
        "",
        f"| figure | {_cell(comparison.a)} | {_cell(comparison.b)} | difference | 95 % interval | p |",
    ]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for d in comparison.differences:
        interval = f"{d.ci95[0]:+.3f} … {d.ci95[1]:+.3f}" if d.ci95 else "–"
        lines.append(f"| {d.figure} | {d.a:.3f} | {d.b:.3f} | {d.difference:+.3f} | {interval} | {d.p:.3f} |")
    if comparison.pages:
        lines += ["", f"Pages that differ most ({len(comparison.pages)} of {comparison.n_pages} differ):", ""]
        lines += [
            f"- `{page.sample}`: {page.a:.3f} against {page.b:.3f}" for page in comparison.pages[:SHOWN_PAGES]
        ]
    return "\n".join(lines) + "\n"


def runs_markdown(result: RunComparison, below: float | None = None) -> str:
    """The comparison of two runs for a pull request: one row for each parser, then the details."""
    drops = result.drops(below) if below is not None else []
    head = f"**{len(drops)} significant drop(s).**" if drops else "No significant drop."
    lines = [
        head,
        "",
        f"| parser | old | new | difference in {PRIMARY} | 95 % interval | p (Holm) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for c, p in zip(result.comparisons, result.corrected, strict=True):
        d = c.primary
        interval = f"{d.ci95[0]:+.3f} … {d.ci95[1]:+.3f}" if d.ci95 else "–"
        name = _cell(c.a.removesuffix(" (new)"))
        lines.append(f"| {name} | {d.b:.3f} | {d.a:.3f} | {d.difference:+.3f} | {interval} | {p:.3f} |")
    for label, names in (("Only in the old run", result.only_old), ("Only in the new run", result.only_new)):
        if names:
            lines += ["", f"{label}: {', '.join(_cell(n) for n in names)}."]
    for c in drops:
        lines += ["", f"### {_cell(c.a.removesuffix(' (new)'))}", "", comparison_markdown(c).rstrip()]
    return "\n".join(lines) + "\n"


def parsers_of(run: Run) -> list[str]:
    """The parsers that have rows in a run."""
    return sorted(run.table("parses")["parser"].unique())


def _require(run: Run, parser: str) -> None:
    import difflib

    names = parsers_of(run)
    if parser not in names:
        raise UnknownNameError(
            "parser", parser, difflib.get_close_matches(parser, names, n=3, cutoff=0.3) or names
        )


def _contestant(run: Run, parser: str, label: str) -> Contestant:
    return Contestant(label, parser, run.table("samples"), run.table("matches"), run.table("scores"))


def _rule(old: Run, new: Run, a: str, b: str) -> str:
    """`bbox` if both sides give boxes, else `ngrams`."""
    sides = ((new, a), (old, b))
    return (
        bbox.RULE
        if all(headline_rule_of(run.table("matches"), p) == bbox.RULE for run, p in sides)
        else ngrams.RULE
    )


def _cell(text: str) -> str:
    """A name that cannot break out of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
