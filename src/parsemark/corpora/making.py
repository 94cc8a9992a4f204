"""Makers write new corpora. They are found by name; packages register theirs as `parsemark.makers`.

A maker is a frozen dataclass whose fields are its options, as in `typst(pages=60,languages=english+french)`.
The first line of its docstring describes it.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from pathlib import Path
from typing import Any, ClassVar

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.files import write_manifest, write_page
from parsemark.corpora.schema import CorpusFile
from parsemark.errors import ParsemarkError, UsageError
from parsemark.specs import OptionValue, Registry, Spec, check_options, distribution_of, own_plugins
from parsemark.system.scratch import whole_folder

__all__ = [
    "MAKERS", "CorpusFile", "MadeCorpus", "Maker", "MakerHelp", "MakingJob", "Progress", "get_maker",
    "list_makers", "option", "run_maker", "silent", "write_copy_manifest", "write_manifest", "write_page",
]  # fmt: skip

MAKERS = Registry("maker", "parsemark.makers", {})
Progress = Callable[[int], None]  # called with the number of pages, or documents, that were finished


def silent(count: int) -> None:
    """Ignore progress."""


@dataclass(frozen=True)
class MakingJob:
    """What a maker reads, where it writes, and how."""

    out: Path
    """An empty folder for `corpus.json`, `pdfs/` and `truth/`; it gets its final name in the end."""
    corpus: Corpus | None = None
    sources: tuple[Path, ...] = ()
    workers: int | None = None  # None: one per CPU
    progress: Progress = silent


@dataclass(frozen=True)
class MadeCorpus:
    """A new corpus, and what its maker reports about it."""

    manifest: CorpusFile
    notes: tuple[str, ...] = ()
    left_out: tuple[Remark, ...] = ()  # pages of the source corpus that are missing from the copy

    @property
    def n_pages(self) -> int:
        """Return the number of pages with truth."""
        return sum(name.startswith("truth/") for name in self.manifest.files)


def option(help: str, default: Any = MISSING) -> Any:
    """Declare an option of a maker: one line that describes it, and its default if it has one."""
    return dataclasses.field(default=default, metadata={"help": help})


@dataclass(frozen=True, kw_only=True)
class Maker(ABC):
    """Writes a new corpus. Its fields are its options, declared with `option`."""

    generator: ClassVar[str]
    """Name and version, as in the manifest. The version rises whenever the same options give other pages."""
    needs_corpus: ClassVar[bool] = False  # whether it changes pages of another corpus
    sources_help: ClassVar[str] = ""  # which files it reads; empty if it reads none

    @abstractmethod
    def make(self, job: MakingJob) -> MadeCorpus:
        """Write the pages, their truths and the manifest into `job.out`."""

    def n_steps(self, job: MakingJob) -> int | None:
        """Return the sum of what `make` reports to `job.progress`; None if it is not known before."""
        return None if job.corpus is None else len(job.corpus)

    def settings(self) -> dict[str, Any]:
        """Return the options as the manifest records them: all but name and seed, which it has itself."""
        fields = dataclasses.asdict(self)
        return {key: value for key, value in fields.items() if key not in ("name", "seed")}


def get_maker(spec: str | Spec, options: Mapping[str, Any] | None = None) -> Maker:
    """Return the maker that a spec names, with further options.

    Raises:
        UsageError: It has no such option, an option has a wrong value, or a required one is missing.
    """
    spec = MAKERS.spec(spec) if isinstance(spec, str) else spec
    maker = _maker_class(spec.name)
    given = spec.as_dict()
    if twice := given.keys() & (options or {}).keys():
        raise UsageError(f"Option {min(twice)!r} of {spec.name!r} is given twice.")
    checked = check_options(maker, "Maker", spec.name, {**given, **(options or {})})
    for field in dataclasses.fields(maker):
        if field.default is MISSING and field.name not in checked:
            how = f"--{field.name} N" if field.name == "pages" else f"{spec.name}({field.name}=…)"
            raise UsageError(f"Maker {spec.name!r} needs the option {field.name!r}: {how}.")
    return maker(**checked)


def _maker_class(name: str) -> type[Maker]:
    maker = MAKERS.load(name)
    if not (isinstance(maker, type) and issubclass(maker, Maker)):
        raise MAKERS.broken(name, TypeError("it is not a subclass of parsemark.corpora.making.Maker"))
    return maker


@dataclass(frozen=True, slots=True)
class MakerHelp:
    """What a maker does and takes, for help texts."""

    name: str
    distribution: str  # which brings it
    summary: str
    reads: str = ""
    """What it takes besides options, as the command line calls it: `--corpus CORPUS`, `SOURCES...`."""
    options: tuple[tuple[str, str], ...] = ()  # `name=default`, and one line


def list_makers() -> Iterator[MakerHelp]:
    """Describe all makers, also those of parsemark's plug-ins that are not installed."""
    missing = {name for groups in own_plugins().values() for name in groups.get(MAKERS.group, ())}
    for name in sorted({*MAKERS, *missing}):
        if name in MAKERS:
            yield _help_of(name)
        else:
            distribution = str(distribution_of(MAKERS.group, name))
            yield MakerHelp(name, distribution, f"Not installed: pip install {distribution}")


def _help_of(name: str) -> MakerHelp:
    distribution = MAKERS.distribution(name)
    try:
        maker = _maker_class(name)
    except ParsemarkError as error:
        return MakerHelp(name, distribution, str(error))
    reads = "--corpus CORPUS" if maker.needs_corpus else "SOURCES..." if maker.sources_help else ""
    options = tuple(
        (field.name + _default_text(field.default), str(field.metadata.get("help", "")))
        for field in dataclasses.fields(maker)
    )
    return MakerHelp(name, distribution, (maker.__doc__ or "").partition("\n")[0], reads, options)


def _default_text(default: Any) -> str:
    if default is MISSING or default in (None, "", ()):
        return ""
    return f"={'+'.join(map(str, default)) if isinstance(default, tuple) else default}"


def run_maker(
    maker: str | Maker,
    out: Path,
    *,
    options: Mapping[str, OptionValue],
    corpus: Corpus | None = None,
    sources: Sequence[Path] = (),
    workers: int | None = None,
    progress: Callable[[int, int | None], None],
) -> MadeCorpus:
    """Write a corpus into a folder that is new or empty, as `parsemark.corpus_make` describes."""
    if isinstance(maker, str):
        chosen = get_maker(maker, options)
    elif options:
        raise UsageError("A maker object already has its options; to set others, give the maker's spec.")
    else:
        chosen = maker
    _require_inputs(chosen, corpus, sources)
    with whole_folder(out) as folder:
        job = MakingJob(folder, corpus, tuple(sources), workers)
        total = chosen.n_steps(job)
        progress(0, total)
        return chosen.make(dataclasses.replace(job, progress=lambda n: progress(n, total)))


def _require_inputs(maker: Maker, corpus: Corpus | None, sources: Sequence[Path]) -> None:
    if maker.needs_corpus and corpus is None:
        raise UsageError("This maker changes the pages of a corpus; give one with --corpus CORPUS.")
    if corpus is not None and not maker.needs_corpus:
        raise UsageError("This maker does not read a corpus; leave out --corpus.")
    if sources and not maker.sources_help:
        raise UsageError(f"This maker does not read files; leave out {sources[0]}.")


def write_copy_manifest(
    out: Path, corpus: Corpus, kind: str, description: str, settings: dict[str, Any], **fields: Any
) -> CorpusFile:
    """Write the manifest of a copy of a corpus, whose name ends with its `kind`."""
    return write_manifest(
        out,
        name=f"{corpus.name}-{kind}",
        version=corpus.version,
        licence=corpus.licence,
        description=f"{corpus.name} {description}.",
        settings={**settings, "corpus": corpus.name, "corpus_hash": corpus.hash},
        **fields,
    )
