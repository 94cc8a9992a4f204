"""Every kernel function gives the same values compiled and in Python, and those of a slow, obvious oracle."""

import difflib
import importlib
import os
import subprocess
import sys
from itertools import pairwise
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parsemark.kernels import kernel, pure

try:
    from parsemark.kernels import _native
except ImportError:
    _native = pure

IMPLEMENTATIONS = [pure] if _native is pure else [pure, _native]
both = pytest.mark.parametrize("impl", IMPLEMENTATIONS, ids=lambda m: m.__name__.rpartition(".")[2])
needs_native = pytest.mark.skipif(_native is pure, reason="the native kernel was not built")

short = st.text(alphabet="ab1. αé😀", max_size=12)
word = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789", max_size=70)
long = st.text(alphabet="abcdefg 12", max_size=320)


def test_the_native_module_has_every_function() -> None:
    assert set(pure.__all__) == {name for name in dir(kernel) if name in pure.__all__}


def _levenshtein(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
    return row[-1]


def _lcs(a: str, b: str) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        previous, row = row, [0]
        for j, y in enumerate(b, 1):
            row.append(previous[j - 1] + 1 if x == y else max(previous[j], row[-1]))
    return row[-1]


@both
@settings(max_examples=150)
@given(pattern=short | word, text=short | word | long, cutoff=st.integers(0, 80))
def test_window_distance(impl: ModuleType, pattern: str, text: str, cutoff: int) -> None:
    size = len(pattern)
    starts = range(len(text) - size + 1) if size else ()
    least = min((_levenshtein(pattern, text[i : i + size]) for i in starts), default=cutoff + 1)
    assert impl.window_distance(pattern, text, cutoff) == (least if least <= cutoff else -1)


@both
@settings(max_examples=150)
@given(a=short | word | long, b=short | word | long)
def test_text_comparisons(impl: ModuleType, a: str, b: str) -> None:
    assert impl.levenshtein(a, b) == _levenshtein(a, b)
    assert impl.lcs_length(a, b) == _lcs(a, b)
    matched = sum(m.size for m in difflib.SequenceMatcher(None, a, b).get_matching_blocks())
    assert impl.difflib_matched(a, b) == matched


@both
def test_difflib_ignores_popular_characters_of_long_texts(impl: ModuleType) -> None:
    a, b = "x" * 150 + "abc", "abc" + "x" * 250
    assert impl.difflib_matched(a, b) == 3
    assert impl.difflib_matched(a, b[:190]) == 150


@both
@settings(max_examples=100)
@given(
    queries=st.lists(short, max_size=6),
    candidates=st.lists(short, max_size=8),
    cutoff=st.sampled_from([0.1, 0.6, 0.8]),
)
def test_close_matches(impl: ModuleType, queries: list[str], candidates: list[str], cutoff: float) -> None:
    found = impl.close_matches(queries, candidates, cutoff)
    for query, index in zip(queries, found, strict=True):
        expected = difflib.get_close_matches(query, candidates, n=1, cutoff=cutoff)
        assert ([candidates[index]] if index >= 0 else []) == expected
        assert index < 0 or index == candidates.index(candidates[index])


rewards = st.integers(0, 5).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=n, max_size=n), min_size=1, max_size=5
    )
)


@both
@given(matrix=rewards)
def test_alignment_is_the_best_of_all(impl: ModuleType, matrix: list[list[float]]) -> None:
    def best(i: int, j: int) -> float:
        if i == len(matrix) or j == len(matrix[0]):
            return 0.0
        return max(matrix[i][j] + best(i + 1, j + 1), best(i + 1, j), best(i, j + 1))

    value, pairs = impl.align(matrix)
    assert value == pytest.approx(best(0, 0))
    assert value == pytest.approx(sum(matrix[i][j] for i, j in pairs))
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))


@both
@given(matrix=rewards)
def test_monotone_pairs_are_the_best_of_all(impl: ModuleType, matrix: list[list[float]]) -> None:
    scores = np.array(matrix).reshape(len(matrix), -1) - 0.25  # some are worth nothing, some less

    def best(i: int, j: int) -> float:
        if i == len(scores) or j == scores.shape[1]:
            return 0.0
        return max(scores[i, j] + best(i + 1, j + 1), best(i + 1, j), best(i, j + 1))

    pairs = impl.monotone_pairs(scores)
    assert sum(scores[i, j] for i, j in pairs) == best(0, 0)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(pairs))
    assert pairs == pure.monotone_pairs(scores)


@st.composite
def row_trees(draw: st.DrawFn) -> tuple[list[int], list[int], list[str]]:
    lengths = draw(st.lists(st.integers(0, 4), max_size=4))
    cells = sum(lengths)
    labels = draw(st.lists(st.sampled_from([0, 0, 0, 7]), min_size=cells, max_size=cells))
    texts = draw(st.lists(st.text("ab", max_size=3), min_size=cells, max_size=cells))
    return lengths, labels, texts


def as_ordered_tree(
    tree: tuple[list[int], list[int], list[str]],
) -> tuple[list[int], list[str], list[str | None]]:
    lengths, labels, texts = tree
    leftmost: list[int] = []
    names: list[str] = []
    contents: list[str | None] = []
    cells = iter(zip(labels, texts, strict=True))
    for length in lengths:
        start = len(names)
        for label, text in (next(cells) for _ in range(length)):
            leftmost.append(len(names))
            names.append(f"td {label}")
            contents.append(text)
        leftmost.append(start)
        names.append("tr")
        contents.append(None)
    return [*leftmost, 0], [*names, "table"], [*contents, None]


@both
@settings(max_examples=200)
@given(a=row_trees(), b=row_trees(), structure_only=st.booleans())
def test_row_trees_agree_with_zhang_and_shasha(impl: ModuleType, a, b, structure_only: bool) -> None:
    fast = impl.row_tree_distance(impl.row_tree(*a), impl.row_tree(*b), structure_only)
    general = pure.ordered_tree_distance(
        pure.ordered_tree(*as_ordered_tree(a)), pure.ordered_tree(*as_ordered_tree(b)), structure_only
    )
    assert fast == pytest.approx(general, abs=1e-9)


@both
def test_a_row_may_be_split_in_two(impl: ModuleType) -> None:
    two = impl.row_tree([5, 5], [0] * 10, list("abcdefghij"))
    one = impl.row_tree([10], [0] * 10, list("abcdefghij"))
    assert impl.row_tree_distance(two, one) == 3


@needs_native
@settings(max_examples=100)
@given(a=row_trees(), b=row_trees(), structure_only=st.booleans())
def test_ordered_trees_agree(a, b, structure_only: bool) -> None:
    x, y = as_ordered_tree(a), as_ordered_tree(b)
    native = _native.ordered_tree_distance(_native.ordered_tree(*x), _native.ordered_tree(*y), structure_only)
    python = pure.ordered_tree_distance(pure.ordered_tree(*x), pure.ordered_tree(*y), structure_only)
    assert native == pytest.approx(python, abs=1e-9)


@st.composite
def grids(draw: st.DrawFn) -> tuple[int, int, list[int], list[str]]:
    rows, cols = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    texts = draw(st.lists(st.text("ab1", max_size=10), min_size=1, max_size=12))
    ids = draw(st.lists(st.integers(0, len(texts) - 1), min_size=rows * cols, max_size=rows * cols))
    return rows, cols, ids, texts


@needs_native
@settings(max_examples=300)
@given(a=grids(), b=grids(), changed=st.text("ab", max_size=4), similar=st.booleans())
def test_grid_matches_agree_to_the_last_bit(a, b, changed: str, similar: bool) -> None:
    if similar:  # exercises the path that evaluates only what can matter
        b = (*a[:3], [changed, *a[3][1:]])
    for similarity in ("difflib", "lcs"):
        native = _native.match_text_grids(_native.text_grid(*a), _native.text_grid(*b), similarity)
        assert native == pure.match_text_grids(pure.text_grid(*a), pure.text_grid(*b), similarity)


@needs_native
@settings(max_examples=200)
@given(
    a=grids(),
    b=grids(),
    spans=st.lists(
        st.tuples(st.integers(-2, 0), st.integers(-2, 0), st.integers(1, 3), st.integers(1, 3)),
        min_size=12,
        max_size=12,
    ),
)
def test_span_matches_agree_to_the_last_bit(a, b, spans) -> None:
    x, y = (*a[:3], spans), (*b[:3], spans[::-1])
    for overlap in ("union", "hull"):
        native = _native.match_span_grids(_native.span_grid(*x), _native.span_grid(*y), overlap)
        assert native == pure.match_span_grids(pure.span_grid(*x), pure.span_grid(*y), overlap)


@both
def test_bad_input_is_a_value_error(impl: ModuleType) -> None:
    for call in (
        lambda: impl.row_tree([2], [0], ["a"]),
        lambda: impl.row_tree([-1], [], []),
        lambda: impl.ordered_tree([1], ["a"], [None]),
        lambda: impl.text_grid(1, 2, [0], ["a"]),
        lambda: impl.text_grid(1, 1, [3], ["a"]),
        lambda: impl.align([[1.0], []]),
        lambda: impl.match_text_grids(impl.text_grid(1, 1, [0], [""]), impl.text_grid(1, 1, [0], [""]), "x"),
    ):
        with pytest.raises(ValueError):
            call()


def test_the_switch_to_python() -> None:
    code = """
from parsemark.kernels import is_native
from parsemark import teds
print(is_native(), teds("<table><tr><td>a</td></tr></table>", "<table><tr><td>b</td></tr></table>"))
"""
    environment = {**os.environ, "PARSEMARK_PURE_PYTHON": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["False", "0.5"]


def test_one_warning_without_the_native_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    import parsemark.kernels as kernels

    monkeypatch.delenv("PARSEMARK_PURE_PYTHON", raising=False)
    monkeypatch.setitem(sys.modules, "parsemark.kernels._native", None)
    monkeypatch.delattr(kernels, "_native", raising=False)
    with pytest.warns(RuntimeWarning, match="C\\+\\+17 compiler") as caught:
        assert kernels._choose() is importlib.import_module("parsemark.kernels.pure")
    assert len(caught) == 1


_compared = short | st.text("ab1.α😀", max_size=64)


@both
@settings(max_examples=150, deadline=None)
@given(a=st.lists(_compared, max_size=40), b=st.lists(_compared, max_size=4))
def test_similarity_matrix(impl: ModuleType, a: list[str], b: list[str]) -> None:
    found = impl.similarity_matrix(a, b)
    assert found.shape == (len(a), len(b))
    assert found.dtype == np.float32
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            longer = max(len(one), len(other))
            alike = 1 - _levenshtein(one, other) / longer if longer else 1.0
            assert found[i, j] == np.float32(alike)


@both
@pytest.mark.parametrize("texts", [(["a" * 65], ["a"]), (["a"], ["a" * 65])])
def test_texts_that_are_too_long_for_a_word_are_refused(
    impl: ModuleType, texts: tuple[list[str], list[str]]
) -> None:
    with pytest.raises(ValueError, match="64 characters"):
        impl.similarity_matrix(*texts)


@both
@given(st.lists(st.integers(-1, 5), max_size=6), st.lists(st.integers(-1, 5), max_size=6), st.data())
def test_square_by_kinds(impl: ModuleType, a: list[int], b: list[int], data: st.DataObject) -> None:
    row = st.lists(st.floats(0, 1, width=32), min_size=len(b), max_size=len(b))
    rows = data.draw(st.lists(row, min_size=len(a), max_size=len(a)))
    matrix = np.array(rows, dtype=np.float32).reshape(len(a), len(b))
    impl.square_by_kinds(matrix, a, b, 0.3, 0.1)
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            value = np.float32(rows[i][j])
            if -1 in (one, other):
                wanted = np.float32(0.1 if one == other else 0.0)
            elif (one % 2 or other % 2) and one // 2 != other // 2:
                wanted = value * value * np.float32(0.3)
            else:
                wanted = value * value
            assert matrix[i, j] == wanted


@both
def test_each_row_and_column_needs_a_kind(impl: ModuleType) -> None:
    with pytest.raises(ValueError, match="a kind for each"):
        impl.square_by_kinds(np.zeros((2, 1), dtype=np.float32), [0], [0, 0], 0.3, 0.1)


@both
@given(
    matrix=st.integers(1, 5).flatmap(
        lambda width: st.lists(
            st.lists(st.floats(0, 1, width=32), min_size=width, max_size=width), min_size=1, max_size=6
        )
    ),
    data=st.data(),
)
def test_column_maxima(impl: ModuleType, matrix: list[list[float]], data: st.DataObject) -> None:
    n_cols = data.draw(st.integers(0, 4))
    row = st.lists(st.integers(0, len(matrix) - 1), min_size=n_cols, max_size=n_cols)
    ids = data.draw(st.lists(row, min_size=1, max_size=5))
    found = impl.column_maxima(
        np.array(matrix, dtype=np.float32), np.array(ids, dtype=np.int64).reshape(len(ids), n_cols)
    )
    best = [[max(matrix[r[c]][k] for r in ids) for k in range(len(matrix[0]))] for c in range(n_cols)]
    assert found.tolist() == best


_multiples = st.integers(0, 64).map(lambda n: n / 64)  # sums of these are exact


@st.composite
def lines_of_texts(draw: st.DrawFn) -> tuple[list[list[float]], *tuple[list[list[int]], ...]]:
    """A matrix of likenesses, then for both sides the ids and the flags, line by line."""
    width, length = draw(st.integers(1, 4)), draw(st.integers(0, 4))
    matrix = draw(st.lists(st.lists(_multiples, min_size=width, max_size=width), min_size=1, max_size=4))
    sides = []
    for texts in (len(matrix), width):
        count = draw(st.integers(0, 4))
        for values in (st.integers(0, texts - 1), st.booleans()):
            line = st.lists(values, min_size=length, max_size=length)
            sides.append(draw(st.lists(line, min_size=count, max_size=count)))
    return matrix, *sides


@both
@given(lines_of_texts())
def test_line_likeness(impl: ModuleType, case: tuple[list, list, list, list, list]) -> None:
    matrix, a, filled_a, b, filled_b = case
    length = len((a or b or [[]])[0])
    as_columns = [
        np.ascontiguousarray(np.array(lines, dtype=kind).reshape(len(lines), length).T)
        for lines, kind in ((a, np.int64), (b, np.int64), (filled_a, np.bool_), (filled_b, np.bool_))
    ]
    likeness = impl.line_likeness(np.array(matrix, dtype=np.float32), *as_columns)
    assert likeness.shape == (len(a), len(b))
    for i, (one, said) in enumerate(zip(a, filled_a, strict=True)):
        for j, (other, told) in enumerate(zip(b, filled_b, strict=True)):
            pairs = zip(one, other, said, told, strict=True)
            values = [matrix[x][y] for x, y, is_said, is_told in pairs if is_said or is_told]
            assert likeness[i, j] == (sum(values) / len(values) if values else 0)


@both
def test_lines_that_do_not_fit_are_refused(impl: ModuleType) -> None:
    matrix, ids, flags = np.zeros((2, 3), np.float32), np.zeros((2, 1), np.int64), np.ones((2, 1), np.bool_)
    for arguments, error in (
        ((ids, ids[:1], flags, flags[:1]), ValueError),
        ((ids, ids, flags[:1], flags), ValueError),
        ((ids + 2, ids, flags, flags), IndexError),
        ((ids, ids + 3, flags, flags), IndexError),
        ((ids, ids - 1, flags, flags), IndexError),
    ):
        with pytest.raises(error):
            impl.line_likeness(matrix, *arguments)


@both
@pytest.mark.parametrize(
    ("ids", "error"),
    [
        (np.zeros((0, 2), dtype=np.int64), ValueError),
        (np.array([[2]], dtype=np.int64), IndexError),
        (np.array([[-1]], dtype=np.int64), IndexError),
    ],
)
def test_ids_that_name_no_row_are_refused(
    impl: ModuleType, ids: "np.ndarray[tuple[int, int], np.dtype[np.int64]]", error: type[Exception]
) -> None:
    with pytest.raises(error):
        impl.column_maxima(np.zeros((2, 3), dtype=np.float32), ids)


@pytest.mark.parametrize("leftmost", [[0, 0, 2, 1], [1], [-1], [0, 1, 0, 1]])
@both
def test_trees_whose_parents_are_out_of_order_are_refused(impl: ModuleType, leftmost: list[int]) -> None:
    with pytest.raises(ValueError, match="children before their parents"):
        impl.ordered_tree(leftmost, ["a"] * len(leftmost), [None] * len(leftmost))


@both
def test_any_cutoff_is_taken(impl: ModuleType) -> None:
    assert impl.window_distance("abc", "xxabdx", 2**31 - 1) == 1


@needs_native
def test_texts_with_too_many_blocks_in_common_are_refused() -> None:
    """Both cyclic, one backwards: difflib cuts one character off at a time."""
    letters = "".join(chr(0x4E00 + i) for i in range(105))
    a, b = (letters * 600)[:60_000], (letters[::-1] * 600)[:60_000]
    with pytest.raises(ValueError, match="too many blocks"):
        _native.difflib_matched(a, b)
