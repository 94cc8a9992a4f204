"""TEDS: tree-edit-distance-based similarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from parsemark.metrics.base import Facts, Metric
from parsemark.metrics.edit_tree import EditTree, edit_distance, html_tree, plain_tree
from parsemark.metrics.prepared import AnyTable, TableInput, as_input, as_truth
from parsemark.metrics.size_limits import (
    MAX_CHARACTER_PAIRS,
    MAX_POSITION_PAIRS,
    MAX_TREE_PAIRS,
    check_pairs,
)


@dataclass(frozen=True)
class Teds(Metric[TableInput]):
    r"""Tree-edit-distance-based similarity: 1 − distance / size of the larger tree.

    A table is a tree. Inserting or deleting a node costs 1; renaming costs 1 if tag or spans differ,
    else, for cells, the Levenshtein distance of their contents over the longer length. The size is the
    number of elements below the root. The value can be negative (1 × 6 against 6 × 1: −1/12).

    Options:
        structure_only: Ignore what is written in the cells (TEDS-Struct).
        normalize: `soric` keeps only table, tr and td on both sides, as Soric et al. do: th becomes td,
        all other
            markup is unwrapped. `none` takes the HTML as it is given: thead, tbody and th are nodes, and
            markup inside of a cell is one token per tag and one element each in the size. So it is in the
            reference: a thousand empty `<i></i>` in a cell make the tree so large that nothing else counts
            (a table with one wrong cell of four rises from .833 to .999). `soric` knows no such elements.

    Empty cases: two empty tables are equal (1). An empty table against another has 0.

    Differences from the reference (PubTabNet's metric.py): it scores 0 where a table is not a direct
    child of body, divides by zero for two empty tables and fails on `colspan="2%"`; here the first table
    counts wherever it is, and spans are read as browsers read them. Where the reference has a value,
    `normalize=none` has the same, white space included. `soric` reads runs of white space as one space, as
    all of parsemark does; `TableInput(…, raw=True)` and `parsemark pairs --raw` keep it.

    >>> from parsemark.metrics import teds
    >>> teds("<table><tr><td>a</td><td>b</td></tr></table>", "<table><tr><td>a</td></tr></table>")
    0.6666666666666667
    >>> round(teds("| a | b |\n|---|---|\n| 1 | 20 |", "| a | b |\n|---|---|\n| 1 | 2 |"), 4)
    0.9167
    """

    name = "teds"
    facts = Facts(
        title="Tree-edit-distance-based similarity",
        range=(-1.0, 1.0),
        symmetric=True,
        citation="Zhong et al. 2020, Image-based table recognition (ECCV)",
        reference="PubTabNet metric.py",
        label="TEDS",
    )

    structure_only: bool = False
    normalize: Literal["soric", "none"] = "soric"

    def compute(self, truth: TableInput, pred: TableInput) -> float:
        """The value for one pair."""
        tree = plain_tree if self.normalize == "soric" else html_tree
        a, b = truth.derive(tree), pred.derive(tree)
        if truth.is_absent or pred.is_absent or a.n_elements == b.n_elements == 0:
            return float(a.n_elements == b.n_elements)
        return tree_similarity(a, b, self.structure_only)


def tree_similarity(a: EditTree, b: EditTree, structure_only: bool) -> float:
    """1 − edit distance over the larger number of elements; neither clamped nor defined without elements.

    Raises:
        FormatError: The trees are too large to compare.
        ZeroDivisionError: Neither has an element below its root.
    """
    are_rows = a.row_lengths is not None and b.row_lengths is not None
    check_pairs("nodes", len(a.labels), len(b.labels), MAX_POSITION_PAIRS if are_rows else MAX_TREE_PAIRS)
    if not structure_only:
        check_pairs("characters", a.n_characters, b.n_characters, MAX_CHARACTER_PAIRS)
    return 1.0 - edit_distance(a, b, structure_only) / max(a.n_elements, b.n_elements)


def teds(truth: AnyTable, pred: AnyTable, *, structure_only: bool = False, normalize: str = "soric") -> float:
    """TEDS of two tables; see `Teds`.

    Raises:
        FormatError: A table cannot be read, or the two are too large to compare.
    """
    metric = Teds.from_options({"structure_only": structure_only, "normalize": normalize})
    return metric.compute(as_truth(truth), as_input(pred))
