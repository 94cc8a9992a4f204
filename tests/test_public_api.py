"""The exported names are pinned: adding one is a decision."""

import subprocess
import sys
from pathlib import Path

from tests.store.fabricate import fabricate_run

import parsemark

EXPORTED = [
    "Box", "Cell", "Element", "FormatError", "Page", "ParsemarkError", "Prediction", "Run", "Sample",
    "Score", "Status", "Table", "__version__", "bench", "bisect", "build_report", "bundle", "check",
    "choose", "compare", "corpus_check", "corpus_export", "corpus_import", "corpus_info", "corpus_make",
    "corpus_sample", "doctor", "export", "gate", "get_metric", "get_parser", "grits", "history", "init",
    "list_", "list_metrics", "load_corpus", "load_run", "pairs", "parsers_install", "parsers_list",
    "parsers_versions", "query", "read_document", "read_table", "read_tables", "score", "score_pair",
    "score_task", "site", "stable", "study_agreement", "study_judge_answers", "study_judge_check",
    "study_judge_matchers", "study_run", "study_sample", "teds", "try_", "verify", "write_document",
    "write_table",
]  # fmt: skip

RUN = [
    "create", "is_baseline", "manifest", "open", "path", "prediction", "protocol_folder", "protocols", "raw",
    "records", "repeats", "repeats_by", "run_tables", "scanning", "scores", "summary", "table", "truth",
]  # fmt: skip
"""What users of a run may rely on; all else is the engine's, in `store/folder.py`."""

HEAVY = ["polars", "scipy", "matplotlib", "fastapi", "ray", "torch", "lxml", "numpy", "pypdfium2"]


def test_exported_names_are_pinned_and_exist() -> None:
    assert sorted(parsemark.__all__) == EXPORTED
    assert len(EXPORTED) <= 65
    for name in EXPORTED:
        assert getattr(parsemark, name) is not None


def test_names_of_a_run_are_pinned_and_documented(tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run")
    assert [name for name in dir(run) if not name.startswith("_")] == RUN
    documented = (Path(__file__).parents[1] / "docs" / "reference" / "api.md").read_text()
    assert not [name for name in RUN if f"`{name}" not in documented.partition("### Run")[2]]


def test_import_loads_nothing_heavy() -> None:
    code = f"import parsemark, sys; print([m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_help_loads_nothing_heavy() -> None:
    code = f"""
import sys
from pathlib import Path
from typer.testing import CliRunner
from parsemark.cli.main import app
result = CliRunner().invoke(app, ["--help"])
print(result.exit_code, [m for m in {HEAVY!r} if m in sys.modules])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "0 []"


def test_no_room_hides_a_public_name() -> None:
    """Importing a room sets its name on the package, over a function of the same name."""
    rooms = {path.stem for path in Path(parsemark.__path__[0]).iterdir()}
    assert not rooms & set(EXPORTED)
