"""The recipe: its options, how an output is read as HTML and as placed blocks, and the benchmark's files."""

import functools
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from parsemark.formats import markdown_of
from parsemark.model import Box, Category, Fact, Page, Prediction
from parsemark.protocols import BoardRun, Files, as_json, as_lines
from parsemark.protocols.facts import Decide, FactsProtocol, Outcome
from parsemark_boards.katex import render_all
from parsemark_boards.labels import label_of
from parsemark_boards.omni_parse.equations import MathStyle, Renderer, math_spans
from parsemark_boards.omni_parse.rules import PlacedBlock, check
from parsemark_boards.omni_parse.text import hold, release
from parsemark_boards.omni_parse.truth import FAMILIES, RULES, check_test

_FENCE = re.compile(r"[ \t]*```([A-Za-z]*)[ \t]*")
_WRAPPERS = ("", "markdown", "md", "html")
_FRONT_MATTER = re.compile(r"^\s*---[ \t]*\n(?:[ \t]*[A-Za-z_][\w-]*:.*\n)+---[ \t]*(?:\n|$)")
_CODE = re.compile(r"(?ms)^[ \t]*```[^\n]*\n.*?^[ \t]*```[ \t]*$|`[^`\n]+`")
_ADDRESS = re.compile(r"<(?=[^<>\s@]+@[^<>\s@]+>)")
_NUMBERED = re.compile(r"(?m)^([ \t]{0,3}\d{1,9})([.)])(?=[ \t]|$)")
_BULLET = re.compile(r"(?m)^([ \t]{0,3})([-+*])(?=[ \t])")
_TABLE = re.compile(r"<table\b.*?</table>", re.S | re.I)
_ELEMENT = re.compile(
    r"<(figure|table|div|details|section|aside|p|pre|blockquote|ul|ol|li|dl|center|form|header|footer|"
    r"article|main|nav|fieldset|figcaption)\b.*?</\1\s*>",
    re.S | re.I,
)
_DISPLAY = re.compile(r"\$\$.+?\$\$|\\\[.+?\\\]", re.S)
_INLINE = re.compile(r"(?<!\\)\$(?!\s)[^$\n]+?(?<![\s\\])\$|\\\(.+?\\\)", re.S)
_IN_ROW = re.compile(
    r"(?<!\\)\$(?!\s)(?:(?=[^$\n]*[\\^_{])[^$\n]+?|[^$\n|]+?)(?<![\s\\])\$|\\\(.+?\\\)", re.S
)
_ROWS = re.compile(r"(?m)((?:^[ \t]*\|.*(?:\n|$))+)")
_RESULTS = {1.0: "pass", 0.0: "fail"}
_OTHERS = {"no_truth": "unsupported", "metric_failed": "error"}


@dataclass(frozen=True)
class OmniParseProtocol(FactsProtocol):
    """Share of Omni Parse Bench's tests that pass, as a mean over its families.

    Args:
        version: Release of omni-parse-bench whose rules apply. In 0.2.0, tests of layout do not count for a
            parser that gives no places of blocks, which has no headline then; since 1.0.0 they fail.
    """

    name: ClassVar[str] = "omni-parse"
    title: ClassVar[str] = "Omni Parse Bench: yes/no tests on pages"
    upstream: ClassVar[str] = "omni-parse-bench 1.0.0"
    comparability: ClassVar[int] = 2
    rules: ClassVar[str] = RULES
    is_complete: ClassVar[bool] = True
    group_word: ClassVar[str] = "family"
    crashed: ClassVar[bool | None] = None

    version: Literal["0.2.0", "1.0.0"] = "1.0.0"

    @property
    def rules_version(self) -> str:
        """Package and version."""
        return f"omni-parse-bench {self.version}"

    @classmethod
    def check_fact(cls, fact: Fact) -> None:
        """Raise CorpusError for a test that the benchmark refuses."""
        check_test(fact.kind, fact.arguments.get("args"), fact.arguments.get("settings", {}))

    def group_of(self, fact: Fact) -> str:
        """Return the family of its kind."""
        return FAMILIES[fact.kind]

    def deciding(self, facts: Sequence[Fact], truth: Page, prediction: Prediction) -> Decide:
        """Read the output as HTML and render its formulas together, then decide the facts one by one."""
        html, blocks = html_of_output(prediction), blocks_of_output(prediction, truth)
        render, is_old = _renderer(facts, html), self.version == "0.2.0"

        def decide(fact: Fact) -> Outcome:
            outcome = check(fact.kind, fact.arguments, html, blocks, render, by_slots=not is_old)
            if fact.kind != "layout_kind" or outcome.passed is not None:
                return outcome
            return Outcome(None if is_old else False, outcome.why, counts=not is_old)

        return decide

    def result_files(self, board: BoardRun) -> Files:
        """Return `PARSER/predictions/PAGE.json`, which `opb grade` reads, `scores.jsonl` and
        `summary.json`.
        """
        for parser in board.parsers:
            for sample, *_ in board.pages():
                truth, prediction = board.run.truth(sample), board.prediction(sample, parser)
                blocks = (blocks_of_output(prediction, truth) if truth else None) or []
                listed = [{"label": b.label, "bbox": [*b.box.as_tuple()], "text": b.text} for b in blocks]
                outputs = {"html": html_of_output(prediction), **({"blocks": listed} if blocks else {})}
                content = outputs if self.version == "0.2.0" else {"pages": [outputs]}
                yield f"{parser}/predictions/{sample}.json", as_json(content)
            yield f"{parser}/scores.jsonl", as_lines(map(_score_line, board.facts(parser)))
            yield f"{parser}/summary.json", as_json(board.figures(parser))


def _score_line(row: Mapping[str, Any]) -> dict[str, str]:
    result = _RESULTS.get(row["value"], _OTHERS.get(row["status"], "fail"))
    return {"id": row["element"], "page_id": row["sample"], "result": result, "why": row["message"] or ""}


def _renderer(facts: Sequence[Fact], html: str) -> Renderer:
    contents = [fact.arguments.get("args", {}).get("content", {}) for fact in facts if fact.kind == "present"]
    truths = [c["latex"] for c in contents if isinstance(c, dict) and isinstance(c.get("latex"), str)]
    wanted: dict[MathStyle, dict[str, None]] = {"block": dict.fromkeys(truths), "inline": {}}
    for tex, is_display in math_spans(html) if truths else ():
        if not tex.startswith("<math>"):
            wanted["block" if is_display else "inline"][tex] = None
    found = {style: render_all(style, formulas) for style, formulas in wanted.items()}
    return lambda style, tex: found[style].get(tex)


# --- outputs ------------------------------------------------------------------------------------------------


def html_of_output(prediction: Prediction) -> str:
    """Return the output as HTML."""
    text = markdown_of(prediction)
    return text if prediction.format == "html" and prediction.text is not None else html_of_markdown(text)


def html_of_markdown(md: str) -> str:
    """Return Markdown as HTML; list markers stay text, and formulas and HTML tables stay as they are."""
    md = textwrap.dedent(_FRONT_MATTER.sub("", _unwrapped(md), count=1))
    raw: list[str] = []
    md = hold(hold(md, _ELEMENT, raw), _CODE, raw)
    md = _BULLET.sub(r"\1\\\2", _NUMBERED.sub(r"\1\\\2", md))
    md = release(_ADDRESS.sub("&lt;", md), raw)
    held: list[str] = []
    md = hold(hold(md, _TABLE, held), _DISPLAY, held)
    parts = _ROWS.split(md)
    for i, part in enumerate(parts):
        parts[i] = hold(part, _IN_ROW if i % 2 else _INLINE, held)
    return release(str(_markdown_reader().render("".join(parts))), held)


def _unwrapped(md: str) -> str:
    """Return a text without a fence around the whole page."""
    lines = md.strip().split("\n")
    opened = _FENCE.fullmatch(lines[0])
    if opened is None or opened[1].lower() not in _WRAPPERS:
        return md
    fences = [i for i, line in enumerate(lines) if _FENCE.fullmatch(line)]
    if len(fences) % 2:
        return "\n".join(lines[1:])
    return "\n".join(lines[1 : fences[-1]]) if opened[1] or fences[-1] == len(lines) - 1 else md


@functools.cache
def _markdown_reader() -> Any:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).disable("reference")


def blocks_of_output(prediction: Prediction, page: Page) -> list[PlacedBlock] | None:
    """Return the blocks of an output with their places; None where the parser gives no places of texts."""
    if not any(e.box is not None and e.category != Category.TABLE for e in prediction.elements):
        return None
    blocks = []
    for element in prediction.elements:
        if element.box is not None:
            x0, y0, x1, y1 = element.box.as_tuple()
            box = Box(x0 / page.width, y0 / page.height, x1 / page.width, y1 / page.height)
            blocks.append(PlacedBlock(label_of(element, __package__), box, element.text or ""))
    return blocks
