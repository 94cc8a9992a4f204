"""Reads and writes corpus folders: `corpus.json`, `pdfs/`, `truth/`."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from parsemark.corpora.base import Corpus, Remark
from parsemark.corpora.convert import page_from_file, page_to_file
from parsemark.corpora.loaders.files import read_model
from parsemark.corpora.schema import SCHEMA_VERSION, CorpusFile, PageFile
from parsemark.errors import CorpusError
from parsemark.formats import says_the_same, write_table
from parsemark.model import Element, Sample
from parsemark.plain_words import counted, listed
from parsemark.system import file_sha256, make_folder, write_text

MAX_PAGE_FILE_BYTES = 64 * 2**20


def load_demo() -> Corpus:
    """The demo corpus that is part of the package."""
    return load_folder(Path(__file__).parent / "demo")


def load_folder(root: Path) -> Corpus:
    """A corpus in parsemark's own format. Pages are validated when they are read.

    Where truths are not those of its manifest its hash is that of what is there, and a remark names them.
    """
    manifest = read_manifest(root)
    keys = tuple(sorted(PurePosixPath(name).stem for name in manifest.files if name.startswith("truth/")))
    changed = dict(_changed_truths(root, manifest))
    remarks, hash_now = [], manifest.hash
    if changed:
        hash_now = hash_of_files({**manifest.files, **changed})
        names = listed([PurePosixPath(name).stem for name in changed])
        why = f"the truth of {counted(len(changed), 'page')} is not that of corpus.json ({names})"
        said = f"{why}: it was edited since. Its hash is now {hash_now[:12]}, not {manifest.hash[:12]}."
        remarks.append(Remark("truth", said, left_out=False))
    named, read = (manifest.name, manifest.version, hash_now, root), partial(read_sample, root)
    return Corpus(*named, keys, read, manifest.licence, remarks=tuple(remarks))


def _changed_truths(root: Path, manifest: CorpusFile) -> Iterator[tuple[str, str]]:
    """Truths that are there with another content than the manifest says, each with its hash."""
    for name, digest in sorted(manifest.files.items()):
        path = root / "truth" / PurePosixPath(name).name
        if name != f"truth/{path.name}" or not path.is_file():
            continue
        if path.stat().st_size <= MAX_PAGE_FILE_BYTES and (now := file_sha256(path)) != digest:
            yield name, now


def read_manifest(root: Path) -> CorpusFile:
    """The folder's `corpus.json`, checked."""
    path = root / "corpus.json"
    manifest = read_model(path, CorpusFile)
    if manifest.schema_version != SCHEMA_VERSION:
        raise CorpusError(
            f"{path} has schema version {manifest.schema_version}; this parsemark reads {SCHEMA_VERSION}. "
            "Update parsemark, or make the corpus again."
        )
    return manifest


def read_page(path: Path) -> PageFile:
    """The truth of one page from its file."""
    return read_model(path, PageFile, MAX_PAGE_FILE_BYTES)


def read_sample(root: Path, key: str) -> Sample:
    """One sample of a corpus folder."""
    data = read_page(root / "truth" / f"{key}.json")
    info = data.page_info
    pdf = None if info.pdf is None else (root / info.pdf).resolve()
    if pdf is not None and not pdf.is_relative_to(root.resolve()):
        raise CorpusError(f"page {key}: the file {info.pdf!r} lies outside the corpus folder.")
    page = page_from_file(data, key)
    elements = tuple(_with_own_latex(element) for element in page.elements)
    return Sample(key, info.document or key, info.page_no, replace(page, elements=elements), pdf)


def _with_own_latex(element: Element) -> Element:
    """A part of a table over several pages with its own LaTeX, where it has that of the whole."""
    if "part" not in element.attributes or not element.latex or element.table is None:
        return element
    if says_the_same(element.latex, element.table):
        return element
    return replace(element, latex=write_table(element.table, "latex"))


def write_page(root: Path, sample: Sample, pdf: str | None) -> None:
    """Write the truth of one sample; equal truths give equal bytes."""
    path = root / "truth" / f"{sample.id}.json"
    make_folder(path.parent)
    write_text(path, page_file_text(sample, pdf))


def page_file_text(sample: Sample, pdf: str | None, pdf_sha256: str | None = None) -> str:
    """The page file of a sample as text; with the hash of its PDF it is refused for another one."""
    data = page_to_file(sample, pdf).model_dump(mode="json", exclude_none=False)
    data["page_info"]["pdf_sha256"] = pdf_sha256
    cells = [cell for e in data["layout_dets"] if e["table"] for cell in e["table"]["cells"]]
    for part in (*cells, *data["layout_dets"], *data["facts"], data["page_info"]):
        for key in [k for k, value in part.items() if value is None and k != "order"]:
            del part[key]
    for part, keys in ((data["page_info"], ("only_tables", "only_facts")), (data, ("facts", "annotation"))):
        for key in keys:
            if not part[key]:
                del part[key]
    return _lines(data)


def write_manifest(root: Path, **fields: Any) -> CorpusFile:
    """Hash all files of `truth/` and `pdfs/` and write `corpus.json`."""
    paths = sorted(p for folder in ("truth", "pdfs") for p in (root / folder).rglob("*") if p.is_file())
    files = {p.relative_to(root).as_posix(): file_sha256(p) for p in paths}
    manifest = CorpusFile(**fields, files=files, hash=hash_of_files(files))
    write_text(make_folder(root) / "corpus.json", _lines(manifest.model_dump(mode="json", exclude_none=True)))
    return manifest


def hash_of_files(files: Mapping[str, str]) -> str:
    """One hash for all files of a corpus."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _lines(data: Mapping[str, Any]) -> str:
    """One line per entry and per element: readable in a diff, and a third of the size of indented JSON."""
    compact = partial(json.dumps, ensure_ascii=False, sort_keys=True)
    entries = []
    for key, value in sorted(data.items()):
        is_listed = isinstance(value, list) and value
        entry = "[\n" + ",\n".join(map(compact, value)) + "\n]" if is_listed else compact(value)
        entries.append(f"{json.dumps(key)}: {entry}")
    return "{\n" + ",\n".join(entries) + "\n}\n"
