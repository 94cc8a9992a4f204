"""The worker protocol, version 1: every line that a worker writes is checked here and nowhere else.

The protocol is JSON lines in UTF-8; docs/how-to/parsers.md describes it for authors of workers. A line is
hostile: it gives a `Hello` or an `Answer` whose parts have their types and bounds, or a `ProtocolError`, and
never anything else.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parsemark.system.secrets import masked, masked_bytes, without_folders

PROTOCOL = 1
MAX_MESSAGE_CHARS = 2_000  # of an error; what is longer is cut
MAX_FACTS = 200  # versions or weights in a hello
MAX_FACT_CHARS = 500
MAX_PAGES = 10_000  # in one answer for a whole document
WHOLE_DOCUMENT = 0  # in place of the number of a page: all pages in one answer


class ProtocolError(ValueError):
    """A line that the protocol does not allow; says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What a worker says of itself when it is ready."""

    parser: str
    versions: Mapping[str, str]
    weights: Mapping[str, str]
    prepares: bool = False  # whether it loads models when it is asked to, before it is given a page


@dataclass(frozen=True, slots=True)
class Answer:
    """A worker's answer for one page: an output, or the parser's own error."""

    output: bytes | None  # the raw output as JSON bytes, to be stored as it came and read by `read_raw`
    error: str | None
    wall_s: float | None  # as the worker says; None if it says nothing that could be true
    cpu_s: float | None
    peak_memory_mb: float | None = None
    cost_usd: float | None = None  # what the page cost, as the worker says; None where it says nothing


def read_hello(line: bytes) -> Hello:
    """Return the first line: `{"hello": 1, "parser", "versions", "weights"}`."""
    message = _read_object(line)
    spoken = message.get("hello")
    if type(spoken) is not int:
        raise ProtocolError("it is not a `hello` message")
    if spoken != PROTOCOL:
        raise ProtocolError(f"it uses protocol {_show_value(spoken)}, not {PROTOCOL}")
    name = message.get("parser")
    if not isinstance(name, str):
        raise ProtocolError("its `hello` message has no parser name")
    versions, weights = (_facts(message.get(key), key) for key in ("versions", "weights"))
    return Hello(_shorten(name, MAX_FACT_CHARS), versions, weights, message.get("prepares") is True)


def read_answer(line: bytes, request_id: str) -> Answer:
    """Return an answer: `{"id", "output", "error", "wall_s", "cpu_s"}`, `peak_memory_mb` and `cost_usd`."""
    message = _read_object(line)
    if message.get("id") != request_id:
        raise ProtocolError(f"it answers request {_show_value(message.get('id'))}, not {request_id!r}")
    output, error = message.get("output"), message.get("error")
    if output is None and error is None:
        raise ProtocolError("it has neither output nor error; does `parse` return a value?")
    if output is not None and error is not None:
        raise ProtocolError("it has both an output and an error")
    given = {key for key in ("peak_memory_mb", "cost_usd") if message.get(key) is not None}
    return Answer(
        None if output is None else _output(output),
        None if error is None else _error(error),
        **{key: _measured(message, key) for key in ("wall_s", "cpu_s", *given)},
    )


def pages_in(output: bytes) -> dict[int, bytes]:
    """Return the pages of `{"format": "document", "pages": {…}}`, each as an output; raise ProtocolError if
    it is invalid.
    """
    data = json.loads(output)
    pages = data.get("pages")
    if data.get("format") != "document" or not isinstance(pages, dict):
        raise ProtocolError('its output is not a whole document ({"format": "document", "pages": {…}})')
    if len(pages) > MAX_PAGES:
        raise ProtocolError(f"its document has {len(pages)} pages; the limit is {MAX_PAGES}")
    found = {}
    for name, page in pages.items():
        if not (name.isascii() and name.isdigit() and len(name) < 10 and int(name) > 0):
            raise ProtocolError(f"{_show_value(name)} is not a page number")
        try:
            found[int(name)] = _output(page)
        except ProtocolError as error:
            raise ProtocolError(f"page {int(name)}: {error}") from error
    return found


def _read_object(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"it is not JSON: {masked(line.decode('utf-8', 'replace'))[:80]!r}") from error
    if not isinstance(message, dict):
        raise ProtocolError("it is not a JSON object")
    return message


def _output(output: Any) -> bytes:
    """Return JSON in UTF-8; half a surrogate pair, which UTF-8 cannot hold, becomes a question mark."""
    if not isinstance(output, dict):
        raise ProtocolError("its output is not a JSON object")
    try:
        return masked_bytes(json.dumps(output, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:  # a whole number of more digits than Python writes
        raise ProtocolError(f"its output cannot be stored: {error}") from error


def _error(error: Any) -> str:
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        raise ProtocolError("its error is not an object with a message")
    kind = error.get("kind", "Error")
    if not isinstance(kind, str):
        raise ProtocolError("the kind of its error is not text")
    return _shorten(masked(f"{kind[:100]}: {error['message']}"), MAX_MESSAGE_CHARS)


def _measured(message: Mapping[str, Any], key: str) -> float | None:
    """Return a number that can be a measurement; None for one that cannot (negative, not finite)."""
    value = message.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ProtocolError(f"its {key} is not a number")
    try:
        number = float(value)
    except OverflowError as error:
        raise ProtocolError(f"its {key} is too large for a number") from error
    return number if math.isfinite(number) and number >= 0 else None


def _facts(facts: Any, key: str) -> dict[str, str]:
    if facts is None:
        return {}
    if not isinstance(facts, dict):
        raise ProtocolError(f"its {key} are not an object")
    if len(facts) > MAX_FACTS:
        raise ProtocolError(f"it has more than {MAX_FACTS} {key}")
    if not all(isinstance(value, str | int | float) for value in facts.values()):
        raise ProtocolError(f"not all of its {key} are text")
    try:
        said = {without_folders(name): without_folders(masked(str(value))) for name, value in facts.items()}
    except ValueError as error:
        raise ProtocolError(f"its {key} contain a number that is too long") from error
    return {_shorten(k, MAX_FACT_CHARS): _shorten(v, MAX_FACT_CHARS) for k, v in said.items()}


def _shorten(text: str, limit: int) -> str:
    """Return text that can be stored anywhere: bounded, and without halves of surrogate pairs."""
    return text[:limit].encode("utf-8", "replace").decode()


def _show_value(value: Any) -> str:
    if isinstance(value, str):
        return repr(value[:40])
    return repr(value)[:40] if isinstance(value, int | float | None) else f"a {type(value).__name__}"
