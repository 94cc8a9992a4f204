#include "row_tree.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "edit_similarity.hpp"

// The recurrence. F(i, j) is the cost of turning the first i nodes of A in postorder into the first j of B:
//
//   F(i, j) = min  F(i-1, j) + 1                          delete node i
//                  F(i, j-1) + 1                          insert node j
//                  F(i-1, j-1) + rename                   cell onto cell
//                  F(start(i), start(j)) + D(i, j)        row onto row: D = edit distance of their cell sequences
//                  F(start(i), j-1) + 1 + cells           row onto cell: the row's cells go
//                  F(i-1, start(j)) + 1 + cells           cell onto row, likewise
//
// This is Zhang and Shasha's recurrence, written out for trees of depth two: a forest prefix either loses its last
// node, gains one, or maps the last subtree of A onto that of B, and the subtree distances have closed forms.
// The roots map onto each other without loss: labels are equal, and any mapping that leaves a root out can be
// changed to include it at no cost.
//
// A two-level alignment of rows and cells would not be exact: it cannot split a row in two.
//
// The band. Any edit script that passes (i, j) still has to make up for the difference of the remaining sizes, so
// (i, j) is kept only if F(i, j) + |(|A|-i) - (|B|-j)| <= U. If the result is at most U it is exact; else U grows.
// U never needs to exceed the cost of any script; that of turning row k into row k is cheap to know, and is exact or
// nearly so for tables that differ in their texts only.

namespace parsemark {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSlack = 1e-9;  // U is compared with sums of fractions
constexpr std::size_t kMaxMemo = std::size_t{1} << 22;

class BandedDistance {
 public:
  BandedDistance(const RowTree& a, const RowTree& b, bool structure_only)
      : a_(a), b_(b), structure_only_(structure_only), masks_(a.texts.unique, b.texts.unique) {
    const int widest_a = widest(a), widest_b = widest(b);
    const std::size_t wanted = static_cast<std::size_t>(widest_a) * b.texts.unique.size();
    if (wanted <= kMaxMemo) memo_.assign(wanted, -1.0);
    above_.resize(widest_b + 1);
    here_.resize(widest_b + 1);
  }

  // Cost of turning row k of A into row k of B for each k: an upper bound of the distance.
  double row_by_row() {
    const std::size_t rows_a = a_.row_lengths.size(), rows_b = b_.row_lengths.size();
    double cost = 0;
    first_cell_ = 0;
    for (std::size_t row = 0; row < rows_a; ++row) {
      const int cells = a_.row_lengths[row];
      cost += row < rows_b ? row_distance(cells, static_cast<int>(row)) : cells + 1;
      forget();
      first_cell_ += cells;
    }
    for (std::size_t row = rows_a; row < rows_b; ++row) cost += b_.row_lengths[row] + 1;
    return cost;
  }

  // The distance if it is at most `bound`, else something larger than `bound`.
  double within(double bound) {
    bound_ = bound;
    previous_.assign(b_.size + 1, kInfinity);
    current_.assign(b_.size + 1, kInfinity);
    for (int j = 0; j <= b_.size; ++j) keep(previous_, 0, j, j);
    int node = 0, first_cell = 0;
    for (std::size_t row = 0; row < a_.row_lengths.size(); ++row) {
      const int cells = a_.row_lengths[row];
      first_cell_ = first_cell;
      before_row_ = previous_;
      for (int c = 0; c < cells; ++c) cell_step(++node, c);
      row_step(++node, cells);
      forget();
      first_cell += cells;
    }
    return previous_[b_.size];
  }

 private:
  static int widest(const RowTree& tree) {
    return tree.row_lengths.empty() ? 0 : *std::max_element(tree.row_lengths.begin(), tree.row_lengths.end());
  }

  int remaining(int i, int j) const { return std::abs((a_.size - i) - (b_.size - j)); }

  void keep(std::vector<double>& row, int i, int j, double value) const {
    row[j] = value + remaining(i, j) <= bound_ + kSlack ? value : kInfinity;
  }

  // The columns j that can be within the bound: |i - j| + |remaining difference| <= U.
  std::pair<int, int> band(int i) const {
    const int difference = a_.size - b_.size;
    const double half = (bound_ - std::abs(difference)) / 2.0;
    const double lowest = std::floor(std::min(0, difference) - half);
    const double highest = std::ceil(std::max(0, difference) + half);
    return {static_cast<int>(std::max(0.0, i - highest)),
            static_cast<int>(std::min(static_cast<double>(b_.size), i - lowest))};
  }

  double rename(int column, int cell_b) {
    const int cell_a = first_cell_ + column;
    if (a_.labels[cell_a] != b_.labels[cell_b]) return 1.0;
    if (structure_only_) return 0.0;
    const int text_a = a_.texts.ids[cell_a], text_b = b_.texts.ids[cell_b];
    if (memo_.empty()) return normalized_levenshtein(masks_, text_b, text_a);
    const std::size_t slot = static_cast<std::size_t>(column) * b_.texts.unique.size() + text_b;
    if (memo_[slot] < 0) {
      memo_[slot] = normalized_levenshtein(masks_, text_b, text_a);
      known_.push_back(slot);
    }
    return memo_[slot];
  }

  void forget() {
    for (std::size_t slot : known_) memo_[slot] = -1.0;
    known_.clear();
  }

  void cell_step(int i, int column) {
    const auto [low, high] = band(i);
    std::fill(current_.begin(), current_.end(), kInfinity);
    for (int j = low; j <= high; ++j) {
      double value = previous_[j] + 1;
      if (j > 0) {
        value = std::min(value, current_[j - 1] + 1);
        const int row_b = b_.row_at[j];
        if (row_b >= 0) {
          value = std::min(value, previous_[b_.row_start[row_b]] + 1 + b_.row_lengths[row_b]);
        } else if (previous_[j - 1] < value) {
          value = std::min(value, previous_[j - 1] + rename(column, b_.cell_at[j]));
        }
      }
      keep(current_, i, j, value);
    }
    previous_.swap(current_);
  }

  void row_step(int i, int cells) {
    const auto [low, high] = band(i);
    std::fill(current_.begin(), current_.end(), kInfinity);
    for (int j = low; j <= high; ++j) {
      double value = previous_[j] + 1;
      if (j > 0) {
        value = std::min(value, current_[j - 1] + 1);
        const int row_b = b_.row_at[j];
        if (row_b < 0) {
          value = std::min(value, before_row_[j - 1] + 1 + cells);
        } else {
          const double start = before_row_[b_.row_start[row_b]];
          const double at_least = start + std::abs(cells - b_.row_lengths[row_b]);
          if (at_least < value && at_least + remaining(i, j) <= bound_ + kSlack) {
            value = std::min(value, start + row_distance(cells, row_b));
          }
        }
      }
      keep(current_, i, j, value);
    }
    previous_.swap(current_);
  }

  // Weighted edit distance between the cells of the present row of A and those of `row_b`.
  double row_distance(int cells, int row_b) {
    const int cells_b = b_.row_lengths[row_b];
    const int first_b = cells_b == 0 ? 0 : b_.cell_at[b_.row_start[row_b] + 1];
    for (int y = 0; y <= cells_b; ++y) above_[y] = y;
    for (int x = 1; x <= cells; ++x) {
      here_[0] = x;
      for (int y = 1; y <= cells_b; ++y) {
        const double gap = std::min(above_[y], here_[y - 1]) + 1;
        here_[y] = above_[y - 1] < gap ? std::min(gap, above_[y - 1] + rename(x - 1, first_b + y - 1)) : gap;
      }
      above_.swap(here_);
    }
    return above_[cells_b];
  }

  const RowTree& a_;
  const RowTree& b_;
  const bool structure_only_;
  PatternMasks masks_;  // patterns are the texts of A, since all loops stay with a cell of A for a while
  double bound_ = 0;
  int first_cell_ = 0;
  std::vector<double> previous_, current_, before_row_, above_, here_, memo_;
  std::vector<std::size_t> known_;
};

}  // namespace

void RowTree::number_nodes() {
  size = static_cast<int>(labels.size() + row_lengths.size());
  row_at.assign(1, -1);
  cell_at.assign(1, -1);
  int node = 0, cell = 0;
  for (std::size_t row = 0; row < row_lengths.size(); ++row) {
    row_start.push_back(node);
    for (int c = 0; c < row_lengths[row]; ++c, ++node) {
      row_at.push_back(-1);
      cell_at.push_back(cell++);
    }
    row_at.push_back(static_cast<int>(row));
    cell_at.push_back(-1);
    ++node;
  }
}

double row_tree_distance(const RowTree& a, const RowTree& b, bool structure_only) {
  BandedDistance distance(a, b, structure_only);
  const double largest = distance.row_by_row();
  double bound = std::max({8.0, std::abs(a.size - b.size) + 4.0, (a.size + b.size) / 16.0});
  for (;; bound *= 4) {
    if (bound * 2 >= largest) bound = largest;
    const double result = distance.within(bound);
    if (result <= bound + kSlack || bound == largest) return result;
  }
}

}  // namespace parsemark
