// Exact tree edit distance for the trees that tables have: table > tr > td.
#pragma once

#include <cstdint>
#include <vector>

#include "texts.hpp"

namespace parsemark {

// A table as rows of cells. `labels` says what must be equal for two cells to be comparable (their spans).
struct RowTree {
  std::vector<int> row_lengths;
  std::vector<std::int64_t> labels;
  TextPool texts;

  // Postorder positions 1..size: the cells of a row, then the row itself.
  int size = 0;
  std::vector<int> row_start;   // position before the first cell of a row
  std::vector<int> row_at;      // the row whose node is at a position, or -1 for a cell
  std::vector<int> cell_at;     // the cell at a position, or -1 for a row

  void number_nodes();
};

// Edit distance with insert = delete = 1, rename of cells = 1 if labels differ, else the normalized Levenshtein
// distance of their texts (0 if `structure_only`). The root (table) is common to both and costs nothing.
double row_tree_distance(const RowTree& a, const RowTree& b, bool structure_only);

}  // namespace parsemark
