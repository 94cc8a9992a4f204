"""A public leaderboard from many bundles: corpora × parsers, history, and the report of every league."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parsemark.corpora import Corpus
from parsemark.engine.verify_bundle import verify_confined
from parsemark.errors import UsageError
from parsemark.plain_words import counted
from parsemark.protocols import FigureInfo, RunParser, Summary
from parsemark.report.build import build_site
from parsemark.report.colours import colour_indices
from parsemark.report.leaderboard_table import Scale, leaderboard_cell, leaderboard_table
from parsemark.report.names import safe_name
from parsemark.report.site import Link, ReportOptions, SitePages, new_site
from parsemark.system import remove_tree
from parsemark.verdicts.leagues import (
    Entry,
    League,
    Refused,
    Submission,
    join_league,
    make_leagues,
    read_submissions,
)

MARK = ".parsemark-board"  # a file that says that a folder holds a board, which may be replaced
SAME_AS_TRUTH = 1e-6  # a figure that is as near as this to the best possible one is that of the truth itself


@dataclass(frozen=True)
class BoardResult:
    """What came of making a board."""

    page: Path
    n_bundles: int
    n_leagues: int
    refused: tuple[Refused, ...]


@dataclass(frozen=True, slots=True)
class LeagueColumn:
    """A league as a column of the matrix."""

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

    `corpora` give the truth for `verify`, which scores every bundle anew (one that does not verify is not
    shown), and the pictures of pages in reports, written for every league with `reports`.
    """
    _old_board(out)
    submissions, refused = read_submissions(paths)
    if verify:
        submissions, unsound = _verified(submissions, corpora, tell)
        refused += unsound
    if not submissions and not refused:
        raise UsageError(f"No bundle (*.zip) in {', '.join(str(p) for p in paths)}.")
    leagues = make_leagues(submissions)
    with new_site(out, MARK, "parsemark board", lambda: _old_board(out)) as made:
        site = _BoardSite(made, leagues, corpora, reports=reports, tell=tell)
        site.write(submissions, refused, verified=verify)
    return BoardResult(out / "index.html", len(submissions), len(leagues), tuple(refused))


def _verified(
    submissions: Sequence[Submission], corpora: Sequence[Corpus], tell: Callable[[str], None]
) -> tuple[list[Submission], list[Refused]]:
    sound, refused = [], []
    for submission in submissions:
        tell(f"verifying {submission.path}")
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
        leagues: Sequence[League],
        corpora: Sequence[Corpus],
        *,
        reports: bool,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(root)
        self._leagues, self._corpora, self._reports, self._tell = leagues, corpora, reports, tell
        self._scratch = root.parent
        names = sorted({entry.name for league in leagues for entry in league.entries})
        colours = colour_indices(names)
        self._parsers = {n: RunParser(n, colours[n], safe_name(n), "history") for n in names}

    def navigation(self) -> list[Link]:
        """The board itself."""
        return [Link("index", "index.html", "Boards"), Link("bundles", "index.html#bundles", "Bundles")]

    def write(self, submissions: Sequence[Submission], refused: Sequence[Refused], *, verified: bool) -> None:
        """All pages."""
        self.write_assets()
        histories: dict[str, list[dict[str, Any]]] = {name: [] for name in self._parsers}
        columns: dict[tuple[str, int], list[LeagueColumn]] = {}
        headlines: dict[tuple[str, int], FigureInfo] = {}
        for league in self._leagues:
            self._tell(f"{league.protocol} on {league.corpus.name} {league.corpus.version}")
            key = league.protocol, league.comparability
            summary, entries = self._summary(league)
            headlines.setdefault(key, summary.info(summary.primary))
            columns.setdefault(key, []).append(self._column(league, summary, entries))
            for name, rows in self._history(league, summary).items():
                histories[name].append(rows)
        # One protocol in one version, whose leagues stand side by side without being compared.
        sections: list[dict[str, Any]] = []
        for key, own in columns.items():
            named = {"protocol": key[0], "comparability": key[1], "headline": headlines[key]}
            sections.append({**named, "columns": own, "parsers": self._ordered(own, headlines[key])})
        told = {"submissions": submissions[::-1], "refused": refused, "verified": verified}
        self.page("index", template="boards.html", scripts=("js/boards.js",), sections=sections, **told)
        for name, parts in histories.items():
            page = self._parsers[name].href.removesuffix(".html")
            self.page(page, template="history.html", parser=self._parsers[name], parts=parts)

    def _ordered(self, columns: Sequence[LeagueColumn], headline: FigureInfo) -> list[RunParser]:
        """The parsers of some leagues, the best of the first league first."""
        sign = -1.0 if headline.higher_is_better else 1.0

        def places(parser: RunParser) -> list[float]:
            found = [column.standings.get(parser.name) for column in columns]
            values = [None if standing is None else standing["cell"].value for standing in found]
            return [float("inf") if value is None else sign * value for value in values]

        present = [p for n, p in self._parsers.items() if any(n in c.standings for c in columns)]
        return sorted(present, key=places)

    def _summary(self, league: League) -> tuple[Summary, Mapping[str, Entry]]:
        """The league put together; of another version of the protocol, only what the newest bundle states."""
        entries = league.latest()
        if not league.is_ours:
            newest = league.entries[-1].submission
            own = {name: e for name, e in entries.items() if e.submission is newest}
            return newest.summaries[league.protocol], own
        run = join_league(league, entries, self._scratch / league.key, self._corpora)
        if self._reports:
            build_site(run.path, self.root / league.key, ReportOptions(home="../index.html"))
        summary = run.summary(league.protocol)
        remove_tree(run.path)
        return summary, entries

    def _column(self, league: League, summary: Summary, entries: Mapping[str, Entry]) -> LeagueColumn:
        parsers = [self._parsers[name] for name in entries]
        board = leaderboard_table(parsers, summary, summary.parsers, summary.ranking)
        has_report = self._reports and league.is_ours
        standings: dict[str, dict[str, Any]] = {}
        for row in (row for row in board.rows if summary.primary in row.cells):
            entry, href = entries[row.parser.name], f"{league.key}/parser-{row.parser.key}.html"
            reached = {"cell": row.cells[summary.primary], "rank": row.rank.text}
            told = {"version": entry.version, "warning": _warning(entry, summary)}
            standings[row.parser.name] = {**reached, "href": href if has_report else "", **told}
        note = (f"matched by {league.rule} · " if league.rule else "") + counted(league.n_pages, "page")
        if league.is_partial:
            note += f" of {league.corpus.n_samples:,}"
        title, href = f"{league.corpus.name} {league.corpus.version}", f"{league.key}/index.html"
        note += f" · {league.corpus.hash[:8]}"
        axis = board.axes.get(summary.primary)
        return LeagueColumn(title, note, href if has_report else "", axis, standings)

    def _history(self, league: League, latest: Summary) -> dict[str, dict[str, Any]]:
        """Parser to its versions in a league, each with what changed since the one before."""
        named = league.history()
        several = len(named) > len({e.name for e in named.values()})
        if several and league.is_ours:
            run = join_league(league, named, self._scratch / f"{league.key}-all", self._corpora)
            summary, by_label = run.summary(league.protocol), True
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
                if figure is None or (not by_label and entry is not league.latest()[name]):
                    continue
                verdict = summary.ranking.verdict(label, before) if by_label and before else None
                rows.append({"entry": entry, "cell": leaderboard_cell(info, figure), "verdict": verdict})
                before = label
            found[name] = {
                "league": league,
                "info": info,
                "axis": Scale(0.0, info.top) if info.top is not None else None,
                "href": f"{league.key}/index.html" if self._reports and league.is_ours else "",
                "rows": rows[::-1],
            }
        return found


def _warning(entry: Entry, summary: Summary) -> str:
    """What a reader must know of an entry: where its outputs come from, and whether they are the truth."""
    info, figure = summary.info(summary.primary), summary.figure(entry.name, summary.primary)
    best = info.top if info.higher_is_better else 0.0
    said = []
    if entry.is_imported:
        said.append("Outputs that were made elsewhere: nothing here says what made them.")
    if entry.parser.confined is False:
        said.append("It was not confined: it could have read the truth.")
    value = None if figure is None or not figure.n else figure.value
    if value is not None and best is not None and abs(value - best) < SAME_AS_TRUTH:
        said.append("It equals the truth on every page: perhaps it is the truth.")
    return " ".join(said)


def _old_board(out: Path) -> list[Path]:
    """What there is of an older board; UsageError if somebody else put something there."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise UsageError(f"{out} is a file or a link. Choose another --out.")
    mark, found = out / MARK, list(out.iterdir()) if out.is_dir() else []
    if found and (mark.is_symlink() or not mark.is_file()):
        raise UsageError(f"{out} holds something that no board of parsemark wrote. Choose another --out.")
    return [old for old in found if old.name not in (".git", "CNAME", ".nojekyll")]
