"""What the models of benchmarks' own truth have in common."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from parsemark.errors import CorpusError, FormatError
from parsemark.plain_words import first_problem, nearest_name

Model = TypeVar("Model")


class TruthModel(BaseModel):
    """Data as a benchmark's files have them. Other keys are allowed, unless one is a missing key misspelt."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")

    @model_validator(mode="before")
    @classmethod
    def _has_no_misspelt_key(cls, data: Any) -> Any:
        if isinstance(data, dict):
            missing = cls.model_fields.keys() - data.keys()
            for key in data.keys() - cls.model_fields.keys():
                if meant := nearest_name(str(key), missing):
                    raise ValueError(f"unknown key {str(key)[:40]!r}. Did you mean {meant!r}?")
        return data


def not_blank(text: str) -> str:
    """Refuse a text without a character that can be seen."""
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def read_truth(data: Any, model: type[Model]) -> Model:
    """Return data as a benchmark's model; CorpusError says what is wrong and where in the data."""
    try:
        return TypeAdapter(model).validate_python(data)
    except ValidationError as error:
        raise CorpusError(first_problem(error, "").removeprefix(": ")) from error


@contextmanager
def benchmark_rules() -> Iterator[None]:
    """Apply a benchmark's own code to data; what fails inside is a ValueError in plain words."""
    try:
        yield
    except (ValueError, FormatError) as error:
        message = str(error)
        if message.startswith("invalid literal"):  # Python's words for a number that is none
            message = f"{message.rpartition(': ')[2]} is not a number"
        raise ValueError(message) from error
