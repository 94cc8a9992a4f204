"""Every verdict is that of Datalab's own scorer (omni-parse-bench on PyPI), on pages made up here.

Release 1.0.0 needs Python 3.12, so these tests compare with 0.2.0. What differs between the two is below.
"""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parsemark import export
from parsemark.corpora import load_corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.scoring.score import score_run
from parsemark.errors import CorpusError
from parsemark.model import Box
from parsemark.store import Run
from parsemark_boards.cell_grids import CellSpec, grid_of
from parsemark_boards.katex import Render, find_chromium, render_all
from parsemark_boards.omni_parse.protocol import html_of_markdown
from parsemark_boards.omni_parse.rules import PlacedBlock, check
from parsemark_boards.omni_parse.text import fold, seen_text, squeeze
from parsemark_boards.omni_parse.truth import check_test

oracle = pytest.importorskip("omni_parse_bench")

TABLE = """<table><thead><tr><th rowspan="2">Port</th><th colspan="2">Depth (m)</th></tr>
<tr><th>min</th><th>max</th></tr></thead><tr><td colspan="3">West coast</td></tr>
<tr><td>Oban</td><td>9.5</td><td>1,240<sup>1</sup></td></tr><tr><td>Mull</td><td></td><td>(7.0)</td></tr>
<tr><td>East</td><td></td><td></td></tr><tr><td rowspan="2">Leith</td><td>3<br>4</td><td>$x^2$</td></tr>
<tr><td>5</td><td>−4.8%</td></tr></table>"""
PAGES = (
    f"<h1>Tidal streams</h1><p>The stream at Corran runs at five knots, develop-\ners say.</p>{TABLE}",
    html_of_markdown("# Tides\n\n1. Slack\n2. nine minutes[^1]\n\n| a | b |\n|---|---|\n| 1,240 | -4.8% |"),
    "<ol start=3><li>three<li>four</ol><img alt='Figure words'> [x] done ☐ open <input type=radio checked>",
    "Costs $5.00 to $1,000, $\\alpha = 0.05$, $$\\frac{a}{b}$$, \\(x_{i}\\) and <math>T = 20</math> “d” …",
    "<table><tr><td>only</td></tr></table> Total ........ 12 · É é ﬁ ½ → ⇒ 10² H<sub>2</sub>O",
    "",
)
CELLS = (
    *("Oban", "West coast", "Depth (m)", "min", "max", "9.5", "Mull", "Leith", "1,240 1", "(7.0)", "3", "4"),
    *("5", "x2", "East", "Port", "-4.8%"),
)
WORDS = (
    *("Tidal streams", "five knots", "developers say", "nine minutes", "three", "four", "Figure words"),
    *("done", "α = 0.05", "Costs", "only", "Total 12", "fi", "10 2", "h2o", "nothing at all", *CELLS),
)
NUMBERS = ("1,240", "-4.8%", "4.8%", "5.00", "1,000", "9.5", "7.0", "12", "0.05", "20", "240", "1240")
FORMULAS = ("\\alpha = 0.05", "\\frac{a}{b}", "x_{i}", "x^2", "T = 20", "\\frac{b}{a}", "a")


def text_arg(rng: random.Random, word: str) -> dict[str, Any]:
    return {"text": word, "max_diffs": rng.choice([0, 0, 0, 1, 2]) if len(fold(word)) > 4 else 0}


def cell_test(rng: random.Random) -> dict[str, Any]:
    diffs = rng.choice([0, 0, 1])

    def arg() -> dict[str, Any]:
        return {"text": rng.choice([w for w in CELLS if len(fold(w)) > diffs]), "max_diffs": diffs}

    args: dict[str, Any] = {"cell": arg()}
    roles = (
        "up",
        "down",
        "left",
        "right",
        "top_heading",
        "left_heading",
        "section",
        "headings",
        "row_groups",
    )
    for role in rng.sample(roles, rng.choice([0, 1, 1, 2])):
        many = role in ("headings", "row_groups")
        args[role] = [arg() for _ in range(rng.choice([1, 1, 2]))] if many else arg()
    return {"test_type": "table_cell", "args": args, "settings": {}}


def made_test(rng: random.Random) -> dict[str, Any]:
    kind = rng.choice(["present", "present", "number", "latex", "order", "repeat", "cell", "cell", "cell"])
    if kind == "cell":
        return cell_test(rng)
    if kind == "order":
        before, after = rng.choice(WORDS), rng.choice(WORDS)
        args = {side: {"text": word, "max_diffs": 0} for side, word in (("before", before), ("after", after))}
        return {"test_type": "order", "args": args, "settings": {}}
    if kind == "repeat":
        content = {"text": rng.choice(WORDS), "max_diffs": 0}
        return {"test_type": "repeat", "args": {"content": content}, "settings": {"expected_count": 1}}
    content = {
        "present": lambda: text_arg(rng, rng.choice(WORDS)),
        "number": lambda: {"number": rng.choice(NUMBERS)},
        "latex": lambda: {"latex": rng.choice(FORMULAS)},
    }[kind]()
    return {"test_type": "present", "args": {"content": content}, "settings": {}}


def rendered_by_oracle(style: str, tex: str) -> Render:
    """KaTeX of the oracle's own package: that the browser's is the same is tested beside it."""
    from omni_parse_bench import equations

    return Render(equations._katex().mathml(tex, style == "block") or "")


def whole(test: dict[str, Any], number: int) -> dict[str, Any]:
    reads = "blocks" if test["test_type"] == "layout_kind" else "html"
    return {"id": f"t{number}", "output_type": reads, "derivation": "authored", "tags": [], **test}


def test_every_verdict_is_the_oracles() -> None:
    rng = random.Random(29)
    counts = {True: 0, False: 0}
    for number in range(2000):
        test = whole(made_test(rng), number)
        page = PAGES[0] if test["test_type"] == "table_cell" else rng.choice(PAGES)
        check_test(test["test_type"], test["args"], test["settings"])
        [parsed] = oracle.gold.parse("p", {"tests": [test]})
        [verdict] = oracle.score({"html": page}, [parsed])
        own = check(test["test_type"], test, page, None, rendered_by_oracle, by_slots=False)
        assert verdict.result == ("pass" if own.passed else "fail"), (test, page, verdict, own)
        counts[bool(own.passed)] += 1
        assert own == check(test["test_type"], test, page, None, rendered_by_oracle, by_slots=True)
    assert min(counts.values()) > 200, counts  # both are tried


def test_a_cell_whose_span_is_cut_short_has_the_neighbours_of_its_release() -> None:
    """1.0.0 passes it: a spans three rows, but c takes the second and third of its slots."""
    page = (
        "<table><tr><td>x</td><td rowspan=3>aa</td></tr><tr><td colspan=2>cc</td></tr>"
        "<tr><td>dd</td><td>ee</td></tr></table>"
    )
    args = {side: {"text": text, "max_diffs": 0} for side, text in (("cell", "aa"), ("down", "cc"))}
    test = whole({"test_type": "table_cell", "args": args, "settings": {}}, 1)
    [verdict] = oracle.score({"html": page}, oracle.gold.parse("p", {"tests": [test]}))
    assert verdict.result == "fail"
    assert not check("table_cell", test, page, None, rendered_by_oracle, by_slots=False).passed
    assert check("table_cell", test, page, None, rendered_by_oracle).passed


@pytest.mark.parametrize("spans", [(40, 1), (1, 40), (9, 9)])
def test_neighbours_of_slots_are_those_of_whole_spans(spans: tuple[int, int]) -> None:
    rng = random.Random(spans[0])
    rows = [[CellSpec(f"{r}.{c}") for c in range(rng.randint(1, 9))] for r in range(9)]
    rows[0][0] = CellSpec("long", *spans)
    grid = grid_of(rows)
    assert grid is not None
    for cell in grid.text:
        for direction in ("up", "down", "left", "right"):
            assert grid.neighbours(cell, direction) == replace(grid, by_slots=True).neighbours(
                cell, direction
            )


def test_layout_is_the_oracles() -> None:
    rng = random.Random(5)
    blocks = [
        {"label": label, "bbox": [0.1 * k, 0.1 * k, 0.1 * k + 0.3, 0.1 * k + 0.2], "text": label}
        for k, label in enumerate(("text", "heading", "table", "list", "figure"))
    ]
    placed = [PlacedBlock(b["label"], Box(*b["bbox"]), b["text"]) for b in blocks]
    for number in range(300):
        x, y = rng.uniform(0, 0.7), rng.uniform(0, 0.7)
        content = {"text": "a", "max_diffs": 0, "place": [[x, y, x + 0.1, y + 0.05]]}
        kind = rng.choice(["text", "heading", "table"])
        test = whole(
            {"test_type": "layout_kind", "args": {"content": content}, "settings": {"kind": kind}}, number
        )
        [parsed] = oracle.gold.parse("p", {"tests": [test]})
        [verdict] = oracle.score({"blocks": blocks}, [parsed])
        assert (verdict.result == "pass") == check("layout_kind", test, "", placed, rendered_by_oracle).passed


def test_texts_are_folded_and_converted_as_the_oracle_does() -> None:
    from omni_parse_bench import markdown, normalize, views

    pieces = [
        *PAGES,
        *WORDS,
        "- a\n- b\n\n```\ncode $x$\n```",
        "```markdown\n# h\n```",
        "a <b@c.de> $|x|$ | y",
    ]
    pieces += ["| $a|b$ | c |\n|---|---|\n| 1 | 2 |", "---\nk: v\n---\ntext", "12 ‘‘q’’ Cuo´ it´s ☑ ■ [ ]"]
    for piece in pieces:
        assert fold(piece) == normalize.fold(piece)
        assert squeeze(piece) == normalize.squeeze(piece)
        assert seen_text(piece) == views.text(piece) and seen_text(piece, alt=False) == views.text(
            piece, alt=False
        )
        assert html_of_markdown(piece) == markdown.to_html(piece)


@pytest.mark.parametrize(
    "wrong",
    [
        {"test_type": "present", "args": {}, "settings": {}},
        {"test_type": "present", "args": {"content": {"text": "ab", "max_diffs": 2}}, "settings": {}},
        {"test_type": "present", "args": {"content": {"number": "16,17"}}, "settings": {}},
        {"test_type": "order", "args": {"before": {"number": "1"}, "after": {"number": "2"}}, "settings": {}},
        {"test_type": "repeat", "args": {"content": {"text": "a", "max_diffs": 0}}, "settings": {}},
        {
            "test_type": "layout_kind",
            "args": {"content": {"text": "a", "max_diffs": 0}},
            "settings": {"kind": "text"},
        },
    ],
)
def test_what_the_oracle_refuses_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(oracle.gold.GoldError):
        oracle.gold.parse("p", {"tests": [whole(wrong, 1)]})
    with pytest.raises(CorpusError):
        check_test(wrong["test_type"], wrong["args"], wrong["settings"])


@pytest.mark.browser
def test_the_browser_renders_what_the_oracle_renders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if find_chromium() is None:
        pytest.skip("no Chromium here")
    monkeypatch.setenv("PARSEMARK_CACHE", str(tmp_path))
    formulas = [*FORMULAS, "\\nosuchmacro", "\\mathbb{R}^n \\not\\in"]
    formulas += ["\\begin{cases} a & b \\\\ c & d \\end{cases}"]
    for style in ("block", "inline"):
        found = render_all(style, formulas)
        assert {tex: (r.mathml if r else None) for tex, r in found.items()} == {
            tex: rendered_by_oracle(style, tex).mathml for tex in formulas
        }


@pytest.mark.parametrize("version", ["0.2.0", "1.0.0"])
def test_layout_without_places_counts_by_release(tmp_path: Path, version: str) -> None:
    """0.2.0 leaves it out, and has no headline; in 1.0.0 it fails. Each reads predictions in its own form."""
    content = {"text": "Slack", "max_diffs": 0}
    placed = {**content, "place": [[0.1, 0.1, 0.2, 0.2]]}
    tests = [
        whole({"test_type": "present", "args": {"content": content}, "settings": {}}, 1),
        whole({"test_type": "layout_kind", "args": {"content": placed}, "settings": {"kind": "text"}}, 2),
    ]
    for folder, name, text in (
        ("gold", "a.json", json.dumps({"tests": tests})),
        ("out", "a.html", "<p>Slack</p>"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(text)
    corpus = load_corpus(f"omni-parse-bench:{tmp_path}")
    protocol = f"omni-parse(version={version})"
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "out", protocols=(protocol,))
    score_run(run, n_workers=1)
    [protocol] = Run.open(run.path).protocols
    summary = Run.open(run.path).summary(protocol)
    assert summary.settings["rules"] == f"omni-parse-bench {version}"
    assert summary.parsers["out"]["headline"].value == (None if version == "0.2.0" else 0.5)
    export(run.path, format="benchmark", protocol=protocol, out=tmp_path / "files")
    [stored] = (tmp_path / "files").glob("**/predictions/*.json")
    outputs = json.loads(stored.read_text())
    if version == "1.0.0":
        [outputs] = outputs["pages"]
    assert outputs == {"html": "<p>Slack</p>"}


def test_a_folder_is_loaded_and_its_headline_is_the_oracles(tmp_path: Path) -> None:
    rng = random.Random(3)
    (tmp_path / "gold").mkdir()
    (tmp_path / "out").mkdir()
    verdicts, parsed = [], []
    for k, page in enumerate(PAGES[:5]):
        tests = [whole(made_test(rng), 100 * k + n) for n in range(40)]
        tests = [t for t in tests if "latex" not in t["args"].get("content", {})]
        stored = {"tests": [*tests, {"test_type": "mood"}]}
        (tmp_path / "gold" / f"page-{k}.json").write_text(json.dumps(stored))
        (tmp_path / "out" / f"page-{k}.html").write_text(page)
        own = oracle.gold.parse(f"page-{k}", {"tests": tests})
        parsed += own
        verdicts += oracle.score({"html": page}, own)
    theirs = oracle.summarize(verdicts, parsed)["headline"]
    corpus = load_corpus(f"omni-parse-bench:{tmp_path}")
    assert "unknown kind 'mood'" in str(corpus.remarks[0])
    old = "omni-parse(version=0.2.0)"
    run = import_predictions(tmp_path / "run", corpus, tmp_path / "out", protocols=(old,))
    score_run(run, n_workers=1)
    figures = Run.open(run.path).summary(old).parsers["out"]
    assert figures["headline"].value == pytest.approx(theirs["score"], abs=1e-12)
    for name, family in theirs["families"].items():
        assert figures[f"family.{name}"].value == pytest.approx(family["score"], abs=1e-12)
        assert figures[f"family.{name}"].n == family["tests"]
