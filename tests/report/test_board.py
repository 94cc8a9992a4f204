"""Boards: results are put together only where they may be compared; what is wrong is named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.accessible import accessible
from tests.engine.test_verify import members_of, rewritten
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import StoreError, UsageError
from parsemark.formats import write_table
from parsemark.protocols.tables import TablesProtocol
from parsemark.report.leaderboard_site import build_board
from parsemark.store import Run, RunFolder
from parsemark.store.bundle import write_bundle
from parsemark.verdicts.leaderboards import (
    builtin_worker,
    join_leaderboard,
    make_leaderboards,
    read_submissions,
)


def submit(
    folder: Path,
    name: str,
    parsers: tuple[str, ...],
    *,
    created: str,
    change: Callable[[Any], Any] | None = None,
    **options: Any,
) -> Run:
    run = fabricate_run(folder / "runs" / name, 12, parsers, **options)
    RunFolder.of(run).update_manifest(lambda m: m.model_copy(update={"created": created}))
    if change is not None:
        RunFolder.of(run).update_manifest(change)
    (folder / "bundles").mkdir(exist_ok=True)
    write_bundle(run, folder / "bundles" / f"{name}.zip")
    return run


def newer(parser: str) -> Callable[[Any], Any]:
    def change(manifest: Any) -> Any:
        entry = manifest.parser(parser)
        changed = entry.model_copy(update={"versions": {parser: "2.0"}, "fingerprint": "new"})
        return manifest.with_parser(changed)

    return change


def other_corpus(manifest: Any) -> Any:
    corpus = manifest.corpus.model_copy(update={"name": "other", "hash": "beef"})
    return manifest.model_copy(update={"corpus": corpus})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("board")
    submit(root, "first", ("good", "fair"), created="2026-01-01T00:00:00+00:00")
    submit(root, "second", ("good", "<b>poor</b>"), created="2026-02-01T00:00:00+00:00", change=newer("good"))
    submit(root, "third", ("good",), created="2026-03-01T00:00:00+00:00", change=other_corpus, seed=3)
    (root / "bundles" / "broken.zip").write_bytes(b"PK no archive")
    return root


def test_leaderboards_hold_what_may_be_compared(folder: Path) -> None:
    submissions, refused = read_submissions([folder / "bundles"])
    assert [s.path.stem for s in submissions] == ["first", "second", "third"]
    assert [r.path.name for r in refused] == ["broken.zip"]
    demo, other = make_leaderboards(submissions)
    assert (demo.corpus.name, other.corpus.name) == ("demo", "other")
    assert sorted(demo.latest()) == ["<b>poor</b>", "fair", "good"]
    assert demo.latest()["good"].version == "2.0"
    assert sorted(demo.history()) == ["<b>poor</b> · 1.0", "fair · 1.0", "good · 1.0", "good · 2.0"]
    assert list(other.latest()) == ["good"]


def test_another_version_of_a_protocol_is_another_leaderboard(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submissions, _ = read_submissions([folder / "bundles" / "first.zip", folder / "bundles" / "second.zip"])
    index = submissions[1].index
    protocol = index.protocols[0].model_copy(update={"comparability": 1})
    object.__setattr__(submissions[1], "index", index.model_copy(update={"protocols": [protocol]}))
    leaderboards = make_leaderboards(submissions)
    assert [leaderboard.comparability for leaderboard in leaderboards] == [TablesProtocol.comparability, 1]
    assert [leaderboard.is_ours for leaderboard in leaderboards] == [True, False]
    assert sorted(leaderboards[0].latest()) == ["fair", "good"]


def test_the_same_version_twice_is_one_entry_and_the_later_one_counts(folder: Path, tmp_path: Path) -> None:
    submit(tmp_path, "again", ("good", "fair"), created="2026-04-01T00:00:00+00:00")
    submissions, _ = read_submissions([folder / "bundles" / "first.zip", tmp_path / "bundles"])
    (leaderboard,) = make_leaderboards(submissions)
    assert [e.submission.path.stem for e in leaderboard.entries] == ["again", "again"]


def test_joining_gives_every_parser_the_figures_of_its_own_run(folder: Path, tmp_path: Path) -> None:
    """A leaderboard of two bundles says of each parser what one run of all of them would say."""
    submissions, _ = read_submissions([folder / "bundles" / "first.zip", folder / "bundles" / "second.zip"])
    (leaderboard,) = make_leaderboards(submissions)
    run = join_leaderboard(leaderboard, leaderboard.history(), tmp_path / "all")
    assert (leaderboard.protocol, leaderboard.rule) == ("tables(match=bbox)", "bbox")
    summary = run.summary(leaderboard.protocol)
    for submission in submissions:
        stated = submission.summaries["tables"]
        for label, entry in leaderboard.history().items():
            if entry.submission is submission:
                ours = summary.figure(label, summary.primary)
                theirs = stated.figure(entry.parser.name, summary.primary)
                assert ours is not None and theirs is not None
                assert ours.value == pytest.approx(theirs.value)
    assert run.table("predictions").height == run.table("parses").height == 48
    assert summary.ranking.verdict("good · 2.0", "good · 1.0") is not None
    assert run.table("scores").select(pl.col("parser").unique()).height == 4


def test_the_site(folder: Path, tmp_path: Path) -> None:
    result = build_board([folder / "bundles"], tmp_path / "site", reports=True)
    assert result.n_bundles == 3 and result.n_leaderboards == 2
    text = result.page.read_text()
    assert "broken.zip" in text and "<b>poor</b>" not in text and "&lt;b&gt;poor" in text
    assert str(folder) not in text
    for href in set(re.findall(r'href="([^"#]+\.html)', text)):
        assert (result.page.parent / href).is_file(), href
    (history,) = (tmp_path / "site").glob("history-good-*.html")
    assert history.read_text().count('<th scope="row"') == 3
    leaderboard = next((tmp_path / "site").glob("leaderboard-*/index.html"))
    assert "../index.html" in leaderboard.read_text()
    build_board([folder / "bundles"], tmp_path / "site", reports=False)
    assert not list((tmp_path / "site").glob("leaderboard-*"))


def test_nothing_foreign_is_replaced(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not part of a site"):
        build_board([folder / "bundles"], tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    with pytest.raises(StoreError, match="does not exist"):
        build_board([tmp_path / "none"], tmp_path / "site")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="No bundle"):
        build_board([tmp_path / "empty"], tmp_path / "site")


def test_what_does_not_verify_is_not_shown(folder: Path, tmp_path: Path) -> None:
    """Fabricated scores do not follow from outputs, so `--verify` must refuse them."""
    arguments = ["site", str(folder / "bundles" / "third.zip"), "--out", str(tmp_path / "site"), "--verify"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1 and "does not verify" in result.output
    assert "0 bundles" in result.output


OFFSETS_OF_HEADS = """() => {
  const edge = (cell, side) => {
    const text = document.createRange(); text.selectNodeContents(cell);
    const boxes = [...text.getClientRects()].filter(box => box.width > 0);
    return side === "left" ? Math.min(...boxes.map(b => b.left)) : Math.max(...boxes.map(b => b.right));
  };
  const found = [];
  for (const table of document.querySelectorAll("table.numbers")) {
    const row = table.tBodies[0].rows[0];
    [...table.tHead.rows[0].cells].forEach((head, k) => {
      const side = getComputedStyle(row.cells[k]).textAlign === "left" ? "left" : "right";
      for (const part of head.querySelector(".sort") ? [head, head.querySelector(".sort bdi")] : [head])
        found.push([head.textContent.trim(), edge(part, side) - edge(row.cells[k], side)]);
    });
  }
  return found;
}"""
"""How far the text of each head, and of its button, is from the edge of the text below it, in pixels."""


@pytest.mark.browser
def test_filter_and_sort_in_a_browser(folder: Path, tmp_path: Path, open_page: Callable[..., Any]) -> None:
    result = build_board([folder / "bundles"], tmp_path / "site", reports=False)
    for width in (1280, 390):
        page = open_page(result.page.as_uri(), viewport={"width": width, "height": 800})
        page.wait_for_selector("html[data-ready]", state="attached")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        offsets = page.evaluate(OFFSETS_OF_HEADS)
        assert len(offsets) > 8 and all(abs(offset) <= 1 for _, offset in offsets), offsets
        page.fill("#filter", "POOR")
        page.wait_for_function(
            "document.querySelectorAll('table.boards tbody tr:not([hidden])').length === 1"
        )
        page.fill("#filter", "")
        head = page.locator("table.boards th[data-column]").first
        for order in ("descending", "ascending"):
            head.locator(".sort").click()
            assert head.get_attribute("aria-sort") == order
            cells = page.locator("table.boards tbody tr td:nth-child(2)").all()
            values = [float(v) for c in cells if (v := c.get_attribute("data-value"))]
            assert values == sorted(values, reverse=order == "descending")
        accessible(page)
    page.goto(next(result.page.parent.glob("history-good-*.html")).as_uri())
    accessible(page)


def test_a_bundle_whose_parts_do_not_belong_together_costs_itself(folder: Path, tmp_path: Path) -> None:
    """All hashes fit; but a page has no id, a row has an unknown parser, a count is not that of the truth."""
    members = members_of(folder / "bundles" / "first.zip")
    pages, rows = members["samples.jsonl"].splitlines(), members["protocols/tables/scores.jsonl"].splitlines()
    unknown = json.dumps({**json.loads(rows[0]), "parser": "nobody"}).encode()
    counted = json.dumps({**json.loads(pages[0]), "n_tables": 77}).encode()
    changes = {
        "without-id": {"samples.jsonl": b"\n".join([b"{}", *pages[1:]]) + b"\n"},
        "unknown": {"protocols/tables/scores.jsonl": b"\n".join([unknown, *rows[1:]]) + b"\n"},
        "count": {"samples.jsonl": b"\n".join([counted, *pages[1:]]) + b"\n"},
    }
    bad = tmp_path / "bad"
    bad.mkdir()
    for name, changed in changes.items():
        rewritten(bad / f"{name}.zip", {**members, **changed})
    read, refused = read_submissions([folder / "bundles" / "first.zip", bad])
    assert [submission.path.name for submission in read] == ["first.zip"]
    assert {r.path.stem: r.why for r in refused}.keys() == changes.keys()
    assert any("n_tables is 77" in r.why for r in refused)


def with_text_rows(run: Run, without_boxes: tuple[str, ...] = ()) -> None:
    """Give a fabricated run rows matched by text, and take those matched by place from some parsers."""
    gone = pl.col("parser").is_in(without_boxes) & (pl.col("rule") == "bbox")
    for name in ("matches", "scores"):
        rows = run.table(name, "tables")
        by_text = rows.filter(pl.col("rule") == "content").with_columns(rule=pl.lit("ngrams"))
        RunFolder.of(run).write_table(name, pl.concat([rows.filter(~gone), by_text]), "tables")
    RunFolder.of(run).write_summary(TablesProtocol().summarise(run.run_tables("tables")))


def bundled(folder: Path, name: str, run: Run, submitter: str | None = None) -> Path:
    folder.mkdir(exist_ok=True)
    write_bundle(run, folder / f"{name}.zip", submitter=submitter)
    return folder / f"{name}.zip"


def numbers(paths: list[Path], scratch: Path) -> dict[str, dict[str, float | None]]:
    """Rule of a leaderboard to parser to the primary figure."""
    found = {}
    for k, leaderboard in enumerate(make_leaderboards(read_submissions(paths)[0])):
        summary = join_leaderboard(leaderboard, leaderboard.latest(), scratch / str(k)).summary(
            leaderboard.protocol
        )
        found[leaderboard.rule] = {p: own[summary.primary].value for p, own in summary.parsers.items()}
    return found


def test_no_number_depends_on_who_else_joins(tmp_path: Path) -> None:
    first = fabricate_run(tmp_path / "first", 12, ("good", "fair"))
    second = fabricate_run(tmp_path / "second", 12, ("poor",))
    with_text_rows(first)
    with_text_rows(second, ("poor",))
    assert second.summary("tables").settings["match"] == "ngrams"
    paths = [bundled(tmp_path / "b", "first", first), bundled(tmp_path / "b", "second", second)]
    alone, together = numbers(paths[:1], tmp_path / "alone"), numbers(paths, tmp_path / "both")
    assert list(alone) == ["bbox"] and set(together) == {"bbox", "ngrams"}
    assert together["bbox"] == alone["bbox"]
    assert set(together["ngrams"]) == {"good", "fair", "poor"}
    site = build_board([tmp_path / "b"], tmp_path / "site", reports=False).page.read_text()
    assert "matched by bbox" in site and "matched by ngrams" in site


def entry_of(folder: Path, name: str, submitter: str | None = None, **changes: Any) -> Path:
    number = len(list(folder.iterdir()))
    run = fabricate_run(folder / f"run-{number}", 12, (name,))
    entry = run.manifest.parser(name)
    assert entry is not None
    when = run.manifest.created.replace("2026", f"{2020 + number}")  # the first one owns a name
    RunFolder.of(run).update_manifest(
        lambda m: m.with_parser(entry.model_copy(update=changes)).model_copy(update={"created": when})
    )
    return bundled(folder / "b", f"bundle-{len(list(folder.iterdir()))}", run, submitter)


def test_names_belong_to_someone(tmp_path: Path) -> None:
    worker = builtin_worker("pdfplumber")
    assert worker is not None and builtin_worker("camelot(flavor=stream)") and builtin_worker("mine") is None
    paths = [
        entry_of(tmp_path, "pdfplumber", worker=worker, fingerprint="a"),
        entry_of(tmp_path, "pdfplumber", worker="0" * 64, fingerprint="b"),
        entry_of(tmp_path, "pdfplumber", "Eve", worker=None, fingerprint="imported 12"),
        entry_of(tmp_path, "minertab", "Ada", fingerprint="c"),
        entry_of(tmp_path, "minertab", "Eve", fingerprint="d"),
    ]
    (leaderboard,) = make_leaderboards(read_submissions(paths)[0])
    assert set(leaderboard.latest()) == {
        "pdfplumber",
        "pdfplumber (not the built-in worker)",
        "pdfplumber (imported outputs of Eve)",
        "minertab",
        "minertab (by Eve)",
    }
    site = build_board([tmp_path / "b"], tmp_path / "site", reports=False).page.read_text()
    assert "Imported outputs, of unknown origin" in site and "Ada" in site


def test_a_forged_version_is_flagged_and_displaces_nobody(tmp_path: Path) -> None:
    paths = [
        entry_of(tmp_path, "minertab", "Ada", fingerprint="c", versions={"minertab": "1.0"}),
        entry_of(tmp_path, "minertab", "Ada", fingerprint="c", versions={"minertab": "9.9"}),
    ]
    (leaderboard,) = make_leaderboards(read_submissions(paths)[0])
    assert leaderboard.latest()["minertab"].version == "1.0"
    site = build_board([tmp_path / "b"], tmp_path / "site", reports=False).page.read_text()
    assert "version 9.9 for the same code" in site
    assert "It cannot show that the named parser and version made these outputs" in site


def test_verifying_says_which_bundle_of_how_many(tmp_path: Path) -> None:
    entry_of(tmp_path, "minertab", fingerprint="c")
    told: list[str] = []
    build_board([tmp_path / "b"], tmp_path / "site", verify=True, reports=False, tell=told.append)
    assert told[0].startswith("verifying ") and told[0].endswith("(1 of 1)")


def test_what_equals_the_truth_is_flagged(tmp_path: Path) -> None:
    corpus = load_corpus("demo")
    (tmp_path / "outputs").mkdir()
    pages = [sample for sample in corpus.samples() if sample.id.startswith("demo-0004")]
    for sample in pages:
        assert sample.truth is not None
        text = "\n\n".join(write_table(e.table, "html") for e in sample.truth.tables if e.table is not None)
        (tmp_path / "outputs" / f"{sample.id}.html").write_text(text)
    run = import_predictions(
        tmp_path / "run", corpus, tmp_path / "outputs", name="mine", pages="demo-0004*", protocols=("tables",)
    )
    score_run(run, n_workers=1)
    bundled(tmp_path / "b", "mine", run)
    site = build_board([tmp_path / "b"], tmp_path / "site", reports=False).page.read_text()
    assert "perhaps it is the truth" in site and "mine (imported outputs)" in site
