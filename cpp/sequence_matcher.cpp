#include "sequence_matcher.hpp"

#include <algorithm>
#include <unordered_map>

// difflib matches the longest common block (among equals: the one that starts first in a, then first in b),
// then recurses to the left and to the right of it. The order of recursion does not change the sum, so each
// version below keeps a stack of rectangles.

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

// Both texts have at most 8 characters: the whole match matrix is one word, with row i (character a[i]) in byte
// i. `run` holds the ends of common blocks of the present length; a block one longer ends one row down and one
// column right, which is a shift by 9. The lowest bit is the block that ends, so also starts, first in a, then
// in b.
int matched_8x8(Word matrix, int a_length, int b_length) {
  constexpr Word kFirstColumn = 0x0101010101010101ull;
  Rectangle stack[9];  // disjoint blocks: at most 8 rectangles wait
  int depth = 0, total = 0;
  stack[depth++] = {0, a_length, 0, b_length};
  while (depth > 0) {
    const Rectangle r = stack[--depth];
    const Word columns = kFirstColumn * (((1u << r.b_end) - 1u) & ~((1u << r.b_begin) - 1u));
    const Word below = r.a_end == 8 ? ~Word{0} : (Word{1} << (8 * r.a_end)) - 1;
    const Word inside = matrix & columns & below & ~((Word{1} << (8 * r.a_begin)) - 1);
    if (inside == 0) continue;
    Word run = inside;
    int length = 1;
    for (Word longer; (longer = inside & ((run << 9) & ~kFirstColumn)) != 0; run = longer) ++length;
    const int end = lowest_bit(run);
    const int a_start = end / 8 - length + 1, b_start = end % 8 - length + 1;
    total += length;
    if (r.a_begin < a_start && r.b_begin < b_start) stack[depth++] = {r.a_begin, a_start, r.b_begin, b_start};
    if (a_start + length < r.a_end && b_start + length < r.b_end)
      stack[depth++] = {a_start + length, r.a_end, b_start + length, r.b_end};
  }
  return total;
}

// |b| <= 64: one word per row of the match matrix, blocks grow as above, row by row.
int matched_one_word(const std::vector<Word>& rows, int b_length, std::vector<Word>& run,
                     std::vector<Rectangle>& stack) {
  int total = 0;
  run.resize(rows.size());
  stack.assign(1, {0, static_cast<int>(rows.size()), 0, b_length});
  while (!stack.empty()) {
    const Rectangle r = stack.back();
    stack.pop_back();
    const Word columns = (r.b_end == 64 ? ~Word{0} : (Word{1} << r.b_end) - 1) & ~((Word{1} << r.b_begin) - 1);
    int first = -1;
    for (int i = r.a_end - 1; i >= r.a_begin; --i) {
      run[i] = rows[i] & columns;
      if (run[i]) first = i;
    }
    if (first < 0) continue;
    int length = 1, end_row = first;
    Word end_columns = run[first];
    for (int low = first + 1;;) {
      int found = -1;
      for (int i = r.a_end - 1; i >= low; --i) {
        run[i] = rows[i] & columns & (run[i - 1] << 1);
        if (run[i]) found = i;
      }
      if (found < 0) break;
      ++length;
      end_row = found;
      end_columns = run[found];
      low = found + 1;  // rows above `found` hold no block of this length, so none that is longer
      // Row `found` stays as it is; rows below it still refer to blocks of this length.
    }
    const int a_start = end_row - length + 1;
    const int b_start = lowest_bit(end_columns) - length + 1;
    total += length;
    if (r.a_begin < a_start && r.b_begin < b_start) stack.push_back({r.a_begin, a_start, r.b_begin, b_start});
    if (a_start + length < r.a_end && b_start + length < r.b_end)
      stack.push_back({a_start + length, r.a_end, b_start + length, r.b_end});
  }
  return total;
}

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
  static thread_local std::vector<Word> rows, run;
  static thread_local std::vector<Rectangle> stack;
  rows.resize(a.size());
  for (int i = 0; i < a_length; ++i) rows[i] = *masks.mask(a[i]);
  return matched_one_word(rows, b_length, run, stack);
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
