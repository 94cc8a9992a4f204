"""opendataloader-bench's rules on a page: NID, TEDS and MHS, each also without content.

Everything is as in `opendataloader-project/opendataloader-bench` at commit b4b9505;
`docs/opendataloader.md` lists what is wrong with it and kept.
"""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator
from rapidfuzz.fuzz import ratio

from parsemark.errors import FormatError
from parsemark.formats import markdown_of
from parsemark.kernels import kernel
from parsemark.metrics import (
    MAX_TREE_PAIRS,
    EditTree,
    check_pairs,
    reference_table,
    reference_tree,
    tree_similarity,
)
from parsemark.model import Category, Page, Prediction, Status
from parsemark.protocols import (
    BoardRun,
    FigureSums,
    Files,
    RunTables,
    as_csv,
    as_json,
    html_of,
    in_order,
    text_of,
)
from parsemark_boards.labels import label_of
from parsemark_boards.measured_protocol import LeftOutError, MeasuredProtocol, own_truth, reading_truth
from parsemark_boards.near_search import between
from parsemark_boards.truth_model import benchmark_rules

MARKDOWN = "opendataloader_markdown"  # where a page keeps its true Markdown
MEASURES = ("nid", "nid_s", "teds", "teds_s", "mhs", "mhs_s")
OVERALL = ("nid", "teds", "mhs")
MAX_MARKUP = 5_000_000  # characters of the tables of a page; nested ones count again
_OPENING, _CLOSING = re.compile("<table[^>]*?>", re.I), re.compile("</table>", re.I)
_HEADING = re.compile(r"^(#{1,6})\s+(.*)$")
_LINE_END = re.compile(r"<br\s*/?>")
_NAMES = ("overall", *MEASURES)


def true_markdown(page: Page) -> str:
    """Return the benchmark's own truth, or one made of a page's elements as the benchmark made its own."""
    stored = own_truth(page, MARKDOWN)
    if stored is not None:
        return str(stored)
    from bs4 import BeautifulSoup

    parts = []
    for element in in_order(page):
        if element.category == Category.TABLE:
            parts.append(BeautifulSoup(html_of(element), "html.parser").prettify().strip())
        elif text := text_of(element):
            parts.append(label_of(element, __package__) + text)
    return "\n\n".join(part for part in parts if part)


@dataclass(frozen=True)
class TruePage:
    """A true page, of which each part is read once."""

    markdown: str

    @cached_property
    def text(self) -> str:
        """Return the page with its pipe tables as HTML."""
        return with_html_tables(self.markdown)

    @cached_property
    def tables(self) -> Sequence[str]:
        """Return its tables."""
        return _tables(self.text)

    @cached_property
    def tree(self) -> EditTree:
        """Return all its tables as one tree."""
        return _tree(self.tables)

    def read(self) -> None:
        """Raise ValueError or FormatError for tables that cannot be read."""
        if self.tables:
            _ = self.tree

    def scores(self, output: str) -> dict[str, float | None]:
        """See `page_scores`."""
        pred, scores = with_html_tables(output), dict[str, float | None]()
        scores["nid"], scores["nid_s"] = _nid(self.text, pred)
        scores["teds"], scores["teds_s"] = self._teds(pred)
        scores["mhs"], scores["mhs_s"] = _mhs(self.text, pred)
        known = [value for name in OVERALL if (value := scores[name]) is not None]
        scores["overall"] = sum(known) / len(known) if known else None
        return scores

    def _teds(self, pred: str) -> tuple[float | None, float | None]:
        if not self.tables:
            return None, None
        if not (found := _tables(pred)):
            return 0.0, 0.0
        a, b = self.tree, _tree(found)
        return tree_similarity(a, b, False), tree_similarity(a, b, True)


def _check_markdown(markdown: str) -> str:
    """Refuse a page with tables that the benchmark cannot read."""
    with benchmark_rules():
        TruePage(markdown).read()
    return markdown


TrueMarkdown = Annotated[str, AfterValidator(_check_markdown)]
"""A true page as Markdown."""


@dataclass(frozen=True)
class OpendataloaderProtocol(MeasuredProtocol):
    """NID, TEDS and MHS of Markdown pages, as opendataloader-bench computes them.

    Args:
        page_errors_drop: A page with a span that is no number disappears from all means, as upstream has it;
            else it is worth nothing.
    """

    name: ClassVar[str] = "opendataloader"
    title: ClassVar[str] = "opendataloader-bench: reading order, tables, headings"
    upstream: ClassVar[str] = "opendataloader-bench b4b9505 (January 2026)"
    comparability: ClassVar[int] = 1
    figures_by_kind: ClassVar[Mapping[str, str]] = {"text": "nid_s", "tables": "teds", "headings": "mhs"}
    table_matching: ClassVar[str] = "order"
    truth_models: ClassVar[Mapping[str, Any]] = {MARKDOWN: TrueMarkdown}

    page_errors_drop: bool = True

    def measure(self, truth: Page, prediction: Prediction) -> Mapping[str, float | None] | None:
        """Return the seven numbers of a page."""
        expected = TruePage(true_markdown(truth))
        with reading_truth():
            expected.read()
        try:
            return expected.scores(markdown_of(prediction))
        except ValueError as error:
            if self.page_errors_drop:
                raise LeftOutError(str(error)) from error
            raise

    def result_files(self, board: BoardRun) -> Files:
        """Return the files of each engine; pages that upstream drops are not in its evaluation."""
        for parser in board.parsers:
            folder, values = f"prediction/{parser}", board.values(parser)
            listed: list[dict[str, Any]] = []
            missing = 0
            for sample, document, _ in board.pages():
                prediction = board.prediction(sample, parser)
                is_there = prediction.status is not Status.NO_PREDICTION
                missing += not is_there
                if is_there:
                    yield f"{folder}/markdown/{document}.md", markdown_of(prediction)
                scores = {name: values.get(sample, {}).get(name) for name in _NAMES}
                if any(value is not None for value in scores.values()):
                    listed.append(
                        {"document_id": document, "scores": scores, "prediction_available": is_there}
                    )
            figures = board.figures(parser)
            counts = {f"{n}_count": sum(own["scores"][n] is not None for own in listed) for n in OVERALL}
            means = {f"{name}_mean": figures.get(name) for name in _NAMES}
            metrics = {"score": means, **counts, "missing_predictions": missing}
            summary = {"engine_name": parser, "document_count": len(listed)}
            evaluation = {"summary": summary, "metrics": metrics, "documents": listed}
            yield f"{folder}/evaluation.json", as_json(evaluation)
            rows = [[f"'{own['document_id']}", *own["scores"].values()] for own in listed]
            yield f"{folder}/evaluation.csv", as_csv([["document_id", *_NAMES], *rows])

    def figure_sums(self, tables: RunTables) -> list[FigureSums]:
        """Return means over pages, and the README's overall."""
        overall, nid, teds, mhs, *rest = super().figure_sums(tables)
        return [overall, nid, teds, mhs, self.mean_of_means((nid, teds, mhs)), *rest]


def page_scores(truth: str, pred: str) -> dict[str, float | None]:
    """Return the six measures of a page and their `overall`; None where the truth has nothing to measure.

    ValueError where a span is no number: upstream then drops the page. FormatError for tables too large.
    """
    return TruePage(truth).scores(pred)


# --- pipe tables --------------------------------------------------------------------------------------------


def _cells(line: str) -> list[str] | None:
    line = line.strip()
    if "|" not in line:
        return None
    parts = line.removeprefix("|").split("|")
    return [part.strip() for part in (parts[:-1] if line.endswith("|") else parts)] or None


def _fitted(parts: list[str], width: int) -> list[str]:
    if len(parts) == 3 and width > 3:
        return [parts[0], *[parts[1]] * (width - 2), parts[2]]
    return [*parts, *[""] * (width - len(parts))][:width]


def with_html_tables(md: str) -> str:
    r"""Return a page with its pipe tables as HTML.

    >>> with_html_tables("|x|y|\n|-|-|\n|1|2|")
    '<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>\n'
    """
    lines = md.splitlines(keepends=True)
    out: list[str] = []
    at = 0
    while at < len(lines):
        head = _cells(lines[at])
        rule = _cells(lines[at + 1]) if head and at + 1 < len(lines) else None
        if head is None or not rule or not all(re.fullmatch("[-:][-: ]*", part) for part in rule):
            out.append(lines[at])
            at += 1
            continue
        width, end = max(len(head), len(rule)), at + 2
        rows = [_fitted(head, width)]
        while end < len(lines) and (parts := _cells(lines[end])) is not None:
            rows.append(_fitted(parts, width))
            end += 1
        if len(rows) > 1 and not any(rows[0]):
            rows = rows[1:]
        line_end = lines[at][len(lines[at].rstrip("\r\n")) :]
        out += ["<table>", _row(rows[0], "th"), *(_row(row, "td") for row in rows[1:]), f"</table>{line_end}"]
        at = end
    return "".join(out)


def _row(cells: Sequence[str], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


# --- reading order ------------------------------------------------------------------------------------------


def _collapsed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _without_tables(text: str) -> str:
    kept, at = [], 0
    for start, _, _, end in between(text, _OPENING, _CLOSING):
        kept.append(text[at:start])
        at = end
    return " ".join([*kept, text[at:]])


def _nid(truth: str, pred: str) -> tuple[float | None, float | None]:
    if not _collapsed(truth):
        return None, None
    bare = _collapsed(_without_tables(truth)), _collapsed(_without_tables(pred))
    return ratio(_collapsed(truth), _collapsed(pred)) / 100.0, ratio(*bare) / 100.0


# --- tables -------------------------------------------------------------------------------------------------


def _tables(text: str) -> list[str]:
    if "<table" not in text.lower():
        return []
    from bs4 import BeautifulSoup

    found, size = [], 0
    for table in BeautifulSoup(text, "html.parser").find_all("table"):
        found.append(str(table))
        size += len(found[-1])
        if size > MAX_MARKUP:
            raise FormatError(f"The tables have more than {MAX_MARKUP:,} characters")
    return found


def _tree(tables: Sequence[str]) -> EditTree:
    """Return all tables of a page below one outer table, which upstream's own wrapper adds."""
    joined = "\n".join(tables)
    document = f"<html><body><table><html><body>\n{joined}\n</body></html></table></body></html>"
    root = reference_table(document)
    if root is None:
        raise FormatError("The tables of the page are not HTML")
    for head in root.iter("th"):
        head.tag = "td"
    tree = reference_tree(root)
    texts = (None if own is None else html.unescape("".join(own)) for own in tree.contents)
    plain = (None if text is None else _collapsed(_LINE_END.sub("\n", text)) for text in texts)
    return replace(tree, contents=tuple(plain))


# --- headings -----------------------------------------------------------------------------------------------

HeadingTree = list[Any]  # [tag, text, children…]


def heading_tree(md: str) -> HeadingTree:
    """Return the headings of a page below its root, whatever their levels, each with the text up to the
    next.
    """
    root: HeadingTree = ["document", None]
    owner, lines = root, list[str]()

    def close() -> None:
        if lines:
            owner.append(["content", " ".join(lines)])
        lines.clear()

    for line in md.splitlines():
        heading = _HEADING.match(line)
        if heading is not None:
            close()
            owner = ["heading", _collapsed(heading[2])]
            root.append(owner)
        elif (text := _collapsed(line)) != "":
            lines.append(text)
    close()
    return root


def _mhs(truth: str, pred: str) -> tuple[float | None, float | None]:
    wanted, found = heading_tree(truth), heading_tree(pred)
    if not any(child[0] == "heading" for child in wanted[2:]):
        return None, None
    if not any(child[0] == "heading" for child in found[2:]):
        return 0.0, 0.0
    nodes = [list(_postorder(tree)) for tree in (wanted, found)]
    check_pairs("headings", len(nodes[0]), len(nodes[1]), MAX_TREE_PAIRS)
    trees = [kernel.ordered_tree(*(list(column) for column in zip(*own, strict=True))) for own in nodes]
    size = max(map(len, nodes))
    full, bare = (kernel.ordered_tree_distance(*trees, only) for only in (False, True))
    return max(0.0, 1.0 - full / size), max(0.0, 1.0 - bare / size)


def _postorder(tree: HeadingTree, first: int = 0) -> Iterator[tuple[int, str, str | None]]:
    """Yield the leftmost leaf, tag and text of each node."""
    at = first
    for child in tree[2:]:
        for node in _postorder(child, at):
            yield node
            at += 1
    yield first, tree[0], tree[1]
