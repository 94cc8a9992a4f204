"""Two servers on one folder: what either acknowledged is kept, and both show it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PIL import Image
from tests.web.serve import served, write_pairs
from tests.web.test_annotate import LINK, Annotator
from tests.web.test_rate import RATERS, Rater, exported

from parsemark.corpora import load_corpus

N_PAGES = 3
N_EDITS = 4
N_RATERS = 6


def test_two_annotation_servers_lose_nothing(tmp_path: Path) -> None:
    for number in range(N_PAGES):
        picture = Image.new("RGB", (300, 400), "white")
        picture.save(tmp_path / f"d{number}.pdf", producer=f"page {number}")
    samples = [sample.id for sample in load_corpus(f"folder:{tmp_path}").samples()]
    call = ("annotate", f"folder:{tmp_path}", "--port", "0")
    with served(*call) as (one, _), served(*call) as (other, _):

        def work(number: int) -> None:
            link, sample = (one, other)[number % 2][LINK], samples[number // 2]
            person = Annotator(link, f"person {number}", sample)
            for _ in range(N_EDITS):
                while (answer := person.edit(do="add", category="table")).status_code == 409:
                    pass  # the other one was faster: the browser shows that page and asks again
                answer.raise_for_status()

        with ThreadPoolExecutor(2 * N_PAGES) as pool:
            list(pool.map(work, range(2 * N_PAGES)))
        for sample in samples:
            visitors = [
                Annotator(links[LINK], f"visitor {k}", sample) for k, links in enumerate((one, other))
            ]
            states = [visitor.get(visitor.path) for visitor in visitors]
            assert [len(state["page"]["elements"]) for state in states] == [2 * N_EDITS] * 2
            assert states[0]["revision"] == states[1]["revision"]
        first, second = (
            Annotator(links[LINK], f"judge {k}", samples[0]) for k, links in enumerate((one, other))
        )
        first.accept().raise_for_status()
        second.edit(do="text", element="t1", row=0, col=0, text="by the second").raise_for_status()
        second.accept().raise_for_status()
        assert first.get(first.path)["accepted"] == ["judge 0", "judge 1"]
    truth = next(
        sample for sample in load_corpus(f"folder:{tmp_path}").samples() if sample.id == samples[0]
    ).truth
    assert truth is not None and truth.tables[0].table is not None
    assert truth.tables[0].table.text_rows()[0][0] == "by the second"


def test_two_rating_servers_lose_nothing(tmp_path: Path) -> None:
    file = write_pairs(tmp_path)
    call = ("study", "rate", str(file), "--port", "0")
    with served(*call) as (one, _), served(*call) as (other, _):

        def work(number: int) -> None:
            rater = Rater((one, other)[number % 2][RATERS], f"rater {number}")
            while rater.item() is not None:
                rater.rate(number % 11).raise_for_status()

        with ThreadPoolExecutor(N_RATERS) as pool:
            list(pool.map(work, range(N_RATERS)))
    ratings = [sorted(pair["ratings"]) for pair in exported(file)]
    assert ratings == [sorted(float(k % 11) for k in range(N_RATERS))] * 12
