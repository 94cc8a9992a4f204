"""Folders of the benchmarks' loaders, whole and with one value of one file replaced by a hostile one."""

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmark_pages import HTML, make_pdf, write
from dataset_files import voc

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


POLY = [0, 100, 100, 100, 100, 150, 0, 150]
ANNOTATED = {
    "page_info": {
        "width": 500,
        "height": 600,
        "image_path": "EN_a_1.jpg",
        "page_attribute": {"language": "english"},
    },
    "layout_dets": [
        {"category_type": "text_block", "poly": POLY, "order": 1, "anno_id": 1, "text": "Slack water."},
        {"category_type": "table", "poly": POLY, "order": 2, "anno_id": 2, "html": HTML, "ignore": False},
    ],
    "extra": {"relation": [{"source_anno_id": 1, "target_anno_id": 2, "relation_type": "truncated"}]},
}
STRUCTURE = voc(
    [
        *(("table row", (10, 10 + 25 * k, 210, 35 + 25 * k)) for k in range(2)),
        *(("table column", (10 + 100 * k, 10, 110 + 100 * k, 60)) for k in range(2)),
        *((kind, (10, 10, 210, 35)) for kind in ("table", "table column header", "table spanning cell")),
    ],
    300,
    200,
)
CELLS = "".join(
    f'<cell id="{k}" start-row="{k // 2}" start-col="{k % 2}" end-col="{k % 2}">'
    f'<bounding-box x1="{k}" y1="7" x2="90" y2="70"/><content>{text}</content></cell>'
    for k, text in enumerate("abcd")
)
REGION = '<document><table id="1"><region id="1" page="1">{}</region></table></document>'

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
    "mdpbench": ("mdpbench(cdm=false)", {"MDPBench.json": [ANNOTATED, ANNOTATED]}),
    "puredocbench": ("puredocbench(cdm=false)", {"clean.json": [ANNOTATED], "real.json": [ANNOTATED]}),
    "icdar2013": (
        "tables",
        {
            "a-str.xml": REGION.format(CELLS),
            "a-reg.xml": REGION.format('<bounding-box x1="1" y1="2" x2="99" y2="98"/>'),
        },
    ),
    "pdf-parse-bench": (
        "tables",
        {
            "ground_truth/a.json": [
                {"type": "text", "data": "Slack water"},
                {"type": "table", "data": "\\begin{tabular}{l}a\\\\b\\end{tabular}", "complexity": "simple"},
            ]
        },
    ),
    "pubtables1m": (
        "tables",
        {
            "test/PMC1_table_0.xml": STRUCTURE,
            "words/PMC1_table_0_words.json": [
                {"bbox": [12, 12, 40, 30], "text": "a", "block_num": 1, "line_num": 1, "span_num": 1}
            ],
        },
    ),
    "soric": (
        "tables",
        {"test/a_1.xml": voc([("table", (1, 2, 90, 80))], 300, 200), "html/a_1_0.html": HTML},
    ),
}
"""Loader to its benchmark's protocol and the files of a small folder."""
PDFS = {"icdar2013": "a.pdf", "pdf-parse-bench": "pdfs/a.pdf"}
"""Of loaders that need them."""

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


def make(folder: Path, loader: str) -> Path:
    """Write the files of a loader's folder."""
    _, files = FOLDERS[loader]
    if loader in PDFS:
        make_pdf(folder / PDFS[loader])
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


def hostile_texts(content: str) -> Iterator[tuple[str, str]]:
    """Texts instead of a file's content, and of each text and attribute of its markup."""
    texts = {what: value for what, value in VALUES.items() if isinstance(value, str)}
    numbers = {what: str(value) for what, value in VALUES.items() if isinstance(value, int | float)}
    yield from texts.items()
    for place in re.finditer(r'(?<=>)[^<>]+(?=<)|(?<==")[^"]*(?=")', content):
        for what, value in (texts | numbers).items():
            yield f"{place.span()} is {what}", content[: place.start()] + value + content[place.end() :]
