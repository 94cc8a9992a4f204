"""Structure trees made to harm: cycles, depth, spans and values of other types cost their own document."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String
from tests.corpora.tagging import Node, Text, grid, write_tagged

from parsemark.corpora import Corpus, load_corpus
from parsemark.errors import ParsemarkError

ROLES = (
    *("Document", "Sect", "P", "H1", "L", "LI", "Lbl", "LBody", "Table", "THead", "TR", "TH", "TD", "Figure"),
    *("Caption", "Formula", "Note", "Span", "Artifact", "Link", "Code", "TOC", "Bogus", "Ruby", "Form"),
)
MAX_WALL_S = 60.0
"""Of one document; most take less than 0.1 s."""
N_TRIED = 40
N_DEEP = 60
HUGE = 2**31


def hostile_values(pdf: pikepdf.Pdf, nodes: list[Any], chosen: random.Random) -> list[Any]:
    """What an entry of an element may be made."""
    other = chosen.choice(nodes)
    return [
        other,
        Array([other] * 50),
        Array([Array([Array([other])])]),
        HUGE,
        -HUGE,
        1.5,
        True,
        String("x" * 50_000),
        String(b"\xff\xfe\x00\xd8" * 9),
        Name("/" + "y" * 300),
        Dictionary(),
        Dictionary(Type=Name.MCR, MCID=HUGE, Pg=pdf.pages[0].obj),
        Dictionary(Type=Name.MCR, MCID=0, Pg=other),
        Dictionary(Type=Name.OBJR, Obj=other, Pg=pdf.pages[0].obj),
        Dictionary(O=Name.Table, ColSpan=HUGE, RowSpan=HUGE),
        Dictionary(O=Name.Table, ColSpan=900, RowSpan=900),
        Dictionary(O=Name.Table, ColSpan=-3, RowSpan=String("two")),
        Dictionary(O=Name.Table, Headers=Array([String("h")] * 2000), Scope=Name.Both),
        Dictionary(O=Name.Layout, BBox=Array([HUGE, -HUGE, String("a"), 0])),
        Array([Dictionary(O=Name.Table, ColSpan=n) for n in range(200)]),
        pdf.make_stream(b"<math>" * 20_000),
    ]


def hostile_tree(path: Path, seed: int) -> Path:
    """A PDF of a table and random elements, some of whose entries are replaced."""
    chosen = random.Random(seed)
    texts, table = grid([[f"c{r}{c}" for c in range(3)] for r in range(4)])

    def element(depth: int) -> Node:
        kids = [element(depth + 1) for _ in range(chosen.randint(0, 3))] if depth < 4 else []
        return (chosen.choice(ROLES), *kids, *(chosen.randrange(14) for _ in range(chosen.randint(0, 2))))

    def change(pdf: pikepdf.Pdf, root: Any) -> None:
        nodes = [o for o in pdf.objects if isinstance(o, Dictionary) and "/S" in o and "/K" in o]
        for _ in range(chosen.randint(1, 5)):
            node = chosen.choice([*nodes, root])
            key = chosen.choice(
                ("/K", "/K", "/A", "/A", "/S", "/Pg", "/Alt", "/ActualText", "/C", "/P", "/AF", "/NS")
            )
            node[key] = chosen.choice(hostile_values(pdf, nodes, chosen))
        if chosen.random() < 0.2:
            node = chosen.choice(nodes)
            for _ in range(N_DEEP):
                node = pdf.make_indirect(Dictionary(Type=Name.StructElem, S=Name.Div, K=Array([node, node])))
            root.K = Array([node])

    free: list[Text] = [(12, 20, 200, "some words"), (13, 20, 220, "and others")]
    return write_tagged(path, [[*texts, *free]], [table, element(0), element(0)], change=change)


def test_a_hostile_tree_costs_its_document(tmp_path: Path) -> None:
    end = time.monotonic() + 60 * float(os.environ.get("FAULTS_MINUTES", "0")) / 10
    for seed in range(1_000_000):
        if seed >= N_TRIED and time.monotonic() > end:
            break
        folder = tmp_path / str(seed)
        folder.mkdir()
        hostile_tree(folder / "a.pdf", seed)
        begun = time.monotonic()
        try:
            corpus = load_corpus(f"tagged:{folder}")
            check(corpus)
        except ParsemarkError as error:
            assert str(error).encode() and len(str(error)) < 20_000, seed
        assert time.monotonic() - begun < MAX_WALL_S, seed


def check(corpus: Corpus) -> None:
    """What was believed is a page like any other: its boxes lie on it, its tables are bounded."""
    for key in corpus.keys:
        sample = corpus.try_read(key)
        truth = getattr(sample, "truth", None)
        for element in truth.elements if truth is not None else ():
            box, table = element.box, element.table
            assert box is None or (-1 <= box.x0 <= box.x1 <= truth.width + 1)
            assert table is None or table.n_rows * table.n_cols <= 250_000
