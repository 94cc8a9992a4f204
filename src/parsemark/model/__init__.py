"""What a page, element, fact, table, cell, box, prediction, matching and score *is*. Frozen, no I/O."""

from parsemark.model.document import (
    TRUTH_ERROR,
    AttributeValue,
    Category,
    Element,
    Fact,
    Match,
    Matching,
    Page,
    Prediction,
    Relation,
    Sample,
    Score,
    Status,
)
from parsemark.model.geometry import Box, extents
from parsemark.model.table import HOLE, Cell, Table, complexity, slot

__all__ = [
    "HOLE", "TRUTH_ERROR", "AttributeValue", "Box", "Category", "Cell", "Element", "Fact", "Match",
    "Matching", "Page", "Prediction", "Relation", "Sample", "Score", "Status", "Table",
    "complexity", "extents", "slot",
]  # fmt: skip
