"""Pages that a protocol did not score, because it broke or because the parser failed, stay in its figures."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.fakes import FakeParser, make_corpus, truth
from tests.packages import installed_protocol
from tests.protocols.share_protocol import ShareProtocol

from parsemark.corpora import Corpus
from parsemark.engine.import_outputs import import_predictions
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.engine.scoring.chunk import _score
from parsemark.engine.scoring.score import score_run
from parsemark.model import Box, Element, Page, Prediction, Sample, Status
from parsemark.protocols import PageScores, Summary, get_protocol
from parsemark.protocols.run_data.broken_pages import complete_sums
from parsemark.protocols.run_data.rows import BROKEN
from parsemark.store import Run
from parsemark.verdicts.comparison import compare_sides

PAGES = ["fine", "fine", "error", "crash", "fine", "fine"]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    module, folder = Path(__file__).with_name("share_protocol.py"), tmp_path_factory.mktemp("plugin")
    yield from installed_protocol(module, "share", "ShareProtocol", monkeypatch, folder)


def scored(folder: Path, behaviours: list[str], protocol: str) -> tuple[Run, Summary]:
    corpus = make_corpus(folder / "corpus", behaviours)
    run = parse_corpus(folder / "run", corpus, [FakeParser("one")], ParseOptions(protocols=(protocol,)))
    (summary,) = score_run(run, n_workers=1)
    return Run.open(run.path), summary


def value(summary: Summary, figure: str) -> tuple[float | None, float]:
    found = summary.parsers["one"][figure]
    return found.value, found.n


def test_a_statistic_of_its_own_counts_pages_on_which_the_parser_failed(tmp_path: Path) -> None:
    run, summary = scored(tmp_path, PAGES, "share")
    whole = scored(tmp_path / "whole", ["fine"] * 4, "share")[1]
    alone, n_cells = value(whole, "share")
    assert alone is not None and alone > 0
    # Two of six pages failed and are left out by the protocol: each counts as an average page worth nothing.
    found, n = value(summary, "share")
    assert found == pytest.approx(alone * 4 / 6) and n == n_cells + 2
    assert value(summary, "mean")[1] == 6
    assert value(summary, "broken_pages")[0] == 2
    (note,) = [note for note in summary.notes if "did not score" in note]
    assert note.startswith("share did not score 2 outputs: they count as 0. The first is s002 of one:")
    sums = complete_sums(get_protocol("share"), run.run_tables("share"))[0]
    assert sums.page_values("one").tolist() == pytest.approx([alone, alone, 0, 0, alone, alone])


def test_a_statistic_of_its_own_counts_pages_on_which_the_protocol_broke(tmp_path: Path) -> None:
    spec = "share(breaks=s001)"
    run, summary = scored(tmp_path, ["fine"] * 4, spec)
    old, before = scored(tmp_path / "old", ["fine"] * 4, "share")
    alone = value(before, "share")[0]
    assert alone is not None and value(summary, "share")[0] == pytest.approx(alone * 3 / 4)
    assert value(summary, "mean")[1] == 4
    # A run without such pages is compared with one that has some.
    protocol, same = get_protocol(spec), before.model_copy(update={"protocol": spec})
    (compared,) = compare_sides(
        protocol, (same, old.run_tables("share")), (summary, run.run_tables(spec)), ["one"]
    )
    assert compared.primary.value_b == pytest.approx(alone)
    assert compared.primary.value_a == pytest.approx(alone * 3 / 4)
    assert [(page.sample, page.a) for page in compared.pages] == [("s001", 0.0)]


def test_a_page_without_a_value_because_it_failed_is_worth_nothing_in_a_mean(tmp_path: Path) -> None:
    _, summary = scored(tmp_path, PAGES, "share(failed=null)")
    _, whole = scored(tmp_path / "whole", ["fine"] * 4, "share(failed=null)")
    right, n = value(whole, "mean")
    assert right is not None and n == 4
    assert value(summary, "mean") == (pytest.approx(right * 4 / 6), 6)


def test_failed_pages_with_nothing_to_score_are_not_counted() -> None:
    failed = Prediction("s1", "one", Status.PARSER_FAILED, message="gone")
    empty, full = Page("s1", 600, 800, ()), truth("s1")
    assert _score(ShareProtocol(), empty, failed, None) == PageScores()
    assert _score(ShareProtocol(), None, failed, None) == PageScores()
    (row,) = _score(ShareProtocol(), full, failed, None).scores
    assert (row.metric, row.status, row.value) == (BROKEN, Status.PARSER_FAILED, None)
    # The protocol breaks on an answer, and has no row for it when it is told of that.
    answer = Prediction("s1", "one", Status.OK, full.elements)
    (row,) = _score(BreaksOnAnswers(), full, answer, None).scores
    assert (row.metric, row.status) == (BROKEN, Status.METRIC_FAILED) and "no answer" in (row.message or "")


class BreaksOnAnswers(ShareProtocol):
    """Has nothing to say about failures."""

    def score_page(self, truth: Page | None, prediction: Prediction, page_text: str | None) -> PageScores:
        if prediction.status is Status.OK:
            raise RuntimeError("no answer")
        return PageScores()


BREAKS = "<table><tr><td><![<</td></tr></table>"


@pytest.mark.parametrize("profile", ["strict", "v1.0", "v1.5", "v1.6"])
def test_a_page_that_breaks_the_protocol_is_worth_no_more_than_a_bad_one(
    profile: str, tmp_path: Path
) -> None:
    texts = {"p1": "words of page 1", "p2": "words of page 2"}
    place = Box(1, 1, 9, 9)
    pages = [Page(k, 600, 800, (Element("e", "text_block", place, text=t),)) for k, t in texts.items()]
    samples = [Sample(p.id, p.id, 1, p, None) for p in pages]
    corpus = Corpus.of("c", samples, root=tmp_path, version="1", licence="x")
    spec = f"document(profile={profile})"
    answers = {"bad": "all wrong", "broken": f"all wrong\n\n{BREAKS}", "right": texts["p2"]}
    for name, second in answers.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "p1.md").write_text(texts["p1"])
        (tmp_path / name / "p2.md").write_text(second)
        run = import_predictions(tmp_path / "run", corpus, tmp_path / name, protocols=(spec,))
    (summary,) = score_run(run, protocols=[spec], n_workers=1)
    info = next(f for f in summary.figures if f.name == "text_edit")
    sign = 1 if info.higher_is_better else -1
    found = {parser: own[info.name] for parser, own in summary.parsers.items()}
    worth = {parser: sign * (figure.value or 0.0) for parser, figure in found.items()}
    assert worth["right"] > worth["bad"] >= worth["broken"] - 1e-9
    assert found["broken"].n >= found["bad"].n > 0
