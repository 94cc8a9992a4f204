#include "similarity_matrix.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <unordered_map>

namespace parsemark {

namespace {

// How many patterns are compared at once, and their words side by side.
#if defined(__GNUC__)  // and Clang
constexpr std::size_t kLanes = 16;
template <class Word>
struct Vectors {
  typedef Word Vector __attribute__((vector_size(kLanes * sizeof(Word))));
};
#else
constexpr std::size_t kLanes = 1;
template <class Word>
struct Vectors {
  using Vector = Word;
};
#endif

using Character = std::uint32_t;
using Characters = std::vector<Character>;

// Texts with their characters renumbered densely.
class Alphabet {
 public:
  std::vector<Characters> encode(const std::vector<Text>& texts) {
    std::vector<Characters> encoded;
    encoded.reserve(texts.size());
    for (const Text& text : texts) {
      Characters& characters = encoded.emplace_back();
      characters.reserve(text.size());
      for (char32_t c : text) characters.push_back(number(c));
    }
    return encoded;
  }

  std::size_t size() const { return size_; }

 private:
  Character number(char32_t c) {
    Character& known = c < latin_.size() ? latin_[c] : others_[c];
    if (known == 0) known = ++size_;
    return known - 1;
  }

  std::array<Character, 256> latin_{};  // spares the hash lookup for most characters
  std::unordered_map<char32_t, Character> others_;
  Character size_ = 0;
};

// Similarity by longer length and distance.
using Similarities = std::array<std::array<float, kLongestCompared + 1>, kLongestCompared + 1>;

const Similarities& similarities() {
  static const Similarities known = [] {
    Similarities found{};
    found[0][0] = 1.0f;
    for (std::size_t longer = 1; longer <= kLongestCompared; ++longer)
      for (std::size_t distance = 0; distance <= longer; ++distance)
        found[longer][distance] =
            static_cast<float>(1.0 - static_cast<double>(distance) / static_cast<double>(longer));
    return found;
  }();
  return known;
}

// Number of bits that are set in each lane.
template <class Word, class Vector>
Vector popcount(Vector x) {
  constexpr Word all = static_cast<Word>(~Word{0});
  constexpr Word pairs = all / 3, fours = all / 15 * 3, bytes = all / 255 * 15, most = 127;
  x = x - ((x >> 1) & pairs);
  x = (x & fours) + ((x >> 2) & fours);
  x = (x + (x >> 4)) & bytes;
  // A product would be shorter, but there is none of bytes or of 64 bits for vectors.
  for (int shift = 8; shift < static_cast<int>(8 * sizeof(Word)); shift *= 2) x = x + (x >> shift);
  return x & most;
}

// Up to kLanes patterns of one length, which is at most the number of bits of a word, side by side.
template <class Word>
class Patterns {
 public:
  explicit Patterns(std::size_t alphabet) : masks_(alphabet) {}

  bool is_full() const { return size_ == kLanes; }
  std::size_t size() const { return size_; }

  void add(const Characters& pattern) {
    for (std::size_t k = 0; k < pattern.size(); ++k) masks_[pattern[k]][size_] |= static_cast<Word>(Word{1} << k);
    used_.insert(used_.end(), pattern.begin(), pattern.end());
    length_ = pattern.size();
    ++size_;
  }

  void clear() {
    for (Character c : used_) masks_[c] = Lanes{};
    used_.clear();
    size_ = 0;
  }

  std::size_t length() const { return length_; }

  // The Levenshtein distance of each pattern to a text (Myers 1999).
  void compare(const Characters& text) {
    using Vector = typename Vectors<Word>::Vector;
    Vector p = ~Vector{}, m = {};
    for (Character c : text) {
      Vector x;
      std::memcpy(&x, masks_[c].data(), sizeof(x));
      x |= m;
      const Vector d = ((p + (x & p)) ^ p) | x;
      const Vector down = p & d, up = m | ~(p | d);
      const Vector raised = (up + up) | 1;
      m = raised & d;
      p = (down + down) | ~(raised | d);
    }
    // What one character of a pattern after the other adds to the distance of its beginning, or takes away.
    const std::size_t unused = 8 * sizeof(Word) - length_;
    const Word within = length_ == 0 ? Word{0} : static_cast<Word>(static_cast<Word>(~Word{0}) >> unused);
    const Vector added = popcount<Word, Vector>(p & within), taken = popcount<Word, Vector>(m & within);
    const Vector distances = static_cast<Word>(text.size()) + added - taken;
    std::memcpy(distances_.data(), &distances, sizeof(distances));
  }

  std::size_t distance(std::size_t lane) const { return distances_[lane]; }

 private:
  using Lanes = std::array<Word, kLanes>;
  std::vector<Lanes> masks_;  // for each character where it stands in each pattern
  Characters used_;
  Lanes distances_{};
  std::size_t length_ = 0, size_ = 0;
};

// Compares with all texts the patterns of at most `longest` characters, from `next` on in the `order` of lengths.
template <class Word>
void compare_all(const std::vector<Characters>& patterns, const std::vector<std::size_t>& order, std::size_t longest,
                 std::size_t& next, const std::vector<Characters>& texts, std::size_t alphabet,
                 std::vector<float>& matrix) {
  const Similarities& known = similarities();
  Patterns<Word> at_once(alphabet);
  std::array<float*, kLanes> rows{};
  const auto compare = [&] {
    for (std::size_t j = 0; j < texts.size(); ++j) {
      at_once.compare(texts[j]);
      const auto& similarity = known[std::max(at_once.length(), texts[j].size())];
      for (std::size_t lane = 0; lane < at_once.size(); ++lane) rows[lane][j] = similarity[at_once.distance(lane)];
    }
    at_once.clear();
  };
  for (; next < order.size() && patterns[order[next]].size() <= longest; ++next) {
    const Characters& pattern = patterns[order[next]];
    if (at_once.size() && (at_once.is_full() || pattern.size() != at_once.length())) compare();
    rows[at_once.size()] = matrix.data() + order[next] * texts.size();
    at_once.add(pattern);
  }
  if (at_once.size()) compare();
}

}  // namespace

std::vector<float> similarity_matrix(const std::vector<Text>& a, const std::vector<Text>& b) {
  std::vector<float> matrix(a.size() * b.size());
  Alphabet alphabet;
  const std::vector<Characters> patterns = alphabet.encode(a), texts = alphabet.encode(b);
  std::vector<std::size_t> order(patterns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return patterns[i].size() < patterns[j].size(); });
  std::size_t next = 0;
  // The narrower the words, the more of them a vector has. A distance fits as well: at most kLongestCompared.
  compare_all<std::uint8_t>(patterns, order, 8, next, texts, alphabet.size(), matrix);
  compare_all<std::uint16_t>(patterns, order, 16, next, texts, alphabet.size(), matrix);
  compare_all<std::uint32_t>(patterns, order, 32, next, texts, alphabet.size(), matrix);
  compare_all<std::uint64_t>(patterns, order, kLongestCompared, next, texts, alphabet.size(), matrix);
  return matrix;
}

void square_by_kinds(float* matrix, const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b,
                     float factor, float both_empty) {
  for (std::int32_t one : a) {
    if (one < 0) {
      for (std::int32_t other : b) *matrix++ = other < 0 ? both_empty : 0.0f;
      continue;
    }
    // Without a branch, so that many entries are computed at once.
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int32_t other = b[j];
      const bool apart = (((one | other) & 1) != 0) & (one >> 1 != other >> 1);
      const float like = other < 0 ? 0.0f : apart ? factor : 1.0f;
      matrix[j] = matrix[j] * matrix[j] * like;
    }
    matrix += b.size();
  }
}

std::vector<float> transposed(const float* matrix, std::size_t rows, std::size_t cols) {
  constexpr std::size_t kBlock = 16;  // a line of the cache
  std::vector<float> result(rows * cols);
  for (std::size_t top = 0; top < rows; top += kBlock)
    for (std::size_t left = 0; left < cols; left += kBlock)
      for (std::size_t row = top; row < std::min(top + kBlock, rows); ++row)
        for (std::size_t col = left; col < std::min(left + kBlock, cols); ++col)
          result[col * rows + row] = matrix[row * cols + col];
  return result;
}

std::vector<double> line_likeness(const float* matrix, std::size_t width, const Lines& a, const Lines& b) {
  const std::size_t size = a.count * b.count;
  std::vector<float> sums(size);
  std::vector<int> counts(size);
  for (std::size_t k = 0; k < a.length; ++k)
    for (std::size_t i = 0; i < a.count; ++i) {
      const float* from = matrix + static_cast<std::size_t>(a.ids[k * a.count + i]) * width;
      const bool is_filled = a.filled[k * a.count + i];
      for (std::size_t j = 0; j < b.count; ++j) {
        if (!is_filled && !b.filled[k * b.count + j]) continue;
        sums[i * b.count + j] += from[b.ids[k * b.count + j]];
        ++counts[i * b.count + j];
      }
    }
  std::vector<double> means(size);
  for (std::size_t k = 0; k < size; ++k) means[k] = static_cast<double>(sums[k]) / std::max(counts[k], 1);
  return means;
}

std::vector<float> column_maxima(const float* matrix, std::size_t width, const std::int64_t* ids, std::size_t n_rows,
                                 std::size_t n_cols) {
  std::vector<float> best(n_cols * width);
  for (std::size_t column = 0; column < n_cols; ++column) {
    float* into = best.data() + column * width;
    for (std::size_t row = 0; row < n_rows; ++row) {
      const float* from = matrix + static_cast<std::size_t>(ids[row * n_cols + column]) * width;
      if (row == 0) std::copy(from, from + width, into);
      for (std::size_t k = 0; k < width; ++k) into[k] = into[k] < from[k] ? from[k] : into[k];
    }
  }
  return best;
}

}  // namespace parsemark
