"""The matcher by language model: it points, and the output speaks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judges.chat_server import ChatServer, Request, completion, fenced_blocks

from parsemark.judges import Answered, AnswerStore, Asker, AskOptions, get_judge
from parsemark.judges.base import JudgeOutcome
from parsemark.judges.locate import LocatedTruths, SpanAnswer, find_span, locate, recover

ONE = "| city | people |\n|---|---|\n| Lisbon | 545796 |\n| Porto | 231800 |"
TWO = "| metal | density |\n|---|---|\n| copper | 8.96 |\n| lead | 11.34 |"
OUTPUT = f"# Title\n\nSome words before.\n\n{ONE}\n\nBetween them.\n\n{TWO}\n\nThe end of the page."


def texts(located: LocatedTruths, output: str = OUTPUT) -> list[list[str]]:
    return [[output[s.start : s.end] for s in own] for own in located.spans]


def test_slips_of_the_copyist_are_mended_by_the_output() -> None:
    sloppy = ONE.replace("545796", "545 796").replace("|---|---|", "| --- | --- |")
    answers = [SpanAnswer(table=1, text=sloppy), SpanAnswer(table=2, text=TWO)]
    located = recover(answers, 2, OUTPUT)
    assert texts(located) == [[ONE], [TWO]]
    assert [s.exact for own in located.spans for s in own] == [False, True]


def test_what_is_not_there_is_not_used() -> None:
    invented = "| planet | moons |\n|---|---|\n| Mars | 2 |\n| Saturn | 146 |"
    answers = [
        SpanAnswer(table=1, text=invented),
        SpanAnswer(table=2, text=""),
        SpanAnswer(table=9, text=TWO),
        SpanAnswer(table=0, text=TWO),
    ]
    located = recover(answers, 2, OUTPUT)
    assert texts(located) == [[], []]
    assert (located.n_lost, located.n_unknown) == (1, 2)


def test_splits_merges_and_duplicates() -> None:
    halves = [SpanAnswer(table=1, text=part) for part in (ONE.split("\n")[3], "\n".join(ONE.split("\n")[:3]))]
    assert texts(recover(halves, 1, OUTPUT)) == [["\n".join(ONE.split("\n")[:3]), ONE.split("\n")[3]]]
    merged = [SpanAnswer(table=1, text=ONE), SpanAnswer(table=2, text=ONE)]
    assert texts(recover(merged, 2, OUTPUT)) == [[ONE], [ONE]]
    twice = [SpanAnswer(table=1, text=ONE), SpanAnswer(table=1, text=ONE)]
    assert texts(recover(twice, 1, OUTPUT)) == [[ONE]], "the same place counts once"
    doubled = f"{ONE}\n\n{ONE}"
    assert texts(recover(twice, 1, doubled), doubled) == [[ONE, ONE]], "two places count twice"


@given(st.text(max_size=200), st.text(max_size=400))
def test_a_span_is_always_a_part_of_the_output(text: str, output: str) -> None:
    span = find_span(text, output)
    if span is not None:
        assert 0 <= span.start < span.end <= len(output)
        if span.exact:
            assert output[span.start : span.end] == text.strip()


@given(st.lists(st.tuples(st.integers(-2, 5), st.text(max_size=60)), max_size=8), st.text(max_size=200))
def test_any_answer_is_recovered_without_an_exception(raw: list[tuple[int, str]], output: str) -> None:
    located = recover([SpanAnswer(table=n, text=t) for n, t in raw], 3, output)
    assert len(located.spans) == 3


@given(st.integers(0, 10**6), st.integers(0, 20))
def test_a_copy_with_few_slips_finds_its_place(seed: int, n_slips: int) -> None:
    import random

    rng = random.Random(seed)
    copy = list(TWO + "\n| mercury | 13.53 |\n| tin | 7.26 |" * 6)
    output = OUTPUT.replace(TWO, "".join(copy))
    for _ in range(min(n_slips, len(copy) // 20)):
        copy[rng.randrange(len(copy))] = rng.choice(" x\n")
    span = find_span("".join(copy), output)
    assert span is not None
    place = output.index("| metal")
    assert abs(span.start - place) <= 12


def pointing(request: Request, _count: int) -> Any:
    """Answers with the text between the fences that fits each table's first cell."""
    blocks = fenced_blocks(request)
    output = blocks.pop("OUTPUT")
    spans = []
    for name, truth in blocks.items():
        first = re.search(r"\w+", truth)
        assert first is not None
        for part in output.split("\n\n"):
            if part.startswith(f"| {first[0]}"):
                spans.append({"table": int(name.split()[1]), "text": part.replace("  ", " ")})
    return completion(json.dumps({"spans": spans}))


def test_asking_a_model_where_tables_are(tmp_path: Path) -> None:
    got: dict[str, JudgeOutcome] = {}
    with ChatServer(pointing) as server, AnswerStore(tmp_path / "a.sqlite") as answers:
        asker = Asker(answers, AskOptions(first_wait_s=0.01))
        pages = [("both", [ONE, TWO], OUTPUT), ("none", [], OUTPUT), ("empty", [ONE], "  ")]
        locate(pages, get_judge(server.spec()), asker, got.__setitem__)
        assert len(server.requests) == 1
        locate(pages, get_judge(server.spec()), asker, got.__setitem__)
        assert len(server.requests) == 1
    assert texts(got["both"].value) == [[ONE], [TWO]]
    assert got["none"].value.spans == () and got["empty"].value.spans == ((),)


@pytest.mark.parametrize(
    "answer", ['{"spans": "all"}', '{"spans": [{"table": "1", "text": 3}]}', "[]", '{"tables": []}', "sorry"]
)
def test_answers_of_the_wrong_form_are_a_status(tmp_path: Path, answer: str) -> None:
    got: list[JudgeOutcome] = []
    with ChatServer(lambda r, c: completion(answer)) as server, AnswerStore(tmp_path / "a.sqlite") as answers:
        asker = Asker(answers, AskOptions(first_wait_s=0.01))
        locate([("p", [ONE], OUTPUT)], get_judge(server.spec()), asker, lambda _, o: got.append(o))
    assert [o.status for o in got] == [Answered.BROKEN]
