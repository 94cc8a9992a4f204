"""What a corpus is, and how a spec names one."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parsemark.errors import CorpusError, FormatError, ParsemarkError, UsageError, require_known
from parsemark.formats.model_json import page_to_json
from parsemark.model import Sample
from parsemark.plain_words import counted
from parsemark.specs import Registry
from parsemark.system import file_sha256

CORPORA = Registry(
    "corpus",
    "parsemark.corpora",
    {
        "demo": "parsemark.corpora.files:load_demo",
        "parsemark": "parsemark.corpora.files:load_folder",
        "folder": "parsemark.corpora.loaders.folder:load",
        "omnidocbench": "parsemark.corpora.loaders.omnidocbench:load",
        "embedded": "parsemark.corpora.loaders.embedded:load_embedded",
        "source-pairs": "parsemark.corpora.loaders.embedded:load_source_pairs",
        "tagged": "parsemark.corpora.loaders.embedded:load_tagged",
        "sources": "parsemark.corpora.loaders.sources:load",
    },
)
"""Name to a function `load(path) -> Corpus`."""

WITHOUT_PATH = frozenset({"demo"})  # corpora that are part of the package: their specs have no path
MALFORMED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What a truth raises that is of another shape than it should be, or that the model refuses."""
_ID = re.compile(r"[\w.-]+")
_MAX_LENGTH = 2_000  # of each part of a remark, in characters


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that the user of a corpus should know: a file that was left out, or one that looks wrong."""

    where: str  # the file, with its line where that is known
    message: str  # what is wrong with it, what follows, and what to do
    left_out: bool = True
    """Whether something that is there is not part of the corpus; False for a mere warning."""

    def __post_init__(self) -> None:
        """Cut what quotes a huge value, and replace what is not Unicode."""
        for name in ("where", "message"):
            text = getattr(self, name).encode("utf-8", "replace").decode()
            text = text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"
            object.__setattr__(self, name, text)

    def __str__(self) -> str:
        return f"{self.where}: {self.message}"


@dataclass(frozen=True)
class Corpus:
    """Samples under a name and a version. Samples are read one by one, when they are asked for."""

    name: str
    version: str
    hash: str  # changes whenever a truth or a document changes; runs record it
    root: Path
    keys: tuple[str, ...]  # the ids of the samples, in order
    read: Callable[[str], Sample]
    """Reads one sample by its id (a module-level function or a partial of one, so that it pickles)."""
    licence: str = "unknown"
    spec: str = ""  # what `load_corpus` was given
    strict: bool = False  # whether a sample that cannot be read is an error for the whole
    remarks: tuple[Remark, ...] = ()
    """Remarks on what was left out, and on what looks wrong. A bad file affects only itself."""
    read_outputs: Callable[[Path], Mapping[str, Any]] | None = None
    """Reads a benchmark's own file with the outputs of all pages: names as files of outputs have them, each
    with its raw output. FormatError if the file is not of that form."""
    broken: tuple[Sample, ...] = ()
    """First pages of PDFs that cannot be opened here: no samples, but a run tries its parsers on them."""
    issues: str | None = None  # address of the page where errors of the truth are reported

    @classmethod
    def of(
        cls,
        name: str,
        samples: Iterable[Sample],
        *,
        root: Path,
        version: str,
        licence: str,
        remarks: Iterable[Remark] = (),
        broken: Iterable[Sample] = (),
    ) -> Corpus:
        """Return a corpus of samples that are already in memory; its hash is that of their truths and
        files.
        """
        by_id: dict[str, Sample] = {}
        digest = hashlib.sha256()
        for sample in samples:
            if sample.id in by_id:
                raise CorpusError(f"Two samples of {name} have the id {sample.id!r}; ids must be unique.")
            if _ID.fullmatch(sample.id) is None or not sample.id.strip("."):
                signs = "ids have letters, digits, '.', '_', '-'"
                raise CorpusError(f"A sample of {name} has the id {sample.id!r}; {signs}.")
            by_id[sample.id] = sample
            # canonical JSON is the same for equal truths, whatever class or Python wrote them
            truth = None if sample.truth is None else page_to_json(sample.truth)
            identity = [sample.id, sample.page_number, truth]
            digest.update(json.dumps(identity, sort_keys=True, separators=(",", ":")).encode())
        for path in sorted({p for s in by_id.values() for p in (s.pdf, s.image) if p is not None}):
            digest.update(file_sha256(path).encode())
        known = (name, version, digest.hexdigest(), root, tuple(by_id), by_id.__getitem__, licence)
        return cls(*known, remarks=tuple(remarks), broken=tuple(broken))

    @property
    def left_out(self) -> tuple[Remark, ...]:
        """Return remarks on everything that is unreadable and not part of the corpus."""
        return tuple(remark for remark in self.remarks if remark.left_out)

    def try_read(self, key: str) -> Sample | Remark:
        """Return one sample, or the reason to leave it out unless the corpus is `strict`: a bad file affects
        only itself.
        """
        try:
            return self.read(key)
        except (CorpusError, FormatError, OSError, *MALFORMED) as error:
            if self.strict:
                raise
            return Remark(key, f"is left out: {error}")

    def samples(self) -> Iterator[Sample]:
        """Return all samples, in order."""
        return (self.read(key) for key in self.keys)

    def __len__(self) -> int:
        return len(self.keys)


def load_corpus(spec: str | Path, *, strict: bool = False) -> Corpus:
    """Find a corpus.

    Args:
        spec: `demo`, a path (see `find_loader`), or `loader:PATH`.
        strict: Fail if any part of the corpus is unreadable.

    Raises:
        CorpusError: It cannot be read, or, if `strict`, not all of it.
    """
    name, path = find_loader(spec := str(spec))
    if path is not None and name != "parsemark":
        spec = f"{name}:{path}"  # what a bare path was taken for
    if path is not None and not path.exists():
        raise CorpusError(f"{path} (of the corpus {spec!r}) does not exist.")
    corpus: Corpus = CORPORA.load(name)() if path is None else _loaded(name, path)
    n = len(corpus.left_out)
    if strict and n:
        listed = "\n  ".join(map(str, corpus.left_out))
        said = f"{counted(n, 'part')} of {spec} cannot be used, and --strict was given"
        raise CorpusError(f"{said}:\n  {listed}")
    return dataclasses.replace(corpus, spec=spec, strict=strict)


def find_loader(spec: str) -> tuple[str, Path | None]:
    """Return which loader reads a corpus, and from where.

    A bare path is taken for what it is: a folder with `corpus.json`, or that file, is a corpus of parsemark's
    own, any other folder and any document is `folder:PATH`, and a JSON file is `omnidocbench:FILE`. After
    `LOADER:` the path need not exist.

    Raises:
        UsageError: There is neither such a loader nor such a path.
    """
    name, colon, rest = spec.partition(":")
    if spec in WITHOUT_PATH:
        return spec, None
    path = Path(spec)
    if (path / "corpus.json").is_file():
        return "parsemark", path
    if path.name == "corpus.json" and path.is_file():
        return "parsemark", path.parent
    if path.exists():
        return "omnidocbench" if path.suffix.lower() == ".json" else "folder", path
    if colon and (len(name) > 1 or name in CORPORA):
        CORPORA.load(name)
        return name, Path(rest)
    loaders = ", ".join(f"{loader}:PATH" for loader in CORPORA if loader not in WITHOUT_PATH)
    raise UsageError(f"No corpus {spec!r}: give 'demo', a folder, a PDF, or one of {loaders}.")


def _loaded(name: str, path: Path) -> Corpus:
    load = CORPORA.load(name)
    if not CORPORA.is_plugin(name):
        corpus: Corpus = load(path)
        return corpus
    try:
        corpus = load(path)
    except (ParsemarkError, OSError):
        raise
    except (Exception, SystemExit) as error:  # another package's code: it is named, with what it raised
        raise CORPORA.broken(name, error) from error
    if not isinstance(corpus, Corpus):
        raise CORPORA.broken(name, TypeError(f"its loader returned a {type(corpus).__name__}, not a Corpus"))
    return corpus


def sample_of(corpus: Corpus, key: str) -> Sample:
    """Return one sample by its id, or raise the error that lists the nearest ids."""
    require_known("page", key, corpus.keys)
    return corpus.read(key)
