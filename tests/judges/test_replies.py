"""Answers of models in every shape they come in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parsemark.judges.base import Answered, Reply
from parsemark.judges.prompts import MAX_ERRORS, ScoreAnswer
from parsemark.judges.replies import read_reply


def reply(text: str, finish: str | None = "stop", refusal: str | None = None) -> Reply:
    return Reply(text, finish, refusal, 1, 1, 0.0, 0.1)


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"errors": ["a"], "score": 7}', 7),
        ('{"score": 6.5}', 6.5),
        ('```json\n{"errors": [], "score": 3}\n```', 3),
        ('<think>perhaps {"score": 9}, no</think>\n{"score": 2}', 2),
        ('Here you are: {"score": 4, "errors": []} I hope this helps.', 4),
        ('{"note": {"score": 9}} {"score": 5}', 5),
        ('{"score": 5}\n{"score": 5}', 5),
        ('{"errors": [], "score": 0, "confidence": 1}', 0),
    ],
)
def test_one_valid_object_is_an_answer(text: str, score: float) -> None:
    outcome = read_reply(reply(text), ScoreAnswer)
    assert outcome.status is Answered.OK
    assert outcome.value.score == score


@pytest.mark.parametrize(
    "text",
    [
        "", "ten", "[10]", '{"score": 11}', '{"score": -1}', '{"score": "10"}', '{"score": true}',
        '{"score": NaN}', '{"score": Infinity}', '{"score": 1e999}', '{"score": null}', '{"rating": 10}',
        '{"score": 2, "score": 10}', '{"score": 2}\n{"score": 10}', '{"errors": "none", "score": 10}',
        '{"score": 1', "{" * 100_000, "[" * 100_000, '<think>{"score": 10}', '{"score": [10]}',
    ],
)  # fmt: skip
def test_anything_else_is_none(text: str) -> None:
    outcome = read_reply(reply(text), ScoreAnswer)
    assert outcome.status is Answered.BROKEN
    assert outcome.value is None
    assert outcome.message and len(outcome.message) < 300


def test_refusals_and_cut_answers_are_told_apart() -> None:
    assert read_reply(reply('{"score": 10}', refusal="I cannot"), ScoreAnswer).status is Answered.REFUSED
    assert read_reply(reply("", "content_filter"), ScoreAnswer).status is Answered.REFUSED
    assert read_reply(reply('{"errors": ["a', "length"), ScoreAnswer).status is Answered.CUT_OFF
    assert read_reply(reply('{"score": 3}', "length"), ScoreAnswer).status is Answered.OK


def test_long_lists_of_errors_are_kept_short() -> None:
    text = json.dumps({"errors": ["x" * 5_000] * 50, "score": 1})
    value = read_reply(reply(text), ScoreAnswer).value
    assert len(value.errors) == MAX_ERRORS
    assert all(len(error) <= 500 for error in value.errors)


@given(st.text(max_size=500))
def test_any_text_is_read_without_an_exception(text: str) -> None:
    assert read_reply(reply(text), ScoreAnswer).status in set(Answered)


@given(st.text(alphabet='{}[]",:score0123456789 \n`think<>/\\', max_size=200))
def test_texts_that_look_like_answers_are_read_without_an_exception(text: str) -> None:
    outcome = read_reply(reply(text), ScoreAnswer)
    assert (outcome.value is not None) == (outcome.status is Answered.OK)
