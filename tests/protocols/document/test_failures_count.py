"""Whether failed pages stand in the denominators is said beside the numbers, as it is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from parsemark.formats.model_json import page_to_json
from parsemark.model import Element, Page, Prediction, Status, Table
from parsemark.protocols import get_protocol
from parsemark.protocols.document.protocol import DocumentProtocol
from parsemark.protocols.document.summary import DocumentFigures
from parsemark.protocols.run_data.rows import MatchRow
from parsemark.store.run_tables import RunTables


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ("document", True),
        ("document(profile=v1.0)", False),
        ("document(profile=v1.5)", False),
        ("document(profile=v1.6)", True),
    ],
)
def test_the_profiles_that_leave_failed_pages_out_say_so(spec: str, count: bool) -> None:
    protocol = get_protocol(spec)
    assert isinstance(protocol, DocumentProtocol)
    figures = DocumentFigures(protocol.profile, cdm=False)
    assert figures.failures_count is count
    assert any("failed" in note and "out of all means" in note for note in figures.notes()) is not count


NO_TEX = {
    "none": None,
    "fails": "#!/bin/sh\nexit 1\n",
    "no program": "this is no program",
    "half": '#!/bin/sh\ncase "$*" in *-ini*|*--version*) exec {real} "$@";; esac\nexit 1\n',
}
"""What stands on the PATH as pdflatex."""


@pytest.mark.parametrize("kind", NO_TEX)
@pytest.mark.parametrize("profile", ["strict", "v1.5", "v1.6"])
def test_without_a_working_tex_cdm_is_not_computed_and_nothing_else_changes(
    profile: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("pdflatex") or "/bin/false"
    script = NO_TEX[kind]
    (tmp_path / "bin").mkdir()
    if script is not None:
        (tmp_path / "bin" / "pdflatex").write_text(script.replace("{real}", real))
        (tmp_path / "bin" / "pdflatex").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path / "cache"))
    truth = Page("p", 600, 800, (
        Element("a", "text_block", order=1, text="The heat of a rod falls from one end to the other."),
        Element("f", "equation_isolated", order=2, latex=r"\frac{a}{b} + c^2"),
        Element("t", "table", order=3, table=Table.from_rows([["a", "b"], ["1", "2"]])),
    ))  # fmt: skip
    said = "The heat of a rod falls from one end to the other.\n\n$$\\frac{a}{b} + c^3$$\n\n"
    prediction = Prediction("p", "parser", text=f"{said}| a | b |\n|---|---|\n| 1 | 2 |\n")
    found = {
        cdm: get_protocol(f"document(profile={profile},cdm={cdm})").score_page(truth, prediction, None).scores
        for cdm in ("true", "false")
    }
    missing = [row for row in found["true"] if row not in found["false"]]
    assert [(row.metric, row.value, row.status) for row in missing] == [
        ("cdm_f1" if profile == "strict" else "cdm", None, Status.METRIC_FAILED)
    ]
    assert "pdflatex" in str(missing[0].message) or "TeX" in str(missing[0].message)
    assert [row for row in found["true"] if row not in missing] == found["false"]


@pytest.mark.parametrize(("profile", "metric"), [("strict", "cdm_f1"), ("v1.6", "cdm")])
def test_cdm_that_is_missing_on_one_page_is_no_figure_and_said(profile: str, metric: str) -> None:
    tables = _tables(
        [("p", "text_edit", 0.5), ("p", "formula_f1", 0.5), ("p", metric, 0.5), ("q", metric, None)]
    )
    protocol = get_protocol(f"document(profile={profile},cdm=true)")
    summary = protocol.summarise(tables)
    assert metric not in summary.parsers["parser"] and "text_edit" in summary.parsers["parser"]
    assert "CDM is not computed. There is no TeX." in summary.notes


@pytest.mark.parametrize(
    ("parts", "name", "label"),
    [
        (("text_edit", "formula_f1", "teds_f1", "order_edit"), "overall", "Overall"),
        (("text_edit", "teds_f1"), "mean_of_parts", "Mean of Text edit, Tables"),
        (("teds_f1",), "teds_f1", "Tables"),
    ],
)
def test_overall_over_missing_parts_is_not_called_overall(
    parts: tuple[str, ...], name: str, label: str
) -> None:
    summary = get_protocol("document").summarise(_tables([("p", part, 0.25) for part in parts]))
    assert summary.primary == name
    assert next(info.label for info in summary.figures if info.name == name) == label
    assert ("overall" in summary.parsers["parser"]) == (name == "overall")
    if label == "Overall":
        said = "Mean of the page averages of (1 − Text edit), Formulas, Tables and (1 − Order edit)."
        assert summary.info(name).definition == said


def _tables(rows: list[tuple[str, str, float | None]]) -> RunTables:
    """A run of one parser with these values of whole pages; a missing one was not computed."""
    names = sorted({sample for sample, _, _ in rows})
    page = json.dumps(page_to_json(Page("p", 600, 800, ())))
    place = {"element": "", "pred": "", "rule": "strict", "category": "", "parser": "parser"}
    scores = [
        {"sample": sample, **place, "metric": metric, "value": value,
         "status": str(Status.METRIC_FAILED if value is None else Status.OK),
         "message": "There is no TeX." if value is None else None}
        for sample, metric, value in rows
    ]  # fmt: skip
    spent = {"status": "ok", "cpu_s": 1.0, "wall_s": 1.0, "peak_memory_mb": 1.0, "cost_usd": None}
    return RunTables(
        pl.DataFrame(
            [{"sample": n, "document": n, "n_tables": 0, "attributes": "{}", "truth": page} for n in names]
        ),
        pl.DataFrame(
            [{"sample": n, "parser": "parser", **spent} for n in names],
            schema_overrides={"cost_usd": pl.Float64},
        ),
        pl.DataFrame(schema=dict.fromkeys(MatchRow.__dataclass_fields__, pl.String)),
        pl.DataFrame(scores, infer_schema_length=None, schema_overrides={"message": pl.String}),
    )
