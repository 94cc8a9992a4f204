// Python bindings of the kernel. What is bound here has a pure-Python twin in parsemark/kernels.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

#include "alignment.hpp"
#include "edit_similarity.hpp"
#include "grid_alignment.hpp"
#include "ordered_tree.hpp"
#include "plain_table.hpp"
#include "row_tree.hpp"
#include "sequence_matcher.hpp"
#include "similarity_matrix.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace parsemark;

namespace {

Text to_text(nb::handle item) {
  PyObject* object = item.ptr();
  if (!PyUnicode_Check(object)) throw nb::type_error("texts must be strings");
  const Py_ssize_t length = PyUnicode_GET_LENGTH(object);
  const int kind = PyUnicode_KIND(object);
  const void* data = PyUnicode_DATA(object);
  Text text(static_cast<std::size_t>(length), 0);
  for (Py_ssize_t i = 0; i < length; ++i) text[i] = PyUnicode_READ(kind, data, i);
  return text;
}

std::vector<Text> to_texts(const nb::list& items) {
  std::vector<Text> texts;
  texts.reserve(items.size());
  for (nb::handle item : items) texts.push_back(to_text(item));
  return texts;
}

nb::object to_str(const char32_t* characters, std::size_t length) {
  return nb::steal(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, characters, static_cast<Py_ssize_t>(length)));
}

nb::object plain_table(nb::str text) {
  const std::optional<PlainTable> table = read_plain_table(to_text(text));
  if (!table) return nb::none();
  nb::list texts;
  std::size_t begin = 0;
  for (std::size_t end : table->ends) {
    texts.append(to_str(table->characters.data() + begin, end - begin));
    begin = end;
  }
  nb::dict spans, marked;
  for (const auto& [cell, rows, cols] : table->spans) spans[nb::int_(cell)] = nb::make_tuple(rows, cols);
  for (const auto& [cell, pieces] : table->marked) {
    nb::list said;
    for (const Text& piece : pieces) said.append(to_str(piece.data(), piece.size()));
    marked[nb::int_(cell)] = said;
  }
  nb::object headers = nb::none();
  if (table->says_headers) headers = nb::cast(table->headers);
  return nb::make_tuple(table->start, table->end, table->row_lengths, texts, spans, headers, marked);
}

RowTree make_row_tree(std::vector<int> row_lengths, std::vector<std::int64_t> labels, const nb::list& texts) {
  std::size_t cells = 0;
  for (int length : row_lengths) {
    if (length < 0) throw nb::value_error("a row cannot have a negative length");
    cells += static_cast<std::size_t>(length);
  }
  if (cells != labels.size() || cells != texts.size())
    throw nb::value_error("row_lengths, labels and texts must describe the same cells");
  RowTree tree;
  tree.row_lengths = std::move(row_lengths);
  tree.labels = std::move(labels);
  for (nb::handle text : texts) tree.texts.add(to_text(text));
  tree.number_nodes();
  return tree;
}

OrderedTree make_ordered_tree(std::vector<int> leftmost, std::vector<std::string> labels, const nb::list& texts) {
  if (leftmost.size() != labels.size() || leftmost.size() != texts.size())
    throw nb::value_error("leftmost, labels and texts must describe the same nodes");
  std::vector<int> starts;  // of the subtrees that have no parent yet
  for (int i = 0; i < static_cast<int>(leftmost.size()); ++i) {
    int reached = i;
    while (!starts.empty() && starts.back() >= leftmost[i]) {
      reached = starts.back();
      starts.pop_back();
    }
    if (leftmost[i] != reached) throw nb::value_error("leftmost must name a leaf, children before their parents");
    starts.push_back(reached);
  }
  OrderedTree tree;
  tree.leftmost = std::move(leftmost);
  tree.labels = std::move(labels);
  for (nb::handle text : texts) {
    if (text.is_none()) {
      tree.text_ids.push_back(-1);
    } else {
      tree.texts.add(to_text(text));
      tree.text_ids.push_back(tree.texts.ids.back());
    }
  }
  return tree;
}

void fill_grid(Grid& grid, int rows, int cols, std::vector<int> ids, std::size_t n_entries) {
  if (rows < 0 || cols < 0 || ids.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols))
    throw nb::value_error("ids must have rows * cols entries");
  for (int id : ids)
    if (id < 0 || static_cast<std::size_t>(id) >= n_entries) throw nb::value_error("an id names no entry");
  grid.rows = rows;
  grid.cols = cols;
  grid.ids = std::move(ids);
}

TextGrid make_text_grid(int rows, int cols, std::vector<int> ids, const nb::list& texts) {
  TextGrid grid;
  grid.texts = to_texts(texts);
  fill_grid(grid, rows, cols, std::move(ids), grid.texts.size());
  return grid;
}

SpanGrid make_span_grid(int rows, int cols, std::vector<int> ids, std::vector<Span> spans) {
  SpanGrid grid;
  grid.spans = std::move(spans);
  fill_grid(grid, rows, cols, std::move(ids), grid.spans.size());
  return grid;
}

using MatchTuple = std::tuple<double, Pairs, Pairs>;

MatchTuple as_tuple(GridMatch match) { return {match.total, std::move(match.rows), std::move(match.cols)}; }

TextSimilarity text_similarity(const std::string& name) {
  if (name == "difflib") return TextSimilarity::kDifflib;
  if (name == "lcs") return TextSimilarity::kLcs;
  throw nb::value_error("similarity must be difflib or lcs");
}

SpanOverlap span_overlap(const std::string& name) {
  if (name == "union") return SpanOverlap::kUnion;
  if (name == "hull") return SpanOverlap::kHull;
  throw nb::value_error("overlap must be union or hull");
}

// Runs a computation that touches no Python object, so that other threads can go on meanwhile.
template <typename Computation>
auto without_gil(Computation compute) {
  nb::gil_scoped_release released;
  return compute();
}

template <int (*Compare)(PatternMasks&, int, int)>
int compare_texts(nb::str a, nb::str b) {
  const Text wanted = to_text(a), given = to_text(b);
  return without_gil([&] {
    PatternMasks masks({given}, {wanted});
    return Compare(masks, 0, 0);
  });
}

std::pair<double, Pairs> align(const std::vector<std::vector<double>>& rewards) {
  const int n_a = static_cast<int>(rewards.size());
  const int n_b = rewards.empty() ? 0 : static_cast<int>(rewards[0].size());
  for (const std::vector<double>& row : rewards)
    if (row.size() != static_cast<std::size_t>(n_b)) throw nb::value_error("rewards must be a rectangle");
  return without_gil([&]() -> std::pair<double, Pairs> {
    AlignmentTable table(n_a, n_b, true);
    for (const std::vector<double>& row : rewards) table.add_row([&](int j, double) { return row[j]; });
    return {table.value(n_b), table.trace()};
  });
}

using Scores = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using WritableFloats = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ids = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<nb::numpy, float, nb::ndim<2>, nb::c_contig>;

Matrix as_matrix(std::vector<float> values, std::size_t rows, std::size_t cols) {
  auto kept = std::make_unique<std::vector<float>>(std::move(values));
  float* data = kept->data();
  nb::capsule owner(kept.get(), [](void* held) noexcept { delete static_cast<std::vector<float>*>(held); });
  kept.release();
  return Matrix(data, {rows, cols}, owner);
}

std::vector<Text> to_short_texts(const nb::list& items) {
  std::vector<Text> texts = to_texts(items);
  for (const Text& text : texts)
    if (text.size() > kLongestCompared) throw nb::value_error("texts must not have more than 64 characters");
  return texts;
}

Matrix similarities(const nb::list& a, const nb::list& b) {
  const std::vector<Text> ours = to_short_texts(a), theirs = to_short_texts(b);
  return as_matrix(without_gil([&] { return similarity_matrix(ours, theirs); }), ours.size(), theirs.size());
}

void squares_by_kinds(const WritableFloats& matrix, const std::vector<std::int32_t>& a,
                      const std::vector<std::int32_t>& b, float factor, float both_empty) {
  if (matrix.shape(0) != a.size() || matrix.shape(1) != b.size())
    throw nb::value_error("there must be a kind for each row and each column");
  without_gil([&] { square_by_kinds(matrix.data(), a, b, factor, both_empty); });
}

Matrix maxima(const Floats& matrix, const Ids& ids) {
  const std::size_t n_rows = ids.shape(0), n_cols = ids.shape(1), width = matrix.shape(1);
  if (n_rows == 0) throw nb::value_error("there is no row to take the maximum of");
  for (std::size_t k = 0; k < n_rows * n_cols; ++k)
    if (ids.data()[k] < 0 || static_cast<std::size_t>(ids.data()[k]) >= matrix.shape(0))
      throw nb::index_error("an id names no row");
  return as_matrix(without_gil([&] { return column_maxima(matrix.data(), width, ids.data(), n_rows, n_cols); }),
                   n_cols, width);
}

}  // namespace

NB_MODULE(_native, m) {
  m.doc() = "Fast twins of the functions in parsemark.kernels.";
  // An editable checkout can be newer than what was compiled; the version tells (kernels/pure.py).
  m.attr("VERSION") = 6;

  nb::class_<RowTree>(m, "RowTree");
  nb::class_<OrderedTree>(m, "OrderedTree");
  nb::class_<TextGrid>(m, "TextGrid");
  nb::class_<SpanGrid>(m, "SpanGrid");

  m.def("row_tree", &make_row_tree, "row_lengths"_a, "labels"_a, "texts"_a);
  m.def("ordered_tree", &make_ordered_tree, "leftmost"_a, "labels"_a, "texts"_a);
  m.def("text_grid", &make_text_grid, "rows"_a, "cols"_a, "ids"_a, "texts"_a);
  m.def("span_grid", &make_span_grid, "rows"_a, "cols"_a, "ids"_a, "spans"_a);

  m.def("read_plain_table", &plain_table, "text"_a);
  m.def(
      "row_tree_distance",
      [](const RowTree& a, const RowTree& b, bool structure_only) {
        return without_gil([&] { return row_tree_distance(a, b, structure_only); });
      },
      "a"_a, "b"_a, "structure_only"_a = false);
  m.def(
      "ordered_tree_distance",
      [](const OrderedTree& a, const OrderedTree& b, bool structure_only) {
        return without_gil([&] { return ordered_tree_distance(a, b, structure_only); });
      },
      "a"_a, "b"_a, "structure_only"_a = false);
  m.def(
      "match_text_grids",
      [](const TextGrid& a, const TextGrid& b, const std::string& similarity) {
        const TextSimilarity kind = text_similarity(similarity);
        return without_gil([&] { return as_tuple(match_text_grids(a, b, kind)); });
      },
      "a"_a, "b"_a, "similarity"_a = "difflib");
  m.def(
      "match_span_grids",
      [](const SpanGrid& a, const SpanGrid& b, const std::string& overlap) {
        const SpanOverlap kind = span_overlap(overlap);
        return without_gil([&] { return as_tuple(match_span_grids(a, b, kind)); });
      },
      "a"_a, "b"_a, "overlap"_a = "union");

  m.def("levenshtein", &compare_texts<levenshtein>, "a"_a, "b"_a);
  m.def(
      "window_distance",
      [](nb::str pattern, nb::str text, int cutoff) {
        const Text wanted = to_text(pattern);
        const int most = static_cast<int>(std::min<std::size_t>(wanted.size(), 1u << 30));
        PatternMasks masks({wanted}, {to_text(text)});
        return window_distance(masks, 0, 0, std::min(cutoff, most));
      },
      "pattern"_a, "text"_a, "cutoff"_a);
  m.def("lcs_length", &compare_texts<lcs_length>, "a"_a, "b"_a);
  m.def("difflib_matched", &compare_texts<difflib_matched>, "a"_a, "b"_a);
  m.def(
      "close_matches",
      [](const nb::list& queries, const nb::list& candidates, double cutoff) {
        const std::vector<Text> wanted = to_texts(queries), given = to_texts(candidates);
        return without_gil([&] { return close_matches(wanted, given, cutoff); });
      },
      "queries"_a, "candidates"_a, "cutoff"_a);
  m.def("align", &align, "rewards"_a);
  m.def(
      "monotone_pairs",
      [](const Scores& scores) {
        return without_gil([&] { return monotone_pairs(scores.data(), scores.shape(0), scores.shape(1)); });
      },
      "scores"_a);
  m.def("similarity_matrix", &similarities, "a"_a, "b"_a);
  m.def("square_by_kinds", &squares_by_kinds, "matrix"_a, "a"_a, "b"_a, "factor"_a, "both_empty"_a);
  m.def("column_maxima", &maxima, "matrix"_a, "ids"_a);
}
