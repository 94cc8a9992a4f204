"""Counts and problems in plain words: no message to a user has the words of a library."""

import json
import re
from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import parsemark
from parsemark.plain_words import first_problem, problem_in_words


class Inner(BaseModel):
    x: int


class Data(BaseModel):
    model_config = ConfigDict(extra="forbid")

    whole: int = 0
    text: str = ""
    numbers: list[float] = Field(default_factory=list, max_length=2)
    choice: Literal["p", "q"] = "p"
    inner: Inner | None = None
    share: float = Field(0, ge=0, lt=1, allow_inf_nan=False)
    switch: bool = False
    pair: tuple[int, int] = (1, 2)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"bogus": 1}, "bogus: unknown key"),
        ({"whole": "x"}, "whole: must be a whole number, not text"),
        ({"whole": 1.5}, "whole: must be a whole number"),
        ({"text": None}, "text: must be text, not nothing"),
        ({"numbers": {}}, "numbers: must be a list, not an object"),
        ({"numbers": [1, "u"]}, "numbers.1: must be a number, not text"),
        ({"numbers": [1, 2, 3]}, "numbers: must have at most 2 entries"),
        ({"choice": "r"}, "choice: must be 'p' or 'q'"),
        ({"inner": []}, "inner: must be an object, not a list"),
        ({"inner": {}}, "inner.x: is missing"),
        ({"share": 1}, "share: must be less than 1.0"),
        ({"switch": "maybe"}, "switch: must be true or false, not text"),
        ({"pair": [1]}, "pair.1: is missing"),
        ([], "the list: must be an object, not a list"),
        ({"a": 1, "b": 2, "c": 3}, "a: unknown key (and 2 more problems)"),
    ],
)
def test_a_problem_is_told_in_plain_words(data: object, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Data.model_validate(data)
    assert first_problem(caught.value, "the list") == said


def test_what_is_no_json_is_said() -> None:
    with pytest.raises(ValidationError) as caught:
        Data.model_validate_json("{")
    assert first_problem(caught.value).startswith("the file: is not valid JSON (")


def test_a_rule_of_ours_speaks_for_itself_and_values_are_not_repeated() -> None:
    assert problem_in_words({"type": "value_error", "msg": "Value error, ids, all, must differ"}) == (
        "ids, all, must differ"
    )
    secret = "sk-" + "s" * 30
    with pytest.raises(ValidationError) as caught:
        Data.model_validate(json.loads(json.dumps({"whole": secret, "inner": {"x": secret}})))
    assert "sss" not in first_problem(caught.value)


NOUNS = """
pages tables documents parsers elements scores outputs records parts notes queries crops labels cells rows
bytes files failures pictures versions bundles ratings pairs judges characters
"""
NUMBER = r"(?:len\(|[\w.|\s]*\b(?:n|n_\w+|count|height|length)\b)"
NOUN = rf"(?:more |other |new )?(?:{'|'.join(NOUNS.split())})\b"
MANY = re.compile(rf"(?<!of )\$?\{{{{?\s*{NUMBER}[^{{}}]*\}}}}?(?:</\w+>)? {NOUN}")
ALWAYS_SEVERAL = {
    "{n_documents} documents",
    "{len(doubtful)} pages",
    "{{ n_named }} pages",
    "{len(prediction.text):,} characters",
}
"""What is said only of two and more."""


def test_every_counted_noun_follows_its_number() -> None:
    """No "1 pages": what is printed goes through `counted`, or says the noun of one apart."""
    source = Path(parsemark.__file__).parent
    found = {
        match[0]: path.name
        for room in ("cli", "report", "protocols", "choose", "study", "web", "engine")
        for path in sorted((source / room).rglob("*"))
        if path.suffix in (".py", ".js", ".html")
        for match in MANY.finditer(path.read_text())
    }
    assert {text: name for text, name in found.items() if text not in ALWAYS_SEVERAL} == {}
    assert MANY.search('f"{len(pages)} pages"') and MANY.search("<b>{{ run.n_pages }}</b> pages")
