"""Pairs that people are to rate: the file that `study sample` writes and `parsemark rate` reads.

    {"schema_version": 1, "kind": "table", "pairs": [
      {"id": "…", "group": "…", "truth": "…", "pred": "…", "parser": "…", "complexity": "simple",
       "picture": "pairs-pictures/p1.webp", "region": [0.1, 0.2, 0.9, 0.5]}]}

It is a ratings file without ratings. Pictures are files below the folder of the file; `region` is where the
table lies on the picture, in parts of its width and height.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import BaseModel, Field, ValidationError

from parsemark.errors import StudyError
from parsemark.plain_words import first_problem
from parsemark.study.ratings import PairToRate, read_json, read_unrated

QUESTION = {
    "table": "How well does the extraction preserve the table: all values, headers, and which belong "
    "together?",
    "formula": "How well does the extraction preserve what the formula means?",
}
_PICTURES = frozenset({".webp", ".png"})


class PairsFile(BaseModel, extra="forbid"):
    """The file as a whole."""

    schema_version: int = Field(default=1, ge=1, le=1)
    kind: str = Field(default="table", pattern="^(table|formula)$")
    question: str | None = None  # what raters are asked; a default for each kind
    pairs: list[PairToRate]


@dataclass(frozen=True)
class Tasks:
    """Pairs to be rated."""

    kind: str
    question: str
    pairs: tuple[PairToRate, ...]
    folder: Path  # below which pictures lie
    problems: tuple[str, ...] = ()  # why further pairs of the file cannot be shown

    def picture_of(self, pair: PairToRate) -> Path | None:
        """The picture of a pair's page; None if there is none inside of the folder."""
        if pair.picture is None:
            return None
        name = PurePosixPath(pair.picture)
        if name.is_absolute() or ".." in name.parts or name.suffix not in _PICTURES:
            return None
        path = (self.folder / name).resolve()
        return path if path.is_relative_to(self.folder.resolve()) and path.is_file() else None


def read_tasks(path: Path) -> Tasks:
    """Read pairs to rate, from a file of `study sample` or from any ratings file, whose ratings are not
    looked at. StudyError if the file cannot be read, or has no pairs, or two with the same id.
    """
    data = read_json(path)
    problems: tuple[str, ...] = ()
    if isinstance(data, dict) and all(
        not (isinstance(pair, dict) and "ratings" in pair) for pair in data.get("pairs") or ()
    ):
        try:
            file = PairsFile.model_validate(data)
        except ValidationError as error:
            raise StudyError(f"{path}: {first_problem(error)}") from error
        kind, question, pairs = file.kind, file.question, tuple(file.pairs)
    else:
        question = None
        kind, pairs, problems = read_unrated(path)
    if not pairs:
        raise StudyError(f"{path} has no pairs")
    twice = [name for name, n in Counter(pair.id for pair in pairs).items() if n > 1]
    if twice:
        raise StudyError(f"{path} has two pairs with the id {twice[0]!r}")
    return Tasks(kind, question or QUESTION[kind], pairs, path.parent, problems)
