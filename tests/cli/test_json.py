"""Results as JSON follow the schemas that `parsemark list schemas` prints."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
from tests.store.fabricate import fabricate_run
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.schemas import RESULTS, json_schemas


@pytest.mark.parametrize("name", sorted(json_schemas()))
def test_each_is_a_json_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json_schemas()[name])


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("compare", ["compare", "{run}", "good", "fair"]),
        ("compare", ["compare", "{run}", "--old", "{run}"]),
        ("gate", ["gate", "{run}", "--old", "{run}"]),
        ("corpus-info", ["corpus", "info", "demo"]),
        ("list", ["list", "protocols"]),
        ("list", ["list", "metrics", "teds"]),
        ("list", ["parsers", "list"]),
        ("doctor", ["doctor"]),
    ],
)
def test_a_result_follows_its_schema(kind: str, words: list[str], tmp_path: Path) -> None:
    run = str(fabricate_run(tmp_path / "run", 12, ("good", "fair")).path)
    shown = CliRunner().invoke(app, [*(word.format(run=run) for word in words), "--json"])
    data = json.loads(shown.stdout)
    assert (data["schema"], data["schema_version"]) == (f"parsemark.{kind}", RESULTS[kind].version)
    jsonschema.validate(data, json_schemas()[f"{kind}.schema.json"])
    del data["schema_version"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, json_schemas()[f"{kind}.schema.json"])


def test_outputs_made_elsewhere_have_a_schema() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "runs.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    schema = json_schemas()["predictions.schema.json"]
    jsonschema.validate(json.loads(example), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([{"text": "no category"}], schema)
