r"""marker's own scorer: every block of the truth is looked for in the page, and their order is compared.

Written from a description of `datalab-to/marker`, `benchmarks/overall/scorers`, at commit 2f7f197;
`docs/marker.md` lists what is wrong with it and kept. Both sides go through pandoc twice, whose output
depends on its version (3.9 in the reference runs).
"""

import json
import re
import shutil
import subprocess
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import as_file, files
from itertools import combinations
from typing import Annotated, Any, ClassVar

from pydantic import Strict
from rapidfuzz.fuzz import partial_ratio_alignment

from parsemark.errors import FormatError, MissingDependencyError
from parsemark.formats import markdown_of, write_document
from parsemark.model import Page, Prediction
from parsemark.protocols import RunTables, Summary, in_order
from parsemark_boards.measured_protocol import MeasuredProtocol, own_truth, reading_truth

BLOCKS = "marker_blocks"  # where a page keeps its true blocks, as Markdown
CUTOFF = 70
BLOCK_SHARE, ORDER_SHARE = 0.8, 0.2
PANDOC_TIMEOUT_S = 60
_INSTALL = "pip install 'parsemark-boards[marker]'"
_PLAIN_SIGNS = {
    r"\times": "*", r"\cdot": "*", r"\div": "/", r"\le": "<=", r"\ge": ">=", r"\neq": "!=",
    r"\to": r"\rightarrow",
}  # fmt: skip
MAX_MARKS = 100_000_000
"""Opening marks times characters; more are refused, since each mark is looked for to the end."""


@dataclass(frozen=True)
class MarkerProtocol(MeasuredProtocol):
    """Text of each true block, and their order, as marker's benchmark scores them.

    Args:
        unfound_in_order: Blocks that are not found stand at position 0 and so in perfect order, as upstream
            has it; else the order is that of the found ones, and worth nothing without any.
    """

    name: ClassVar[str] = "marker"
    title: ClassVar[str] = "marker's benchmark: blocks and their order"
    upstream: ClassVar[str] = "marker 2f7f197 (July 2025)"
    comparability: ClassVar[int] = 1
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "blocks", "order": "order"}
    truth_models: ClassVar[Mapping[str, Any]] = {BLOCKS: list[Annotated[str, Strict()]]}

    unfound_in_order: bool = True

    def preload(self) -> None:
        """Find pandoc, or say that it is missing or too old, before anything is scored."""
        numbers = [int(part) for part in re.findall(r"\d+", pandoc_version())[:3]]
        if numbers < [3, 1, 1]:
            raise MissingDependencyError(
                f"pandoc 3.1.1 or newer (here is {pandoc_version()})", "marker's scorer", _INSTALL
            )

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """Return the numbers of a page."""
        blocks = own_truth(truth, BLOCKS)
        if blocks is None:
            blocks = [written for e in in_order(truth) if (written := write_document([e]).strip())]
        if not blocks:
            return None
        pred = markdown_of(prediction)
        with reading_truth():
            expected = cleaned(*blocks)
        found = page_score(blocks, pred, {**expected, **cleaned(pred)}.__getitem__)
        score, order = found.score, found.order
        if not self.unfound_in_order:
            places = [start for start, value in zip(found.starts, found.by_block, strict=False) if value]
            order = order_score(sorted(range(len(places)), key=places.__getitem__)) if places else 0.0
            score += ORDER_SHARE * (order - found.order)
        return {"score": score, "order": order, "blocks": (score - ORDER_SHARE * order) / BLOCK_SHARE}

    def summarise(self, tables: RunTables) -> Summary:
        """Return the figures, with the version of pandoc that they depend on."""
        return self.summary_of(tables, self.figure_sums(tables), settings={"pandoc": pandoc_version()})


@dataclass(frozen=True, slots=True)
class MarkerScore:
    """What came of a page, from 0 to 100."""

    score: float
    order: float
    by_block: tuple[float, ...]
    starts: tuple[int, ...] = ()


def page_score(blocks: Sequence[str], pred: str, clean: Callable[[str], str]) -> MarkerScore:
    """Score a page; `clean` gives texts as they are compared (see `cleaned`)."""
    if not pred:
        return MarkerScore(0.0, 0.0, (0.0,) * len(blocks))
    wanted, text = [clean(block) for block in blocks], clean(pred)
    scores, starts = [], []
    for block in wanted:
        found = partial_ratio_alignment(block, text, score_cutoff=CUTOFF)
        scores.append(0.0 if found is None else found.score)
        starts.append(0 if found is None else found.dest_start)
    order = order_score(sorted(range(len(starts)), key=starts.__getitem__))
    lengths = [len(block) for block in wanted]
    weighted = sum(s * n for s, n in zip(scores, lengths, strict=True)) / max(1, sum(lengths))
    value = BLOCK_SHARE * weighted + ORDER_SHARE * order
    return MarkerScore(value, order, tuple(scores), tuple(starts))


def order_score(order: Sequence[int]) -> float:
    """Return Kendall's tau of an order against 0, 1, 2, …, from 0 to 100."""
    n = len(order)
    if n < 2:
        return 100.0
    pairs, right = n * (n - 1) // 2, sum(a < b for a, b in combinations(order, 2))
    tau = (right - (pairs - right)) / pairs
    return (tau + 1) / 2 * 100


def cleaned(*texts: str) -> dict[str, str]:
    """Return texts as they are compared."""
    return {text: without_markup(md) for text, md in zip(texts, through_pandoc(*texts), strict=True)}


def without_markup(md: str) -> str:
    """Return the text after pandoc's steps: formulas, links, tags, white space, and a decoding that garbles
    other scripts.

    >>> without_markup("## Café ....")
    '# cafã© .'
    """
    if (md.count("![") + md.count("<span")) * len(md) > MAX_MARKS:
        raise FormatError("The text has too many links or tags")
    text = _with_plain_formulas(md)
    text = re.sub(r"!\[(.*?)\]\((https?://[^\s\)]+)\)", "![link]", text)
    text = re.sub("<br>", "\n", text)
    for tag in ("sub", "sup"):
        text = re.sub(f"<{tag}>(.*?)</{tag}>", r"\1", text)
    text = re.sub(r"<span.*?>(.*?)</span>", r"\1", text)
    for run, single in ((r"\s+", " "), (r"\.+", "."), ("#+", "#")):
        text = re.sub(run, single, text)
    with warnings.catch_warnings():  # an unknown escape stays as it is
        warnings.simplefilter("ignore")
        text = text.encode("utf-8", "ignore").decode("unicode-escape", "ignore")
    return text.strip().lower()


def _with_plain_formulas(text: str) -> str:
    r"""Rewrite all matches of `(?<!\\)\$(?:\$([^$]+)\$\$|\s*([^$\n]+?)\s*\$)` in one spelling."""
    out, at = [], 0
    while (start := text.find("$", at)) >= 0:
        mark = "$$" if text.startswith("$$", start) else "$"
        closing = text.find("$", start + len(mark))
        inner = text[start + len(mark) : closing]
        plain = None
        if closing > 0 and not (start and text[start - 1] == "\\"):
            if mark == "$$" and inner and text.startswith("$$", closing):
                plain = _mathml(inner)
            elif mark == "$" and "\n" not in inner.strip() and inner.strip("\n"):
                plain = _plain_latex(inner)
        out += [text[at:start], "$" if plain is None else f"{mark}{plain}{mark}"]
        at = start + 1 if plain is None else closing + len(mark)
    return "".join([*out, text[at:]])


def _mathml(latex: str) -> str:
    from latex2mathml.converter import convert

    try:
        return str(convert(latex))
    except Exception:  # whatever that library raises, the formula stays as it was
        return latex


def _plain_latex(latex: str) -> str:
    latex = re.sub(r"\s+", " ", latex).strip()
    latex = re.sub(r"\\(?:text|mathrm|mathbf|textbf)\{([^}]*)\}", r"\1", latex)
    for old, new in _PLAIN_SIGNS.items():
        latex = latex.replace(old, new)
    return latex


@cache
def find_pandoc() -> str:
    """Return the program, of this machine or of pypandoc_binary; MissingDependencyError without either."""
    with suppress(ImportError, OSError):
        from pypandoc import get_pandoc_path

        return str(get_pandoc_path())
    if found := shutil.which("pandoc"):
        return found
    raise MissingDependencyError("pandoc", "marker's scorer", _INSTALL)


@cache
def pandoc_version() -> str:
    """Return the version, which summaries have because published values cannot be repeated without it."""
    shown = subprocess.run([find_pandoc(), "--version"], capture_output=True, check=True, timeout=60)
    return shown.stdout.decode().split("\n", 1)[0]


@lru_cache(maxsize=64)
def through_pandoc(*texts: str) -> tuple[str, ...]:
    """Convert Markdown to HTML and back, all texts by one process: pandoc starts slower than it converts.

    FormatError where pandoc fails, or takes too long.
    """
    with as_file(files(__package__).joinpath("pandoc.lua")) as path:
        command = [find_pandoc(), "+RTS", "-M2g", "-RTS", "lua", str(path)]
        given = json.dumps([text.encode("utf-8", "replace").decode() for text in texts]).encode()
        try:
            done = subprocess.run(
                command, input=given, capture_output=True, timeout=PANDOC_TIMEOUT_S, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise FormatError(f"pandoc took more than {PANDOC_TIMEOUT_S} s") from error
    if done.returncode:
        raise FormatError(f"pandoc failed: {done.stderr.decode(errors='replace')[-200:]}")
    return tuple(json.loads(done.stdout))
