"""Sources come from files, folders and archives; archives cannot do harm."""

import gzip
import io
import stat
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from parsemark.errors import CorpusError
from parsemark_makers.latex import sources
from parsemark_makers.latex.sources import SourceDocument, locate, read_document, safe_name

RUNAWAY_CPU_S = 60  # a bad archive takes a few hundredths


def archive(path: Path, members: dict[str, bytes], extra: list[tarfile.TarInfo] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for info in extra or []:
            tar.addfile(info)
    return path


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def gather(paths: list[Path]) -> list[SourceDocument]:
    return [read_document(found) for found in locate(paths)]


def only(paths: list[Path]) -> SourceDocument:
    (document,) = gather(paths)
    return document


def test_archives_folders_and_files(tmp_path: Path) -> None:
    archive(
        tmp_path / "2401.00001.tar.gz", {"main.tex": b"a", "sec/b.tex": b"b", "LICENSE": b"\nCC-BY-4.0\n"}
    )
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "x.tex").write_text("x", encoding="utf-8")
    (tmp_path / "single.gz").write_bytes(gzip.compress(b"\\documentclass{article}"))
    documents = {d.name: d for d in gather([tmp_path])}
    assert set(documents) == {"2401.00001", "paper", "single"}
    assert documents["2401.00001"].tex_files() == {"main.tex": "a", "sec/b.tex": "b"}
    assert documents["2401.00001"].licence("unknown") == "CC-BY-4.0"
    assert documents["paper"].licence("CC0") == "CC0"
    assert documents["single"].tex_files() == {"single.tex": "\\documentclass{article}"}
    with pytest.raises(CorpusError, match="does not exist"):
        locate([tmp_path / "nowhere"])


def test_archives_beside_a_latex_file_are_documents_in_the_folder_that_was_given(tmp_path: Path) -> None:
    (tmp_path / "papers" / "one").mkdir(parents=True)
    for folder in (tmp_path / "papers", tmp_path / "papers" / "one"):
        (folder / "stray.tex").write_text("x", encoding="utf-8")
        archive(folder / "other.tar.gz", {"main.tex": b"a"})
    assert {d.name for d in gather([tmp_path / "papers"])} == {"papers", "other"}
    assert {d.name for d in gather([tmp_path])} == {"papers"}, "an archive of a document is a part of it"


def test_names_that_leave_the_folder_and_links_are_passed_over(tmp_path: Path) -> None:
    path = archive(
        tmp_path / "evil.tar.gz",
        {"../outside.tex": b"x", "/etc/evil.tex": b"x", "a/../../b.tex": b"x", "good.tex": b"y"},
        [
            link("passwd.tex", "/etc/passwd"),
            link("hard.tex", "../x", tarfile.LNKTYPE),
            link("dev", "", tarfile.CHRTYPE),
        ],
    )
    document = only([path])
    assert document.problem is None
    assert set(document.files) == {"good.tex"}
    assert len(document.skipped) == 6
    document.write_to(tmp_path / "out")
    assert [p.name for p in (tmp_path / "out").rglob("*")] == ["good.tex"]


def test_links_in_folders_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    folder = tmp_path / "doc"
    folder.mkdir()
    (folder / "main.tex").write_text("x", encoding="utf-8")
    (folder / "leak.tex").symlink_to(tmp_path / "secret.txt")
    (folder / "up").symlink_to(tmp_path)
    document = only([folder])
    assert set(document.files) == {"main.tex"}
    assert document.skipped


@pytest.mark.parametrize(
    "name", ["../a", "/a", "a/../../b", "", ".", "C:/x", "..", "a\0b", "..\\x", "\udcff.tex", "é" * 200]
)
def test_unsafe_names(name: str) -> None:
    assert safe_name(name) is None


def test_bombs_cost_only_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_DOCUMENT_BYTES", 2**20)
    monkeypatch.setattr(sources, "MAX_FILES", 50)
    archive(tmp_path / "big.tar.gz", {"zeros.tex": bytes(3 * 2**20)})
    archive(tmp_path / "many.tar.gz", {f"{i}.tex": b"x" for i in range(60)})
    (tmp_path / "single.gz").write_bytes(gzip.compress(bytes(3 * 2**20)))
    (tmp_path / "broken.tar.gz").write_bytes(gzip.compress(bytes(100_000))[:60])
    (tmp_path / "noise.tar.gz").write_bytes(b"\x1f\x8bnothing of the kind")
    archive(tmp_path / "good.tar.gz", {"main.tex": b"fine"})
    documents = {d.name: d for d in gather([tmp_path])}
    assert documents.pop("good").problem is None
    assert len(documents) == 5
    assert all(document.problem for document in documents.values())


def test_names_that_no_folder_can_hold_are_passed_over(tmp_path: Path) -> None:
    clashing = {"a": b"file", "a/b.tex": b"below a file", "c/d.tex": b"x", "c": b"a folder already"}
    path = archive(tmp_path / "odd.tar.gz", {**clashing, "n" * 300 + ".tex": b"x", "bad\udcff.tex": b"x"})
    document = only([path])
    assert set(document.files) == {"a", "c/d.tex"}
    assert len(document.skipped) == 4
    "".join(document.skipped).encode()  # a report can hold them
    document.write_to(tmp_path / "out")


def test_archives_of_links_alone_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_MEMBERS", 50)
    links = [link(f"{i}.tex", "/etc/passwd") for i in range(60)]
    assert "entries" in str(only([archive(tmp_path / "links.tar.gz", {}, links)]).problem)


def zipped(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_zips_are_archives_too(tmp_path: Path) -> None:
    zipped(tmp_path / "My project.zip", {"main.tex": b"a", "sec/b.tex": b"b", "fig/": b"", "LICENSE": b"CC0"})
    document = only([tmp_path])
    assert (document.name, document.problem, document.skipped) == ("My-project", None, [])
    assert document.tex_files() == {"main.tex": "a", "sec/b.tex": "b"}
    assert document.licence("unknown") == "CC0"


def test_zips_cannot_do_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "evil.zip", {"../outside.tex": b"x", "/etc/evil.tex": b"x", "good.tex": b"y"})
    with zipfile.ZipFile(path, "a") as archive:
        linked = zipfile.ZipInfo("passwd.tex")
        linked.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(linked, "/etc/passwd")
        archive.writestr("packed.tex", b"x" * 100, zipfile.ZIP_BZIP2)
    document = only([path])
    assert document.problem is None
    assert set(document.files) == {"good.tex"}
    assert len(document.skipped) == 4
    monkeypatch.setattr(sources, "MAX_DOCUMENT_BYTES", 2**20)
    monkeypatch.setattr(sources, "MAX_MEMBERS", 50)
    monkeypatch.setattr(sources, "MAX_DIRECTORY_BYTES", 50_000)
    bombs = tmp_path / "bombs"
    bombs.mkdir()
    zipped(bombs / "big.zip", {"zeros.tex": bytes(3 * 2**20)})
    zipped(bombs / "parts.zip", {f"{i}.tex": bytes(2**19) for i in range(3)})
    zipped(bombs / "many.zip", {f"{i}.tex": b"x" for i in range(60)})
    zipped(bombs / "names.zip", {f"{i}{'n' * 5000}.tex": b"x" for i in range(20)})
    (bombs / "cut.zip").write_bytes(path.read_bytes()[:-30])
    (bombs / "noise.zip").write_bytes(b"nothing of the kind")
    damaged = zipped(bombs / "damaged.zip", {"main.tex": b"some text"}, zipfile.ZIP_STORED)
    damaged.write_bytes(damaged.read_bytes().replace(b"some text", b"same text"))
    documents = {d.name: d for d in gather([bombs])}
    assert len(documents) == 7
    assert all(document.problem for document in documents.values())


def test_a_zip_never_gives_more_than_it_declares(tmp_path: Path) -> None:
    """The sizes of a directory can lie; what is counted is what can come out."""
    path = zipped(tmp_path / "lie.zip", {"main.tex": bytes(2**20)})
    data = path.read_bytes()
    path.write_bytes(data.replace((2**20).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    document = only([path])
    assert document.problem is not None or document.n_bytes <= 10


def test_encrypted_members_are_passed_over(tmp_path: Path) -> None:
    path = zipped(tmp_path / "locked.zip", {"main.tex": b"x"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    document = only([path])
    assert document.skipped == ["main.tex: is encrypted"]


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


def extended(records: bytes, then: bytes = b"") -> bytes:
    padding = b"\0" * (-len(records) % 512)
    return header("pax", len(records), tarfile.XHDTYPE) + records + padding + then


def record(key: bytes, value: bytes) -> bytes:
    body = b" " + key + b"=" + value + b"\n"
    length = len(body) + 1
    while len(str(length)) + len(body) != length:
        length = len(str(length)) + len(body)
    return str(length).encode() + body


BAD_ARCHIVES = {
    "a file of 2^62 bytes": header("a.tex", 2**62),
    "a header of 2^62 bytes": header("a", 2**62, tarfile.XHDTYPE),
    "a long name of 2^40 bytes": header("a", 2**40, tarfile.GNUTYPE_LONGNAME),
    "a size changed by a header": extended(record(b"size", b"5" * 13), header("a.tex", 1)),
    "a negative size": extended(record(b"size", b"-7"), header("a.tex", 1)),
    "a sparse map that ends": extended(
        record(b"GNU.sparse.major", b"1") + record(b"GNU.sparse.minor", b"0"), header("a.tex", 512) + b"9\n"
    ),
    "a sparse map of words": extended(record(b"GNU.sparse.map", b"a,b,c"), header("a.tex", 0)),
    "ten thousand headers": extended(b"") * 10_000,
}


@pytest.mark.parametrize("name", BAD_ARCHIVES)
def test_a_bad_archive_costs_itself(tmp_path: Path, name: str) -> None:
    (tmp_path / "bad.tar.gz").write_bytes(gzip.compress(BAD_ARCHIVES[name]))
    archive(tmp_path / "good.tar.gz", {"main.tex": b"x"})
    begun = time.process_time()
    bad, good = gather([tmp_path])
    assert time.process_time() - begun < RUNAWAY_CPU_S
    assert bad.problem and not bad.files
    assert good.problem is None and good.tex_files() == {"main.tex": "x"}
