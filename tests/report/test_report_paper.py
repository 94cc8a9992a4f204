"""Figures for papers show the same numbers in the same colours, and the commands write them."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.report.charts.catalogue import all_sections
from parsemark.report.charts.paper import draw_chart, plain, save_chart
from parsemark.report.colours import PALETTE, colour_indices, stylesheet
from parsemark.report.drawing import Chart, ChartAxis, Series
from parsemark.report.source import RunSource
from parsemark.store import Run

matplotlib = pytest.importorskip("matplotlib")


def charts(source: RunSource) -> dict[str, Chart]:
    return {chart.key: chart for section in all_sections(source) for chart in section.charts}


def test_drawn_lines_are_the_data(source: RunSource) -> None:
    from matplotlib.figure import Figure

    chart = charts(source)["threshold"]
    axes = Figure(layout="constrained").add_subplot()
    draw_chart(chart, source.colours, axes)
    drawn = {line.get_label(): line for line in axes.get_lines()}
    for series in chart.series:
        line = drawn[series.name]
        assert tuple(line.get_xdata()) == series.x
        assert tuple(line.get_ydata()) == series.y
        assert line.get_color() == PALETTE[source.colours[series.name]].light


@pytest.mark.parametrize(("kind", "begins"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_equal_data_give_equal_files(source: RunSource, tmp_path: Path, kind: str, begins: bytes) -> None:
    chart = charts(source)["structure"]
    paths = [tmp_path / f"{n}.{kind}" for n in (1, 2)]
    for path in paths:
        save_chart(chart, source.colours, path)
    assert paths[0].read_bytes().startswith(begins)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_colours_do_not_depend_on_the_order_of_parsers() -> None:
    assert colour_indices(["b", "a"]) == colour_indices(["a", "b"]) == {"a": 0, "b": 1}
    assert f"light-dark({PALETTE[1].light}, {PALETTE[1].dark})" in stylesheet()


def test_names_are_no_formulas() -> None:
    assert plain("$x^2$\x00") == r"\$x^2\$�"


@pytest.mark.parametrize("n", [2, 9, 14])
def test_legends_are_not_clipped(n: int, tmp_path: Path) -> None:
    names = [f"a parser with a long name(option={k})" for k in range(n)]
    series = tuple(
        Series(name, "line", (0.0, 0.5, 1.0), (1.0, 0.9, k / n), parser=name) for k, name in enumerate(names)
    )
    chart = Chart(
        "key",
        "Title",
        "Caption.",
        "",
        ChartAxis("recall", 0.0, 1.0),
        ChartAxis("precision", 0.0, 1.0),
        series,
    )
    save_chart(chart, {name: k % 8 for k, name in enumerate(names)}, tmp_path / "chart.png")
    with Image.open(tmp_path / "chart.png") as picture:
        pixels = np.asarray(picture.convert("L"))
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert border.min() == 255 and pixels.min() < 100, "ink at the edge is a drawing that goes on beyond it"


def test_report_command(run: Run, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(run.path), "--out", str(tmp_path / "site")])
    assert result.exit_code == 0
    assert result.output.strip() == str(tmp_path / "site" / "index.html")
    assert (tmp_path / "site" / "provenance.html").is_file()


def test_report_of_no_run_says_what_to_do(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert result.exit_code != 0
    assert "is not a run directory" in str(result.exception)
    result = CliRunner().invoke(app, ["report", str(tmp_path / "nowhere")])
    assert f"{tmp_path / 'nowhere'} does not exist" in str(result.exception)


def test_figures_command(run: Run, source: RunSource, tmp_path: Path) -> None:
    arguments = ["export", str(run.path), "--format", "charts-png", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert {Path(line).stem for line in result.output.split()} == set(charts(source))
    assert all(Path(line).is_file() for line in result.output.split())


def test_names_beside_points_that_lie_close_do_not_cover_each_other() -> None:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from parsemark.report.charts.paper import draw_chart
    from parsemark.report.drawing import Chart, ChartAxis, Series

    names = [f"parser-{k}(option=long)" for k in range(8)]
    series = tuple(Series(n, "points", (1 + k / 100,), (0.8,), parser=n) for k, n in enumerate(names))
    chart = Chart(
        "q", "Quality", "", "", ChartAxis("s", kind="log"), ChartAxis("F1", 0.0, 1.0), series, labelled=True
    )
    figure = Figure(figsize=(3.6, 2.7), layout="constrained")
    axes = figure.add_subplot()
    draw_chart(chart, {name: k for k, name in enumerate(names)}, axes)
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in axes.texts if text.get_text() in names]  # without lines
    assert len(boxes) == len(names)
    patches = [text.get_bbox_patch() for text in axes.texts if text.get_text() in names]
    assert all(patch and patch.get_facecolor()[:3] == (1.0, 1.0, 1.0) for patch in patches), "no line through"
    assert not [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]
