"""Figures for papers show the same numbers in the same colours, and the commands write them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.protocols.exhibits import Chart
from parsemark.report.charts.catalogue import all_sections
from parsemark.report.charts.paper import draw_chart, plain, save_chart
from parsemark.report.colours import PALETTE, colour_indices, stylesheet
from parsemark.report.source import Source
from parsemark.store import Run

matplotlib = pytest.importorskip("matplotlib")


def charts(source: Source) -> dict[str, Chart]:
    return {chart.key: chart for section in all_sections(source) for chart in section.charts}


def test_drawn_lines_are_the_data(source: Source) -> None:
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
def test_equal_data_give_equal_files(source: Source, tmp_path: Path, kind: str, begins: bytes) -> None:
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


def test_report_command(run: Run, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(run.path), "--out", str(tmp_path / "site")])
    assert result.exit_code == 0
    assert result.output.strip() == str(tmp_path / "site" / "index.html")
    assert (tmp_path / "site" / "provenance.html").is_file()


def test_report_of_no_run_says_what_to_do(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert result.exit_code != 0
    assert "is not a run directory" in str(result.exception)


def test_figures_command(run: Run, source: Source, tmp_path: Path) -> None:
    arguments = ["figures", str(run.path), "--format", "png", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0
    assert {Path(line).stem for line in result.output.split()} == set(charts(source))
    assert all(Path(line).is_file() for line in result.output.split())
