"""The verdict in plain words, at the top of the terminal and of the report."""

import re
from pathlib import Path

from tests.report.test_words import summary_of

from parsemark.model import Status
from parsemark.protocols import Figure
from parsemark.report.source import RunSource
from parsemark.store import ParseRecord
from parsemark.store.summary import Slice
from parsemark.verdicts.run_verdict import Terms, best_on_kinds, run_verdict


def parsed(parser: str, *, n: int = 4, cpu_s: float = 3.6, failed: int = 0) -> list[ParseRecord]:
    return [
        ParseRecord(f"s{k}", parser, Status.PARSER_FAILED if k < failed else Status.OK, "k", cpu_s=cpu_s)
        for k in range(n)
    ]


def test_a_clear_winner_is_named_with_its_score_in_words_and_its_cost() -> None:
    said = run_verdict(summary_of({"x": "worse"}), parsed("best", failed=1), "demo")
    assert said == [
        "Best: best. Its score for table extraction (F) is 0.90.",
        "It failed on 1 page.",
        "With best, a million pages take 1,000.0 CPU hours on this machine.",
    ]


def test_licence_and_dollars_are_named() -> None:
    terms = Terms({"best": "AGPL-3.0", "x": "MIT"}, cpu_hour_usd=0.05)
    said = run_verdict(summary_of({"x": "worse"}), parsed("best"), "demo", terms)
    assert said[1:] == [
        "With best, a million pages take 1,000.0 CPU hours on this machine (50.00 USD at 0.05 USD an hour).",
        "The licence of best is AGPL-3.0.",
    ]


def test_a_kind_of_pages_with_nothing_to_find_has_no_best_parser() -> None:
    figures = {p: {"f": Figure(value=v, n=0)} for p, v in (("best", 0.2), ("x", 1.0))}
    drawings = Slice(scope="page", attribute="text layer", value="none (scan)", n=26, figures=figures)
    assert best_on_kinds(summary_of({"x": "worse"}).model_copy(update={"slices": [drawings]})) == []


def test_an_open_question_says_how_many_labels_would_settle_it() -> None:
    said = run_verdict(summary_of({"x": "not_significant", "y": "equivalent"}), [], "demo")
    assert said[0].startswith("Best so far: best, statistically indistinguishable from x.")
    assert "Equally good: y. Choose by time, cost or licence." in said
    few = summary_of({"x": "not_significant"})
    few = few.model_copy(update={"ranking": few.ranking.model_copy(update={"n_documents": 4})})
    assert run_verdict(few, [], "demo")[0].startswith(
        "Best so far: best. 4 documents are too few to test its lead over x. Its score"
    )
    # Half of an interval of .43 against a difference of .1, from 14 documents: 14 · (2.148² − 1).
    needed = "about 51 more labelled documents would give an even chance that it becomes significant."
    assert f"If the difference between best and x stays 0.10, {needed}" in said


def test_what_nobody_would_label_is_no_number_and_a_lone_parser_is_not_taken() -> None:
    summary = summary_of({"x": "not_significant"})
    verdict = summary.ranking.verdicts[0].model_copy(update={"difference": 0.001})
    ranking = summary.ranking.model_copy(update={"verdicts": [verdict]})
    said = " ".join(run_verdict(summary.model_copy(update={"ranking": ranking}), [], "demo"))
    gap = "If the difference between best and x stays 0.001"
    needed = "would give an even chance that it becomes significant."
    assert f"{gap}, more than 1,000 more labelled documents {needed}" in said
    unlabelled = summary.model_copy(update={"ranking": ranking, "protocol": "evidence"})
    said = " ".join(run_verdict(unlabelled, [], "demo"))
    assert f"{gap}, more than 1,000 more documents {needed}" in said
    alone = summary.model_copy(update={"parsers": {"best": summary.parsers["best"]}})
    assert run_verdict(alone, [], "demo")[0] == "best: its score for table extraction (F) is 0.90."


def test_where_nothing_is_right_it_says_so() -> None:
    summary = summary_of({"x": "worse"})
    ranking = summary.ranking.model_copy(update={"best": None, "verdicts": []})
    zero = {"best": {"f": Figure(value=0.0, n=9)}}
    said = run_verdict(summary.model_copy(update={"parsers": zero, "ranking": ranking}), [], "demo")
    assert said == ["No output of best is right: the score for table extraction is 0.00 (F)."]


def test_what_it_fails_on_is_named() -> None:
    figures = {"best": {"f": Figure(value=0.4, n=9)}}
    slices = [
        Slice(scope="page", attribute="scan", value="yes", n=9, figures=figures),
        Slice(scope="page", attribute="rare", value="yes", n=2, figures=figures),
    ]
    summary = summary_of({"x": "worse"}).model_copy(update={"slices": slices})
    assert "It scores lowest on pages with scan “yes” (0.40)." in run_verdict(summary, [], "demo")


def test_without_truth_the_next_step_is_said() -> None:
    summary = summary_of({"x": "worse"})
    ranking = summary.ranking.model_copy(update={"best": None})
    summary = summary.model_copy(update={"ranking": ranking, "counts": {"pages with truth": 0}})
    said = run_verdict(summary, parsed("a", failed=2) + parsed("b"), "folder:my docs")
    assert (
        said[0] == "No page has truth, so there is no score for table extraction. "
        "2 parsers read 4 pages; failed: a on 2."
    )
    assert said[1].startswith("Next: parsemark choose 'folder:my docs' --labels 10")
    said = run_verdict(summary.model_copy(update={"counts": {}}), parsed("a"), "demo")
    assert said == [f"Nothing to compare: none of these 4 pages has what {summary.protocol} requires."]


def test_the_report_begins_with_it_and_compare_opens_on_the_two_best(site: Path, source: RunSource) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    best, second = source.summary.ordered()[:2]
    box = page[page.index('id="verdict"') : page.index('id="headline"')]
    assert f"{best}" in box and "Best" in box and "score for table extraction" in box
    assert page.index('id="verdict"') < page.index('id="leaderboard"')
    compare = (site / "compare.html").read_text(encoding="utf-8")
    assert re.findall(r" selected>(.*?)</option>", compare) == [best, second]


def test_kinds_of_pages_on_which_another_parser_is_better_are_named() -> None:
    def part(value: str, n: int, best: float, x: float) -> Slice:
        figures = {p: {"f": Figure(value=v, n=n)} for p, v in (("best", best), ("x", x))}
        return Slice(scope="page", attribute="text layer", value=value, n=n, figures=figures)

    slices = [part("none (scan)", 6, 0.2, 0.7), part("text", 20, 0.95, 0.8), part("doubtful", 4, 0.1, 0.9)]
    summary = summary_of({"x": "worse"}).model_copy(update={"slices": slices})
    said = [s for s in run_verdict(summary, [], "demo") if s.startswith("On pages")]
    assert said == [
        "On pages with text layer “none (scan)” (6 pages), x scores higher than best: 0.70 vs 0.20."
    ]
    assert [(k.value, k.parser) for k in best_on_kinds(summary)] == [("none (scan)", "x"), ("text", "best")]
