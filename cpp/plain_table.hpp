// Reads a table that is written in the plainest HTML, in one pass and without a tree.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "texts.hpp"

namespace parsemark {

// A table at [start, end) of its text, cell by cell.
struct PlainTable {
  std::size_t start = 0, end = 0;
  std::vector<int> row_lengths;
  Text characters;                        // of all cells, one after the other, white space as single spaces
  std::vector<std::size_t> ends;          // where the characters of each cell end
  std::vector<std::array<int, 3>> spans;  // cell, rowspan, colspan: of those that cover several positions
  std::vector<bool> headers;              // of each cell: `th`, or in a `thead`
  bool says_headers = false;              // whether any cell or row is a header
  std::vector<std::pair<int, std::vector<Text>>> marked;  // cells with markup: text, tag, text, tag, …, text
};

// Nothing if the text is anything but one plain table, as kernels/plain_table.py defines it.
std::optional<PlainTable> read_plain_table(const Text& text);

}  // namespace parsemark
