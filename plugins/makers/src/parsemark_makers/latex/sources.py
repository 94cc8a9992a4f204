"""LaTeX sources from wherever the user has them: files, folders, and archives as arXiv gives them.

Archives are hostile: names with `..`, links, devices and bombs. Nothing is ever unpacked by a library's own
extraction; each member is read through a counter of bytes, and written only if its name stays in its folder.
"""

import gzip
import io
import os
import re
import stat
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import IO, Self

from parsemark.errors import CorpusError
from parsemark.system import BROKEN_ARCHIVE

MAX_FILES, MAX_FILE_BYTES, MAX_DOCUMENT_BYTES = 5_000, 64 * 2**20, 256 * 2**20
"""Files of one document, bytes of one file, and of one document when it is unpacked."""
MAX_HEADER_BYTES, MAX_DIRECTORY_BYTES = 2**20, 8 * 2**20
"""Of a member's long name or of its further attributes, and of a zip's list of entries."""
MAX_MEMBERS = 20_000  # entries of one archive, also those that are passed over
MAX_NAME = 200  # characters of a document's name, and of a file's as it is reported
ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip", ".gz")

MAX_ABOVE = 3  # how many folders up a document may read

_ZIP_ENCRYPTED = 0x1
_LEAVES, _NO_FILE = "its name is invalid or leads out of the folder", "is a link or a device"
_ABOVE = re.compile(r"[{,\s](\.\./[^\s{},%#\\]{1,200})(?=[},\s])")
_ENDINGS = ("", ".tex", ".bib", ".pdf", ".png", ".jpg", ".eps", ".sty", ".cls")
_HEADERS = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
_LICENCE_FILE = re.compile(r"licen[cs]e(\.txt|\.md)?|copying", re.IGNORECASE)


@dataclass
class SourceDocument:
    """The files of one document, by their path in it."""

    name: str
    """Unique among the documents that were gathered together; letters, digits, `.`, `_` and `-` alone."""
    origin: str  # the file or folder it came from
    files: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)  # all folders that the files need
    files_above: dict[str, bytes] = field(default_factory=dict)
    """Files that the document reads as `../name`, by that path."""
    skipped: list[str] = field(default_factory=list)  # members that were not taken, each with the reason
    problem: str | None = None  # why the document could not be read at all

    @property
    def n_bytes(self) -> int:
        """Return the size of all files."""
        return sum(len(data) for data in (*self.files.values(), *self.files_above.values()))

    def tex_files(self) -> dict[str, str]:
        """Return the LaTeX files as text."""
        endings = (".tex", ".ltx", ".latex")
        return {n: decode(d) for n, d in sorted(self.files.items()) if n.lower().endswith(endings)}

    def licence(self, default: str) -> str:
        """Return the first line of the document's licence file, or the default."""
        for name, data in sorted(self.files.items()):
            if _LICENCE_FILE.fullmatch(PurePosixPath(name).name):
                lines = (line.strip() for line in decode(data[:4096]).splitlines())
                return next((line for line in lines if line), default)[:200]
        return default

    @property
    def reads_above(self) -> bool:
        """Return whether a file of the document names one as `../name`."""
        return any("../" in text for text in self.tex_files().values())

    def write_to(self, root: Path) -> str:
        """Write all files below a folder, and return the document's own folder in it.

        A document that reads `../name` lies deeper in `root`, so that this stays in it.
        """
        place = "/".join(["parsemark-above"] * MAX_ABOVE) if self.reads_above else ""
        for name, data in {**self.files, **self.files_above}.items():
            target = Path(os.path.normpath(root / place / name))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return place


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """Where the source of a document lies; it is not read yet."""

    name: str  # as in `SourceDocument`
    path: Path
    within: Path | None = None  # the folder that was given; files above the document are only taken from here


def locate(paths: Iterable[Path]) -> list[SourcePlace]:
    """Return one document per archive, per file, and per folder that has LaTeX files directly in it.

    A folder is searched for archives and for folders with LaTeX files; what lies below such a folder belongs
    to it. Only archives that lie beside LaTeX files in the folder that was given are documents all the same.
    """
    taken: set[str] = set()
    located = []
    for path in paths:
        if not path.exists():
            hint = "give LaTeX files, folders, or .tar.gz and .zip archives"
            raise CorpusError(f"{path} does not exist; {hint}.")
        for found in _documents_below(path, is_given=True):
            stem = _stem(found)
            names = chain([stem], (f"{stem}-{number}" for number in count(2)))
            name = next(name for name in names if name.lower() not in taken)
            taken.add(name.lower())
            located.append(SourcePlace(name, found, path))
    return located


def decode(data: bytes) -> str:
    """Return the text of a source file: UTF-8, or else Latin-1, which never fails."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def safe_name(name: str) -> str | None:
    """Return the path of an archive's member inside of its folder, or None if it would leave it."""
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part != "."]
    is_unsafe = path.is_absolute() or ".." in parts or not parts or "\0" in name or len(name) > 500
    try:  # file systems and reports hold names that are Unicode and not too long
        is_unsafe = is_unsafe or ":" in parts[0] or any(len(part.encode()) > 255 for part in parts)
    except UnicodeEncodeError:  # bytes that are not UTF-8
        return None
    return None if is_unsafe else "/".join(parts)


def _printable(name: str) -> str:
    return name[:MAX_NAME].encode(errors="replace").decode()


def _documents_below(path: Path, *, is_given: bool = False) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    entries = sorted(entry for entry in path.iterdir() if not entry.is_symlink())
    if any(entry.is_file() and entry.suffix.lower() == ".tex" for entry in entries):
        yield path
        if is_given:
            yield from (e for e in entries if e.is_file() and e.name.lower().endswith(ARCHIVES[:4]))
        return
    for entry in entries:
        if entry.is_dir() or entry.name.lower().endswith(ARCHIVES):
            yield from _documents_below(entry)


def _stem(path: Path) -> str:
    stem = path.name
    for ending in (*ARCHIVES, ".tex"):
        stem = stem.removesuffix(ending)
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.")[:MAX_NAME] or "document"


def read_document(place: SourcePlace) -> SourceDocument:
    """Return the files of a document; where it cannot be read, its `problem` says why."""
    path = place.path
    source = SourceDocument(place.name, str(path))
    try:
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                name = file.relative_to(path).as_posix()
                if any(part.is_symlink() for part in (file, *file.parents) if path in part.parents):
                    source.skipped.append(f"{name}: is a link")
                elif file.is_file():
                    _add(source, name, file.stat().st_size, file.open("rb"))
            _read_above(path, place.within or path, source)
        elif path.name.lower().endswith(ARCHIVES):
            _read_archive(path, source)
        else:
            _add(source, path.name, path.stat().st_size, path.open("rb"))
    except (CorpusError, *BROKEN_ARCHIVE) as error:
        source.problem = (str(error) or type(error).__name__)[:MAX_NAME]
    if not source.files and source.problem is None:
        source.problem = "holds no file that can be taken"
    return source


def _read_above(folder: Path, within: Path, source: SourceDocument) -> None:
    """Read files that the document names as `../name`, as far as they lie in the folder that was given."""
    limit = within.resolve()
    for text in source.tex_files().values():
        for name in dict.fromkeys(_ABOVE.findall(text)):
            depth = PurePosixPath(name).parts.count("..")
            for ending in _ENDINGS:
                path = (folder / f"{name}{ending}").resolve()
                is_ours = path.is_relative_to(limit) and not path.is_relative_to(folder.resolve())
                if depth <= MAX_ABOVE and is_ours and path.is_file() and not path.is_symlink():
                    data = path.read_bytes() if path.stat().st_size <= MAX_FILE_BYTES else b""
                    if source.n_bytes + len(data) <= MAX_DOCUMENT_BYTES:
                        source.files_above[f"{name}{ending}"] = data
                    break


def _read_archive(path: Path, source: SourceDocument) -> None:
    with path.open("rb") as raw:
        head = raw.read(4)
        raw.seek(0)
        if head.startswith(b"PK") or path.name.lower().endswith(".zip"):
            _read_zip(raw, source)
            return
        is_gzip = head.startswith(b"\x1f\x8b")
        unpacked: io.BufferedIOBase = gzip.GzipFile(fileobj=raw) if is_gzip else raw
        bounded = io.BufferedReader(_Bounded(unpacked, MAX_DOCUMENT_BYTES))
        start = bounded.peek(512)
        is_plain = len(start) < 512 or start[:1] == b"\\" or b"\0" not in start[:512]
        if is_plain and start[257:262] != b"ustar":
            _add(source, f"{source.name}.tex", 0, bounded)
            return
        with tarfile.open(fileobj=bounded, mode="r|", tarinfo=_BoundedInfo) as archive:
            for number, member in enumerate(archive):
                if number >= MAX_MEMBERS:
                    raise CorpusError(f"has more than {MAX_MEMBERS} entries")
                _add_member(archive, member, source)


def _read_zip(raw: IO[bytes], source: SourceDocument) -> None:
    """Read a zip, as Overleaf exports it. Its directory is checked first: zipfile reads no more than it
    declares.
    """
    n_bytes = 0
    with zipfile.ZipFile(_ShortReads(raw, MAX_DIRECTORY_BYTES)) as archive:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise CorpusError(f"has more than {MAX_MEMBERS} entries")
        for member in members:
            reason = _why_not(member)
            if member.is_dir():
                continue
            if reason is not None:
                source.skipped.append(f"{_printable(member.filename)}: {reason}")
                continue
            n_bytes += member.file_size if member.file_size <= MAX_FILE_BYTES else 0
            if n_bytes > MAX_DOCUMENT_BYTES:
                raise CorpusError(f"is larger than {MAX_DOCUMENT_BYTES // 2**20} MiB when unpacked")
            content = io.BufferedReader(_Bounded(archive.open(member), MAX_FILE_BYTES))
            _add(source, safe_name(member.filename) or "", member.file_size, content)


def _why_not(member: zipfile.ZipInfo) -> str | None:
    """Return why a member of a zip is not taken."""
    if safe_name(member.filename) is None:
        return _LEAVES
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        return _NO_FILE
    if member.flag_bits & _ZIP_ENCRYPTED:
        return "is encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is packed by another method than deflate"  # the others unpack without a bound
    return None


def _add_member(archive: tarfile.TarFile, member: tarfile.TarInfo, source: SourceDocument) -> None:
    name = safe_name(member.name)
    _check_size(member)  # again: an extended header may have changed it
    if member.isdir():
        return
    if name is None:
        source.skipped.append(f"{_printable(member.name)}: {_LEAVES}")
    elif not member.isreg() or member.issparse():
        source.skipped.append(f"{name}: {_NO_FILE}")
    elif (content := archive.extractfile(member)) is not None:
        _add(source, name, member.size, content)


def _add(source: SourceDocument, name: str, size: int, content: IO[bytes] | io.BufferedIOBase) -> None:
    with content:
        if len(source.files) >= MAX_FILES:
            raise CorpusError(f"has more than {MAX_FILES} files")
        data = b"" if size > MAX_FILE_BYTES else content.read(MAX_FILE_BYTES + 1)
    if size > MAX_FILE_BYTES or len(data) > MAX_FILE_BYTES:
        source.skipped.append(f"{name}: larger than {MAX_FILE_BYTES // 2**20} MiB")
        return
    if source.n_bytes + len(data) > MAX_DOCUMENT_BYTES:
        raise CorpusError(f"is larger than {MAX_DOCUMENT_BYTES // 2**20} MiB when unpacked")
    parents = {str(parent) for parent in PurePosixPath(name).parents}
    if name in source.folders or any(parent in source.files for parent in parents):
        source.skipped.append(f"{name}: is a file and a folder")
        return
    source.files[name] = data
    source.folders |= parents


class _BoundedInfo(tarfile.TarInfo):
    """A header; refused before anything is read or passed over because of the size that it declares."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        info = super().frombuf(buf, encoding, errors)
        _check_size(info)
        return info


def _check_size(info: tarfile.TarInfo) -> None:
    is_header = info.type in _HEADERS
    if not 0 <= info.size <= (MAX_HEADER_BYTES if is_header else MAX_DOCUMENT_BYTES):
        raise CorpusError(f"declares {info.size:,} bytes for {'a header' if is_header else 'one file'}")


class _ShortReads:
    """A file of which no more than `limit` bytes are read at once, as zipfile does with a whole directory."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file, self._limit = file, limit
        self.seek, self.tell, self.seekable, self.close = file.seek, file.tell, file.seekable, file.close

    def read(self, size: int = -1) -> bytes:
        if size > self._limit:
            raise CorpusError(f"declares {size:,} bytes for its directory")
        return self._file.read(size if size >= 0 else self._limit)


class _Bounded(io.RawIOBase):
    """Reads from a stream and raises once more than `limit` bytes came out of it."""

    def __init__(self, stream: io.BufferedIOBase | IO[bytes], limit: int) -> None:
        self._stream, self._left, self._limit = stream, limit, limit

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the buffer is always writable bytes
        data = self._stream.read(min(len(buffer), 2**20))
        self._left -= len(data)
        if self._left < 0:
            raise CorpusError(f"is larger than {self._limit // 2**20} MiB when unpacked")
        buffer[: len(data)] = data
        return len(data)
