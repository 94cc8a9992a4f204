"""Many bundles as leaderboards: results that may be compared, put together into one run.

A leaderboard is one corpus (by its hash), the same pages of it, one protocol with every choice fixed (also
the matching rule, which `tables` else takes from the data) and one comparability number. Inside it all
parsers have answered the same questions and were marked by the same rules, so their tables can be joined and
summarised together: intervals and verdicts are then those of one run. Its numbers never depend on who else
joins. Across leaderboards nothing is ever compared.

Names belong to someone: a name of a built-in parser to the built-in worker, any other to who submitted it
first; outputs that were made elsewhere are marked. What is not so gets a name that says it.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from parsemark.corpora import Corpus
from parsemark.engine.bundle_checks import problems_in
from parsemark.engine.import_outputs import IMPORTED
from parsemark.engine.parsing.parse import sample_rows
from parsemark.engine.scoring.chunk import write_predictions
from parsemark.errors import ParsemarkError, StoreError
from parsemark.parsers.catalogue import builtin_scripts
from parsemark.plain_words import first_problem
from parsemark.protocols import Summary, get_protocol
from parsemark.protocols.run_data.broken_pages import complete_summary
from parsemark.store import CorpusEntry, Manifest, ParserEntry, Run, RunFolder
from parsemark.store.bundle import Bundle, Index, ProtocolEntry
from parsemark.system import file_sha256
from parsemark.version import __version__


@dataclass(frozen=True)
class Submission:
    """A bundle that was read."""

    path: Path
    sha256: str
    manifest: Manifest
    index: Index
    pages: str  # hash of the ids of its pages
    n_pages: int
    summaries: Mapping[str, Summary]  # by protocol, as the bundle states them

    @property
    def created(self) -> str:
        """Return the start time of the run."""
        return self.manifest.created


@dataclass(frozen=True)
class Refused:
    """A bundle that is not shown, and why."""

    path: Path
    why: str


@dataclass(frozen=True)
class Entry:
    """One parser of one submission."""

    submission: Submission
    parser: ParserEntry
    spec: str = ""  # the protocol that its rows are stored under in the bundle
    owner: str | None = None  # who submitted the name first, where that is somebody else

    @property
    def is_imported(self) -> bool:
        """Return whether its outputs were made elsewhere, so that nothing says what made them."""
        return self.parser.fingerprint.startswith(IMPORTED)

    @cached_property
    def name(self) -> str:
        """Return the name under which it is shown: its own one only where it may have it."""
        own, by = self.parser.name, self.submission.index.submitter
        if self.is_imported:
            return f"{own} (imported outputs{f' of {by}' if by else ''})"
        if builtin_worker(own) not in (None, self.parser.worker):
            return f"{own} (not the built-in worker)"
        return f"{own} (by {by or 'somebody else'})" if self.owner else own

    @property
    def version(self) -> str:
        """Return the version of its own package as well as we can tell, else the start of its fingerprint."""
        name = self.parser.name.partition("(")[0]
        own = [v for k, v in self.parser.versions.items() if k.startswith(name)]
        known = own or list(self.parser.versions.values())
        return known[0] if known else self.parser.fingerprint.removeprefix("imported ")[:8]

    def contradicts(self, other: "Entry") -> bool:
        """Return whether both say that one and the same code is of different versions: one of them is
        wrong.
        """
        own, others = self.parser, other.parser
        return own.fingerprint == others.fingerprint and own.versions != others.versions

    @property
    def identity(self) -> tuple[str, str, str]:
        """Return the key that makes two runs of a parser the same version of it."""
        versions = ",".join(f"{k} {v}" for k, v in sorted(self.parser.versions.items()))
        return self.name, self.parser.fingerprint, versions


@dataclass
class Leaderboard:
    """Entries that may be compared."""

    protocol: str  # with every choice fixed
    comparability: int
    corpus: CorpusEntry
    pages: str
    n_pages: int
    rule: str = ""  # how outputs are matched with truths; stands beside every number
    entries: list[Entry] = field(default_factory=list)
    """Every version of every parser, the oldest first; of equal versions the latest run."""

    @property
    def key(self) -> str:
        """Return the name of its folder: made by us."""
        parts = self.protocol, self.comparability, self.corpus.hash, self.pages, self.rule
        identity = "\0".join(map(str, parts))
        return f"leaderboard-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"

    @property
    def is_ours(self) -> bool:
        """Return whether this parsemark has the protocol in that version, and can put results together."""
        try:
            return get_protocol(self.protocol).comparability == self.comparability
        except ParsemarkError:
            return False

    @property
    def is_partial(self) -> bool:
        """Return whether it holds some pages of the corpus only."""
        return self.n_pages < self.corpus.n_samples

    def latest(self) -> dict[str, Entry]:
        """Return the newest entry of each parser, by its name; of those that contradict each other the
        first.
        """
        found: dict[str, Entry] = {}
        for entry in self.entries:
            if not any(entry.name == old.name and entry.contradicts(old) for old in found.values()):
                found[entry.name] = entry
        return found

    def disputes(self, entry: Entry) -> list[Entry]:
        """Return entries that give other versions for the same fingerprint."""
        return [other for other in self.entries if other.contradicts(entry)]

    def history(self) -> dict[str, Entry]:
        """Return all entries by a name that tells them apart."""
        named: dict[str, Entry] = {}
        for entry in self.entries:
            label = f"{entry.name} · {entry.version}"
            if label in named:
                label += f" · {entry.submission.created[:10]} {entry.submission.sha256[:6]}"
            named[label] = entry
        return named


def read_submissions(paths: Iterable[Path]) -> tuple[list[Submission], list[Refused]]:
    """Return all bundles in files and folders; one that cannot be read costs itself."""
    read: list[Submission] = []
    refused: list[Refused] = []
    for given in paths:
        if not given.is_dir() and not given.is_file():
            raise StoreError(f"{given} does not exist.")
        inside = (p for p in sorted(given.rglob("*.zip")) if p.is_file() and not p.is_symlink())
        for path in inside if given.is_dir() else [given]:
            try:
                read.append(_submission(path))
            except (ParsemarkError, OSError) as error:
                refused.append(Refused(path, str(error)))
    return sorted(read, key=lambda s: (s.created, s.sha256)), refused


def _submission(path: Path) -> Submission:
    with Bundle(path) as bundle:
        for problem in chain(bundle.damage(), (f"{what}." for what in problems_in(bundle))):
            raise StoreError(problem)
        samples = bundle.table("samples")
        ids = "\n".join(sorted(str(s) for s in samples["sample"]))
        try:
            summaries = {e.spec: Summary.model_validate(bundle.summary(e)) for e in bundle.index.protocols}
        except ValidationError as error:
            raise StoreError(f"{path}: a summary is not valid ({first_problem(error, 'it')}).") from error
        pages, said = hashlib.sha256(ids.encode()).hexdigest(), (bundle.manifest(), bundle.index)
        return Submission(path, file_sha256(path), *said, pages, samples.height, summaries)


def make_leaderboards(submissions: Sequence[Submission]) -> list[Leaderboard]:
    """Sort entries into leaderboards; the oldest submission comes first in `submissions`."""
    leaderboards: dict[str, Leaderboard] = {}
    needed: set[str] = set()
    owners: dict[str, str | None] = {}
    for submission in submissions:
        for protocol in submission.index.protocols:
            summary = submission.summaries[protocol.spec]
            for parser in submission.manifest.parsers:
                if parser.name not in summary.parsers:
                    continue
                owner = owners.setdefault(parser.name, submission.index.submitter)
                taken = owner if owner != submission.index.submitter else None
                entry = Entry(submission, parser, protocol.spec, taken)
                of_pages = submission.manifest.corpus, submission.pages, submission.n_pages
                for number, (spec, rule) in enumerate(_fixed(protocol, summary, parser.name)):
                    new = Leaderboard(spec, protocol.comparability, *of_pages, rule)
                    own = leaderboards.setdefault(new.key, new).entries
                    # Of equal versions the latest run counts.
                    own[:] = [*(e for e in own if e.identity != entry.identity), entry]
                    if number == 0:
                        needed.add(new.key)
    # By text every parser can be matched; that one is shown only where somebody cannot be in a better one.
    shown = [leaderboard for key, leaderboard in leaderboards.items() if key in needed]
    order = list(dict.fromkeys(leaderboard.protocol for leaderboard in shown))
    # By what matters least first: sorting keeps the order of equal ones.
    shown.sort(key=lambda g: (g.corpus.name, g.corpus.version, g.is_partial, g.key))
    return sorted(shown, key=lambda g: (order.index(g.protocol), -g.comparability))


def _fixed(protocol: ProtocolEntry, summary: Summary, parser: str) -> list[tuple[str, str]]:
    """Return the specs, each with its rule, under which a parser may be ranked; the preferred one first."""
    stated = summary.settings.get("match", "")
    try:
        recipe = get_protocol(protocol.spec)
    except ParsemarkError:
        return [(protocol.spec, stated)]
    if recipe.comparability != protocol.comparability:
        return [(protocol.spec, stated)]
    specs = recipe.fixed_specs(summary, parser)
    return [(spec, str(getattr(get_protocol(spec), "match", stated))) for spec in specs]


@lru_cache(maxsize=512)
def builtin_worker(name: str) -> str | None:
    """Return the hash of the worker that a built-in parser runs; None for a name that is free."""
    script = builtin_scripts().get(name.partition("(")[0].partition("@")[0])
    return None if script is None else file_sha256(script)


def join_leaderboard(
    leaderboard: Leaderboard, entries: Mapping[str, Entry], folder: Path, corpora: Sequence[Corpus] = ()
) -> Run:
    """Make one run of the entries of a leaderboard, by the names that they get in it, summarised again.

    PDFs and truths come from the corpora if the leaderboard's is among them.
    """
    newest = max((e.submission for e in entries.values()), key=lambda s: (s.index.has_truth, s.created))
    made = {
        "command": ["parsemark", "board"],
        "code_version": __version__,
        "parsers": [e.parser.model_copy(update={"name": name}) for name, e in entries.items()],
        "protocols": [leaderboard.protocol],
        "parsing_anew": {},
    }
    run = Run.create(folder, newest.manifest.model_copy(update=made))
    files = RunFolder.of(run)
    tables: dict[str, list[pl.DataFrame]] = {"parses": [], "matches": [], "scores": []}
    for path in dict.fromkeys(entry.submission.path for entry in entries.values()):
        own = {name: entry for name, entry in entries.items() if entry.submission.path == path}
        names = {entry.parser.name: name for name, entry in own.items()}
        spec = next(iter(own.values())).spec
        with Bundle(path) as bundle:
            protocol = next(e for e in bundle.index.protocols if e.spec == spec)
            for name, parts in tables.items():
                frame = bundle.table(name, None if name == "parses" else protocol)
                rows = frame.filter(pl.col("parser").is_in(list(names)))
                parts.append(rows.with_columns(pl.col("parser").replace_strict(names, default=None)))
            for blob in tables["parses"][-1]["blob"].drop_nulls().unique():
                files.blobs.put(bundle.raw(blob))
            if path == newest.path:
                files.write_table("samples", bundle.table("samples"))
    for name, parts in tables.items():
        files.write_table(name, pl.concat(parts), None if name == "parses" else leaderboard.protocol)
    for corpus in corpora:
        if corpus.hash == leaderboard.corpus.hash:
            files.replace_samples(sample_rows(corpus, run.table("samples")))
    write_predictions(run)
    files.write_summary(
        complete_summary(get_protocol(leaderboard.protocol), run.run_tables(leaderboard.protocol))
    )
    return run
