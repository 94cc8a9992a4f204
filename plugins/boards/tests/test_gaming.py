"""What silence, repetition, junk and giant spans do to each benchmark's own scores, as their pages state it.

One page of two is answered well, the other with errors. Each trick changes the second output alone, as who
plays it would choose the hard page. `python plugins/boards/tests/test_gaming.py` prints all that rises.
"""

import re
import tempfile
from pathlib import Path

import pytest
from benchmark_pages import write

from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.model import Element, Fact, Page, Sample, Table
from parsemark.protocols import Summary
from parsemark.testing import write_corpus

ROWS = [[f"{name} {k}" for name in ("Port", "Depth", "Berths", "Light")] for k in range(5)]
SECOND = [["Buoy", "Colour"], ["Cardinal", "yellow"], ["Lateral", "red"], ["Safe water", "white"]]
TEXT = "Slack water lasts nine minutes at the narrows, and the stream runs at five knots on springs."
WRONG = "Slack water lasts nine minutes at the harbour, and it runs at six knots."


def html(rows: list[list[str]], attributes: str = "") -> str:
    """A table whose first cell may have attributes."""
    cells = [[f"<td>{text}</td>" for text in row] for row in rows]
    cells[0][0] = cells[0][0].replace("<td>", f"<td{attributes}>")
    return "<table>" + "".join(f"<tr>{''.join(row)}</tr>" for row in cells) + "</table>"


WHOLE = f"# Tides\n\n{TEXT}\n\n{html(ROWS)}\n\n{html(SECOND)}"
OWN_ROWS = [[text if k % 2 else "wrong" for k, text in enumerate(row)] for row in ROWS]
FLAWED = f"# Tides\n\n{WRONG}\n\n{html(OWN_ROWS)}"
JUNK = " ".join(map(str, range(300)))
TRICKS = {
    "nothing": "",
    "a blank": " \n",
    "one letter": "s",
    "no table": f"# Tides\n\n{WRONG}",
    "first rows": f"# Tides\n\n{WRONG}\n\n{html(OWN_ROWS[:1])}",
    "twice": f"{FLAWED}\n\n{FLAWED}",
    "junk text": f"{FLAWED}\n\n{JUNK}",
    "junk tables": f"{FLAWED}\n\n{html([['a', 'b'], ['c', 'd']])}\n\n{html([['1', '2'], ['3', '4']])}",
    "a column of letters": f"{FLAWED}\n\n{html([[letter] for letter in 'abcdefghijklmnopqrstuvwxyz'])}",
    "its words again": f"{FLAWED}\n\n{' '.join(text for row in ROWS + SECOND for text in row)} {TEXT}",
    "a span of 2": FLAWED.replace("<td>", "<td colspan=2>", 1),
    "a giant span": FLAWED.replace("<td>", "<td colspan=100000 rowspan=100000>", 1),
    "a span in words": FLAWED.replace("<td>", "<td colspan=two>", 1),
    "a special token": f"{FLAWED}\n\n<|endoftext|>",
}
SPECS = (
    *("parsebench", "parsebench(version=2026-08)", "olmocr", "omni-parse", "opendataloader", "dp-bench"),
    *("pulsebench-tab", "rd-tablebench", "marker", "getomni", "docling-eval", "score-bench", "ohr-bench"),
)
QUESTION = {
    "doc_name": "d",
    "evidence_page_no": 0,
    "evidence_context": TEXT,
    "answers": "nine minutes",
    "questions": "How long is slack water?",
}


def _facts() -> tuple[Fact, ...]:
    def text(of: str) -> dict[str, object]:
        return {"text": of, "max_diffs": 0}

    asked: dict[str, list[tuple[str, dict[str, object]]]] = {
        "olmocr-bench": [
            ("present", {"text": "five knots on springs"}),
            ("present", {"text": "at the narrows"}),
            ("absent", {"text": "twelve knots"}),
            ("order", {"before": "Slack water", "after": "five knots"}),
            ("table", {"cell": "Depth 2", "up": "Depth 1", "left": "Port 2"}),
            ("table", {"cell": "Cardinal", "up": "Buoy"}),
        ],
        "parsebench": [
            ("present", {"text": "five knots on springs"}),
            ("order", {"before": "Slack water", "after": "five knots"}),
            ("unexpected_word", {"word": "twelve", "count": 0}),
            ("missing_specific_word", {"word": "narrows", "count": 1}),
            ("chart_data_point", {"labels": ["Cardinal"], "value": "yellow"}),
            ("is_title", {"text": "Tides"}),
        ],
        "omni-parse-bench": [
            ("present", {"args": {"content": text("five knots on springs")}, "settings": {}}),
            ("repeat", {"args": {"content": text("Slack water")}, "settings": {"expected_count": 1}}),
            ("table_cell", {"args": {"cell": text("Cardinal"), "up": text("Buoy")}, "settings": {}}),
            ("table_cell", {"args": {"cell": text("Depth 2"), "left": text("Port 2")}, "settings": {}}),
        ],
    }
    groups = {
        "chart_data_point": "chart",
        "is_title": "text_formatting",
    }
    return tuple(
        Fact(f"{rules}-{number}", kind, rules, arguments, group=groups.get(kind, "text_content"))
        for rules, facts in asked.items()
        for number, (kind, arguments) in enumerate(facts)
    )


def play(root: Path, specs: tuple[str, ...] = SPECS) -> dict[str, Summary]:
    """Score the honest output and all tricks by the benchmarks' own rules."""
    elements = (
        Element("0", "title", order=0, text="Tides"),
        Element("1", "text_block", order=1, text=TEXT),
        Element("2", "table", order=2, html=html(ROWS), table=Table.from_rows(ROWS)),
        Element("3", "table", order=3, html=html(SECOND), table=Table.from_rows(SECOND)),
    )
    cases = {"table": {"expected_markdown": f"{html(ROWS)}\n\n{html(SECOND)}"}}
    annotation = {"ohr_bench_questions": [QUESTION], "parsebench_cases": cases}
    samples = []
    for k in range(2):
        page = Page(f"p-{k}", 600, 800, elements, annotation=annotation, facts=_facts())
        samples.append(Sample(page.id, f"d-{k}", 1, page))
    write_corpus(root / "corpus", samples, name="gaming")
    corpus = load_corpus(str(root / "corpus"))
    for name, text in {"honest": FLAWED, **TRICKS}.items():
        folder = root / name
        write(folder / "p-0.md", WHOLE)
        write(folder / "p-1.md", text)
        run = import_predictions(root / "run", corpus, folder, name=name, protocols=specs)
    return {summary.protocol: summary for summary in score_run(run, n_workers=1)}


def rises(summary: Summary, least: float = 0.005) -> dict[tuple[str, str], tuple[float, float]]:
    """Trick and figure to the honest value and the trick's, where that is higher."""
    found = {}
    for trick in TRICKS:
        for info in summary.figures:
            before, after = (summary.figure(name, info.name) for name in ("honest", trick))
            if before is None or after is None or before.value is None or after.value is None:
                continue
            gain = after.value - before.value if info.higher_is_better else before.value - after.value
            if gain > least * (info.top or 1.0):
                found[trick, info.name] = before.value, after.value
    return found


PAYS: dict[str, dict[tuple[str, str], int]] = {
    "parsebench": {("its words again", "overall"): 2, ("a span in words", "overall"): 2},
    "parsebench(version=2026-08)": {("its words again", "overall"): 2, ("a span in words", "overall"): 2},
    "olmocr": {("a blank", "overall"): 2, ("one letter", "overall"): 2, ("its words again", "overall"): 2},
    "omni-parse": {("its words again", "kind.present"): 1},
    "opendataloader": {("a span in words", "overall"): 2, ("junk tables", "overall"): 2},
    "marker": {("one letter", "score"): 0},
    "getomni": {("junk tables", "text_similarity"): 2},
    "docling-eval": {
        ("nothing", "f1_score"): 2,
        ("a blank", "f1_score"): 2,
        ("its words again", "recall"): 2,
    },
    "score-bench": {
        ("no table", "overall"): 2,
        ("a giant span", "overall"): 2,
        ("its words again", "percent_tokens_found"): 2,
    },
    "ohr-bench": {("its words again", "lcs"): 2},
}
"""Trick and figure to the decimals with which the benchmark's page prints both values."""
SMALL = 0.016
"""Shares of a headline that pages do not name: `score-bench` rounds each of its scores to 0.01."""


@pytest.fixture(scope="module")
def summaries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Summary]:
    for package in ("pypandoc", "tiktoken", "nltk"):
        pytest.importorskip(package)
    return play(tmp_path_factory.mktemp("gaming"))


@pytest.mark.parametrize("spec", SPECS)
def test_a_page_names_what_pays_and_nothing_else_does(summaries: dict[str, Summary], spec: str) -> None:
    summary = summaries[spec]
    page = (Path(__file__).parents[1] / "docs" / f"{spec.partition('(')[0]}.md").read_text()
    (paragraph,) = (part for part in page.split("\n\n") if part.startswith("**What pays**"))
    found, expected = rises(summary), PAYS.get(spec, {})
    for trick, digits in expected.items():
        for value in found[trick]:
            printed = "1" if value == 1 else f"{value:.{digits}f}"
            assert re.search(rf"\b{re.escape(printed)}\b", paragraph), (trick, value)
    headline = {trick for trick, figure in rises(summary, SMALL) if figure == summary.primary}
    assert headline <= {trick for trick, _ in expected}
    assert expected or "No trick" in paragraph


def main() -> None:
    """Print what rises."""
    with tempfile.TemporaryDirectory() as folder:
        for protocol, summary in play(Path(folder)).items():
            for (trick, figure), (before, after) in rises(summary).items():
                line = f"{protocol:28} {trick:22} {figure:30} {before:.4f} -> {after:.4f}"
                print(line)  # noqa: T201 # for the docs


if __name__ == "__main__":
    main()
