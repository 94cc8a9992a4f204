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

}  // namespace parsemark
