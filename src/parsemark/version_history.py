"""A parser over its versions: how it did in each, and which of them broke a page."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from parsemark import api
from parsemark.errors import ParserError, UsageError
from parsemark.plain_words import counted
from parsemark.setup_calls import parsers_versions
from parsemark.specs import tool_of

if TYPE_CHECKING:
    from parsemark.corpora import Corpus
    from parsemark.engine.events import Events
    from parsemark.parsers import Parser
    from parsemark.store import ParseRecord, Run
    from parsemark.verdicts.bisection import Bisection as Bisection
    from parsemark.verdicts.bisection import Probe
    from parsemark.verdicts.history import History

RELEASES = 12  # the newest, in a history
COMMAND_TIMEOUT_S = 600
_LACKING = re.compile(
    r"(?:has no attribute|unexpected keyword argument|cannot import name|No module named) '([\w.]+)'"
)
SKIP = 125  # with this code a command says that a version cannot be tried, as for `git bisect run`


def history(
    parser: str,
    corpus: str | Corpus = api.CORPUS,
    *,
    releases: int = RELEASES,
    also: Sequence[str] = (),
    pre: bool = False,
    pages: str | None = None,
    protocols: Sequence[str] | None = None,
    workers: int | None = None,
    out: str | Path | None = None,
    events: Events | None = None,
) -> tuple[History, Run]:
    """Run the newest releases of a parser over a corpus, and mark significant changes.

    Args:
        parser: A spec, with settings or without.
        corpus: A spec as `--corpus` takes it, or a loaded corpus.
        releases: How many, the newest; with 0 the index is not asked.
        also: More specs, such as `worker.py` or `NAME@git:REF` for the version that is being worked on.
        pre: Also alphas, betas and release candidates.
        pages: A subset, as `--pages`.
        protocols: Specs; `tables` by default.
        workers: Processes; one per CPU by default.
        out: The run directory; by default `runs/history-NAME`.
        events: Receives progress, and about versions that cannot be used here.
    """
    from parsemark.parsers.catalogue import with_version
    from parsemark.verdicts.history import history_of, version_order

    newest = parsers_versions(parser, pre=pre)[-releases:] if releases else ()
    named = [with_version(parser, version) for version in newest]
    specs, folder = [*named, *also], _folder(out, "history", parser)
    run = api.bench(
        corpus, specs, out=folder, protocols=protocols, pages=pages, workers=workers, events=events
    )
    there = _names_in(run, specs, api.LOG.warning if events is None else events.note)
    return history_of(run, sorted(there, key=version_order)), run


def _names_in(run: Run, specs: Sequence[str], note: Callable[[str], None]) -> list[str]:
    """Return the names that specs have in a run, of those with an output; a worker may not fit an old
    release.
    """
    from parsemark.parsers import get_parser

    records, found = run.records(), []
    for spec in specs:
        try:
            name = get_parser(spec).name
        except ParserError:  # said when it was to be installed
            continue
        own = [record for record in records if record.parser == name]
        if why := _misfit(spec, own):
            note(f"Left out: {why}")
        elif any(record.status == "ok" for record in own):
            found.append(name)
        elif own:
            why = own[0].error or own[0].status
            note(f"Left out: {name} fails on every page; its worker may be made for other releases. {why}")
    return found


def _misfit(spec: str, records: Sequence[ParseRecord]) -> str | None:
    """Return why failures of a release are its worker's: it names what this release does not have. Else None.

    Such a worker may do well where there is no table, so the release does not fail on every page.
    """
    from parsemark.parsers import get_parser

    parser = get_parser(spec)
    script = parser.script.read_text(encoding="utf-8", errors="replace")
    for record in records:
        lacking = _LACKING.search(record.error or "") if record.status == "parser_failed" else None
        if lacking is not None and re.search(rf"\b{re.escape(lacking[1])}\b", script):
            n = sum(_LACKING.search(r.error or "") is not None for r in records)
            return (
                f"{parser.name}: its worker asks for {lacking[1]!r}, which this release lacks: it fails on "
                f"{counted(n, 'page')}; it is made for other releases."
            )
    return None


def bisect(
    parser: str,
    good: str,
    bad: str,
    *,
    corpus: str | Corpus = api.CORPUS,
    page: str | None = None,
    score: str | None = None,
    command: str | None = None,
    repo: str | Path | None = None,
    drop: float = 0.0,
    protocol: str | None = None,
    out: str | Path | None = None,
    events: Events | None = None,
) -> tuple[Bisection, Run | None]:
    """Find the version that broke something, with as few of them tried as can be.

    A version is bad if the score is worse than that of the good one. By a command: if that ends with another
    exit code than 0; its PATH begins with the version's environment. Pre-releases are tried only if `good` or
    `bad` is one.

    Args:
        parser: A spec, with settings or without; with a command also the name of any package.
        good: A release, or a commit of `repo`.
        bad: Another one, later or earlier.
        corpus: Whose pages are parsed.
        page: The id of a page, or several as `--pages`; by default the whole corpus.
        score: Score of the protocol that got worse; by default its primary one. Where the page has none, its
            output is compared.
        command: Command that decides instead of a score.
        repo: Folder of a repository: versions are its commits.
        drop: Largest drop in the score that still counts as good.
        protocol: Protocol of the score; `tables` by default.
        out: The run directory; by default `runs/bisect-NAME`, which is replaced.
        events: Receives progress.
    """
    from parsemark.parsers import get_parser
    from parsemark.parsers.catalogue import with_version
    from parsemark.store import Run
    from parsemark.verdicts.bisection import Probe, bisect_versions, jumps_by_reading

    if command is not None:
        parser = _known_or_package(parser)
    line = _line(parser, good, bad, None if repo is None else Path(repo))
    folder = _folder(out, "bisect", parser)
    if command is None and out is not None and folder.exists():
        raise UsageError(f"{folder} already exists. Choose another --out.")
    options = api.parse_options(pages=page, protocols=[protocol] if protocol else None)
    first: Probe | None = None

    def probe(version: str) -> Probe:
        nonlocal first
        spec = with_version(parser, version)
        try:
            if command is not None:
                return _by_command(spec, version, command)
            run = api.parse(corpus, [spec], options, out=folder, overwrite=first is None, events=events)
        except ParserError as error:
            return Probe(version, "skipped", why=str(error))
        name = get_parser(spec).name
        if why := _misfit(spec, [record for record in run.records() if record.parser == name]):
            return Probe(version, "skipped", why=why)
        found = _by_figure(run, score, spec, version, first, drop)
        first = first or found
        return found

    answer = bisect_versions(line, probe)
    if command is not None:
        return answer, None
    run = Run.open(folder)
    if answer.first_bad is not None:
        ends = answer.probe(answer.last_good), answer.probe(answer.first_bad)
        outputs = _written_outputs(run, *names_of(parser, answer))
        answer = replace(answer, is_reading=jumps_by_reading(*ends, outputs))
    return answer, run


def _written_outputs(run: Run, one: str, other: str) -> Iterator[tuple[str, str]]:
    """Yield for each page what two parsers wrote: their text, or their raw output; empty where one failed."""
    blobs = {(record.sample, record.parser): record.blob for record in run.records()}
    for sample in sorted({sample for sample, _ in blobs}):
        first, second = (_written(run, sample, name, blobs.get((sample, name))) for name in (one, other))
        yield first, second


def _written(run: Run, sample: str, parser: str, blob: str | None) -> str:
    if blob is None:
        return ""
    text = run.prediction(sample, parser).text
    return run.raw(blob).decode("utf-8", "replace") if text is None else text


def names_of(parser: str, found: Bisection) -> tuple[str, str]:
    """Return the names of the last good and the first bad version in the run of a bisection."""
    from parsemark.parsers import get_parser
    from parsemark.parsers.catalogue import with_version

    ends = (found.last_good, found.first_bad or found.last_good)
    good, bad = (get_parser(with_version(parser, version)).name for version in ends)
    return good, bad


def _known_or_package(parser: str) -> str:
    """Return a parser as it is; of the name of a package that none of ours has, a worker that only needs it.

    A command looks at the package itself, so it needs no worker script.
    """
    from parsemark.parsers import get_parser
    from parsemark.system import cache_folder, make_folder, write_text

    try:
        get_parser(parser)
    except UsageError:
        if re.fullmatch(r"[A-Za-z0-9][\w.-]*", parser) is None or parser.endswith(".py"):
            raise
        path = make_folder(cache_folder("packages")) / f"{parser}.py"
        header = (
            f'requires-python = ">=3.11"\ndependencies = ["{parser}"]\n[tool.parsemark]\npackage = "{parser}"'
        )
        lines = ["# /// script", *(f"# {line}" for line in header.splitlines()), "# ///"]
        write_text(path, "\n".join(lines) + "\n")
        return str(path)
    return parser


def _folder(out: str | Path | None, what: str, parser: str) -> Path:
    return Path(out) if out is not None else Path("runs") / f"{what}-{Path(tool_of(parser)).stem}"


def _line(parser: str, good: str, bad: str, repo: Path | None) -> list[str]:
    """Return all versions from the good one to the bad one, whichever is the older."""
    from parsemark.parsers.releases import GIT, commits_between, repository

    if repo is not None:
        root = repository(repo)
        try:
            commits = commits_between(root, good, bad)
        except UsageError:
            commits = commits_between(root, bad, good)[::-1]
        return [f"{GIT}{root}#{commit[:12]}" for commit in commits]
    known = list(parsers_versions(parser))
    if not {good, bad} <= set(known):
        known = list(parsers_versions(parser, pre=True))
    if missing := [v for v in (good, bad) if v not in known]:
        raise UsageError(
            f"The index has no release {' and no release '.join(missing)} of {parser}: `parsemark parsers "
            "versions --pre` lists them."
        )
    first, last = known.index(good), known.index(bad)
    return known[first : last + 1] if first < last else known[last : first + 1][::-1]


def _by_figure(
    run: Run, figure: str | None, spec: str, version: str, best: Probe | None, drop: float
) -> Probe:
    """Hold the figure of a version against the best one; where one of them has none, what both gave."""
    from parsemark.parsers import get_parser
    from parsemark.verdicts.bisection import ALIKE, Probe

    summary = api.summaries(api.score(run))[0]
    name, wanted = get_parser(spec).name, figure or summary.primary
    known = [info.name for info in summary.figures]
    if wanted not in known:
        raise UsageError(f"{summary.protocol} has no score {wanted!r}; choose one of: {', '.join(known)}.")
    figure_found = summary.figure(name, wanted)
    value = None if figure_found is None else figure_found.value
    outputs = sorted((r.sample, r.blob or str(r.status)) for r in run.records() if r.parser == name)
    output = hashlib.sha256(repr(outputs).encode()).hexdigest()
    if best is None:
        return Probe(version, "good", value, output)
    if best.value is None or value is None:
        is_bad = output != best.output
    else:
        loss = best.value - value if summary.info(wanted).higher_is_better else value - best.value
        is_bad = loss > drop + ALIKE
    return Probe(version, "bad" if is_bad else "good", value, output)


def _by_command(spec: str, version: str, command: str) -> Probe:
    from parsemark.parsers import get_parser
    from parsemark.verdicts.bisection import Probe

    parser, nothing = get_parser(spec), subprocess.DEVNULL
    parser.install()
    words, env = shlex.split(command), _environment(parser)
    try:
        code = subprocess.call(words, env=env, timeout=COMMAND_TIMEOUT_S, stdin=nothing, stdout=nothing)
    except subprocess.TimeoutExpired:
        return Probe(version, "bad", why=f"the command took longer than {COMMAND_TIMEOUT_S} s")
    except OSError as error:
        raise UsageError(f"The command {command!r} cannot be run: {error.strerror}.") from error
    if code == SKIP:
        return Probe(version, "skipped", why="the command skipped it")
    return Probe(version, "good" if code == 0 else "bad")


def _environment(parser: Parser) -> dict[str, str]:
    bin_folder = parser.environment.python.parent
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    path = f"{bin_folder}{os.pathsep}{kept.get('PATH', '')}"
    return kept | {"PATH": path, "VIRTUAL_ENV": str(bin_folder.parent), "PARSEMARK_PARSER": parser.spec}
