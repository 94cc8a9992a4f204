"""Reads the output that a PDF is compared with: a file, a folder with a file per page, or bytes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from parsemark.errors import FormatError, UsageError
from parsemark.formats.cell_text import decoded
from parsemark.formats.found_table import SUFFIXES
from parsemark.formats.output_pages import has_page_marks, page_texts, read_output_json
from parsemark.model import Prediction
from parsemark.plain_words import counted

MAX_BYTES = 256 * 2**20
_JSON = (".json", ".jsonl", ".ndjson")
_LISTS = ("_content_list.json", "_middle.json")
"""Endings of MinerU's files, which have the pages that its Markdown has not."""
_PAGE = (
    re.compile(r"\.p(\d{1,6})$"),
    re.compile(r"page[ _.-]?(\d{1,6})(?!.*page)", re.I),
    re.compile(r"(\d{1,6})\D*$"),
)
"""How names of files tell pages; the first that fits counts."""
_MOST_FILES = 100_000
_NAMED = (*SUFFIXES, ".json", ".jsonl", "_content_list.json", "_middle.json")
"""Endings of the output of a document, behind its name."""


@dataclass(frozen=True, slots=True)
class GivenPage:
    """The output of one page, or of all."""

    prediction: Prediction
    number: int | None
    file: str = ""
    first_line: int | None = 1
    """Line of its file at which its text begins; None where the file has none that people read."""


@dataclass(frozen=True, slots=True)
class GivenOutput:
    """An output, by pages or as a whole."""

    pages: tuple[GivenPage, ...]

    @property
    def is_whole(self) -> bool:
        """Return whether it does not say which page its texts are of."""
        return len(self.pages) == 1 and self.pages[0].number is None


def output_of(outputs: Path, name: Path) -> Path | None:
    """Return the output of a PDF: a file of its name, or a folder; None if there is none."""
    base = outputs / name.with_suffix("")
    places = [base.with_name(base.name + suffix) for suffix in _NAMED]
    places += [outputs / name.with_name(name.name + suffix) for suffix in _NAMED]
    inside = outputs.resolve()
    found = (place for place in (*places, base) if place.exists())
    return next((place for place in found if place.resolve().is_relative_to(inside)), None)


def read_output_of(output: str | Path | bytes, n_pages: int, separator: str | None = None) -> GivenOutput:
    """Read an output of a PDF with so many pages.

    Raises:
        FormatError: It cannot be read.
        UsageError: There is no such file, or its pages are not those of the PDF.
    """
    if isinstance(output, bytes):
        text = decoded(output)
        kind = ".json" if text.lstrip("\ufeff \n")[:1] in ("{", "[") and _is_json(text) else ".md"
        return _of_text(text, kind, n_pages, separator, "output")
    path = Path(output)
    if path.is_dir():
        return _of_folder(path, n_pages, separator)
    if not path.is_file():
        raise UsageError(f"{path} does not exist. Give a file, or a folder with one file per page.")
    return _of_text(_read(path), path.suffix.lower(), n_pages, separator, str(path))


def _is_json(text: str) -> bool:
    try:
        read_output_json(text)
    except FormatError:
        return False
    return True


def _read(path: Path) -> str:
    if path.stat().st_size > MAX_BYTES:
        raise FormatError(f"The file is over {MAX_BYTES // 2**20} MB", where=str(path))
    return decoded(path.read_bytes())


def _of_text(text: str, suffix: str, n_pages: int | None, separator: str | None, name: str) -> GivenOutput:
    """Read the output of `n_pages` pages; None if the name of its file states which page it is of."""
    if suffix in _JSON:
        try:
            pages = read_output_json(text)
        except FormatError as error:
            raise FormatError(error.message, where=name) from error
        if len(pages) == 1 and (pages[0].number is None or n_pages is None):
            return GivenOutput((GivenPage(pages[0].prediction, None, first_line=None),))
        for page in pages:
            _require_page(page.number, n_pages or 1, name)
        return GivenOutput(tuple(GivenPage(p.prediction, p.number, first_line=None) for p in pages))
    if suffix not in SUFFIXES and suffix:
        known = ", ".join([*SUFFIXES, *_JSON])
        raise UsageError(f"{name} has an unknown format; known formats: {known}.")
    written = {"csv": "text", "tsv": "text"}.get(SUFFIXES.get(suffix, ""), SUFFIXES.get(suffix, "markdown"))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if n_pages is not None and n_pages > 1 and (separator is not None or has_page_marks(text)):
        try:
            parts = page_texts(text, n_pages, separator)
        except FormatError as error:
            raise UsageError(f"{name}: {error}.") from error
        found, offset = [], 0
        for number, part in enumerate(parts, start=1):
            at = text.find(part, offset) if part else offset
            offset = at if at >= 0 else offset
            line = text.count("\n", 0, offset) + 1
            found.append(GivenPage(_text(part, written), number, first_line=line))
        return GivenOutput(tuple(found))
    return GivenOutput((GivenPage(_text(text, written), None),))


def _text(text: str, written: str) -> Prediction:
    return Prediction("", "", text=text, format=written)


def _require_page(number: int | None, n_pages: int, name: str) -> None:
    if number is None or not 1 <= number <= n_pages:
        told = "a page without a number" if number is None else f"a page {number}"
        raise UsageError(
            f"{name} has {told}, but the PDF has {counted(n_pages, 'page')}: is it the right file?"
        )


def _of_folder(folder: Path, n_pages: int, separator: str | None) -> GivenOutput:
    inside = folder.resolve()
    files = sorted(
        path
        for _, path in zip(range(_MOST_FILES), folder.iterdir(), strict=False)
        if path.suffix.lower() in (*SUFFIXES, *_JSON)
        and path.is_file()
        and path.resolve().is_relative_to(inside)
    )
    for ending in _LISTS:
        if lists := [path for path in files if path.name.endswith(ending)]:
            files = lists
            break
    if not files:
        raise UsageError(f"{folder} has no file of a known format: {', '.join([*SUFFIXES, *_JSON])}.")
    if len(files) == 1:
        (only,) = files
        found = _of_text(_read(only), only.suffix.lower(), n_pages, separator, str(only))
        return GivenOutput(
            tuple(GivenPage(p.prediction, p.number, only.name, p.first_line) for p in found.pages)
        )
    numbers = _numbers([path.stem for path in files])
    if numbers is None:
        raise UsageError(
            f"The names of the {counted(len(files), 'file')} in {folder} have no page numbers: use "
            "names like page-3.md."
        )
    shift = 1 if 0 in numbers else 0
    pages = []
    for path, number in sorted(zip(files, numbers, strict=True), key=lambda pair: pair[1]):
        _require_page(number + shift, n_pages, str(path))
        (page, *_) = _of_text(_read(path), path.suffix.lower(), None, None, str(path)).pages
        pages.append(GivenPage(page.prediction, number + shift, path.name, page.first_line))
    return GivenOutput(tuple(pages))


def _numbers(stems: list[str]) -> list[int] | None:
    """Return the page of each name; None if they do not tell it."""
    for pattern in _PAGE:
        found = [pattern.search(stem) for stem in stems]
        numbers = [int(match[1]) for match in found if match]
        if len(numbers) == len(stems) and len(set(numbers)) == len(stems):
            return numbers
    return None
