"""A parser over its versions: real steps, none where nothing changed, and what is shown of it."""

import math
from pathlib import Path

import numpy as np
import pytest
from tests.authors.releases import make_releases, write_pages, write_worker_script

from parsemark import api, version_history
from parsemark.errors import UsageError
from parsemark.protocols import FigureInfo, FigureSums
from parsemark.report.history_page import history_markdown
from parsemark.verdicts.history import (
    ALPHA,
    HistoryFigure,
    history_figure,
    ratio_figure,
    version_order,
)

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
    changed = {(change.before, change.after): change.n_changed for change in found.changes}
    assert changed[("mine@1.4", "mine@1.5")] == 24 == len(found.changes[1].pages)
    assert changed[("mine@1.5", "mine@1.6")] == 0
    installed = next(figure for figure in found.figures if figure.name == "installed_mb")
    assert all(point.value is not None for point in installed.points)
    shown = history_markdown(found)
    assert "1.4 → 1.5: worse, TE F1 Con -" in shown and "other outputs on 24 pages" in shown
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
