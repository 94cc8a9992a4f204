"""Parsers that are paid by the page: what is recorded, and where `--max-cost` stops them."""

import threading
from pathlib import Path

import pytest
from tests.engine.fakes import FakeParser, make_corpus, times_asked

from parsemark.budget import PageBudget, SpentError
from parsemark.engine.parsing.page_worker import PageLimits
from parsemark.engine.parsing.parse import ParseOptions, parse_corpus
from parsemark.parsers import Info
from parsemark.store import Run

PAID = FakeParser("paid", info=Info(licence="x", gives=("markdown",), paid=True))
FREE = FakeParser("free", fingerprint="f2")


def parse(folder: Path, corpus: object, limit: float | None) -> Run:
    options = ParseOptions(n_workers=1, limits=PageLimits(timeout_s=60, memory_mb=2000), max_cost_usd=limit)
    return parse_corpus(folder, corpus, [PAID, FREE], options)  # type: ignore[arg-type]


def test_the_limit_stops_paid_parsers_and_a_rerun_goes_on(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["pay"] * 10)
    run = parse(tmp_path / "run", corpus, 1.0)
    paid = [r for r in run.records() if r.parser == "paid"]
    done = [r for r in paid if r.status == "ok"]
    assert len(paid) == 10, "pages that were not paid for are in the data too"
    assert len(done) == 3, "a fourth page at .30 would pass the limit"
    assert all("--max-cost 1" in (r.error or "") for r in paid if r.status != "ok")
    assert sum(r.status == "ok" for r in run.records() if r.parser == "free") == 10
    more = parse(tmp_path / "run", corpus, 1.6)
    assert sum(r.status == "ok" for r in more.records() if r.parser == "paid") == 5, "what was spent counts"
    again = parse(tmp_path / "run", corpus, 100.0)
    assert sum(r.status == "ok" for r in again.records() if r.parser == "paid") == 10
    assert set(times_asked(corpus).values()) == {2}, "once by each parser: what is paid is not paid again"


def test_without_a_limit_all_is_done(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "corpus", ["pay"] * 3)
    run = parse(tmp_path / "run", corpus, None)
    assert sum(r.cost_usd or 0 for r in run.records() if r.parser == "paid") == 3 * 0.3


def test_pages_asked_for_at_the_same_time_do_not_pass_the_limit_together() -> None:
    budget, spent, refused = PageBudget(1.0), [], []

    def work() -> None:
        for _ in range(5):
            try:
                price = budget.reserve("p")
            except SpentError as error:
                refused.append(str(error))
                return
            spent.append(0.3)
            budget.settle("p", price, 0.3)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(spent) == 3 and len(refused) == 8
    with pytest.raises(SpentError, match=r"0\.9000 USD spent"):
        budget.reserve("p")


def test_a_page_that_failed_gives_its_money_back() -> None:
    budget = PageBudget(1.0)
    budget.settle("p", budget.reserve("p"), 0.6)
    with pytest.raises(SpentError):
        budget.reserve("p")
    other = budget.reserve("q")
    budget.settle("q", other, None)
    budget.settle("q", budget.reserve("q"), 0.2)
    assert budget.reserve("q") == 0.2
