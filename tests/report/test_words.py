"""The answer in words: what the first line of a report says of equal, equivalent and undecided parsers."""

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path

import pytest
from tests.report.test_undefined import fails, make_run, with_tables
from tests.store.fabricate import fabricate_run

from parsemark.protocols import Figure, FigureInfo, Ranking, Summary, Verdict
from parsemark.protocols.run_scores.sums import read_figures
from parsemark.protocols.tables.figure_definitions import figure_definitions
from parsemark.report import build_report
from parsemark.report.chunks import decode
from parsemark.report.comparison_text import comparison_markdown, in_words, side_by_side
from parsemark.report.drawing import RunParser
from parsemark.report.leaderboard_table import leaderboard_table
from parsemark.report.names import safe_name
from parsemark.report.terminal_leaderboard import leaderboard
from parsemark.store import RunFolder
from parsemark.store.summary import State
from parsemark.verdicts.comparison import compare_parsers


def summary_of(states: Mapping[str, State], value: float = 0.9, **info: object) -> Summary:
    """A best parser, and others that are so to it."""
    verdicts = [
        Verdict(
            a=name, b="best", figure="f", value_a=value - 0.1, value_b=value, difference=-0.1,
            low=-0.43, high=-0.0004, p=0.0499, state=state, n_documents=14,
        )
        for name, state in states.items()
    ]  # fmt: skip
    figures = {name: {"f": Figure(value=value - 0.1, n=14)} for name in states}
    about = FigureInfo(name="f", label="F", definition="It.", denominator="pages", main=True, **info)
    ranks = {name: (k, k) for k, name in enumerate(("best", *states), start=1)}
    ranking = Ranking(figure="f", best="best", ranks=ranks, verdicts=verdicts, n_documents=14)
    return Summary(
        protocol="tables", comparability=1, primary="f", figures=[about],
        parsers={"best": {"f": Figure(value=value, n=14)}, **figures}, ranking=ranking,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("states", "info", "said"),
    [
        ({"x": "worse"}, {}, "best leads with F 0.900, ahead of every other parser."),
        ({"x": "equal"}, {}, "best and x lead with F 0.900, equal on every document."),
        (
            {"x": "equal", "y": "worse"},
            {},
            "best and x lead with F 0.900, equal on every document, ahead of every other parser.",
        ),
        (
            {"x": "equal", "y": "equivalent", "z": "not_significant"},
            {},
            "best and x lead with F 0.900, equal on every document; y is equivalent within ±0.05; "
            "z is statistically indistinguishable from them.",
        ),
        ({"x": "equivalent"}, {"largest": 10.0}, "best leads with F 0.900; x is equivalent within ±0.5."),
        (
            dict.fromkeys("vwxyz", "not_significant"),
            {},
            "best leads with F 0.900; v, w, x and 2 more are statistically indistinguishable from it.",
        ),
    ],
)
def test_the_first_line_says_what_the_rows_say(
    states: Mapping[str, State], info: Mapping[str, object], said: str
) -> None:
    summary = summary_of(states, **info)
    parsers = [RunParser(name, 0, name) for name in summary.parsers]
    assert leaderboard_table(parsers, summary, summary.parsers, summary.ranking).sentence == said


def test_the_first_line_has_the_interval_of_the_leader() -> None:
    summary = summary_of({"x": "worse"})
    summary.parsers["best"]["f"] = Figure(value=0.9, low=0.8, high=0.95, n=14)
    parsers = [RunParser(name, 0, name) for name in summary.parsers]
    said = leaderboard_table(parsers, summary, summary.parsers, summary.ranking).sentence
    assert said.startswith(
        "best leads with F 0.900 (95 % CI for documents like these: 0.800 to 0.950), ahead"
    )


def test_an_end_beside_0_keeps_its_side() -> None:
    """−.43 to .00 would be the same picture for a parser that is worse and for one that is not resolved."""
    summary = summary_of({"x": "worse"})
    parsers = [RunParser(name, 0, name) for name in summary.parsers]
    (row,) = (
        r
        for r in leaderboard_table(parsers, summary, summary.parsers, summary.ranking).rows
        if r.rank.to_best
    )
    assert row.rank.to_best == "−0.100 (−0.43 to −0.0004)"
    from rich.console import Console

    console = Console(width=100)
    with console.capture() as shown:
        console.print(leaderboard(summary, 100))
    assert "−.43 −.0004" in shown.get()


def test_nobody_leads_who_earned_nothing(tmp_path: Path) -> None:
    run = make_run(tmp_path, "run", with_tables, {"fails": fails})
    site = build_report(run.path, tmp_path / "site").parent
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "All parsers have the worst score: TE F1 Con 0.000." in page and " leads with " not in page


def test_documents_are_those_of_the_pages(tmp_path: Path) -> None:
    """Also where some of them have nothing to count."""
    run = fabricate_run(tmp_path / "run", 12, ("good", "poor"))
    samples = run.table("samples")
    comparison = compare_parsers(run, "good", "poor")
    words = comparison_markdown(comparison)
    assert f"on 12 pages of {samples['document'].n_unique()} documents" in words
    n = comparison.buckets
    assert f"Pages: good better {n['fixed']}, poor better {n['regressed']}, equal but imperfect" in words


def test_no_link_leads_into_a_report_without_the_parser(tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run", 8, ("good", "poor"))
    build_report(run.path, run.path / "report")
    comparison = compare_parsers(run, "good", "poor")
    assert "viewer.html" in side_by_side(run, comparison)
    (run.path / "report" / f"parser-{safe_name('poor')}.html").unlink()
    assert side_by_side(run, comparison) == f"Side by side: parsemark report {run.path}, then Compare.\n"


@pytest.mark.parametrize(
    ("new_types", "sentence"),
    [
        ("better", " This also holds for new document types."),
        ("not_significant", " Whether this holds for new document types is open."),
        (None, ""),
    ],
)
def test_a_comparison_ends_with_what_holds_for_new_document_types(
    new_types: State | None, sentence: str
) -> None:
    summary = summary_of({"x": "worse"})
    verdict = summary.ranking.verdict("best", "x")
    assert verdict is not None
    words = in_words(verdict.model_copy(update={"new_types": new_types}), summary.info("f"), "24 pages")
    assert words.startswith("best is better than x") and words.endswith(f"on 24 pages.{sentence}")


def test_the_page_says_first_why_the_leader_leads(site: Path) -> None:
    page = (site / "index.html").read_text()
    why = page.partition("<dt>Why?</dt>")[2].partition("</dd>")[0]
    first, _, rest = why.partition("</p>")
    assert re.search(r"over fair: \w+ has the error “.+” in \d+ elements?, fair in \d+\.", first), first
    assert "lowest" not in first and ("lowest" in rest or not rest.strip())
    assert "Tables are matched by " in page
    assert "counts as found if it overlaps its match by more than <code>0.5</code>." in page


def test_a_parser_without_a_score_is_not_in_the_table_of_errors(tmp_path: Path) -> None:
    run = fabricate_run(tmp_path / "run", 8, ("good", "fair", "poor"))
    summary = run.summary("tables")
    own = {**summary.parsers["poor"], summary.primary: Figure(value=None, n=0)}
    changed = summary.model_copy(update={"parsers": {**summary.parsers, "poor": own}})
    RunFolder.of(run).write_summary(changed)
    page = build_report(run.path, tmp_path / "site").read_text()
    table = page.partition('aria-label="Errors by type"')[2].partition("</table>")[0]
    assert ">fair<" in table and ">poor<" not in table


def test_means_of_scores_are_over_pages() -> None:
    """Their unit stands in sentences and in the head of a column: "scored pages"."""
    overall = read_figures("parsemark.protocols.document", "overall", {"parts": "Text edit"})
    assert {info.denominator.partition(" (")[0] for info in overall.values()} == {"pages"}


def test_more_tables_on_a_page_are_not_called_better() -> None:
    directions = {info.name: info.direction for info in figure_definitions(["teds"])}
    assert [name for name, direction in directions.items() if not direction] == ["tables_per_page"]


def test_credit_is_defined_for_precision_and_recall_separately() -> None:
    definitions = {info.name: info.definition for info in figure_definitions(["teds"])}
    precision, recall = definitions["te_precision_teds"], definitions["te_recall_teds"]
    assert "matches no true table" in precision and "Missed" not in precision and "failed" not in precision
    assert (
        "A missed table counts 0, also on pages where the parser failed." in recall
        and "nvented" not in recall
    )
    assert "invented" in definitions["te_f1_teds"] and "invented" in definitions["ap_teds"]


def test_captions_are_short(site: Path) -> None:
    """At most twelve words each; what they have no room for is behind a question mark."""
    charts = decode((site / "data" / "charts.js").read_text())["charts"].values()
    tables = re.findall(
        r'<p class="muted small"><code>[^<]+</code> · (.*?)(?: <button| · )',
        (site / "tables.html").read_text(),
    )
    leads = [
        re.sub(r"<button.*?</button>|<[^>]+>", "", lead)
        for page in site.glob("*.html")
        for lead in re.findall(r'<p class="lead">(.*?)</p>', page.read_text(encoding="utf-8"), re.S)
        if not page.name.startswith(("index", "parser-", "document-"))
    ]
    captions = [*(chart["caption"] for chart in charts), *map(unescape, [*tables, *leads])]
    assert len(captions) > 30
    assert [caption for caption in captions if len(caption.split()) > 12] == []
    explained = [chart["about"] for chart in charts if chart.get("about")]
    assert explained and all(text.endswith(".") for text in explained)
