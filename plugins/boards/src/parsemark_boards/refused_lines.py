"""Lines of files of tests that cannot be used: counted, and reported as warnings of the corpus."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any, TypeVar

from parsemark.corpora import Remark
from parsemark.corpora.loaders import parse_json
from parsemark.errors import CorpusError
from parsemark.plain_words import counted
from parsemark_boards.truth_model import read_truth

Model = TypeVar("Model")
_LISTED = 5
_MAX_NAME_BYTES = 255  # what file systems allow


class RefusedLines:
    """Collects what one file of tests holds that cannot be used: unknown kinds, and broken tests."""

    def __init__(self, where: str, kinds: Sequence[str]) -> None:
        self._where = where
        self._kinds = kinds
        self._unknown: dict[str, list[int]] = {}
        self._refused: dict[str, list[int]] = {}

    def unknown(self, kind: str, line: int) -> None:
        """Add a test of a kind that has no rule here."""
        self._unknown.setdefault(kind[:40], []).append(line)

    def add(self, why: str, line: int) -> None:
        """Add a test that the benchmark itself would refuse."""
        self._refused.setdefault(why, []).append(line)

    def json_lines(self, text: str) -> Iterator[tuple[int, Any]]:
        """Yield the JSON of each line with its number; a line that is not JSON is refused."""
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    data = parse_json(line)
                except ValueError as error:
                    self.add(f"it {error}", number)
                else:
                    yield number, data

    def read(self, data: Any, model: type[Model], line: int) -> Model | None:
        """Return data as a model; None if they are refused."""
        try:
            return read_truth(data, model)
        except CorpusError as error:
            self.add(str(error), line)
            return None

    def kind_of(self, test: Any, key: str, line: int) -> str | None:
        """Return the kind of a test; None if it is refused or unknown."""
        kind = test.get(key) if isinstance(test, dict) else None
        if not isinstance(test, dict):
            self.add("it is not a JSON object", line)
        elif not isinstance(kind, str):
            self.add(f"its {key!r} is {'missing' if kind is None else 'not a text'}", line)
        elif kind not in self._kinds:
            self.unknown(kind, line)
        else:
            return kind
        return None

    def remarks(self) -> list[Remark]:
        """Return one warning for each unknown kind and each reason."""
        known = ", ".join(self._kinds)
        messages = [
            f"{_lines(at)} of the unknown kind {kind!r} left out; known are {known}."
            for kind, at in self._unknown.items()
        ]
        messages += [f"{_lines(at)} left out: {why}." for why, at in self._refused.items()]
        return [Remark(self._where, message) for message in messages]


def _lines(numbers: list[int]) -> str:
    more = f" and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else ""
    listed = ", ".join(map(str, numbers[:_LISTED]))
    return f"{counted(len(numbers), 'fact')} (line {listed}{more})"


def why_outside(pdf: Any) -> str:
    """Return why the name of a PDF is not a path inside of the benchmark's folder; "" if it is one."""
    if not isinstance(pdf, str) or not pdf:
        return f"its pdf must be a text; got {str(pdf)[:40]!r}"
    path = PurePosixPath(pdf)
    if not pdf.isprintable() or any(len(part.encode()) > _MAX_NAME_BYTES for part in path.parts):
        return f"its pdf must be the name of a file; got {pdf[:40]!r}"
    if path.is_absolute() or ".." in path.parts or "\\" in pdf:
        return f"its pdf must be a path inside of the folder; got {pdf[:80]!r}"
    return ""


def unknown_pages(document: str, pages: Iterable[int], n_pages: int) -> list[Remark]:
    """Return warnings for tests of pages that a document does not have."""
    why = f"are left out: it has {counted(n_pages, 'page')}."
    missing = sorted({page for page in pages if page > n_pages})
    return [Remark(document, f"the facts of page {page} {why}") for page in missing]
