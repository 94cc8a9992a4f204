"""Reads and writes corpus folders: `corpus.json`, `pdfs/`, `truth/`."""

from __future__ import annotations

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
    return Corpus(
        manifest.name,
        manifest.version,
        hash_now,
        root,
        keys,
        partial(read_sample, root),
        manifest.licence,
        remarks=tuple(remarks),
    )


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
    pdf = None if info.pdf is None else _inside(root, info.pdf, key)
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
    for element in data["layout_dets"]:
        _drop_none(element, keep=("order",))
        for cell in (element.get("table") or {}).get("cells", []):
            _drop_none(cell)
    _drop_none(data["page_info"])
    for mark in ("only_tables", "only_facts"):
        if not data["page_info"][mark]:
            del data["page_info"][mark]
    for fact in data["facts"]:
        _drop_none(fact)
    for key in ("facts", "annotation"):
        if not data[key]:
            del data[key]
    return _lines(data)


def write_manifest(root: Path, **fields: Any) -> CorpusFile:
    """Hash all files of `truth/` and `pdfs/` and write `corpus.json`."""
    paths = sorted(p for folder in ("truth", "pdfs") for p in (root / folder).rglob("*") if p.is_file())
    files = {p.relative_to(root).as_posix(): file_sha256(p) for p in paths}
    manifest = CorpusFile(**fields, files=files, hash=hash_of_files(files))
    _write(root / "corpus.json", manifest.model_dump(mode="json", exclude_none=True))
    return manifest


def hash_of_files(files: Mapping[str, str]) -> str:
    """One hash for all files of a corpus."""
    lines = "".join(f"{name} {digest}\n" for name, digest in sorted(files.items()))
    return hashlib.sha256(lines.encode()).hexdigest()


def _inside(root: Path, name: str, key: str) -> Path:
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()):
        raise CorpusError(f"page {key}: the file {name!r} lies outside the corpus folder.")
    return path


def _drop_none(data: dict[str, Any], keep: tuple[str, ...] = ()) -> None:
    for key in [k for k, v in data.items() if v is None and k not in keep]:
        del data[key]


def _write(path: Path, data: Mapping[str, Any]) -> None:
    make_folder(path.parent)
    write_text(path, _lines(data))


def _lines(data: Mapping[str, Any]) -> str:
    """One line per entry and per element: readable in a diff, and a third of the size of indented JSON."""
    entries = ",\n".join(f"{json.dumps(key)}: {_entry(value)}" for key, value in sorted(data.items()))
    return f"{{\n{entries}\n}}\n"


def _entry(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(_compact(item) for item in value) + "\n]"
    return _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(", ", ": "))
