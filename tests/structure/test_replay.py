"""Recorded network outputs are read again: their form, their figures, and the real recording."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from scripts.replay_structure import PageContent, agreement, main, read_recording, replay
from typer.testing import CliRunner

from parsemark.errors import FormatError
from parsemark.model import Box
from parsemark.structure import Word

STRUCTURE = {
    "scores": [1.0] * 6,
    "labels": [0, 1, 1, 2, 2, 6],
    "boxes": [
        [0, 0, 100, 30],
        [0, 0, 50, 30],
        [50, 0, 100, 30],
        [0, 0, 100, 15],
        [0, 15, 100, 30],
        [0, 0, 1, 1],
    ],
}
ENTRY = {
    "pdf": "a.pdf",
    "page_no": 0,
    "bbox": [10, 10, 110, 40],
    "label": 0,
    "confidence_score": 0.9,
    "outliers": None,
    "structure": STRUCTURE,
    "gmft_csv": "a b,\nc,d\n",
}
WORDS = [
    Word("a", Box(12, 12, 20, 20)),
    Word("b", Box(62, 12, 70, 20)),
    Word("c", Box(12, 28, 20, 36)),
    Word("d", Box(62, 28, 70, 36)),
]


def _write(folder: Path, entry: object) -> Path:
    path = folder / "recorded.json"
    path.write_text(json.dumps({"t": entry}))
    return path


def test_a_recording_is_read_and_compared_with_the_page(tmp_path: Path) -> None:
    path = _write(tmp_path, ENTRY)
    (result,) = replay(
        path, lambda _, page: PageContent(WORDS, "x a y b c d") if page == 1 else pytest.fail()
    )
    assert result.table.text_rows() == [["a", "b"], ["c", "d"]]
    assert (result.ours.n_cells, result.ours.n_found, result.ours.value) == (4, 4, 1.0)
    assert result.recorded is not None
    assert (result.recorded.n_cells, result.recorded.n_found) == (3, 2), (
        "'a b' is not on the page in one piece"
    )


def test_agreement_needs_both_right_cells_and_all_of_the_text() -> None:
    half = agreement(["a"], "a b", WORDS[:2])
    assert (half.precision, half.coverage) == (1.0, 0.5)
    assert half.value == pytest.approx(2 / 3)
    assert agreement([], "a", WORDS[:1]).value == 0.0
    assert agreement([], "a", []).value is None
    joined = agreement(["head \\nunder", "concen\ufffetration"], "under head concentration", [])
    assert joined.n_found == 2


def test_without_scores_all_boxes_count(tmp_path: Path) -> None:
    entry: dict[str, Any] = {**ENTRY, "structure": {k: v for k, v in STRUCTURE.items() if k != "scores"}}
    (result,) = replay(_write(tmp_path, entry), lambda _, __: PageContent(WORDS, "x a y b c d"))
    assert result.problem is None and result.table.text_rows() == [["a", "b"], ["c", "d"]]


@pytest.mark.parametrize(
    "damage",
    [
        {"pdf": "../../secret.pdf"},
        {"page_no": -1},
        {"bbox": [0, 0, 1]},
        {"structure": {"scores": [1.0], "labels": [], "boxes": []}},
        {"structure": None},
    ],
)
def test_a_bad_entry_costs_itself(tmp_path: Path, damage: dict[str, object]) -> None:
    path = tmp_path / "recorded.json"
    path.write_text(json.dumps({"good": ENTRY, "bad": {**ENTRY, **damage}}))
    good, bad = replay(path, lambda _, __: PageContent(WORDS, "x a y b c d"))
    assert good.problem is None and good.ours.value == 1.0
    assert bad.problem is not None and next(iter(damage)) in bad.problem
    assert bad.table.cells == () and bad.ours.value is None


def test_a_pdf_that_is_missing_costs_its_table(tmp_path: Path) -> None:
    (result,) = replay(_write(tmp_path, ENTRY))
    assert result.problem is not None and ENTRY["pdf"] in result.problem


@pytest.mark.parametrize("content", ["", "[1]", "nothing"])
def test_what_is_no_recording_is_refused_with_the_file(tmp_path: Path, content: str) -> None:
    path = tmp_path / "recorded.json"
    path.write_text(content)
    with pytest.raises(FormatError, match=r"recorded\.json"):
        read_recording(path)


@pytest.mark.conformance
def test_replayed_tables_agree_with_their_pages_at_least_as_the_recorded_csv(reference_data: Path) -> None:
    results = list(replay(reference_data / "tatr-recorded" / "recorded.json"))
    assert results
    compared = [r for r in results if r.recorded is not None and r.ours.n_chars]
    worse = [r.name for r in compared if r.recorded and (r.ours.value or 0) < (r.recorded.value or 0) - 1e-9]
    assert not worse
    ours = sum(r.ours.n_found for r in compared) / sum(r.ours.n_cells for r in compared)
    theirs = sum(r.recorded.n_found for r in compared if r.recorded) / sum(
        r.recorded.n_cells for r in compared if r.recorded
    )
    assert ours >= theirs


def test_the_command_shows_each_table_and_the_whole(tmp_path: Path) -> None:
    from shutil import copy

    from parsemark import load_corpus

    sample = next(s for s in load_corpus("demo").samples() if s.truth and s.truth.tables and s.pdf)
    assert sample.pdf is not None
    copy(sample.pdf, tmp_path / "a.pdf")
    path = _write(tmp_path, {**ENTRY, "page_no": sample.page_number - 1, "bbox": [0, 0, 600, 700]})
    command = typer.Typer()
    command.command()(main)
    done = CliRunner().invoke(
        command,
        [
            str(tmp_path),
            "--out",
            str(tmp_path / "out"),
            "--json",
            str(tmp_path / "f.json"),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "1 table with text" in done.output
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["001-t.html"]
    assert json.loads((tmp_path / "f.json").read_text())[0]["name"] == "t"
    assert path.exists()
