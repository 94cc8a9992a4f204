// One-dimensional alignment that maximises reward, with the tie order of the GriTS reference.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace parsemark {

using Pairs = std::vector<std::pair<int, int>>;

constexpr double kTieSlack = 1e-9;

// The DP of an alignment, one row of truth at a time. Skips are free. Among equal values a match is preferred,
// then skipping truth, then skipping the prediction; the comparison is that of floats, as in the reference.
class AlignmentTable {
 public:
  AlignmentTable(int n_a, int n_b, bool traced) : n_a_(n_a), n_b_(n_b), row_(n_b + 1, 0.0) {
    if (traced) moves_.reserve(static_cast<std::size_t>(n_a) * n_b);
    traced_ = traced;
  }

  // Value of the best alignment of all truth rows seen so far with the first j predictions.
  double value(int j) const { return row_[j]; }

  // Adds a row; `reward(j, before)` may return -infinity for a match that cannot be part of an optimum, where
  // `before` is the best value without truth row and prediction j.
  template <class Reward>
  void add_row(Reward reward) {
    double diagonal = 0.0, left = 0.0;
    for (int j = 0; j < n_b_; ++j) {
      const double above = row_[j + 1];
      const double match = diagonal + reward(j, diagonal);
      double best = match > above ? match : above;
      best = left > best ? left : best;
      if (traced_) moves_.push_back(match == best ? kMatch : above == best ? kSkipTruth : kSkipPrediction);
      diagonal = above;
      row_[j + 1] = left = best;
    }
  }

  Pairs trace() const {
    Pairs pairs;
    int i = n_a_, j = n_b_;
    while (i > 0 && j > 0) {
      const std::uint8_t move = moves_[static_cast<std::size_t>(i - 1) * n_b_ + (j - 1)];
      if (move != kSkipPrediction) --i;
      if (move != kSkipTruth) --j;
      if (move == kMatch) pairs.emplace_back(i, j);
    }
    std::reverse(pairs.begin(), pairs.end());
    return pairs;
  }

 private:
  enum Move : std::uint8_t { kMatch, kSkipTruth, kSkipPrediction };

  int n_a_, n_b_;
  bool traced_;
  std::vector<double> row_;
  std::vector<std::uint8_t> moves_;
};

// Aligns while evaluating only rewards that can matter. `bound` is at least every reward, `floor` is at most the
// optimum (the value of some alignment). A match (i, j) lies on an optimal path only if
//     best before + bound + min(rows left, predictions left) * bound >= floor,
// and the paths that are dropped are worse than the optimum by more than rounding (kTieSlack), so that values and
// tie decisions along optimal paths are those of the full table.
template <class Reward>
AlignmentTable align_within(int n_a, int n_b, double bound, double floor, bool traced, Reward reward) {
  AlignmentTable table(n_a, n_b, traced);
  for (int i = 0; i < n_a; ++i) {
    table.add_row([&](int j, double before) {
      const double rest = bound * (1 + std::min(n_a - i - 1, n_b - j - 1));
      if (before + rest < floor - kTieSlack) return -std::numeric_limits<double>::infinity();
      return reward(i, j);
    });
  }
  return table;
}

// The monotone pairing of rows with columns whose scores (row by row) have the greatest sum. Among equal sums the
// pairs stand as early as they can: from the end, a row is skipped before a column, and both before a match.
inline Pairs monotone_pairs(const double* scores, std::size_t n_rows, std::size_t n_cols) {
  const std::size_t width = n_cols + 1;
  std::vector<double> totals((n_rows + 1) * width, 0.0);
  for (std::size_t i = 0; i < n_rows; ++i) {
    const double* above = &totals[i * width];
    double* here = &totals[(i + 1) * width];
    for (std::size_t j = 0; j < n_cols; ++j)
      here[j + 1] = std::max({above[j] + scores[i * n_cols + j], above[j + 1], here[j]});
  }
  Pairs pairs;
  std::size_t i = n_rows, j = n_cols;
  while (i > 0 && j > 0) {
    const double total = totals[i * width + j];
    if (total == totals[(i - 1) * width + j]) {
      --i;
    } else if (total == totals[i * width + j - 1]) {
      --j;
    } else {
      pairs.emplace_back(static_cast<int>(--i), static_cast<int>(--j));
    }
  }
  std::reverse(pairs.begin(), pairs.end());
  return pairs;
}

}  // namespace parsemark
