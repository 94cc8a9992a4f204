"""Outputs that were made elsewhere: files in any format, one per page or one per document.

A file is named after its sample, after its PDF and page (`report.p3.md`, as `export` writes it), or
after its document; in the latter case it is taken apart where pages begin (`formats.output_pages`).
Documents in folders may have their files in folders of the same names; these come before those without
folders.
"""

import hashlib
import json
import re
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from parsemark.corpora import Corpus
from parsemark.engine.events import Events
from parsemark.engine.parsing.parse import ParseOptions, add_samples, open_run
from parsemark.errors import FormatError, UsageError
from parsemark.formats import read_tables
from parsemark.formats.cell_text import decoded
from parsemark.formats.found_table import SUFFIXES
from parsemark.formats.model_json import prediction_from_json
from parsemark.formats.output_pages import page_texts
from parsemark.model import Prediction, Sample, Status, Table
from parsemark.plain_words import counted, visible, why_no_name
from parsemark.protocols import canonical_specs
from parsemark.store import ParseRecord, ParserEntry, Run, RunFolder, work_key

IMPORTED = "imported"  # key of records, and beginning of the fingerprint, of outputs that were made elsewhere
MAX_FILE_BYTES = 64 * 1024 * 1024
_TEXT_FORMATS = {suffix: kind for suffix, kind in SUFFIXES.items() if kind not in ("csv", "tsv")}


def import_predictions(
    out: Path,
    corpus: Corpus,
    folder: Path,
    *,
    name: str | None = None,
    pages: str | int | None = None,
    protocols: tuple[str, ...] = (),
    command: tuple[str, ...] = (),
    page_separator: str | None = None,
    events: Events | None = None,
) -> Run:
    """Put outputs that lie in a folder, or in a benchmark's own file, into a run: see `api.score`.

    A sample without a file counts as not answered; files that fit no sample are told.
    """
    if folder.is_file():
        with tempfile.TemporaryDirectory() as taken_apart:
            pages_folder = _taken_apart(folder, corpus, Path(taken_apart))
            return import_predictions(
                out, corpus, pages_folder, name=name or folder.stem, pages=pages, protocols=protocols,
                command=command, events=events,
            )  # fmt: skip
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder with outputs.")
    parser = name or folder.resolve().name
    if why := why_no_name(parser):
        raise UsageError(f"No parser can be called {visible(parser)[:60]!r}: {why}. Give it another --name.")
    is_new = not (out / "manifest.json").exists()
    run = open_run(out, corpus, ParseOptions(command=command, protocols=protocols if is_new else ()))
    RunFolder.of(run).update_manifest(lambda manifest: manifest.with_protocols(canonical_specs(protocols)))
    wanted = add_samples(run, corpus, pages, needs_pdf=False, events=events)
    places = _places(corpus)
    known = {name for place in places.values() for name in (*place.names, place.document, place.whole_name)}
    files, unused = _files_by_name(folder, {*corpus.keys, *known})
    answers = {sample: _file_for(place, files) for sample, place in places.items()}
    if not any(answers[page.sample] for page in wanted):
        first = wanted[0].sample
        raise UsageError(
            f"No file name in {folder} matches a page or a document of {corpus.name}; expected names "
            f"like {first}.md, or {places[first].document}.md for all its pages."
        )
    unused += _passed_over(places, files, answers)
    told = events or Events()
    if unused:
        more = f" and {len(unused) - _MAX_LISTED} more" if len(unused) > _MAX_LISTED else ""
        told.note(f"Not used in {folder}: {', '.join(unused[:_MAX_LISTED])}{more}")
    _tell_shared({page.sample: places[page.sample] for page in wanted}, answers, told)
    digest = hashlib.sha256()
    documents = _Documents(page_separator)
    with RunFolder.of(run).parses.journal() as journal:
        for page in wanted:
            record = _record(run, page.sample, parser, answers[page.sample], places[page.sample], documents)
            digest.update(record.key.encode())
            journal.append(record.to_json())
        there = set(run.table("samples")["sample"]) if pages is None else set()
        for sample in corpus.broken:  # of a run that has tried parsers on them: every page has a record
            if sample.id in there:
                journal.append(_not_answered(sample.id, parser).to_json())
    RunFolder.of(run).parses.fold()
    entry = ParserEntry(name=parser, fingerprint=f"{IMPORTED} {digest.hexdigest()}")
    RunFolder.of(run).update_manifest(lambda manifest: manifest.with_parser(entry))
    return run


def _taken_apart(file: Path, corpus: Corpus, folder: Path) -> Path:
    """Write the outputs of a benchmark's own file as one file per page."""
    if corpus.read_outputs is None:
        raise UsageError(
            f"{file} is not a folder. To score outputs, give the folder that contains them, with one file "
            f"per page or document. To compare one output with its PDF: parsemark check DOCUMENT.pdf {file}"
        )
    try:
        outputs = corpus.read_outputs(file)
    except FormatError as error:
        raise UsageError(f"{file} cannot be read as outputs of {corpus.name}: {error}") from error
    for name, raw in outputs.items():
        if why := why_no_name(name) or ("it is not a plain name" if Path(name).name != name else None):
            raise UsageError(f"{file}: no page can be called {visible(name)[:60]!r}: {why}.")
        (folder / f"{name}.json").write_bytes(_as_raw(raw))
    return folder


def _as_raw(data: dict[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


def _read_text(path: Path) -> str:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise FormatError(f"The file exceeds {MAX_FILE_BYTES} bytes")
    text = decoded(path.read_bytes())
    # Readers of texts know byte order marks, and the published profiles of `document` keep them.
    return text if path.suffix.lower() in _TEXT_FORMATS else text.removeprefix("\ufeff")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"The file is not JSON: {error}") from error


def _known_json(data: Any) -> dict[str, Any]:
    if isinstance(data, list):
        return {"format": "elements", "elements": data}
    if isinstance(data, dict):
        if data.keys() >= {"sample", "parser", "status", "elements"}:
            return _exported(prediction_from_json(data))
        if "format" in data:
            return data
        if isinstance(data.get("elements"), list):
            return {"format": "elements", "elements": data["elements"]}
        for kind in ("html", "markdown", "latex", "text"):
            if isinstance(data.get(kind), str):
                return {"format": kind, "content": data[kind]}
    raise FormatError("The JSON must have one of: format, elements, html, markdown, latex, text")


def _exported(prediction: Prediction) -> dict[str, Any]:
    """Return an output written by `export --format outputs-json` as the original raw output."""
    elements: list[dict[str, Any]] = []
    for element in prediction.elements:
        given = {name: getattr(element, name) for name in ("text", "latex", "html", "order", "confidence")}
        given["box"] = None if element.box is None else element.box.as_tuple()
        cells = {} if element.table is None or element.html else table_element(element.table)
        elements.append({**given, **cells, "category": str(element.category)})
    said = {"content": prediction.text, "content_format": prediction.format}
    return {"format": "elements", "elements": elements, **said}


def _read_delimited(kind: str, text: str) -> dict[str, Any]:
    tables = [table_element(found.table) for found in read_tables(text, kind)]
    return {"format": "elements", "elements": tables}


def table_element(table: Table | None) -> dict[str, Any]:
    """Return a table as an element of a raw output."""
    cells = [
        {"row": c.row, "col": c.col, "rowspan": c.rowspan, "colspan": c.colspan, "text": c.text}
        for c in (table.cells if table is not None else ())
    ]
    return {"category": "table", "cells": cells}


def _of_text(kind: str, text: str) -> dict[str, Any]:
    return {"format": kind, "content": text}


_READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    ".json": lambda text: _known_json(_json(text)),
    **{suffix: partial(_of_text, kind) for suffix, kind in _TEXT_FORMATS.items()},
    ".csv": partial(_read_delimited, "csv"),
    ".tsv": partial(_read_delimited, "tsv"),
}
"""Suffix to reader; of several files for one sample the first suffix counts."""
_MAX_LISTED = 5
UNSAFE = re.compile(r"[^\w.@=,+()-]+")  # what names of files are written without


class _Place(NamedTuple):
    """Where a sample lies."""

    document: str  # as files are named after it: the name without its folders
    whole_name: str  # of the document, with its folders
    page: int
    n_pages: int
    names: tuple[str, ...]  # of files that are its own, the first before the others


def page_name(pdf: Path, page: int) -> str:
    """Return the file name for one page of a PDF.

    >>> page_name(Path("docs/annual report.pdf"), 3)
    'annual_report.p3'
    """
    return f"{UNSAFE.sub('_', unicodedata.normalize('NFC', pdf.stem))}.p{page}"


def page_names(pages: Mapping[str, tuple[Path | None, int]]) -> dict[str, str]:
    """Return what the file of each page is called: after its PDF, and with a part of the hash of the PDF's
    own name where several would be called the same; by its id where there is no PDF, or they differ in
    folders alone.

    >>> page_names({"x": (Path("A & B.pdf"), 1), "y": (Path("a b.pdf"), 1), "z": (Path("c d.pdf"), 1)})
    {'x': 'A_B-dff4ec.p1', 'y': 'a_b-c8687a.p1', 'z': 'c_d.p1'}
    """
    names, hashed = {key: key for key in pages}, {}
    for key, (pdf, page) in pages.items():
        if pdf is not None:
            names[key] = page_name(pdf, page)
            digest = hashlib.sha256(pdf.stem.encode("utf-8", "surrogateescape")).hexdigest()[:6]
            hashed[key] = page_name(pdf.with_stem(f"{pdf.stem}-{digest}"), page)
    for other in (hashed, {}):
        often = Counter(name.casefold() for name in names.values())
        names = {k: other.get(k, k) if often[name.casefold()] > 1 else name for k, name in names.items()}
    return names


def _places(corpus: Corpus) -> dict[str, _Place]:
    found = [s for s in map(corpus.try_read, corpus.keys) if isinstance(s, Sample)]
    names = {s.id: page_name(s.pdf, s.page_number) for s in found if s.pdf is not None}
    often = Counter([*names.values(), *(s.id for s in found if names.get(s.id) != s.id)])
    exported = page_names({s.id: (s.pdf, s.page_number) for s in found})
    owner: dict[str, str] = {}
    n_pages: dict[str, int] = {}
    for sample in found:  # of pages with one alias the first has it, and files of the others are named by ids
        n_pages[sample.document] = max(sample.page_number, n_pages.get(sample.document, 0))
        for alias in sample.aliases:
            owner.setdefault(alias, sample.id)
    places = {}
    for s in found:
        folder, slash, document = s.document.rpartition("/")
        name = names.get(s.id, "")
        own = [f"{folder}/{name}"] if slash and name else []
        own += [alias for alias in s.aliases if owner[alias] == s.id]
        own += [name] if often[name] == 1 else []
        own += [exported[s.id]] if exported[s.id] != name else []
        places[s.id] = _Place(document, s.document, s.page_number, n_pages[s.document], (*own, s.id))
    return places


class _Documents:
    """Reads the files of whole documents, each once."""

    def __init__(self, separator: str | None) -> None:
        self._separator = separator
        self._pages: dict[Path, list[dict[str, Any]] | FormatError] = {}

    def page(self, path: Path, place: _Place) -> bytes:
        """Return one page of a document's file, as a raw output."""
        if path not in self._pages:
            try:
                self._pages[path] = self._read(path, place.n_pages)
            except FormatError as error:
                self._pages[path] = error
        pages = self._pages[path]
        if isinstance(pages, FormatError):
            raise pages
        return _as_raw(pages[place.page - 1])

    def _read(self, path: Path, n_pages: int) -> list[dict[str, Any]]:
        text = _read_text(path)
        if n_pages > 1:
            text = text.removeprefix("\ufeff")
        suffix = path.suffix.lower()
        if suffix != ".json":
            return [_READERS[suffix](part) for part in page_texts(text, n_pages, self._separator)]
        data = _json(text)
        pages = data.get("pages") if isinstance(data, dict) else None
        if not isinstance(pages, list):
            if n_pages == 1:
                return [_known_json(data)]
            raise FormatError('The JSON of a document must list its pages in order: {"pages": [...]}')
        if len(pages) != n_pages:
            raise FormatError(f"The file has {counted(len(pages), 'page')}, but the document has {n_pages}")
        return [_known_json(page) for page in pages]


_Answer = tuple[Path, bool]  # a file, and whether it is of a whole document


def _file_for(place: _Place, files: Mapping[str, Path]) -> _Answer | None:
    """Return the file that answers a sample, its own before its document's."""
    for name in place.names:
        if name in files:
            return files[name], False
    shared = files.get(place.whole_name, files.get(place.document))
    return None if shared is None else (shared, True)


def _passed_over(
    places: Mapping[str, _Place], files: Mapping[str, Path], answers: Mapping[str, _Answer | None]
) -> list[str]:
    """Return the files that are named after a page, too, but answer none: another of its files is taken."""
    used: set[Path] = set()
    taken: dict[Path, Path] = {}
    for sample, place in places.items():
        if (answer := answers[sample]) is not None:
            used.add(answer[0])
            for name in (*place.names, place.whole_name, place.document):
                if name in files:
                    taken.setdefault(files[name], answer[0])
    return [f"{path.name} ({chosen.name} is taken)" for path, chosen in taken.items() if path not in used]


def _files_by_name(folder: Path, names: set[str]) -> tuple[dict[str, Path], list[str]]:
    """Return the file of each sample or document, and what else lies in the folder, each with why it is not
    used.
    """
    inside = folder.resolve()
    rank = {suffix: k for k, suffix in enumerate(_READERS)}
    found: dict[str, Path] = {}
    unused: list[str] = []
    by_form = _by_form(names)

    def place(path: Path) -> tuple[int, bool, str]:
        return rank.get(path.suffix.lower(), len(rank)), path.stem not in names, path.name

    nested = {folder / f"{name}{suffix}" for name in names if "/" in name for suffix in _READERS}
    for path in sorted(nested):
        if path.is_file() and path.resolve().is_relative_to(inside):
            found.setdefault(path.relative_to(folder).as_posix().removesuffix(path.suffix), path)
    used = set(found.values())
    beside = {path for own in used for path in own.parent.iterdir() if path.suffix.lower() in _READERS}
    unknown = "no sample or document of that name"
    unused += [f"{path.relative_to(folder)} ({unknown})" for path in sorted(beside - used)]
    holding = {parent for own in used for parent in own.parents}
    for path in sorted(set(folder.iterdir()) - holding, key=place):
        name = path.stem if path.stem in names else by_form.get(unicodedata.normalize("NFC", path.stem))
        if path.suffix.lower() not in _READERS:
            why = "a folder" if path.is_dir() else "not a known format"
        elif not path.resolve().is_relative_to(inside):
            why = "leads out of the folder"
        elif not path.is_file():
            why = "not a file"
        elif name is None:
            why = unknown
        elif name in found:
            why = f"{found[name].name} is taken"
        else:
            found[name] = path
            continue
        unused.append(f"{path.name} ({why})")
    return found, unused


def _by_form(names: Iterable[str]) -> dict[str, str]:
    """Return the names by their composed form, since file systems write one name in several ways.

    A form that two names have is neither's.
    """
    by_form: dict[str, str | None] = {}
    for name in names:
        form = unicodedata.normalize("NFC", name)
        by_form[form] = None if form in by_form else name
    return {form: name for form, name in by_form.items() if name is not None}


def _tell_shared(places: Mapping[str, _Place], answers: Mapping[str, _Answer | None], events: Events) -> None:
    """Warn of files that match pages of several documents, since only one of them can be meant."""
    answered: dict[Path, dict[str, str]] = {}
    for sample, place in places.items():
        if (answer := answers[sample]) is not None:
            answered.setdefault(answer[0], {}).setdefault(place.whole_name, sample)
    shared = {path.name: sorted(by.values()) for path, by in answered.items() if len(by) > 1}
    for name, samples in list(shared.items())[:_MAX_LISTED]:
        events.note(
            f"{name} is used for pages of {len(samples)} documents: {', '.join(samples[:_MAX_LISTED])}. Name "
            "files after samples where a page and a document, or two documents, have one name."
        )
    if (n_more := len(shared) - _MAX_LISTED) > 0:
        are = "is" if n_more == 1 else "are"
        events.note(f"{counted(n_more, 'more file')} {are} used for pages of several documents.")


def _record(
    run: Run, sample: str, parser: str, answer: _Answer | None, place: _Place, documents: _Documents
) -> ParseRecord:
    if answer is None:
        return _not_answered(sample, parser)
    path, is_shared = answer
    try:
        if is_shared:
            raw = documents.page(path, place)
        else:
            raw = _as_raw(_READERS[path.suffix.lower()](_read_text(path)))
    except (FormatError, OSError) as error:
        why = f"{path.name}: {error}"
        return ParseRecord(sample, parser, Status.PARSER_FAILED, IMPORTED, error=why, finished=time.time())
    blob = RunFolder.of(run).blobs.put(raw)
    key = work_key(blob, 1, IMPORTED)
    return ParseRecord(sample, parser, Status.OK, key, blob=blob, n_bytes=len(raw), finished=time.time())


def _not_answered(sample: str, parser: str) -> ParseRecord:
    why = "No file was found for this page."
    return ParseRecord(sample, parser, Status.NO_PREDICTION, IMPORTED, error=why, finished=time.time())
