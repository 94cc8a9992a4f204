"""Facts as files: one JSON line each, to be read, edited and asked; or in olmOCR-bench's form."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

from parsemark.errors import CorpusError, FormatError
from parsemark.formats.model_json import fact_from_json, fact_to_json
from parsemark.model import Fact, Sample
from parsemark.protocols.answers.ask import check_fact
from parsemark.protocols.answers.derive import RULES, facts_of_page, question
from parsemark.protocols.answers.output import SIDE, words_of
from parsemark.protocols.result_files import read_lines

_KEYS = ("sample", "question", *(field.name for field in fields(Fact)))


def fact_lines(samples: Iterable[Sample], form: str = "answers") -> Iterator[str]:
    """Yield the facts of a corpus, a line of JSON each; what olmOCR-bench has no test for is left out."""
    for sample in samples:
        pdf = sample.pdf.name if sample.pdf else f"{sample.id}.pdf"
        place = {"pdf": pdf, "page": sample.page_number}
        for fact in () if sample.truth is None else facts_of_page(sample.truth):
            if form == "answers":
                yield _line({"sample": sample.id, "question": question(fact), **fact_to_json(fact)})
            elif (test := _olmocr_test(fact)) is not None:
                said = "".join(str(test.get(key, "")) for key in ("text", "before", "after", "cell"))
                if not set(said) & set("*_<$|"):  # olmOCR-bench takes these for Markdown and removes them
                    own = {"id": f"{sample.id}_{fact.id}", "type": test["type"], "max_diffs": 0}
                    yield _line({**place, **own, **test})


def _line(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False) + "\n"


def _olmocr_test(fact: Fact) -> dict[str, Any] | None:
    said = fact.arguments
    if fact.kind in ("cell number", "cell text"):
        heads = {"left_heading": said["row"][-1], "top_heading": said["column"][-1]}
        return {"type": "table", "cell": said["answer"], **heads}
    if fact.kind in ("number", "name") and "sentence" in said:
        return {"type": "present", "text": said["sentence"]}
    if fact.kind == "order":
        return {"type": "order", "before": said["before"], "after": said["after"]}
    if fact.kind == "formula":
        return {"type": "math", "math": said["latex"]}
    # A page number stands in many a text: as a text of three words it cannot be said there.
    if fact.kind == "heading" or (fact.kind == "absent" and len(words_of(said["text"])) >= SIDE):
        return {"type": "present" if fact.kind == "heading" else "absent", "text": said["text"]}
    return None


@lru_cache(4)
def read_facts(path: str) -> Mapping[str, tuple[Fact, ...]]:
    """Sample to its facts, from a file that `fact_lines` wrote and somebody may have edited. CorpusError says
    which line is no fact.
    """
    found: dict[str, list[Fact]] = defaultdict(list)
    for number, line in read_lines(path, "facts"):
        try:
            sample, fact = _read_fact(line)
            own = found[sample]
            if any((fact.kind, fact.arguments) == (f.kind, f.arguments) for f in own):
                continue  # what is asked twice counts once
            if any(fact.id == f.id for f in own):
                raise CorpusError(f"another assertion of {sample} has the id {fact.id}")
            own.append(fact)
        except (FormatError, CorpusError) as error:
            why = str(error).rstrip(".")
            raise CorpusError(f"{path}, line {number} is not an assertion: {why}.") from error
    return {sample: tuple(facts) for sample, facts in found.items()}


def _read_fact(line: str) -> tuple[str, Fact]:
    """Return the sample of a fact, and the fact; what cannot be asked is refused."""
    try:
        data = json.loads(line)
    except json.JSONDecodeError as error:
        raise CorpusError(f"it is not JSON: {error.msg}, at character {error.pos + 1}") from error
    except (ValueError, RecursionError) as error:
        raise CorpusError("it is nested too deeply, or has a number with too many digits") from error
    if not isinstance(data, dict):
        raise CorpusError("it is not a JSON object")
    if unknown := sorted(data.keys() - set(_KEYS)):
        raise CorpusError(f"it has the unknown key {unknown[0][:40]!r}; known keys: {', '.join(_KEYS)}")
    for key in ("sample", "id", "kind"):
        if not isinstance(data.get(key), str) or not data[key].strip():
            raise CorpusError(f"it needs {key!r}: a text that is not empty")
    if data.get("rules", RULES) != RULES:
        raise CorpusError(f"its rules are {str(data['rules'])[:40]!r}; `answers` uses only {RULES!r}")
    if not isinstance(data.get("arguments"), dict):
        raise CorpusError("it needs 'arguments': an object")
    try:
        fact = fact_from_json({"rules": RULES, **data})
    except (FormatError, ArithmeticError, ValueError, TypeError) as error:
        raise CorpusError("its page, tags or box is not of the right type") from error
    check_fact(fact)
    return data["sample"], fact
