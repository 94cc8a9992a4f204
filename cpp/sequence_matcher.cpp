#include "sequence_matcher.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

// difflib matches the longest common block (among equals: the one that starts first in a, then first in b),
// then recurses to the left and to the right of it. The order of recursion does not change the sum, so each
// version below keeps a stack of rectangles.
//
// Where no block is longer than one character, as in most pairs of unrelated words, the first block lies in the first
// row with any match, at its first match. Nothing is to the left of it, and to its right the same holds again: one
// pass down the rows, each time taking the first match behind the last, counts them all ("single matches" below).

namespace parsemark {

namespace {

using Word = std::uint64_t;

struct Rectangle {
  int a_begin, a_end, b_begin, b_end;
};

int lowest_bit(Word x) {
#if defined(__GNUC__) || defined(__clang__)
  return __builtin_ctzll(x);
#else
  int n = 0;
  while (!(x & 1)) {
    x >>= 1;
    ++n;
  }
  return n;
#endif
}

// Masks of an 8 x 8 matrix whose row i is byte i: all rows, or all columns, in [begin, end).
struct LineMasks {
  Word rows[9][9] = {}, columns[9][9] = {};
  LineMasks() {
    for (int begin = 0; begin < 8; ++begin)
      for (int end = begin + 1; end <= 8; ++end) {
        rows[begin][end] = rows[begin][end - 1] | Word{0xff} << (8 * (end - 1));
        columns[begin][end] = columns[begin][end - 1] | Word{0x0101010101010101} << (end - 1);
      }
  }
};

// Both texts have at most 8 characters: the whole match matrix is one word, with row i (character a[i]) in byte
// i. `run` holds the ends of common blocks of the present length; a block one longer ends one row down and one
// column right, which is a shift by 9. The lowest bit is the block that ends, so also starts, first in a, then
// in b.
int matched_8x8(Word matrix, int a_length, int b_length) {
  static const LineMasks masks;
  constexpr Word kNotFirstColumn = ~Word{0x0101010101010101};
  struct Part {
    Word inside;
    Rectangle where;
  };
  Part stack[9];  // disjoint blocks: at most 8 rectangles wait
  int depth = 0, total = 0;
  auto push = [&](int a_begin, int a_end, int b_begin, int b_end) {
    const Word inside = matrix & masks.rows[a_begin][a_end] & masks.columns[b_begin][b_end];
    if (inside == 0) return;
    if ((inside & (inside - 1)) == 0) {
      ++total;  // one common character
    } else {
      stack[depth++] = {inside, {a_begin, a_end, b_begin, b_end}};
    }
  };
  push(0, a_length, 0, b_length);
  while (depth > 0) {
    const auto [inside, r] = stack[--depth];
    Word run = inside;
    int length = 1;
    if ((inside & (inside << 9) & kNotFirstColumn) == 0) {  // single matches
      for (Word left = inside; left != 0; ++total) {
        const int first = lowest_bit(left);
        left &= masks.rows[first / 8 + 1][8] & masks.columns[first % 8 + 1][8];
      }
      continue;
    }
    for (Word longer; (longer = inside & (run << 9) & kNotFirstColumn) != 0; run = longer) ++length;
    const int end = lowest_bit(run);
    const int a_start = end / 8 - length + 1, b_start = end % 8 - length + 1;
    total += length;
    if (r.a_begin < a_start && r.b_begin < b_start) push(r.a_begin, a_start, r.b_begin, b_start);
    if (a_start + length < r.a_end && b_start + length < r.b_end)
      push(a_start + length, r.a_end, b_start + length, r.b_end);
  }
  return total;
}

// Takes the rows of a match matrix one after the other. Without branches, which nobody could predict.
class SingleMatches {
 public:
  void add(Word row) {
    longer_ |= row & (above_ << 1);
    above_ = row;
    const Word found = row & behind_;
    total_ += found != 0;
    behind_ = found != 0 ? found ^ (~found + 1) : behind_;  // the columns behind the first match
  }
  // Whether no block is longer than one, so that the count is difflib's.
  bool is_all() const { return longer_ == 0; }
  int total() const { return total_; }

 private:
  Word above_ = 0, longer_ = 0, behind_ = ~Word{0};
  int total_ = 0;
};

// |b| <= 64: one word per row of the match matrix, blocks grow as above, row by row. `run` and `stack` are scratch of
// at least a_length (+ 1) entries.
int matched_one_word(const Word* rows, int a_length, int b_length, Word* run, Rectangle* stack) {
  int depth = 0, total = 0;
  stack[depth++] = {0, a_length, 0, b_length};
  while (depth > 0) {
    const Rectangle r = stack[--depth];
    const Word columns = (r.b_end == 64 ? ~Word{0} : (Word{1} << r.b_end) - 1) & ~((Word{1} << r.b_begin) - 1);
    int first = -1, last = -1;
    SingleMatches singles;
    for (int i = r.a_begin; i < r.a_end; ++i) {
      run[i] = rows[i] & columns;
      singles.add(run[i]);
      if (run[i] == 0) continue;
      if (first < 0) first = i;
      last = i;
    }
    if (singles.is_all()) {
      total += singles.total();
      continue;
    }
    int length = 1, end_row = first;
    Word end_columns = run[first];
    for (int low = first + 1; low <= last;) {
      int found = -1;
      for (int i = last; i >= low; --i) {
        run[i] = rows[i] & columns & (run[i - 1] << 1);
        if (run[i]) found = i;
      }
      if (found < 0) break;
      ++length;
      end_row = found;
      end_columns = run[found];
      low = found + 1;  // rows above `found` hold no block of this length, so none that is longer
    }
    const int a_start = end_row - length + 1;
    const int b_start = lowest_bit(end_columns) - length + 1;
    total += length;
    if (first < a_start && r.b_begin < b_start) stack[depth++] = {first, a_start, r.b_begin, b_start};
    if (a_start + length <= last && b_start + length < r.b_end)
      stack[depth++] = {a_start + length, last + 1, b_start + length, r.b_end};
  }
  return total;
}

// difflib's algorithm is cubic where the longest block is cut off at a border again and again.
constexpr std::int64_t kMostSteps = 500'000'000;

// Any length: difflib's own algorithm. Characters that are "popular" in a long b do not start a block, but
// blocks are extended over them.
int matched_any(const DenseText& a, const DenseText& b) {
  const int a_length = static_cast<int>(a.size()), b_length = static_cast<int>(b.size());
  std::unordered_map<std::uint32_t, std::vector<int>> positions;
  for (int j = 0; j < b_length; ++j) positions[b[j]].push_back(j);
  if (b_length >= 200) {
    const std::size_t popular = static_cast<std::size_t>(b_length) / 100 + 1;
    for (auto& [character, where] : positions)
      if (where.size() > popular) where.clear();
  }
  static const std::vector<int> kNowhere;
  std::vector<const std::vector<int>*> where(a_length);
  for (int i = 0; i < a_length; ++i) {
    auto found = positions.find(a[i]);
    where[i] = a[i] == 0 || found == positions.end() ? &kNowhere : &found->second;
  }
  std::vector<int> previous(b_length + 1, 0), current(b_length + 1, 0);
  std::vector<int> previous_used, current_used;
  std::vector<Rectangle> stack{{0, a_length, 0, b_length}};
  int total = 0;
  std::int64_t steps = 0;
  while (!stack.empty()) {
    const Rectangle r = stack.back();
    stack.pop_back();
    int a_start = r.a_begin, b_start = r.b_begin, length = 0;
    for (int i = r.a_begin; i < r.a_end; ++i) {
      const std::vector<int>& columns = *where[i];
      for (auto j = std::lower_bound(columns.begin(), columns.end(), r.b_begin);
           j != columns.end() && *j < r.b_end; ++j) {
        const int run = previous[*j] + 1;
        current[*j + 1] = run;
        current_used.push_back(*j + 1);
        if (run > length) {
          a_start = i - run + 1;
          b_start = *j - run + 1;
          length = run;
        }
      }
      steps += 1 + static_cast<std::int64_t>(current_used.size());
      if (steps > kMostSteps) throw std::length_error("two texts have too many blocks in common");
      for (int used : previous_used) previous[used] = 0;
      previous_used.clear();
      previous.swap(current);
      previous_used.swap(current_used);
    }
    for (int used : previous_used) previous[used] = 0;
    previous_used.clear();
    while (a_start > r.a_begin && b_start > r.b_begin && a[a_start - 1] == b[b_start - 1]) {
      --a_start, --b_start, ++length;
    }
    while (a_start + length < r.a_end && b_start + length < r.b_end && a[a_start + length] == b[b_start + length]) {
      ++length;
    }
    if (length == 0) continue;
    total += length;
    if (r.a_begin < a_start && r.b_begin < b_start) stack.push_back({r.a_begin, a_start, r.b_begin, b_start});
    if (a_start + length < r.a_end && b_start + length < r.b_end)
      stack.push_back({a_start + length, r.a_end, b_start + length, r.b_end});
  }
  return total;
}

}  // namespace

int difflib_matched(PatternMasks& masks, int other, int pattern) {
  const DenseText& a = masks.other(other);
  const DenseText& b = masks.pattern(pattern);
  if (a.empty() || b.empty()) return 0;
  if (b.size() > 64) return matched_any(a, b);
  masks.select(pattern);
  const int a_length = static_cast<int>(a.size()), b_length = static_cast<int>(b.size());
  if (a_length <= 8 && b_length <= 8) {
    Word matrix = 0;
    for (int i = 0; i < a_length; ++i) matrix |= *masks.mask(a[i]) << (8 * i);
    return matched_8x8(matrix, a_length, b_length);
  }
  if (a_length <= 64) {
    Word rows[64], run[64];
    SingleMatches singles;
    for (int i = 0; i < a_length; ++i) singles.add(rows[i] = *masks.mask(a[i]));
    if (singles.is_all()) return singles.total();
    Rectangle stack[65];
    return matched_one_word(rows, a_length, b_length, run, stack);
  }
  std::vector<Word> rows(a.size()), run(a.size());
  std::vector<Rectangle> stack(a.size() + 1);
  for (int i = 0; i < a_length; ++i) rows[i] = *masks.mask(a[i]);
  return matched_one_word(rows.data(), a_length, b_length, run.data(), stack.data());
}

std::vector<int> close_matches(const std::vector<Text>& queries, const std::vector<Text>& candidates, double cutoff) {
  PatternMasks masks(queries, candidates);
  std::vector<int> best(queries.size(), -1);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    double best_ratio = cutoff;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      const std::size_t total = queries[q].size() + candidates[c].size();
      const std::size_t shorter = std::min(queries[q].size(), candidates[c].size());
      const double at_most = total == 0 ? 1.0 : static_cast<double>(2 * shorter) / static_cast<double>(total);
      if (at_most < best_ratio) continue;
      const int matched = difflib_matched(masks, static_cast<int>(c), static_cast<int>(q));
      const double ratio = total == 0 ? 1.0 : static_cast<double>(2 * matched) / static_cast<double>(total);
      if (ratio < best_ratio) continue;
      if (best[q] < 0 || ratio > best_ratio || candidates[c] > candidates[best[q]]) {
        best[q] = static_cast<int>(c);
        best_ratio = ratio;
      }
    }
  }
  return best;
}

}  // namespace parsemark
