#include <algorithm>
#include <numeric>

#include "edit_similarity.hpp"

namespace parsemark {

namespace {

using Word = std::uint64_t;

int popcount(Word x) {
  x -= (x >> 1) & 0x5555555555555555ull;
  x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
  x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
  return static_cast<int>((x * 0x0101010101010101ull) >> 56);
}

// Two rows of the textbook recurrence; only for texts too large for masks.
int levenshtein_plain(const DenseText& a, const DenseText& b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] != b[j])});
      diagonal = above;
    }
  }
  return row[b.size()];
}

int lcs_plain(const DenseText& a, const DenseText& b) {
  std::vector<int> row(b.size() + 1, 0);
  for (std::uint32_t c : a) {
    int diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const int above = row[j + 1];
      row[j + 1] = c == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row[b.size()];
}

int levenshtein_one_word(const PatternMasks& masks, TextRange text, int length) {
  Word vertical_plus = ~Word{0}, vertical_minus = 0;
  const Word last = Word{1} << (length - 1);
  int score = length;
  for (std::uint32_t c : text) {
    const Word x = *masks.mask(c) | vertical_minus;
    const Word d0 = ((vertical_plus + (x & vertical_plus)) ^ vertical_plus) | x;
    Word minus = vertical_plus & d0;
    Word plus = vertical_minus | ~(vertical_plus | d0);
    score += (plus & last) != 0;
    score -= (minus & last) != 0;
    plus = (plus << 1) | 1;
    minus <<= 1;
    vertical_minus = plus & d0;
    vertical_plus = minus | ~(plus | d0);
  }
  return score;
}

int levenshtein_blocks(const PatternMasks& masks, TextRange text, int length) {
  const int blocks = masks.blocks();
  std::vector<Word> vertical_plus(blocks, ~Word{0}), vertical_minus(blocks, 0);
  const Word last = Word{1} << ((length - 1) % 64);
  int score = length;
  for (std::uint32_t c : text) {
    const Word* mask = masks.mask(c);
    Word plus_carry = 1, minus_carry = 0;
    for (int b = 0; b < blocks; ++b) {
      const Word vp = vertical_plus[b], vn = vertical_minus[b];
      const Word x = mask[b] | minus_carry;
      const Word d0 = (((x & vp) + vp) ^ vp) | x | vn;
      Word plus = vn | ~(d0 | vp);
      Word minus = d0 & vp;
      if (b == blocks - 1) {
        score += (plus & last) != 0;
        score -= (minus & last) != 0;
      }
      const Word plus_out = plus >> 63, minus_out = minus >> 63;
      plus = (plus << 1) | plus_carry;
      minus = (minus << 1) | minus_carry;
      plus_carry = plus_out;
      minus_carry = minus_out;
      vertical_plus[b] = minus | ~(d0 | plus);
      vertical_minus[b] = plus & d0;
    }
  }
  return score;
}

}  // namespace

int levenshtein(PatternMasks& masks, int other, int pattern) {
  const DenseText& text = masks.other(other);
  const DenseText& wanted = masks.pattern(pattern);
  const int length = static_cast<int>(wanted.size());
  if (length == 0) return static_cast<int>(text.size());
  if (text.empty()) return length;
  masks.select(pattern);
  if (!masks.usable()) return levenshtein_plain(text, wanted);
  return levenshtein_to_range(masks, {text.data(), text.data() + text.size()}, length);
}

int levenshtein_to_range(const PatternMasks& masks, TextRange text, int length) {
  return length <= 64 ? levenshtein_one_word(masks, text, length) : levenshtein_blocks(masks, text, length);
}

int window_distance(PatternMasks& masks, int other, int pattern, int cutoff) {
  const DenseText& text = masks.other(other);
  const DenseText& wanted = masks.pattern(pattern);
  const int length = static_cast<int>(wanted.size());
  if (length == 0 || wanted.size() > text.size()) return -1;
  masks.select(pattern);
  std::uint32_t alphabet = 0;
  for (std::uint32_t c : wanted) alphabet = std::max(alphabet, c);
  for (std::uint32_t c : text) alphabet = std::max(alphabet, c);
  std::vector<int> needed(alphabet + 1, 0), present(alphabet + 1, 0);
  for (std::uint32_t c : wanted) ++needed[c];
  int common = 0;  // characters that pattern and window share, wherever they stand
  int best = cutoff + 1;
  std::size_t next = 0;  // the first window that can be closer: one step changes a distance by two at most
  for (std::size_t end = 0; end < text.size(); ++end) {
    if (++present[text[end]] <= needed[text[end]]) ++common;
    if (end + 1 < wanted.size()) continue;
    const std::size_t start = end + 1 - wanted.size();
    if (start >= next && length - common < best) {  // what is not shared has to be edited
      const TextRange window{text.data() + start, text.data() + end + 1};
      const int distance = masks.usable()
                               ? levenshtein_to_range(masks, window, length)
                               : levenshtein_plain(DenseText(window.begin(), window.end()), wanted);
      best = std::min(best, distance);
      if (best == 0) break;
      next = start + 1 + (distance - best) / 2;
    }
    if (present[text[start]]-- <= needed[text[start]]) --common;
  }
  return best <= cutoff ? best : -1;
}

int lcs_length(PatternMasks& masks, int other, int pattern) {
  const DenseText& text = masks.other(other);
  const DenseText& wanted = masks.pattern(pattern);
  if (wanted.empty() || text.empty()) return 0;
  masks.select(pattern);
  if (!masks.usable()) return lcs_plain(text, wanted);
  // A zero bit of `rows` at position p says that the LCS grows by one at p. Bits above the pattern stay 1,
  // because no mask has them.
  const int blocks = masks.blocks();
  if (blocks == 1) {
    Word row = ~Word{0};
    for (std::uint32_t c : text) {
      const Word matched = row & *masks.mask(c);
      row = (row + matched) | (row - matched);
    }
    return popcount(~row);
  }
  std::vector<Word> rows(blocks, ~Word{0});
  for (std::uint32_t c : text) {
    const Word* mask = masks.mask(c);
    Word carry = 0;
    for (int b = 0; b < blocks; ++b) {
      const Word matched = rows[b] & mask[b];
      const Word partial = rows[b] + carry;
      const Word sum = partial + matched;
      carry = (partial < carry) | (sum < matched);
      rows[b] = sum | (rows[b] - matched);
    }
  }
  int zeros = 0;
  for (Word word : rows) zeros += popcount(~word);
  return zeros;
}

}  // namespace parsemark
