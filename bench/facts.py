"""How long 100,000 facts take, of olmOCR-bench and of `answers`: `python -m bench facts`.

Facts are made of the demo corpus' own texts and tables in the proportions of the published set without its
formulas, which a browser renders: texts with some differences, order, cells with neighbours and headings.
"""

from __future__ import annotations

import random
import time

from parsemark.corpora import load_corpus
from parsemark.formats import write_document
from parsemark.model import Fact, Page, Prediction
from parsemark.protocols import get_protocol

N_FACTS = 100_000
PER_PAGE = 40


def facts_of(page: Page, rng: random.Random) -> list[Fact]:
    texts = [e.text for e in page.elements if e.text and len(e.text) > 30] or ["a page without any text"]
    cells = [(t.table, c) for t in page.tables if t.table for c in t.table.cells if c.text]
    facts = []
    for n in range(PER_PAGE):
        kind = rng.choice(["present"] * 2 + ["absent"] * 2 + ["order"] * 3 + ["table"] * 3 + ["baseline"])
        words = [rng.choice(texts)[(at := rng.randrange(20)) : at + 60] for _ in range(2)]
        if kind == "table" and cells:
            table, cell = rng.choice(cells)
            above = [c.text for c in table.cells if c.col == cell.col and c.row < cell.row]
            arguments = {"cell": cell.text, "top_heading": above[0] if above else "", "max_diffs": 1}
        elif kind == "order":
            arguments = {"before": words[0], "after": words[1], "max_diffs": rng.choice([0, 2, 4])}
        elif kind in ("present", "absent"):
            arguments = {"text": words[0], "max_diffs": rng.choice([0, 2])}
        else:
            kind, arguments = "baseline", {}
        facts.append(Fact(f"f{n}", kind, "olmocr-bench", arguments, group="made.jsonl"))
    return facts


def main() -> bool:
    rng, protocol = random.Random(29), get_protocol("olmocr")
    pages = [(s.truth, write_document(s.truth)) for s in load_corpus("demo").samples() if s.truth]
    done = passed = 0
    spent = 0.0
    while done < N_FACTS:
        page, text = pages[done // PER_PAGE % len(pages)]
        # Each page once with a mark of its own, so that nothing is remembered from the last time.
        text = f"{text}\n\nCopy {done}.\n"
        asked = Page(page.id, page.width, page.height, facts=tuple(facts_of(page, rng)), only_facts=True)
        prediction = Prediction(page.id, "itself", text=text)
        started = time.process_time()
        rows = protocol.score_page(asked, prediction, None).scores
        spent += time.process_time() - started
        done += len(rows)
        passed += sum(row.value == 1 for row in rows)
    print(
        f"olmocr: {done:,} facts in {spent:.1f} CPU s ({spent / done * 1e3:.2f} ms each), {passed:,} passed"
    )
    return spent <= 60 and own_facts(pages) <= 60


def own_facts(pages: list[tuple[Page, str]]) -> float:
    """Return CPU seconds that `answers` takes for as many facts; they are derived again each time."""
    protocol = get_protocol("answers")
    done, spent = 0, 0.0
    while done < N_FACTS:
        for page, text in pages:
            prediction = Prediction(page.id, "itself", text=f"{text}\n\nCopy {done}.\n")
            started = time.process_time()
            done += len(protocol.score_page(page, prediction, None).scores)
            spent += time.process_time() - started
    print(f"answers: {done:,} facts in {spent:.1f} CPU s ({spent / done * 1e3:.2f} ms each)")
    return spent
