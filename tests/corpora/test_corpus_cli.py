"""The corpus commands, end to end on the demo corpus."""

from pathlib import Path

from typer.testing import CliRunner

from parsemark.cli.main import app

runner = CliRunner()


def test_info_prints_the_counts() -> None:
    result = runner.invoke(app, ["corpus", "info", "demo"])
    assert result.exit_code == 0
    assert "Positive pages" in result.stdout
    assert "16" in result.stdout


def test_show_writes_a_picture(tmp_path: Path) -> None:
    target = tmp_path / "page.png"
    result = runner.invoke(
        app, ["corpus", "show", "demo", "demo-0001-p1", "--out", str(target), "--dpi", "40"]
    )
    assert result.exit_code == 0
    assert target.read_bytes().startswith(b"\x89PNG")


def test_an_unknown_page_names_the_nearest() -> None:
    result = runner.invoke(app, ["corpus", "show", "demo", "demo-0001-p11"])
    assert result.exit_code != 0
    assert "demo-0001-p1" in str(result.exception)


def test_schemas_are_written(tmp_path: Path) -> None:
    result = runner.invoke(app, ["corpus", "schema", "--out", str(tmp_path)])
    assert result.exit_code == 0
    assert {p.name for p in tmp_path.iterdir()} == {"corpus.schema.json", "page.schema.json"}
