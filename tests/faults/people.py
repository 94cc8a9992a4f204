"""Fifty people who annotate the pages of one server at once, and a kill while they write: all that was
acknowledged is there afterwards, of everybody, and what was accepted is truth."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
from PIL import Image
from tests.faults.common import Case
from tests.web.serve import served
from tests.web.test_annotate import LINK, Annotator

from parsemark.corpora import load_corpus

N_PEOPLE = 50
N_ROUNDS = 3
"""Each ends with a kill in the middle of the work, the last one with everybody done."""


def attack(work: Path) -> Iterator[Case]:
    folder = work / "documents"
    folder.mkdir()
    for number in range(N_PEOPLE):
        Image.new("RGB", (300, 400), "white").save(folder / f"d{number}.pdf", producer=f"page {number}")
    samples = [sample.id for sample in load_corpus(f"folder:{folder}").samples()]
    acknowledged: dict[str, str] = {}
    for turn in range(N_ROUNDS):
        is_last = turn == N_ROUNDS - 1
        with served("annotate", f"folder:{folder}", "--port", "0") as (links, process):
            yield from _kept(links[LINK], acknowledged)
            with ThreadPoolExecutor(N_PEOPLE) as pool:
                jobs = [pool.submit(_work, links[LINK], sample, turn, acknowledged) for sample in samples]
                if not is_last:
                    begun, target = time.monotonic(), len(acknowledged) + N_PEOPLE // 4
                    while len(acknowledged) < target and time.monotonic() - begun < 120:
                        time.sleep(0.05)
                    process.send_signal(signal.SIGKILL)
                failures = [job.exception() for job in jobs]
            if is_last:
                for sample, error in zip(samples, failures, strict=True):
                    yield Case(f"{sample}: served among {N_PEOPLE}", error is None, repr(error))
                yield from _kept(links[LINK], acknowledged)
    for sample in load_corpus(f"folder:{folder}").samples():
        told = acknowledged.get(sample.id)
        found = sample.truth.tables[0].table.text_rows()[0][0] if sample.truth is not None else None
        yield Case(f"{sample.id}: what was accepted is truth", told == found, f"{told} and {found}")


def _work(link: str, sample: str, turn: int, acknowledged: dict[str, str]) -> None:
    person = Annotator(link, f"person {sample}", sample)
    if not person.get(person.path)["page"]["elements"]:
        person.edit(do="add", category="table").raise_for_status()
    said = f"{sample} in turn {turn}"
    person.edit(do="text", element="t1", row=0, col=0, text=said).raise_for_status()
    acknowledged[sample] = said
    person.accept().raise_for_status()


def _kept(link: str, acknowledged: dict[str, str]) -> Iterator[Case]:
    """What a visitor sees of each page: what was acknowledged, or a later word of its author."""
    for sample, said in dict(acknowledged).items():
        try:
            visitor = Annotator(link, "visitor", sample)
            page = visitor.get(visitor.path)["page"]
            held = said.rpartition(" ")[0] in json.dumps(page)
        except (httpx.HTTPError, ValueError, KeyError) as error:
            held, page = False, repr(error)
        yield Case(f"{sample}: kept", held, f"{said}: {page}"[:300])
