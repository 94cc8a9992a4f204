"""A parser over its versions: real steps, none where nothing changed, and what is shown of it."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import validate
from tests.authors.releases import SCRIPT, make_releases, write_pages, write_worker_script
from tests.packages import index_of_wheels, write_wheel

from parsemark import api, version_history
from parsemark.errors import UsageError
from parsemark.model import Status
from parsemark.protocols import FigureInfo, FigureSums
from parsemark.report.history_page import history_markdown
from parsemark.schemas import as_json, json_schemas
from parsemark.store import ParseRecord
from parsemark.verdicts.history import (
    ALPHA,
    HistoryFigure,
    history_figure,
    ratio_figure,
    version_order,
)
from parsemark.version_history import _misfit

VERSIONS = [f"p@1.{k}" for k in range(12)]
N_DOCUMENTS = 30


def figure_of(scores: dict[str, np.ndarray], name: str = "f") -> FigureSums:
    """A mean over pages, one per document."""
    n = len(next(iter(scores.values())))
    pages = tuple(f"d{k}" for k in range(n))
    info = FigureInfo(name=name, label=name, definition="", denominator="pages", main=True)
    sums = {version: np.column_stack([own, np.ones(n)]) for version, own in scores.items()}
    return FigureSums(info, pages, pages, sums, lambda totals: totals[..., 0] / totals[..., 1])


def draw(seed: int, shift: float = 0.0) -> list[HistoryFigure]:
    """Two figures, time and memory of one release under twelve names, each with noise of its own."""
    rng = np.random.default_rng(seed)
    base = rng.beta(2, 2, N_DOCUMENTS)
    found, share = [], ALPHA / 2 / 3
    for number in range(2):
        scores = {
            v: np.clip(base + rng.normal(0, 0.05, N_DOCUMENTS) + (shift if k >= 6 else 0.0), 0, 1)
            for k, v in enumerate(VERSIONS)
        }
        outputs = {v: own.tobytes() for v, own in scores.items()}
        found.append(history_figure(figure_of(scores), VERSIONS, outputs, share if number else ALPHA / 2))
    for column in ("cpu_s", "peak_memory_mb"):
        noise = rng.normal(0, 0.1 / math.sqrt(2), len(VERSIONS))
        times = {
            v: {f"d{k}": float(np.exp(noise[i] + rng.normal(0, 0.1))) for k in range(N_DOCUMENTS)}
            for i, v in enumerate(VERSIONS)
        }
        found.append(ratio_figure(column, column, "seconds", VERSIONS, times, share))
    return found


def n_steps(figures: list[HistoryFigure]) -> int:
    return sum(step.state != "none" for figure in figures for step in figure.steps)


def test_one_release_under_twelve_names_has_no_step_in_95_of_100_draws() -> None:
    draws = [n_steps(draw(seed)) for seed in range(100)]
    assert sum(n > 0 for n in draws) <= 5 + 2 * math.sqrt(100 * 0.05 * 0.95)


def test_a_step_is_found_where_it_is() -> None:
    for seed in range(5):
        primary = draw(seed, shift=-0.15)[0]
        assert [k for k, step in enumerate(primary.steps) if step.state == "worse"] == [5]
        assert all(step.state != "better" for step in primary.steps)
        step = primary.steps[5]
        assert step.low is not None and step.high is not None and step.low < step.difference < step.high < 0


def test_equal_outputs_make_no_step_and_take_nothing_from_the_others() -> None:
    scores = {v: np.full(N_DOCUMENTS, 0.5) for v in VERSIONS}
    figure = history_figure(figure_of(scores), VERSIONS, dict.fromkeys(VERSIONS, "same"), 0.05)
    assert {(step.difference, step.p, step.state) for step in figure.steps} == {(0.0, None, "none")}


def test_intervals_of_all_versions_are_true_together() -> None:
    rng = np.random.default_rng(1)
    scores = {v: rng.beta(2, 2, N_DOCUMENTS) for v in VERSIONS}
    several = history_figure(figure_of(scores), VERSIONS, {v: v for v in VERSIONS}, 0.05).points[0]
    two = history_figure(figure_of(scores), VERSIONS[:2], {v: v for v in VERSIONS[:2]}, 0.05).points[0]
    assert None not in (several.low, several.high, two.low, two.high)
    assert several.high - several.low > two.high - two.low


def test_versions_are_sorted_by_age() -> None:
    names = ["p@git:abc", "p", "p@1.10", "p@1.9", "p@1.10.post1", "p@1.10rc1", "p@2.0", "p@1.10.1(a=b)"]
    assert sorted(names, key=version_order) == [
        "p@1.9", "p@1.10rc1", "p@1.10", "p@1.10.post1", "p@1.10.1(a=b)", "p@2.0", "p@git:abc", "p"
    ]  # fmt: skip


def test_history_of_a_local_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten releases, one of which cannot be imported; the fifth loses a row on every page."""
    make_releases(tmp_path, monkeypatch, 10, lost_from=5, broken=(7,))
    write_pages(tmp_path / "corpus", 24)
    script = write_worker_script(tmp_path)
    monkeypatch.chdir(tmp_path)
    found, run = version_history.history(str(script), "corpus", releases=8, also=[str(script)])
    assert found.versions == (*(f"mine@1.{k}" for k in (3, 4, 5, 6, 8, 9, 10)), "mine")
    primary = found.figures[0]
    steps = {(step.before, step.after): step.state for step in primary.steps if step.state != "none"}
    assert steps == {("mine@1.4", "mine@1.5"): "worse", ("mine@1.10", "mine"): "better"}
    changed = {(change.before, change.after): len(change.pages) for change in found.changes}
    assert changed[("mine@1.4", "mine@1.5")] == 24 == len(found.changes[1].pages)
    assert changed[("mine@1.5", "mine@1.6")] == 0
    installed = next(figure for figure in found.figures if figure.name == "installed_mb")
    assert all(point.value is not None for point in installed.points)
    validate(as_json("history", found), json_schemas()["history.schema.json"])
    shown = history_markdown(found)
    assert "1.4 → 1.5: worse, TE F1 Con −" in shown and "the output changed on 24 pages" in shown
    assert shown.startswith("| version | ") and max(map(len, shown.splitlines())) > 200
    narrow = history_markdown(found, 80)
    assert max(map(len, narrow.splitlines())) <= 80 and "1.5: TE F1 Con 0." in narrow
    page = api.build_report(run).with_name("versions.html").read_text()
    assert (
        "1.4 → 1.5: worse" in page
        and "viewer.html#page=s000&amp;parser=mine%401.5&amp;with=mine%401.4" in page
    )
    with pytest.raises(UsageError, match="at least two versions"):
        version_history.history(str(script), "corpus", releases=1, out="one")


def test_pages_without_truth_whose_output_changed_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_releases(tmp_path, monkeypatch, 2, lost_from=2)
    (tmp_path / "docs").mkdir()
    for name in ("one", "two"):
        (tmp_path / "docs" / f"{name}.pdf").write_text(
            f"%PDF-1.4 {name}\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]"
            "/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]>>endobj\n"
            "trailer<</Root 1 0 R>>"
        )
    script = write_worker_script(tmp_path)
    monkeypatch.chdir(tmp_path)
    also = [f"{script}@1.1", f"{script}@1.2"]
    monkeypatch.setattr(
        version_history, "parsers_versions", lambda *_, **__: pytest.fail("the index is asked")
    )
    found, run = version_history.history(
        str(script), "folder:docs", releases=0, also=also, protocols=["tables"]
    )
    (change,) = found.changes
    assert len(change.pages) == 2 and (change.n_better, change.n_worse) == (0, 0)
    assert f"`{change.pages[0].sample}` (not scored)" in history_markdown(found)
    assert change.pages[0].sample in api.build_report(run).with_name("versions.html").read_text()


def test_a_worker_that_asks_for_what_a_release_lacks_says_nothing_about_it(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT + "\n# table.rotation")
    failed = ParseRecord("p", "mine", Status.PARSER_FAILED, "k", error="AttributeError: no")
    lacking = replace(failed, error="AttributeError: 'Table' object has no attribute 'rotation'")
    other = replace(failed, error="AttributeError: 'Font' object has no attribute 'width'")
    assert _misfit(str(script), [failed, other]) is None, "the package's own failure is the release's"
    why = _misfit(str(script), [failed, lacking, lacking])
    assert why is not None and "'rotation'" in why and "2 pages" in why


def test_two_releases_are_really_timed_in_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels = index_of_wheels(tmp_path, monkeypatch)
    for version, n in (("1.1", 100_000), ("1.2", 3_000_000)):
        source = (
            f"def read(text):\n    sum(range({n}))\n    return [[text.split()[1], 'page 1'], ['1', '2']]\n"
        )
        write_wheel(wheels, "tabler", version, source)
    write_pages(tmp_path / "pages", 6)
    script = tmp_path / "mine.py"
    runs = []
    for version in ("1.1", "1.2"):
        worker = SCRIPT.replace("tabler==1.1", f"tabler=={version}")
        script.write_text(worker.replace("serve(parse)", 'serve(parse, versions=["tabler"])'))
        runs.append(api.bench(str(tmp_path / "pages"), [str(script)], out=tmp_path / version, workers=1))
    result = api.gate(runs[1], runs[0], max_slowdown=2, time_again=6)
    assert [check.name for check in result.failed] == ["CPU time"]
    assert any("mine@1.1 and mine were timed here, in turns on 6 pages" in note for note in result.notes), (
        result.notes
    )
