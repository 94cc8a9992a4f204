"""The verdict in plain words, at the top of the terminal and of the report."""

import re
from pathlib import Path

from tests.report.test_words import summary_of

from parsemark.model import Status
from parsemark.protocols import Figure
from parsemark.protocols.figures.summary import Slice
from parsemark.report.source import RunSource
from parsemark.store import ParseRecord
from parsemark.verdicts.plain_verdict import best_on_kinds, plain_verdict


def parsed(parser: str, *, n: int = 4, cpu_s: float = 3.6, failed: int = 0) -> list[ParseRecord]:
    return [
        ParseRecord(f"s{k}", parser, Status.PARSER_FAILED if k < failed else Status.OK, "k", cpu_s=cpu_s)
        for k in range(n)
    ]


def test_a_clear_winner_is_named_with_its_score_in_words_and_its_cost() -> None:
    said = plain_verdict(summary_of({"x": "worse"}), parsed("best", failed=1), "demo")
    assert said == [
        "Take best. Its table extraction score is 0.90 (F).",
        "It gave no answer on 1 page.",
        "A million pages take 1,000.0 CPU hours on this machine.",
    ]


def test_an_open_question_says_how_many_labels_would_settle_it() -> None:
    said = plain_verdict(summary_of({"x": "not_resolved", "y": "equivalent"}), [], "demo")
    assert said[0].startswith("Take best for now: it is not told apart from x.")
    assert "As good: y; choose between them by time, cost or licence." in said
    # Half of an interval of .43 against a difference of .1, from 14 documents: 14 · (2.148² − 1).
    settled = "would tell x from best with 95 % certainty, if they stay 0.10 apart."
    assert f"About 51 more labelled documents {settled}" in said


def test_what_nobody_would_label_is_no_number_and_a_lone_parser_is_not_taken() -> None:
    summary = summary_of({"x": "not_resolved"})
    verdict = summary.ranking.verdicts[0].model_copy(update={"difference": 0.001})
    ranking = summary.ranking.model_copy(update={"verdicts": [verdict]})
    said = " ".join(plain_verdict(summary.model_copy(update={"ranking": ranking}), [], "demo"))
    assert "Only more than a thousand more labelled documents would tell x from best with" in said
    assert "if they stay 0.001 apart." in said
    unlabelled = summary.model_copy(update={"ranking": ranking, "protocol": "evidence"})
    said = " ".join(plain_verdict(unlabelled, [], "demo"))
    assert "Only more than a thousand more documents would tell x from best with" in said
    alone = summary.model_copy(update={"parsers": {"best": summary.parsers["best"]}})
    assert plain_verdict(alone, [], "demo")[0] == "best: its table extraction score is 0.90 (F)."


def test_where_nothing_is_right_it_says_so() -> None:
    summary = summary_of({"x": "worse"})
    ranking = summary.ranking.model_copy(update={"best": None, "verdicts": []})
    zero = {"best": {"f": Figure(value=0.0, n=9)}}
    said = plain_verdict(summary.model_copy(update={"parsers": zero, "ranking": ranking}), [], "demo")
    assert said == ["Nothing that best gave is right: the table extraction score is 0.00 (F)."]


def test_what_it_fails_on_is_named() -> None:
    figures = {"best": {"f": Figure(value=0.4, n=9)}}
    slices = [
        Slice(scope="page", attribute="scan", value="yes", n=9, figures=figures),
        Slice(scope="page", attribute="rare", value="yes", n=2, figures=figures),
    ]
    summary = summary_of({"x": "worse"}).model_copy(update={"slices": slices})
    assert "It is weakest on scan yes (0.40)." in plain_verdict(summary, [], "demo")


def test_without_truth_the_next_step_is_said() -> None:
    summary = summary_of({"x": "worse"})
    ranking = summary.ranking.model_copy(update={"best": None})
    summary = summary.model_copy(update={"ranking": ranking, "counts": {"pages with truth": 0}})
    said = plain_verdict(summary, parsed("a", failed=2) + parsed("b"), "folder:my docs")
    assert (
        said[0]
        == "Nobody knows yet who is right: no page has truth. 2 parsers read 4 pages; no answer from a on 2."
    )
    assert said[1].startswith("Next: parsemark choose 'folder:my docs' --labels 10")
    said = plain_verdict(summary.model_copy(update={"counts": {}}), parsed("a"), "demo")
    assert said == [f"Nothing to compare: of these 4 pages none has what {summary.protocol} asks for."]


def test_the_report_begins_with_it_and_compare_opens_on_the_two_best(site: Path, source: RunSource) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    best, second = source.summary.ordered()[:2]
    box = page[page.index('id="verdict"') : page.index('id="headline"')]
    assert f"Take {best}" in box and "table extraction score" in box
    assert page.index('id="verdict"') < page.index('id="leaderboard"')
    compare = (site / "compare.html").read_text(encoding="utf-8")
    assert re.findall(r" selected>(.*?)</option>", compare) == [best, second]


def test_kinds_of_pages_on_which_another_parser_is_better_are_named() -> None:
    def part(value: str, n: int, best: float, x: float) -> Slice:
        figures = {p: {"f": Figure(value=v, n=n)} for p, v in (("best", best), ("x", x))}
        return Slice(scope="page", attribute="text layer", value=value, n=n, figures=figures)

    slices = [part("none (scan)", 6, 0.2, 0.7), part("text", 20, 0.95, 0.8), part("doubtful", 4, 0.1, 0.9)]
    summary = summary_of({"x": "worse"}).model_copy(update={"slices": slices})
    said = [s for s in plain_verdict(summary, [], "demo") if s.startswith("On pages")]
    assert said == ["On pages with text layer none (scan) (6) x is better: 0.70 against 0.20."]
    assert [(k.value, k.parser) for k in best_on_kinds(summary)] == [("none (scan)", "x"), ("text", "best")]
