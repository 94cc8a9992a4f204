"""Folders of the benchmarks' loaders, whole and with one value of one file replaced by a hostile one."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark_pages import HTML, write

DEEP = 100_000
HUGE = 20_000
Files = dict[str, Any]
"""Path to its content: text, JSON, or lines of JSON in a tuple."""

ELEMENTS = [
    {"category": "Table", "content": {"text": "", "html": HTML}, "coordinates": [{"x": 0.1, "y": 0.2}]},
    {"category": "Paragraph", "content": {"text": "Slack water lasts nine minutes."}},
    {"category": "Equation", "content": {"text": "x", "markdown": "$x$"}},
]
REFERENCE = {"01.pdf": {"elements": ELEMENTS}}


def _olmocr(kind: str, **more: Any) -> dict[str, Any]:
    return {"pdf": "sub/01.pdf", "page": 1, "id": f"a-{kind}", "type": kind, **more}


def _parsebench(kind: str, category: str, /, **rule: Any) -> dict[str, Any]:
    return {"pdf": "docs/01.pdf", "category": category, "type": kind, "rule": rule, "page": 1, "tags": ["a"]}


def _omni(kind: str, args: dict[str, Any], /, **settings: Any) -> dict[str, Any]:
    own = {"id": kind, "test_type": kind, "output_type": "html", "derivation": "authored", "tags": ["a"]}
    return {**own, "args": args, "settings": settings}


def _text(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, "max_diffs": 0, **more}


PLACE = [[0.1, 0.1, 0.9, 0.2]]
FOLDERS: dict[str, tuple[str, Files]] = {
    "dp-bench": ("dp-bench", {"reference.json": REFERENCE}),
    "opendataloader-bench": (
        "opendataloader",
        {"ground-truth/markdown/01.md": f"# a\n\ntext\n\n{HTML}", "ground-truth/reference.json": REFERENCE},
    ),
    "rd-tablebench": ("rd-tablebench", {"groundtruth/01.html": HTML}),
    "pulsebench-tab": ("pulsebench-tab", {"ground_truth/01.html": HTML}),
    "olmocr-bench": (
        "olmocr",
        {
            "tests.jsonl": (
                _olmocr("present", text="nine minutes", max_diffs=1, first_n=100),
                _olmocr("absent", text="ten minutes", case_sensitive=False),
                _olmocr("order", before="Slack", after="minutes"),
                _olmocr("table", cell="d", up="b", left="c", top_heading="b"),
                _olmocr("baseline", max_length=10, max_repeats=3),
                _olmocr("format", text="Slack", format="bold"),
                _olmocr("footnote", marker="1", appears_after_marker="a note"),
            )
        },
    ),
    "parsebench": (
        "parsebench",
        {
            "rules.jsonl": (
                _parsebench("order", "text_content", before="Slack", after="minutes"),
                _parsebench("present", "text_content", text="nine", max_diffs=1),
                _parsebench("is_bold", "text_formatting", text="Slack"),
                _parsebench("chart_data_point", "chart", labels=["b"], value="d", normalize_numbers=True),
                _parsebench(
                    "layout",
                    "layout",
                    canonical_class="Text",
                    bbox=[0.1, 0.1, 0.5, 0.2],
                    ro_index=0,
                    content={"text": "Slack water"},
                ),
                {
                    "pdf": "docs/02.pdf",
                    "category": "table",
                    "type": "expected_markdown",
                    "rule": {"max_top_title_rows": 1},
                    "expected_markdown": HTML,
                },
            )
        },
    ),
    "omni-parse-bench": (
        "omni-parse",
        {
            "gold/01.json": {
                "tests": [
                    _omni("present", {"content": _text("nine minutes")}),
                    _omni("order", {"before": _text("Slack"), "after": _text("minutes")}),
                    _omni("repeat", {"content": _text("Slack")}, expected_count=1),
                    _omni("table_cell", {"cell": _text("d"), "up": _text("b"), "headings": [_text("b")]}),
                    _omni("layout_kind", {"content": _text("Slack", place=PLACE)}, kind="text"),
                ]
            }
        },
    ),
}
"""Loader to its benchmark's protocol and the files of a small folder."""

VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "zero": 0,
    "negative": -7,
    "a huge number": 10**400,
    "a large number": 2**63,
    "1e308": 1e308,
    "not a number": float("nan"),
    "infinite": float("inf"),
    "empty": "",
    "blank": " \n",
    "controls": "a\x00b\x1b[2J\u202e\ud800",
    "many characters": "a" * HUGE,
    "many tables": "<table><tr><td>" * (HUGE // 20),
    "a huge span": "<table><tr><td colspan='999999999' rowspan='999999999'>a</td></tr></table>",
    "a path outside": "../../../../etc/passwd",
    "an absolute path": "/etc/passwd",
    "list": [],
    "object": {},
    "a list of lists": [[[]]],
    "many items": [0] * 20_000,
    "many keys": {f"k{k}": k for k in range(20_000)},
    "further keys": {"__class__": 1, "\x1b[31m": 2},
}
"""What stands where something else should."""


def bombs(content: str) -> dict[str, bytes]:
    """Whole files that are none."""
    return {
        "nothing": b"",
        "not Unicode": b"\xff\xfe\x00" * 50,
        "deep": b"[" * DEEP,
        "deep objects": b'{"a":' * DEEP,
        "digits": b"9" * 50_000,
        "two equal keys": b'{"tests": [], "tests": []}',
        "an equal key behind many": json.dumps({f"k{k}": 0 for k in range(10 * HUGE)})[:-1].encode()
        + f', "k{10 * HUGE - 1}": 1}}'.encode(),
        "a line without end": b"a" * 5_000_000,
        "blanks": b" " * 5_000_000,
        "a long line": content.replace("\n", " ").encode() * 500,
        "numbers": b"[NaN, Infinity, -Infinity, 1e999]",
    }


def as_text(content: Any) -> str:
    """A file's text."""
    if isinstance(content, tuple):
        return "\n".join(map(json.dumps, content))
    return content if isinstance(content, str) else json.dumps(content)


def make(folder: Path, files: Files) -> Path:
    """Write the files of a folder."""
    for name, content in files.items():
        write(folder / name, as_text(content))
    return folder


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand in JSON, that of the whole last."""
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list | tuple):
        for number, one in enumerate(value):
            yield from places(one, (*path, number))
    yield path


def replaced(value: Any, path: tuple[Any, ...], by: Any) -> Any:
    """A copy of JSON with the value at a place replaced; lines stay a tuple."""
    if not path:
        return by
    changed = copy.deepcopy(list(value) if isinstance(value, tuple) else value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = by
    return tuple(changed) if isinstance(value, tuple) else changed
