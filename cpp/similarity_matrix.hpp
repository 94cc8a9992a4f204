// Many short texts compared with many others at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "texts.hpp"

namespace parsemark {

// Texts of more characters do not fit into a word.
constexpr std::size_t kLongestCompared = 64;

// Normalised Levenshtein similarity (1 minus the distance over the longer length; 1 for two empty texts) of each
// text of `a` to each of `b`, row by row. None of them is longer than kLongestCompared.
std::vector<float> similarity_matrix(const std::vector<Text>& a, const std::vector<Text>& b);

// For each column of `ids` (n_rows × n_cols entries that name rows of `matrix`) the elementwise maximum of the
// rows, `width` long, that it names: n_cols × width.
std::vector<float> column_maxima(const float* matrix, std::size_t width, const std::int64_t* ids, std::size_t n_rows,
                                 std::size_t n_cols);

// Lines of entries, each of which names a text: entry k of line i is `ids[k * count + i]`.
struct Lines {
  const std::int64_t* ids;
  const bool* filled;  // whether the entry says something
  std::size_t length, count;
};

// For each line of `a` and each of `b` the mean likeness of their entries where either says something, 0 without any:
// count of `a` × count of `b`. The likeness of text i of `a` and text j of `b` is `matrix[i * width + j]`.
std::vector<double> line_likeness(const float* matrix, std::size_t width, const Lines& a, const Lines& b);

// Squares each entry of `matrix` (a.size() × b.size()) in place. The kind of a text is -1 if it is empty, else twice the
// number of its class, plus one if only texts of its own class are like it: those of other classes have `factor` of
// their square. An empty text is like no other; two of them have `both_empty`.
void square_by_kinds(float* matrix, const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b,
                     float factor, float both_empty);

}  // namespace parsemark
