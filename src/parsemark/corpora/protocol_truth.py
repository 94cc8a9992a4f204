"""Truth in the form of a protocol (`Page.annotation`, `Page.facts`): validated once, when it is loaded."""

from pydantic import ValidationError

from parsemark.errors import CorpusError
from parsemark.model import Page
from parsemark.plain_words import first_problem, nearest_name
from parsemark.protocols.contract import protocols_by_rules, truth_models


def check_protocol_truth(page: Page, where: str, *, own_keys: bool = True) -> None:
    """Raise CorpusError for truth that its protocol cannot read, saying what is wrong where.

    Keys and rules of no protocol are left to others, unless they are nearly those of one. With `own_keys`
    false, keys of the annotation may be anything: they are those of another format.
    """
    models = truth_models() if page.annotation else {}
    for key, value in (page.annotation or {}).items():
        if key in models:
            try:
                models[key].validate_python(value)
            except ValidationError as error:
                problem = first_problem(error, "")
                place = key if problem.startswith(": ") else f"{key}."
                raise CorpusError(f"{where}, {place}{problem}") from error
        elif own_keys and (meant := nearest_name(key, models)):
            raise CorpusError(
                f"{where}: the annotation has the unknown key {key[:40]!r}. Did you mean {meant!r}? "
                f"Known keys: {', '.join(sorted(models))}."
            )
    deciding = protocols_by_rules() if page.facts else {}
    for fact in page.facts:
        place = f"{where}, fact {fact.id}"
        if fact.rules in deciding:
            try:
                deciding[fact.rules].check_fact(fact)
            except CorpusError as error:
                raise CorpusError(f"{place}: {error}") from error
        elif meant := nearest_name(fact.rules, deciding, 0.6):
            raise CorpusError(
                f"{place}: no protocol has the rules {fact.rules[:40]!r}. Did you mean {meant!r}?"
            )
