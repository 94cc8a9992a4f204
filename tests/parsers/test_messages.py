"""Ten thousand answers: each is an answer within its bounds, or an error that says what is wrong."""

from __future__ import annotations

import json
import math
import random
import re
from typing import Any

import pytest

from parsemark.model import Status
from parsemark.parsers.messages import (
    MAX_MESSAGE_CHARS,
    Answer,
    Hello,
    ProtocolError,
    pages_in,
    read_answer,
    read_hello,
)
from parsemark.store import ParseRecord

GOOD = {
    "id": "1",
    "output": {"format": "markdown", "content": "| a |\n|---|\n| b |"},
    "error": None,
    "wall_s": 0.5,
    "cpu_s": 0.4,
    "peak_memory_mb": 12.5,
}
HELLO = {"hello": 1, "parser": "x", "versions": {"a": "1"}, "weights": {"w": "0" * 64}}
ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**63, 10**400, -(10**400), 1e300, -0.0, math.inf, -math.inf, math.nan,
    "", "1", "out of paper", "x" * 5_000, "a\ud800", "\x00\x1b[2J\u202e", [], ["message"], [[[[[]]]]],
    {}, {"message": 1}, {"message": None}, {"message": "m"}, {"message": "m", "kind": []},
    {"message": "x" * 9_000, "kind": "k" * 9_000}, {"a": {"b": {"c": []}}}, {"a\ud800": "b\udfff"},
    {str(k): "v" for k in range(300)},
]  # fmt: skip


def mutated(message: dict[str, Any], random: random.Random) -> bytes:
    changed = dict(message)
    for _ in range(random.randint(0, 3)):
        key = random.choice([*message, "extra"])
        if random.random() < 0.2:
            changed.pop(key, None)
        else:
            changed[key] = random.choice(ODD)
    line = json.dumps(changed).encode()
    kind = random.random()
    if kind < 0.1:
        at = random.randrange(len(line))
        line = line[:at] + bytes([random.randrange(256)]) + line[at + 1 :]
    elif kind < 0.15:
        line = line[: random.randrange(len(line))]
    elif kind < 0.17:
        line = random.choice([b"[" * 100_000, b'{"a":' * 50_000, b"\xff\xfe", b"1" * 5_000, b"NaN", b"null"])
    return line


def check_answer(answer: Answer) -> None:
    assert (answer.output is None) != (answer.error is None)
    assert isinstance(json.loads(answer.output or b"{}"), dict)
    assert len(answer.error or "") <= MAX_MESSAGE_CHARS
    for value in (answer.wall_s, answer.cpu_s, answer.peak_memory_mb):
        assert value is None or (math.isfinite(value) and value >= 0)
    record = ParseRecord("s", "p", Status.OK, "k", error=answer.error, cpu_s=answer.cpu_s)
    json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False).encode()


def check_hello(hello: Hello) -> None:
    for text in (hello.parser, *hello.versions.items(), *hello.weights.items()):
        for part in (text,) if isinstance(text, str) else text:
            assert len(part) <= 500
            part.encode()


def test_ten_thousand_answers() -> None:
    chosen = random.Random(17)
    n_good = 0
    for _ in range(10_000):
        try:
            answer = read_answer(mutated(GOOD, chosen), "1")
        except ProtocolError as error:
            assert 0 < len(str(error)) < 400
        else:
            check_answer(answer)
            n_good += 1
    assert 1_000 < n_good < 9_000


def test_two_thousand_hellos() -> None:
    chosen = random.Random(18)
    n_good = 0
    for _ in range(2_000):
        try:
            hello = read_hello(mutated(HELLO, chosen))
        except ProtocolError as error:
            assert 0 < len(str(error)) < 400
        else:
            check_hello(hello)
            n_good += 1
    assert 200 < n_good < 1_800


@pytest.mark.parametrize("value", [1e300, -1.0, math.nan, math.inf])
def test_a_measurement_is_believed_only_if_it_can_be_one(value: float) -> None:
    answer = read_answer(json.dumps({**GOOD, "wall_s": value}).encode(), "1")
    assert answer.wall_s is None or answer.wall_s == 1e300  # the engine knows how long it waited


def test_a_document_is_taken_apart_into_its_pages() -> None:
    output = b'{"format": "document", "pages": {"2": {"format": "text", "content": "b"}, "1": {"x": 1}}}'
    assert pages_in(output) == {2: b'{"content": "b", "format": "text"}', 1: b'{"x": 1}'}


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (b"{}", "not a whole document"),
        (b'{"format": "elements", "elements": []}', "not a whole document"),
        (b'{"format": "document", "pages": []}', "not a whole document"),
        (b'{"format": "document", "pages": {"0": {}}}', "'0' is not a page number"),
        (b'{"format": "document", "pages": {"-1": {}}}', "is not a page number"),
        ('{"format": "document", "pages": {"٣": {}}}'.encode(), "is not a page number"),
        (b'{"format": "document", "pages": {"99999999999": {}}}', "is not a page number"),
        (b'{"format": "document", "pages": {"1": null}}', "page 1: its output is not a JSON object"),
        (
            json.dumps({"format": "document", "pages": {str(n): {} for n in range(1, 10_002)}}).encode(),
            "the limit is",
        ),
    ],
)
def test_a_document_that_is_none_is_refused(output: bytes, why: str) -> None:
    with pytest.raises(ProtocolError, match=re.escape(why)):
        pages_in(output)
