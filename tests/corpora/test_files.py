"""The corpus format: what is written is read back, and what is wrong is named."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.corpora.writing import write_corpus

from parsemark.corpora import load_corpus
from parsemark.corpora.files import read_manifest
from parsemark.corpora.schema import PageFile, json_schemas
from parsemark.errors import CorpusError, UnknownNameError, UsageError
from parsemark.formats.model_json import page_from_json, page_to_json
from parsemark.model import Box, Cell, Element, Fact, Page, Relation, Sample, Table
from parsemark.store.records import sample_from_row, sample_to_row


def sample() -> Sample:
    table = Table(1, 2, (Cell(0, 0, "a", header=True, box=Box(1, 2, 3, 4)), Cell(0, 1, "β")))
    elements = (
        Element("1", "text_block", Box(0, 0, 10, 5), 0, text="Some words."),
        Element("2", "table", Box(1, 2, 8, 9), 1, latex="x", html="<table/>", table=table),
    )
    attributes = {"language": "english", "watermark": True, "columns": 2}
    page = Page("p-1", 100.0, 200.0, elements, (Relation("parent_son", "1", "2"),), attributes)
    return Sample("p-1", "doc", 1, page)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_corpus(tmp_path, [sample()], name="tiny", licence="CC0-1.0", seed=3)
    return tmp_path


def edit_page(folder: Path, change) -> None:
    path = folder / "truth" / "p-1.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def test_written_samples_are_read_back(folder: Path) -> None:
    corpus = load_corpus(str(folder))
    assert list(corpus.samples()) == [sample()]
    assert (corpus.name, corpus.licence, len(corpus)) == ("tiny", "CC0-1.0", 1)


FACTS = (
    Fact("f1", "present", "olmocr-bench", {"text": "Some words", "max_diffs": 1}, tags=("Latn",)),
    Fact("f2", "order", "mine", {"before": "a", "after": "b"}, 2, "generated", "body", box=Box(1, 2, 3, 4)),
)


def test_a_page_may_have_elements_and_facts_or_facts_alone(tmp_path: Path) -> None:
    whole = sample()
    assert whole.truth is not None
    both = replace(whole, truth=replace(whole.truth, facts=FACTS))
    alone = replace(whole, id="p-2", truth=Page("p-2", 100.0, 200.0, facts=FACTS, only_facts=True))
    write_corpus(tmp_path, [both, alone], name="tiny")
    corpus = load_corpus(str(tmp_path))
    assert list(corpus.samples()) == [both, alone]
    assert corpus.hash != write_corpus(tmp_path / "b", [sample()], name="tiny").hash
    for stored in (both, alone):
        assert stored.truth is not None
        assert page_from_json(page_to_json(stored.truth)) == stored.truth
        assert sample_from_row(sample_to_row(stored, None)) == stored
    assert sample_to_row(alone, None)["n_tables"] is None
    assert sample_to_row(both, None)["n_tables"] == 1


def test_a_page_without_facts_is_written_as_before(folder: Path) -> None:
    data = json.loads((folder / "truth" / "p-1.json").read_text())
    assert data.keys() == {"extra", "layout_dets", "page_info", "schema_version"}
    assert "only_facts" not in data["page_info"]


def test_equal_truth_gives_equal_bytes_and_hash(folder: Path, tmp_path: Path) -> None:
    other = write_corpus(tmp_path / "b", [sample()], name="tiny")
    assert other.hash == read_manifest(folder).hash


def test_the_page_schema_is_that_of_omnidocbench(folder: Path) -> None:
    data = json.loads((folder / "truth" / "p-1.json").read_text())
    assert data["layout_dets"][1]["poly"] == [1, 2, 8, 2, 8, 9, 1, 9]
    assert data["page_info"]["page_attribute"]["special_issue"] == ["watermark"]
    assert data["extra"]["relation"][0]["source_anno_id"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["layout_dets"][0].update(tpye=1), "layout_dets.0.tpye"),
        (lambda d: d["layout_dets"][0].update(poly=[1, 2]), "layout_dets.0.poly"),
        (lambda d: d["layout_dets"][1]["table"].update(n_cols=1), "element 2"),
        (lambda d: d["layout_dets"][1].update(anno_id=1), "more than once"),
        (lambda d: d["extra"]["relation"][0].update(target_anno_id=9), "refers to a missing element: 9"),
        (lambda d: d["page_info"].update(pdf="../../secret.pdf"), "outside the corpus folder"),
        (lambda d: d["page_info"].update(width=0), "page_info.width"),
        (lambda d: d.update(facts=[{"id": "f", "kind": "present"}]), "facts.0.rules"),
        (
            lambda d: d.update(facts=[{"id": "f", "kind": "k", "rules": "r"}] * 2),
            "fact f occurs more",
        ),
    ],
)
def test_what_is_wrong_is_named(folder: Path, change, message: str) -> None:
    edit_page(folder, change)
    with pytest.raises(CorpusError, match=message):
        list(load_corpus(str(folder)).samples())


def test_a_newer_schema_says_what_to_do(folder: Path) -> None:
    path = folder / "corpus.json"
    path.write_text(path.read_text().replace('"schema_version": 1', '"schema_version": 99'))
    with pytest.raises(CorpusError, match="Update parsemark"):
        load_corpus(str(folder))


def test_specs_that_name_nothing(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="There is no PDF in"):  # a bare folder is one of documents
        load_corpus(str(tmp_path))
    with pytest.raises(UsageError, match="No corpus"):
        load_corpus("dmo")
    with pytest.raises(UnknownNameError):
        load_corpus(f"nothing:{tmp_path}")
    with pytest.raises(CorpusError, match="does not exist"):
        load_corpus("parsemark:/nowhere/at/all")


def test_schemas_are_exported() -> None:
    schemas = json_schemas()
    assert schemas["page.schema.json"]["additionalProperties"] is False


def test_pages_of_the_demo_are_what_the_schema_says() -> None:
    root = load_corpus("demo").root
    properties = json_schemas()["page.schema.json"]["properties"]
    for path in sorted((root / "truth").iterdir()):
        data = json.loads(path.read_text(encoding="utf-8"))
        assert data.keys() <= properties.keys()
        page = PageFile.model_validate(data)
        assert json.loads(page.model_dump_json(exclude_unset=True)) == data
    manifest = json.loads((root / "corpus.json").read_text(encoding="utf-8"))
    assert manifest.keys() <= json_schemas()["corpus.schema.json"]["properties"].keys()


def test_a_truth_that_was_edited_is_named_and_changes_the_hash(folder: Path) -> None:
    before = load_corpus(str(folder))
    assert before.remarks == () and before.hash == read_manifest(folder).hash
    edit_page(folder, lambda data: data["layout_dets"][0].update(text="Other words."))
    after = load_corpus(str(folder), strict=True)
    (remark,) = after.remarks
    assert "the truth of 1 page was edited since corpus.json was written (p-1)" in remark.message
    assert after.hash != before.hash and after.hash[:12] in remark.message
    again = load_corpus(str(folder))
    assert again.hash == after.hash
