"""All kernel functions in Python, under the names that the native module has."""

from parsemark.kernels.grid_alignment import match_span_grids, match_text_grids, span_grid, text_grid
from parsemark.kernels.matrices import column_maxima, similarity_matrix, square_by_kinds
from parsemark.kernels.sequences import (
    align,
    close_matches,
    difflib_matched,
    lcs_length,
    levenshtein,
    monotone_pairs,
    window_distance,
)
from parsemark.kernels.trees import ordered_tree, ordered_tree_distance, row_tree, row_tree_distance

VERSION = 5
"""Raised with every change of what a kernel function takes or returns; `cpp/module.cpp` has the same."""

__all__ = [
    "VERSION", "align", "close_matches", "column_maxima", "difflib_matched", "lcs_length", "levenshtein",
    "match_span_grids", "match_text_grids", "monotone_pairs", "ordered_tree", "ordered_tree_distance",
    "row_tree", "row_tree_distance", "similarity_matrix", "span_grid", "square_by_kinds", "text_grid",
    "window_distance",
]  # fmt: skip
