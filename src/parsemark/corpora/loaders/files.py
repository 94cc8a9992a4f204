"""Files of other people's corpora: read within limits, never from outside of them, and named as samples."""

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from lxml import etree
from pydantic import TypeAdapter, ValidationError

from parsemark.corpora.base import MALFORMED, Remark
from parsemark.errors import CorpusError, FormatError
from parsemark.formats.cell_text import decoded
from parsemark.model import Sample
from parsemark.pdf import page_shapes
from parsemark.plain_words import first_problem

Model = TypeVar("Model")

_FORBIDDEN = re.compile(r"[^A-Za-z0-9._-]+")
_UNREADABLE = re.compile(r"[^\w.-]+")
_MAX_LENGTH = 120
_MAX_NAME = 80


class SampleIds:
    """Makes ids of the letters that ids may have, each one once."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def make(self, *parts: str | int) -> str:
        """Return the parts joined by `-`; a number is added where that id is taken already."""
        wanted = "-".join(_FORBIDDEN.sub("_", str(part)) for part in parts)[-_MAX_LENGTH:].lstrip("-.") or "_"
        chosen = wanted
        while chosen in self._taken:
            self._taken[wanted] += 1
            chosen = f"{wanted}-{self._taken[wanted]}"
        self._taken[chosen] = 1
        return chosen


def page_id(document: str, number: int) -> str:
    """Return the id of a page, made of its document's name alone, in whatever script that is.

    A name with other characters than an id may have gets a part of its hash, so that no two names have the
    same id, and none depends on what else there is.

    >>> page_id("Übersicht", 2), page_id("乙", 1)
    ('Übersicht-p2', '乙-p1')
    >>> page_id("a b", 1) == page_id("a_b", 1)
    False
    """
    plain = _UNREADABLE.sub("_", unicodedata.normalize("NFC", document)).lstrip("-.")[:_MAX_NAME]
    if plain != document or plain != plain.rstrip("."):
        plain += f"-{hashlib.sha256(document.encode()).hexdigest()[:8]}"
    return f"{plain}-p{number}"


MAX_FILE_BYTES = 1024 * 2**20  # OmniDocBench's whole annotation is one file of some hundred MB
MAX_XML_BYTES = 32 * 2**20


def read_bytes(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """Return a whole file, if it is not too large."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise CorpusError(f"{path} has {size:,} bytes; the limit is {limit:,}.")
        return path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path} cannot be read: {error.strerror or error}.") from error


def read_text(path: Path) -> str:
    """Return a text file, without its byte order mark."""
    try:
        return decoded(read_bytes(path)).removeprefix("\ufeff")
    except FormatError as error:
        raise CorpusError(f"{path}: {error}") from error


def read_json(path: Path) -> Any:
    """Return what a JSON file contains; raise CorpusError if it is not JSON or a key occurs twice."""
    try:
        return parse_json(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path} {error}.") from error


def parse_json(text: str | bytes) -> Any:
    """Return what JSON contains; ValueError in plain words if it is not JSON or a key occurs twice."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error}") from error
    except UnicodeDecodeError as error:
        raise ValueError("is not JSON: it is not Unicode") from error
    except RecursionError as error:
        raise ValueError("is not JSON: it is nested too deeply") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice, _ = (Counter(key for key, _ in pairs) - Counter(found.keys())).popitem()
        raise ValueError(f"has a duplicate key: {twice[:40]!r}")
    return found


def read_model(path: Path, model: type[Model], limit: int = MAX_FILE_BYTES) -> Model:
    """Return a JSON file as what pydantic makes of it."""
    try:
        return TypeAdapter(model).validate_json(read_bytes(path, limit))
    except ValidationError as error:
        raise CorpusError(f"{path}: {first_problem(error)}") from error


def read_number(text: str | None) -> float | None:
    """Return a finite number; None for what is none."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def read_xml(path: Path) -> etree._Element:
    """Return the root of an XML file: no entities, no DTD, no network, bounded depth.

    A file with an entity that is not read would lack what stands for it, so it is refused.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    data = read_bytes(path, MAX_XML_BYTES)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise CorpusError(f"{path} is not XML: {error}.") from error
    for entity in root.iter(etree.Entity):
        raise CorpusError(
            f"{path}, line {entity.sourceline}: entities such as {entity.text} are not supported."
        )
    return root


@contextmanager
def skip_with_remark(remarks: list[Remark], root: Path, path: Path) -> Iterator[None]:
    """Skip the document at `path`, with a remark, if reading inside this context fails."""
    try:
        yield
    except (CorpusError, FormatError, OSError, *MALFORMED) as error:
        where = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        remarks.append(Remark(where, f"is left out: {error}"))


def read_each(
    root: Path,
    paths: Iterable[Path],
    read: Callable[[Path, SampleIds], Iterable[Sample]],
    remarks: list[Remark],
) -> list[Sample]:
    """Return the samples of all files; one that cannot be read costs itself. Raise CorpusError if none can
    be.
    """
    ids = SampleIds()
    samples: list[Sample] = []
    for path in paths:
        with skip_with_remark(remarks, root, path):
            samples += read(path, ids)
    require_some(samples, remarks, root)
    return samples


def require_some(samples: Sized, remarks: Sequence[Remark], root: Path) -> None:
    """Raise CorpusError if nothing of a corpus can be read."""
    if not samples:
        why = str(remarks[0]) if remarks else "its files are empty."
        raise CorpusError(f"{root} has no readable file: {why}")


def first_page_size(pdf: Path | None) -> tuple[float, float]:
    """Return width and height of the first page; where there is no PDF, places stay shares of a page."""
    return (1.0, 1.0) if pdf is None else page_shapes(pdf)[0][:2]


def is_storable(path: Path) -> bool:
    """Return whether a path can be written into a run: file systems also allow names that are no Unicode."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def require_inside(root: Path, path: Path) -> Path:
    """Return `path`, or CorpusError if it is a link that leads out of the corpus."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise CorpusError(f"{path} leads outside the corpus folder {root}. Copy the file into it.")
    return path


def listing_hash(root: Path, paths: Iterable[Path]) -> str:
    """Return a hash of names and sizes, for corpora that are too large to read whole before they are used."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.relative_to(root).as_posix()} {path.stat().st_size}\n".encode())
    return digest.hexdigest()


def files_inside(
    root: Path, pattern: str, remarks: list[Remark] | None = None, *, of: str = "", deep: bool = True
) -> list[Path]:
    """Return the files below `root` that match, or right in it, sorted; links that lead out of it are
    refused.

    One whose name is no Unicode is left out, with a remark. Where a corpus `of` this name has such files and
    there are none, CorpusError asks whether this is it.
    """
    found = sorted(path for path in (root.rglob if deep else root.glob)(pattern) if path.is_file())
    if remarks is not None:
        remarks.extend(unstorable(path, root) for path in found if not is_storable(path))
    if of and not found:
        raise CorpusError(f"{root} has no {pattern}. Is this {of}?")
    return [require_inside(root, path) for path in found if is_storable(path)]


def unstorable(path: Path, root: Path) -> Remark:
    """Return the remark on a file whose name is not Unicode."""
    where = path.relative_to(root).as_posix().encode("utf-8", "replace").decode()
    return Remark(where, "has a name that is not UTF-8. Rename it.")
