"""The examples in the benchmarks' pages, computed by the product: what a page prints is what comes out."""

import json
from pathlib import Path

import pytest
from rapidfuzz.fuzz import partial_ratio

import parsemark
from parsemark_boards.docling_eval.measures import table_teds, text_scores
from parsemark_boards.dp_bench.protocol import both_teds, raw_nid
from parsemark_boards.dp_bench.truth import first_tree
from parsemark_boards.marker.protocol import page_score
from parsemark_boards.ohr_bench.protocol import answer_scores, evidence_share
from parsemark_boards.olmocr.text import is_like, limit
from parsemark_boards.opendataloader.protocol import page_scores
from parsemark_boards.parsebench.protocol import group_scores
from parsemark_boards.parsebench.tables import table_metrics
from parsemark_boards.pulsebench.tlag import text_likeness, tlag
from parsemark_boards.rd_tablebench.protocol import read_grid, similarity
from parsemark_boards.score_bench.protocol import cct, table_scores, token_shares

DOCS = Path(__file__).parents[1] / "docs"
TABLE = "<table><tr><td>a</td><td>bcd</td></tr><tr><td>1</td><td>2</td></tr></table>"
ALTERED = TABLE.replace("bcd", "bcx").replace("2", "3")


def printed(page: str, *values: float | None, digits: int = 4, head: str = "**Formula.**") -> None:
    """Hold that the formula of a page, up to the next bold heading, prints each of these values."""
    _, formula = (DOCS / f"{page}.md").read_text().split(f"\n\n{head}")
    formula = formula.split("\n\n**", 1)[0]
    for value in values:
        assert value is not None and f"{value:.{digits}f}".rstrip("0").rstrip(".") in formula, (page, value)


def test_dp_bench() -> None:
    def page(text: str, table: str, *more: str) -> dict[str, object]:
        texts = [{"category": "Paragraph", "content": {"text": t, "html": ""}} for t in (text, *more)]
        return {"elements": [*texts, {"category": "Table", "content": {"text": "", "html": table}}]}

    one_row = "<table><tr><td>a</td><td>{}</td></tr></table>"
    truth, pred = page("Net income", one_row.format("bcd"), "9"), page("Net income 8", one_row.format("bcx"))
    teds, teds_s = both_teds(first_tree(truth), first_tree(pred))
    printed("dp-bench", raw_nid(truth, pred) / 100, teds, teds_s)


def test_opendataloader() -> None:
    truth = "# A\n\none two\n\n|x|y|\n|-|-|\n|1|2|\n"
    found = page_scores(truth, truth.replace("two", "too").replace("|2|", "|3|"))
    printed("opendataloader", *(found[name] for name in ("nid", "nid_s", "teds", "mhs", "overall")))


def test_rd_tablebench() -> None:
    rows = "<table><tr><td>a</td><td>{}</td></tr><tr><td>1</td><td>{}</td></tr></table>"
    truth, pred = (read_grid(rows.format(*cells)) for cells in (("bcde", "2"), ("bcdx", "3")))
    printed("rd-tablebench", similarity(truth, pred))


def test_marker() -> None:
    found = page_score(["alpha beta", "gamma delta"], "gamma delta then alpha beto", str)
    printed("marker", found.score, (found.score - 0.2 * found.order) / 0.8, digits=2)
    assert found.order == 0


def test_score_bench() -> None:
    def element(html: str) -> dict[str, object]:
        return {"type": "Table", "text": "", "metadata": {"text_as_html": html}}

    pytest.importorskip("tiktoken")
    printed("score-bench", cct("net income 9", "net income 8"), digits=2)
    printed("score-bench", *token_shares("net income 9", "net income 8 8"), digits=2)
    found = table_scores([element(ALTERED)], [element(TABLE)])
    names = ("overall", "cell_level_content_acc", "table_teds", "table_teds_corrected")
    printed("score-bench", *(found[name] for name in names), digits=2)
    assert found["detection_f"] == found["cell_level_index_acc"] == 1


def test_docling_eval() -> None:
    found = text_scores("The net income is 9 today.", "The net income was 9 today.")
    printed("docling-eval", found["f1_score"], found["edit_distance"], found["meteor"])
    assert found["precision"] == found["recall"] == found["f1_score"] and found["bleu"] == 0
    printed("docling-eval", table_teds(TABLE, ALTERED), digits=3)


def test_ohr_bench() -> None:
    lcs = evidence_share(["Net income, 842 of million"], "The net income was 842 million.")
    found = answer_scores("842 million dollars", "842 million")
    printed("ohr-bench", lcs, found["F1"], found["rouge-L"])
    assert found["EM"] == found["bleu-avg"] == 0


def test_olmocr() -> None:
    text, page = "Net income was 842", "the Net income was 843 million"
    assert is_like(text, page, limit(text, 1)) and not is_like(text, page, limit(text, 0))
    printed("olmocr", limit(text, 1), partial_ratio(text, page) / 100, 9 / 11)


def test_parsebench() -> None:
    headed = "<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>{}</td></tr></table>"
    tables = table_metrics(headed.format(2), headed.format(3))
    assert (tables["grits_con"], tables["table_record_match"]) == (0.75, 0.5)
    printed("parsebench", tables["grits_trm_composite"], digits=3)
    printed("parsebench", group_scores([("is_bold", 1.0), ("is_bold", 0.0)])["text_styling"])


def test_pulsebench() -> None:
    altered = TABLE.replace("bcd", "bcx")
    printed("pulsebench-tab", text_likeness("bcd", "bcx"), tlag(TABLE, altered).score)
    assert tlag(TABLE, altered).true_edges == 4


def test_omnidocbench(tmp_path: Path) -> None:
    text, outputs = "The net income is 9 today.", tmp_path / "outputs"
    outputs.mkdir()
    blocks = [
        {"category_type": "text_block", "text": text, "order": 1},
        {"category_type": "table", "html": TABLE, "order": 2},
    ]
    polys = ([0, y, 9, y, 9, y + 8, 0, y + 8] for y in (0, 9))
    dets = [
        {"anno_id": k, "ignore": False, "poly": poly, **of}
        for k, (poly, of) in enumerate(zip(polys, blocks, strict=True))
    ]
    info = {"image_path": "p.jpg", "width": 600, "height": 800, "page_no": 0, "page_attribute": {}}
    page = {"layout_dets": dets, "page_info": info, "extra": {"relation": []}}
    (tmp_path / "o.json").write_text(json.dumps([page]))
    (outputs / "p.md").write_text(f"{text.replace('is', 'was')}\n\n{TABLE.replace('bcd', 'bcx')}\n")
    profiles = [f"document(profile={name})" for name in ("v1.6", "v1.7")]
    corpus, out = f"omnidocbench:{tmp_path / 'o.json'}", tmp_path / "run"
    run = parsemark.score(outputs, corpus, name="p", out=out, protocols=profiles)
    found, later = (run.summary(spec).parsers["p"] for spec in run.protocols)
    names = ("text_edit", "teds", "overall_without_cdm")
    printed("omnidocbench", *(found[name].value for name in names), head="**Example**")
    printed("omnidocbench", found["order_edit"].value, later["order_edit"].value, head="**Example**")
    assert (found["order_edit"].value, later["order_edit"].value) == (0.5, 0)
