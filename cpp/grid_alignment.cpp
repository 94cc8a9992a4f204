#include "grid_alignment.hpp"

#include <unordered_map>

#include "alignment.hpp"
#include "edit_similarity.hpp"
#include "sequence_matcher.hpp"

// Rows are aligned with a reward that is itself an alignment of their cells; likewise columns; then the similarity
// is summed over matched rows x matched columns. Two ways to compute the same values:
//
// * bounded: guess an alignment from equal entries, take its value as a floor, and evaluate only row pairs that
//   can reach it (alignment.hpp). Fast where the tables are similar, because then few pairs can.
// * dense: all pairs of entries, row by row of the truth, advancing the DP of every pair of columns as it goes, so
//   that no matrix of entry pairs is ever stored. Used where the floor promises little.

namespace parsemark {

namespace {

constexpr std::size_t kMaxMemo = std::size_t{1} << 22;
constexpr std::size_t kMaxRowMemo = std::size_t{1} << 22;
constexpr int kRareEntry = 8;
constexpr double kWorthBounding = 0.6;

// A grid, or the same grid transposed.
struct View {
  const Grid& grid;
  bool transposed;
  int rows() const { return transposed ? grid.cols : grid.rows; }
  int cols() const { return transposed ? grid.rows : grid.cols; }
  int at(int r, int c) const {
    return transposed ? grid.ids[static_cast<std::size_t>(c) * grid.cols + r]
                      : grid.ids[static_cast<std::size_t>(r) * grid.cols + c];
  }
};

// Similarity of two texts, remembered where the tables are small enough.
class TextComparer {
 public:
  TextComparer(const TextGrid& a, const TextGrid& b, TextSimilarity kind)
      : masks_(b.texts, a.texts), kind_(kind), width_(b.texts.size()) {
    if (a.texts.size() * width_ <= kMaxMemo) memo_.assign(a.texts.size() * width_, -1.0);
  }

  double operator()(int a, int b) {
    if (memo_.empty()) return compute(a, b);
    double& known = memo_[static_cast<std::size_t>(a) * width_ + b];
    if (known < 0) known = compute(a, b);
    return known;
  }

 private:
  double compute(int a, int b) {
    const std::size_t total = masks_.other(a).size() + masks_.pattern(b).size();
    if (total == 0) return 1.0;
    const int matched = kind_ == TextSimilarity::kLcs ? lcs_length(masks_, a, b) : difflib_matched(masks_, a, b);
    return static_cast<double>(2 * matched) / static_cast<double>(total);
  }

  PatternMasks masks_;
  TextSimilarity kind_;
  std::size_t width_;
  std::vector<double> memo_;
};

class SpanComparer {
 public:
  SpanComparer(const SpanGrid& a, const SpanGrid& b, SpanOverlap kind) : a_(a), b_(b), kind_(kind) {}

  double operator()(int a, int b) const {
    const Span &s = a_.spans[a], &t = b_.spans[b];
    const double shared = extent(std::max(s[0], t[0]), std::min(s[2], t[2])) *
                          extent(std::max(s[1], t[1]), std::min(s[3], t[3]));
    const double whole = kind_ == SpanOverlap::kHull
                             ? extent(std::min(s[0], t[0]), std::max(s[2], t[2])) *
                                   extent(std::min(s[1], t[1]), std::max(s[3], t[3]))
                             : area(s) + area(t) - shared;
    return whole > 0 ? shared / whole : 0.0;
  }

 private:
  static double extent(int low, int high) { return high > low ? static_cast<double>(high) - low : 0.0; }
  static double area(const Span& s) { return extent(s[0], s[2]) * extent(s[1], s[3]); }

  const SpanGrid& a_;
  const SpanGrid& b_;
  SpanOverlap kind_;
};

// For each different row its class, so that equal rows are compared once.
std::vector<int> row_classes(const View& view, int& count) {
  std::unordered_map<std::u32string, int> seen;
  std::vector<int> classes;
  std::u32string key(view.cols(), 0);
  for (int r = 0; r < view.rows(); ++r) {
    for (int c = 0; c < view.cols(); ++c) key[c] = static_cast<char32_t>(view.at(r, c));
    classes.push_back(seen.try_emplace(key, static_cast<int>(seen.size())).first->second);
  }
  count = static_cast<int>(seen.size());
  return classes;
}

// A first guess: rows are similar if they share rare entries. `same[x]` is the entry of b equal to entry x of a.
Pairs guess_rows(const View& a, const View& b, const std::vector<int>& same, int n_entries_b) {
  std::vector<std::vector<int>> rows_with(n_entries_b);
  for (int r = 0; r < b.rows(); ++r)
    for (int c = 0; c < b.cols(); ++c) {
      std::vector<int>& rows = rows_with[b.at(r, c)];
      if (rows.size() <= kRareEntry) rows.push_back(r);
    }
  std::vector<double> shared(b.rows());
  AlignmentTable table(a.rows(), b.rows(), true);
  for (int r = 0; r < a.rows(); ++r) {
    std::fill(shared.begin(), shared.end(), 0.0);
    for (int c = 0; c < a.cols(); ++c) {
      const int entry = same[a.at(r, c)];
      if (entry >= 0 && rows_with[entry].size() <= kRareEntry)
        for (int row : rows_with[entry]) shared[row] += 1.0;
    }
    table.add_row([&](int j, double) { return shared[j]; });
  }
  return table.trace();
}

template <class Comparer>
class GridMatcher {
 public:
  GridMatcher(const Grid& a, const Grid& b, Comparer& compare, std::vector<int> same, int n_entries_b)
      : a_(a), b_(b), compare_(compare), same_(std::move(same)), n_entries_b_(n_entries_b) {}

  GridMatch match() {
    GridMatch result;
    const View rows_a{a_, false}, rows_b{b_, false}, cols_a{a_, true}, cols_b{b_, true};
    const Pairs guess = guess_rows(rows_a, rows_b, same_, n_entries_b_);
    const double best = static_cast<double>(std::min(a_.rows, b_.rows)) * std::min(a_.cols, b_.cols);
    if (quick_value(guess) < kWorthBounding * best) {
      dense(result);
    } else {
      result.rows = bounded(rows_a, rows_b, guess, {});
      result.cols = bounded(cols_a, cols_b, guess_rows(cols_a, cols_b, same_, n_entries_b_), result.rows);
    }
    for (const auto& [r, s] : result.rows)
      for (const auto& [c, d] : result.cols) result.total += compare_(rows_a.at(r, c), rows_b.at(s, d));
    return result;
  }

 private:
  // Value of guessed rows with columns as they stand: a rough promise, not a bound.
  double quick_value(const Pairs& rows) {
    double value = 0;
    for (const auto& [r, s] : rows)
      for (int c = 0; c < std::min(a_.cols, b_.cols); ++c)
        value += compare_(a_.ids[static_cast<std::size_t>(r) * a_.cols + c],
                          b_.ids[static_cast<std::size_t>(s) * b_.cols + c]);
    return value;
  }

  // The reward of a pair of rows. The floor comes from pairing cells by `seed`, or by position without one.
  double row_reward(const View& a, int r, const View& b, int s, const Pairs& seed) {
    double floor = 0;
    if (seed.empty()) {
      for (int c = 0; c < std::min(a.cols(), b.cols()); ++c) floor += compare_(a.at(r, c), b.at(s, c));
    } else {
      for (const auto& [c, d] : seed) floor += compare_(a.at(r, c), b.at(s, d));
    }
    auto reward = [&](int c, int d) { return compare_(a.at(r, c), b.at(s, d)); };
    return align_within(a.cols(), b.cols(), 1.0, floor, false, reward).value(b.cols());
  }

  Pairs bounded(const View& a, const View& b, const Pairs& guess, const Pairs& seed) {
    int classes_a = 0, classes_b = 0;
    const std::vector<int> class_a = row_classes(a, classes_a), class_b = row_classes(b, classes_b);
    const std::size_t wanted = static_cast<std::size_t>(classes_a) * classes_b;
    std::vector<double> memo(wanted <= kMaxRowMemo ? wanted : 0, -1.0);
    auto reward = [&](int r, int s) {
      if (memo.empty()) return row_reward(a, r, b, s, seed);
      double& known = memo[static_cast<std::size_t>(class_a[r]) * classes_b + class_b[s]];
      if (known < 0) known = row_reward(a, r, b, s, seed);
      return known;
    };
    double floor = 0;
    for (const auto& [r, s] : guess) floor += reward(r, s);
    const double bound = std::min(a.cols(), b.cols());
    return align_within(a.rows(), b.rows(), bound, floor, true, reward).trace();
  }

  // Both alignments at once. While a row of the truth is at hand, two tables of its similarities serve:
  // by_row[c][d][s] for its rewards with all rows s of b, and by_col[c][s][d] for the columns.
  void dense(GridMatch& result) {
    const std::size_t rows_b = b_.rows, cols_b = b_.cols, size_b = rows_b * cols_b;
    AlignmentTable rows(a_.rows, b_.rows, true);
    std::vector<double> columns(a_.cols * size_b, 0.0);
    std::vector<double> by_row(a_.cols * size_b), by_col(a_.cols * size_b);
    std::vector<double> similar(a_.cols * static_cast<std::size_t>(n_entries_b_)), rewards;
    for (int r = 0; r < a_.rows; ++r) {
      const int* row = &a_.ids[static_cast<std::size_t>(r) * a_.cols];
      for (int y = 0; y < n_entries_b_; ++y)
        for (int c = 0; c < a_.cols; ++c)
          similar[c * static_cast<std::size_t>(n_entries_b_) + y] = compare_(row[c], y);
      for (int c = 0; c < a_.cols; ++c) {
        const double* known = &similar[c * static_cast<std::size_t>(n_entries_b_)];
        double* by_row_c = &by_row[c * size_b];
        double* by_col_c = &by_col[c * size_b];
        for (std::size_t s = 0; s < rows_b; ++s)
          for (std::size_t d = 0; d < cols_b; ++d)
            by_row_c[d * rows_b + s] = by_col_c[s * cols_b + d] = known[b_.ids[s * cols_b + d]];
        add_lines(by_col_c, rows_b, cols_b, &columns[c * size_b]);
      }
      row_rewards(by_row, rewards);
      rows.add_row([&](int s, double) { return rewards[s]; });
    }
    result.rows = rows.trace();
    AlignmentTable cols(a_.cols, b_.cols, true);
    for (int c = 0; c < a_.cols; ++c)
      cols.add_row([&](int d, double) { return columns[c * size_b + (rows_b - 1) * cols_b + d]; });
    result.cols = cols.trace();
  }

  // Rewards of the present row of a with every row of b, for all of them at once.
  void row_rewards(const std::vector<double>& by_row, std::vector<double>& rewards) const {
    const std::size_t rows_b = b_.rows, cols_b = b_.cols, size_b = rows_b * cols_b;
    std::vector<double> table(size_b, 0.0);
    for (int c = 0; c < a_.cols; ++c) add_lines(&by_row[c * size_b], cols_b, rows_b, table.data());
    rewards.assign(table.end() - static_cast<std::ptrdiff_t>(rows_b), table.end());
  }

  // Adds a row to many alignments that run side by side: entry [step][lane] of `table` is the best value after the
  // first step + 1 predictions in alignment `lane`. The lanes do not depend on each other, so that the compiler can
  // compute several at a time.
  static void add_lines(const double* rewards, std::size_t steps, std::size_t lanes, double* table) {
    std::vector<double> diagonal(lanes, 0.0), left(lanes, 0.0);
    double* before = diagonal.data();
    double* beside = left.data();
    for (std::size_t step = 0; step < steps; ++step) {
      const double* reward = rewards + step * lanes;
      double* here = table + step * lanes;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double above = here[lane];
        const double match = before[lane] + reward[lane];
        double best = match > above ? match : above;
        best = beside[lane] > best ? beside[lane] : best;
        before[lane] = above;
        beside[lane] = best;
        here[lane] = best;
      }
    }
  }

  const Grid& a_;
  const Grid& b_;
  Comparer& compare_;
  std::vector<int> same_;
  int n_entries_b_;
};

}  // namespace

GridMatch match_text_grids(const TextGrid& a, const TextGrid& b, TextSimilarity similarity) {
  std::unordered_map<Text, int> index;
  for (std::size_t y = 0; y < b.texts.size(); ++y) index.emplace(b.texts[y], static_cast<int>(y));
  std::vector<int> same;
  for (const Text& text : a.texts) {
    auto found = index.find(text);
    same.push_back(found == index.end() ? -1 : found->second);
  }
  TextComparer compare(a, b, similarity);
  return GridMatcher<TextComparer>(a, b, compare, std::move(same), static_cast<int>(b.texts.size())).match();
}

GridMatch match_span_grids(const SpanGrid& a, const SpanGrid& b, SpanOverlap overlap) {
  std::vector<int> same;
  for (const Span& span : a.spans) {
    auto found = std::find(b.spans.begin(), b.spans.end(), span);
    same.push_back(found == b.spans.end() ? -1 : static_cast<int>(found - b.spans.begin()));
  }
  SpanComparer compare(a, b, overlap);
  return GridMatcher<SpanComparer>(a, b, compare, std::move(same), static_cast<int>(b.spans.size())).match();
}

}  // namespace parsemark
