"""Whether benchmarks rank alike, what their disagreement comes from, and outputs in the neutral spelling."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from parsemark.cli.main import app
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.formats import write_table
from parsemark.model import Element, Page, Sample, Table
from parsemark.protocols import Summary, get_protocol, with_options
from parsemark.store import Run
from parsemark.testing import write_corpus
from parsemark.verdicts.boards_agreement import SOURCES, board_agreement

BOARDS = ("tables", "document", "semantic", "dp-bench", "opendataloader", "getomni", "score-bench")
TEXT = "Slack water & tide last $x^2$ minutes at the narrows.", "The stream costs $5 on springs."
ITEMS = "- one port\n- two piers"
ROWS = [["Port", "Depth"], ["Riga", "12.5"], ["Oslo", "9.1"]]
PIPES = "| Port | Depth |\n|---|---|\n| Riga | 12.5 |\n| Oslo | 9.1 |"
HTML = write_table(Table.from_rows(ROWS), "html")
OUTPUTS = {
    "two-newlines": f"# Tides\n\n{TEXT[0]}\n\n{TEXT[1]}\n\n{ITEMS}\n\n{HTML}\n",
    "one-newline": f"# Tides\n{TEXT[0]}\n{TEXT[1]}\n{ITEMS}\n{HTML}\n",
    "pipes": f"# Tides\n\n{TEXT[0]}\n\n{TEXT[1]}\n\n{ITEMS}\n\n{PIPES}\n",
    "respelled": "\n\n".join(
        (
            "# Tides #",
            TEXT[0].replace("&", "&amp;").replace("$x^2$", "$ x^2 $"),
            TEXT[1].replace("$", r"\$"),
            ITEMS.replace("-", "*"),
            HTML,
        )
    ),
    "no-table": f"# Tides\n\n{TEXT[0]}\n",
    "table-alone": f"{HTML}\n",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    root = tmp_path_factory.mktemp("agreement")
    elements = (
        Element("1", "title", order=0, text="Tides", attributes={"level": 1}),
        *(Element(f"{k + 2}", "text_block", order=k + 1, text=text) for k, text in enumerate(TEXT)),
        Element("4", "table", order=3, html=HTML, table=Table.from_rows(ROWS)),
    )
    plain = Page("p-2", 600, 800, elements[:3])
    samples = [Sample(f"p-{k}", f"d-{k}", 1, Page(f"p-{k}", 600, 800, elements)) for k in range(2)]
    corpus = write_corpus(root / "corpus", [*samples, Sample("p-2", "d-2", 1, plain)])
    for name, text in OUTPUTS.items():
        (root / name).mkdir()
        for sample in ("p-0", "p-1", "p-2"):
            (root / name / f"{sample}.md").write_text(text)
        found = import_predictions(root / "run", corpus, root / name, name=name, protocols=BOARDS)
    return found


@pytest.fixture(scope="module")
def neutral(run: Run) -> dict[str, Summary]:
    score_run(run, n_workers=1)
    score_run(run, protocols=[with_options(spec, serialise="neutral") for spec in run.protocols], n_workers=1)
    return {spec: Run.open(run.path).summary(spec) for spec in Run.open(run.path).protocols}


@pytest.mark.parametrize("board", BOARDS)
def test_spelling_moves_no_neutral_figure(neutral: dict[str, Summary], board: str) -> None:
    summary = neutral[f"{board}(serialise=neutral)"]
    values = [
        {name: figure.value for name, figure in summary.parsers[parser].items() if name != "seconds"}
        for parser in ("two-newlines", "one-newline", "pipes", "respelled")
    ]
    shown = {info.name for info in summary.figures if info.style in ("score", "rate")}
    scores = [{name: own[name] for name in shown if name in own} for own in values]
    assert scores[0] == scores[1] == scores[2] == scores[3] and scores[0]
    missing = summary.parsers["no-table"][summary.primary].value
    assert missing is not None and missing != scores[0][summary.primary]


def test_raw_figures_are_beside_the_neutral_ones(neutral: dict[str, Summary]) -> None:
    raw = neutral["getomni"].parsers
    assert raw["two-newlines"]["text_similarity"].value != raw["pipes"]["text_similarity"].value


def test_shares_add_up_and_boards_without_a_kind_in_common_differ_by_kinds(
    run: Run, neutral: dict[str, Summary]
) -> None:
    found = board_agreement(Run.open(run.path))
    assert set(found.protocols) == set(BOARDS) and set(found.moved) == set(BOARDS)
    for pair in found.pairs:
        assert pair.tau.value is not None and pair.disagreement.value is not None
        assert pair.disagreement.value == pytest.approx((1 - pair.tau.value) / 2)
        parts = [pair.shares[source].value for source in SOURCES]
        assert sum(part for part in parts if part is not None) == pytest.approx(pair.disagreement.value)
        if not pair.kinds:
            assert pair.shares["matching"].value == pair.shares["measures"].value == 0
    between = {frozenset((pair.first, pair.second)): pair for pair in found.pairs}
    # Tables alone against text alone; `tables` counts what is invented on the page without a table, too.
    assert between[frozenset(("semantic", "getomni"))].n_pages == 2
    apart = between[frozenset(("tables", "getomni"))]
    assert apart.kinds == () and apart.n_pages == 3
    assert found.ranks["tables"]["no-table"] == 6 and found.ranks["dp-bench"]["table-alone"] == 6


def test_every_kind_names_figures_that_are_there(neutral: dict[str, Summary]) -> None:
    for board in BOARDS:
        names = {info.name for info in neutral[board].figures}
        # No page has a formula, so that `document` has no figure of them.
        named = get_protocol(board).figures_by_kind.items()
        wanted = {figure for kind, figure in named if kind != "formulas"}
        assert wanted <= names, board


SHIPS = [["Ship", "Flag", "Crew"], ["Maren", "Norway", "31"], ["Ilse", "Estonia", "8"]]
MATCHED = {
    "swapped": [SHIPS, ROWS],
    "flawed": [[["Port", "Depth"], ["Riga", "12.6"], ["Osl0", "9.7"]], SHIPS],
    "one": [ROWS],
    "none": [],
}
"""Who gives both tables in the other order is best by text and worst by number."""


def test_what_matching_alone_turns_round_is_told_from_the_measures(tmp_path: Path) -> None:
    elements = tuple(
        Element(
            str(k),
            "table",
            order=k,
            html=write_table(Table.from_rows(rows), "html"),
            table=Table.from_rows(rows),
        )
        for k, rows in enumerate((ROWS, SHIPS))
    )
    samples = [Sample(f"p-{k}", f"d-{k}", 1, Page(f"p-{k}", 600, 800, elements)) for k in range(3)]
    corpus, specs = write_corpus(tmp_path / "corpus", samples), ("tables", "semantic", "dp-bench")
    for name, tables in MATCHED.items():
        (tmp_path / name).mkdir()
        text = "\n\n".join(write_table(Table.from_rows(rows), "html") for rows in tables) or "Nothing."
        for sample in samples:
            (tmp_path / name / f"{sample.id}.md").write_text(text)
        found = import_predictions(tmp_path / "run", corpus, tmp_path / name, name=name, protocols=specs)
    score_run(found, n_workers=1)
    told = board_agreement(Run.open(found.path))
    of_dp_bench = [pair for pair in told.pairs if "dp-bench" in (pair.first, pair.second)]
    assert len(of_dp_bench) == 2 and all(pair.rules[-1] == "order" for pair in of_dp_bench)
    assert all(pair.shares["matching"].value is None for pair in of_dp_bench), "`tables` lacks that rule"
    arguments = ["study", "agreement", str(found.path), "--no-neutral", "--workers", "1"]
    result = CliRunner().invoke(app, [*arguments, *(f"--protocol={spec}" for spec in specs)])
    assert result.exit_code == 0 and "| ngrams, order |" in result.output, result.output
    opened = Run.open(found.path)
    in_order = opened.summary("tables(match=order)").parsers
    flawed, swapped = (in_order[name]["te_f1_con"].value for name in ("flawed", "swapped"))
    assert flawed is not None and swapped is not None and flawed > swapped
    told = board_agreement(opened)
    assert "tables(match=order)" not in told.protocols
    between = {frozenset((pair.first, pair.second)): pair for pair in told.pairs}
    boards = between[frozenset(("tables", "dp-bench"))]
    assert set(boards.rules) == {"ngrams", "order"}
    assert boards.shares["serialisation"].value is None, "no output was scored in the neutral spelling"
    # Two of the six pairs of parsers are turned round by the rule alone, and no other is.
    assert boards.shares["matching"].value == pytest.approx(2 / 6)
    measures, before = boards.shares["measures"].value, boards.disagreement.value
    assert measures is not None and before is not None and measures < 2 / 6
    assert sum(share.value or 0 for share in boards.shares.values()) == pytest.approx(before)
    ours = between[frozenset(("tables", "semantic"))]
    assert ours.rules == ("ngrams", "ngrams") and ours.shares["matching"].value == 0


def test_rules_of_matching_are_known_without_tables_and_firsts_are_listed(
    run: Run, neutral: dict[str, Summary]
) -> None:
    arguments = ["study", "agreement", str(run.path), "--workers", "1"]
    asked = ["--protocol=dp-bench", "--protocol=opendataloader"]
    result = CliRunner().invoke(app, [*arguments, *asked])
    assert result.exit_code == 0 and result.output.rstrip()
    lines = result.output.splitlines()
    [pair] = [line for line in lines if line.startswith(("| dp-bench, ", "| opendataloader, "))]
    assert pair.endswith("| order |"), "both match tables in order, and `tables` was not asked for"
    [first] = [line for line in lines if line.startswith("Ranked first: ")]
    assert "by 2 of 2 (dp-bench, opendataloader)" in first
    [row] = [line for line in lines if line.startswith("| table-alone |")]
    assert row.count("(") == 2 and "–" in row, "each rank has its interval"


def test_versions_of_rules_stand_side_by_side(run: Run, neutral: dict[str, Summary]) -> None:
    specs = ("opendataloader", "opendataloader(serialise=neutral)")
    result = CliRunner().invoke(app, ["score", str(run.path), *(f"--protocol={spec}" for spec in specs)])
    assert result.exit_code == 0, result.output
    _, _, table = result.output.partition("of the same outputs under 2 sets of rules")
    assert "default" in table and "serialise=neutral" in table and "change" in table
    [row] = [line.split() for line in table.splitlines() if line.startswith("one-newline")]
    values = [Run.open(run.path).summary(spec).parsers["one-newline"]["overall"].value for spec in specs]
    assert values[0] is not None and values[1] is not None
    assert f"{values[1] - values[0]:+.3f}".lstrip("+-").lstrip("0") in row[-1]
