"""A public leaderboard from many bundles: corpora × parsers, history, and the report of every leaderboard."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parsemark.corpora import Corpus
from parsemark.engine.verify_bundle import verify_confined
from parsemark.errors import UsageError
from parsemark.plain_words import counted
from parsemark.protocols import FigureInfo, Summary
from parsemark.report.build import build_site
from parsemark.report.colours import colour_indices
from parsemark.report.drawing import RunParser
from parsemark.report.leaderboard_table import Scale, leaderboard_cell, leaderboard_table
from parsemark.report.names import safe_name
from parsemark.report.site import Link, ReportOptions, SitePages, new_site
from parsemark.system import remove_tree
from parsemark.verdicts.leaderboards import (
    Entry,
    Leaderboard,
    Refused,
    Submission,
    join_leaderboard,
    make_leaderboards,
    read_submissions,
)

MARK = ".parsemark-board"  # a file that says that a folder holds a board, which may be replaced
SAME_AS_TRUTH = 1e-6  # a figure that is as near as this to the best possible one is that of the truth itself


@dataclass(frozen=True)
class BoardResult:
    """What came of making a board."""

    page: Path
    n_bundles: int
    n_leaderboards: int
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    """A leaderboard as a column of the matrix."""

    title: str
    note: str
    href: str
    axis: Scale | None
    standings: Mapping[str, Mapping[str, Any]]  # parser to what it has reached


def build_board(
    paths: Sequence[Path],
    out: Path,
    *,
    corpora: Sequence[Corpus] = (),
    verify: bool = False,
    reports: bool = True,
    tell: Callable[[str], None] = lambda _: None,
) -> BoardResult:
    """Write the site of bundles, or folders of them, to a folder that is new, empty, or an older board, which
    is replaced.

    `corpora` give the truth for `verify`, which scores every bundle again (one that does not verify is not
    shown), and the pictures of pages in reports, written for every leaderboard with `reports`.
    """
    _old_board(out)
    submissions, refused = read_submissions(paths)
    if verify:
        submissions, unsound = _verified(submissions, corpora, tell)
        refused += unsound
    if not submissions and not refused:
        raise UsageError(f"No bundle (*.zip) in {', '.join(str(p) for p in paths)}.")
    leaderboards = make_leaderboards(submissions)
    with new_site(out, MARK, "parsemark site", lambda: _old_board(out)) as made:
        site = _BoardSite(made, leaderboards, corpora, reports=reports, tell=tell)
        site.write(submissions, refused, verified=verify)
    return BoardResult(out / "index.html", len(submissions), len(leaderboards), tuple(refused))


def _verified(
    submissions: Sequence[Submission], corpora: Sequence[Corpus], tell: Callable[[str], None]
) -> tuple[list[Submission], list[Refused]]:
    sound, refused = [], []
    for number, submission in enumerate(submissions, start=1):
        tell(f"verifying {submission.path} ({number} of {len(submissions)})")
        corpus = next((c for c in corpora if c.hash == submission.manifest.corpus.hash), None)
        found = verify_confined(submission.path, corpus=corpus)
        if found.passed:
            sound.append(submission)
        else:
            first = next(check for check in found.checks if not check.passed)
            refused.append(Refused(submission.path, f"does not verify: {first.differences[0]}"))
    return sound, refused


class _BoardSite(SitePages):
    """The pages of the board."""

    def __init__(
        self,
        root: Path,
        leaderboards: Sequence[Leaderboard],
        corpora: Sequence[Corpus],
        *,
        reports: bool,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(root)
        self._leaderboards, self._corpora, self._reports, self._tell = leaderboards, corpora, reports, tell
        self._scratch = root.parent
        names = sorted({entry.name for leaderboard in leaderboards for entry in leaderboard.entries})
        colours = colour_indices(names)
        self._parsers = {n: RunParser(n, colours[n], safe_name(n), "history") for n in names}

    def navigation(self) -> list[Link]:
        """Return the board itself."""
        return [Link("index", "index.html", "Leaderboards"), Link("bundles", "index.html#bundles", "Bundles")]

    def write(self, submissions: Sequence[Submission], refused: Sequence[Refused], *, verified: bool) -> None:
        """Write all pages."""
        self.write_assets()
        histories: dict[str, list[dict[str, Any]]] = {name: [] for name in self._parsers}
        columns: dict[tuple[str, int], list[MatrixColumn]] = {}
        headlines: dict[tuple[str, int], FigureInfo] = {}
        for leaderboard in self._leaderboards:
            self._tell(f"{leaderboard.protocol} on {leaderboard.corpus.name} {leaderboard.corpus.version}")
            key = leaderboard.protocol, leaderboard.comparability
            summary, entries = self._summary(leaderboard)
            headlines.setdefault(key, summary.info(summary.primary))
            columns.setdefault(key, []).append(self._column(leaderboard, summary, entries))
            for name, rows in self._history(leaderboard, summary).items():
                histories[name].append(rows)
        # One protocol in one version, whose leaderboards stand side by side without being compared.
        sections: list[dict[str, Any]] = []
        for key, own in columns.items():
            named = {"protocol": key[0], "comparability": key[1], "headline": headlines[key]}
            sections.append({**named, "columns": own, "parsers": self._ordered(own, headlines[key])})
        told = {"submissions": submissions[::-1], "refused": refused, "verified": verified}
        self.page("index", template="boards.html", scripts=("js/boards.js",), sections=sections, **told)
        for name, parts in histories.items():
            page = self._parsers[name].href.removesuffix(".html")
            self.page(page, template="history.html", parser=self._parsers[name], parts=parts)

    def _ordered(self, columns: Sequence[MatrixColumn], headline: FigureInfo) -> list[RunParser]:
        """Return the parsers of some leaderboards, the best of the first leaderboard first."""
        sign = -1.0 if headline.higher_is_better else 1.0

        def places(parser: RunParser) -> list[float]:
            found = [column.standings.get(parser.name) for column in columns]
            values = [None if standing is None else standing["cell"].value for standing in found]
            return [float("inf") if value is None else sign * value for value in values]

        present = [p for n, p in self._parsers.items() if any(n in c.standings for c in columns)]
        return sorted(present, key=places)

    def _summary(self, leaderboard: Leaderboard) -> tuple[Summary, Mapping[str, Entry]]:
        """Join its entries; of another version of the protocol, use only the results of the newest bundle."""
        entries = leaderboard.latest()
        if not leaderboard.is_ours:
            newest = leaderboard.entries[-1].submission
            own = {name: e for name, e in entries.items() if e.submission is newest}
            return newest.summaries[leaderboard.protocol], own
        run = join_leaderboard(leaderboard, entries, self._scratch / leaderboard.key, self._corpora)
        if self._reports:
            build_site(run.path, self.root / leaderboard.key, ReportOptions(home="../index.html"))
        summary = run.summary(leaderboard.protocol)
        remove_tree(run.path)
        return summary, entries

    def _column(
        self, leaderboard: Leaderboard, summary: Summary, entries: Mapping[str, Entry]
    ) -> MatrixColumn:
        parsers = [self._parsers[name] for name in entries]
        board = leaderboard_table(parsers, summary, summary.parsers, summary.ranking)
        has_report = self._reports and leaderboard.is_ours
        standings: dict[str, dict[str, Any]] = {}
        for row in (row for row in board.rows if summary.primary in row.cells):
            entry, href = entries[row.parser.name], f"{leaderboard.key}/parser-{row.parser.key}.html"
            reached = {"cell": row.cells[summary.primary], "rank": row.rank.text}
            told = {"version": entry.version, "warning": _warning(entry, summary, leaderboard)}
            standings[row.parser.name] = {**reached, "href": href if has_report else "", **told}
        note = (f"matched by {leaderboard.rule} · " if leaderboard.rule else "") + counted(
            leaderboard.n_pages, "page"
        )
        if leaderboard.is_partial:
            note += f" of {leaderboard.corpus.n_samples:,}"
        title, href = (
            f"{leaderboard.corpus.name} {leaderboard.corpus.version}",
            f"{leaderboard.key}/index.html",
        )
        note += f" · {leaderboard.corpus.hash[:8]}"
        axis = board.axes.get(summary.primary)
        return MatrixColumn(title, note, href if has_report else "", axis, standings)

    def _history(self, leaderboard: Leaderboard, latest: Summary) -> dict[str, dict[str, Any]]:
        """Return parser to its versions in a leaderboard, each with what changed since the one before."""
        named = leaderboard.history()
        several = len(named) > len({e.name for e in named.values()})
        if several and leaderboard.is_ours:
            run = join_leaderboard(
                leaderboard, named, self._scratch / f"{leaderboard.key}-all", self._corpora
            )
            summary, by_label = run.summary(leaderboard.protocol), True
            remove_tree(run.path)
        else:
            summary, by_label = latest, False
        info = latest.info(latest.primary)
        found: dict[str, dict[str, Any]] = {}
        for name in {e.name for e in named.values()}:
            own = [(label, e) for label, e in named.items() if e.name == name]
            rows: list[dict[str, Any]] = []
            before: str | None = None
            for label, entry in own:
                figure = summary.figure(label if by_label else name, summary.primary)
                if figure is None or (not by_label and entry is not leaderboard.latest()[name]):
                    continue
                verdict = summary.ranking.verdict(label, before) if by_label and before else None
                rows.append({"entry": entry, "cell": leaderboard_cell(info, figure), "verdict": verdict})
                before = label
            found[name] = {
                "leaderboard": leaderboard,
                "info": info,
                "axis": Scale(0.0, info.top) if info.top is not None else None,
                "href": f"{leaderboard.key}/index.html" if self._reports and leaderboard.is_ours else "",
                "rows": rows[::-1],
            }
        return found


def _warning(entry: Entry, summary: Summary, leaderboard: Leaderboard) -> str:
    """Return the warning about an entry: where its outputs come from, and whether they are the truth."""
    info, figure = summary.info(summary.primary), summary.figure(entry.name, summary.primary)
    best = info.top if info.higher_is_better else 0.0
    said = []
    if entry.is_imported:
        said.append("Imported outputs, of unknown origin.")
    for other in leaderboard.disputes(entry):
        where = other.submission.path.name
        said.append(f"{where} states version {other.version} for the same code: one of both is wrong.")
    if entry.parser.confined is False:
        said.append("It was not confined: it could have read the truth.")
    value = None if figure is None or not figure.n else figure.value
    if value is not None and best is not None and abs(value - best) < SAME_AS_TRUTH:
        said.append("It equals the truth on every page: perhaps it is the truth.")
    return " ".join(said)


def _old_board(out: Path) -> list[Path]:
    """Return the files of an older site; raise UsageError if anything else is there."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out} is a file or a link. Choose another --out.")
    mark, found = out / MARK, list(out.iterdir()) if out.is_dir() else []
    if found and (mark.is_symlink() or not mark.is_file()):
        raise UsageError(f"{out} contains files that are not part of a site. Choose another --out.")
    return [old for old in found if old.name not in (".git", "CNAME", ".nojekyll")]
