#include "similarity_matrix.hpp"

#include <algorithm>
#include <array>
#include <cstring>
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

template <class Word>
Word popcount(Word x) {
  constexpr Word all = static_cast<Word>(~Word{0});
  x = static_cast<Word>(x - ((x >> 1) & (all / 3)));
  x = static_cast<Word>((x & (all / 15 * 3)) + ((x >> 2) & (all / 15 * 3)));
  x = static_cast<Word>((x + (x >> 4)) & (all / 255 * 15));
  return static_cast<Word>(static_cast<Word>(x * (all / 255)) >> (8 * (sizeof(Word) - 1)));
}

// Up to kLanes patterns, none of which has more characters than a word has bits, side by side.
template <class Word>
class Patterns {
 public:
  explicit Patterns(std::size_t alphabet) : masks_(alphabet) {}

  bool is_full() const { return size_ == kLanes; }
  std::size_t size() const { return size_; }

  void add(const Characters& pattern) {
    for (std::size_t k = 0; k < pattern.size(); ++k) masks_[pattern[k]][size_] |= static_cast<Word>(Word{1} << k);
    used_.insert(used_.end(), pattern.begin(), pattern.end());
    lengths_[size_] = static_cast<Word>(pattern.size());
    const std::size_t unused = 8 * sizeof(Word) - pattern.size();
    within_[size_] = pattern.empty() ? Word{0} : static_cast<Word>(static_cast<Word>(~Word{0}) >> unused);
    ++size_;
  }

  void clear() {
    for (Character c : used_) masks_[c] = Lanes{};
    used_.clear();
    size_ = 0;
  }

  std::size_t length(std::size_t lane) const { return lengths_[lane]; }

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
    Lanes plus, minus;
    std::memcpy(plus.data(), &p, sizeof(p));
    std::memcpy(minus.data(), &m, sizeof(m));
    // What one character of a pattern after the other adds to the distance of its beginning, or takes away.
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      distances_[lane] = text.size() + popcount<Word>(plus[lane] & within_[lane]) -
                         popcount<Word>(minus[lane] & within_[lane]);
  }

  std::size_t distance(std::size_t lane) const { return distances_[lane]; }

 private:
  using Lanes = std::array<Word, kLanes>;
  std::vector<Lanes> masks_;  // for each character where it stands in each pattern
  Characters used_;
  Lanes lengths_{}, within_{}, distances_{};
  std::size_t size_ = 0;
};

// Compares the patterns of some lengths with all texts.
template <class Word>
void compare_all(const std::vector<Characters>& patterns, std::size_t shortest, std::size_t longest,
                 const std::vector<Characters>& texts, std::size_t alphabet, std::vector<float>& matrix) {
  const Similarities& known = similarities();
  Patterns<Word> at_once(alphabet);
  std::array<float*, kLanes> rows{};
  const auto compare = [&] {
    for (std::size_t j = 0; j < texts.size(); ++j) {
      at_once.compare(texts[j]);
      for (std::size_t lane = 0; lane < at_once.size(); ++lane)
        rows[lane][j] =
            known[std::max(at_once.length(lane), texts[j].size())][at_once.distance(lane)];
    }
    at_once.clear();
  };
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    if (patterns[i].size() < shortest || patterns[i].size() > longest) continue;
    rows[at_once.size()] = matrix.data() + i * texts.size();
    at_once.add(patterns[i]);
    if (at_once.is_full()) compare();
  }
  if (at_once.size()) compare();
}

}  // namespace

std::vector<float> similarity_matrix(const std::vector<Text>& a, const std::vector<Text>& b) {
  std::vector<float> matrix(a.size() * b.size());
  Alphabet alphabet;
  const std::vector<Characters> patterns = alphabet.encode(a), texts = alphabet.encode(b);
  // The narrower the words, the more of them a vector has. A distance fits as well: at most kLongestCompared.
  compare_all<std::uint8_t>(patterns, 0, 8, texts, alphabet.size(), matrix);
  compare_all<std::uint16_t>(patterns, 9, 16, texts, alphabet.size(), matrix);
  compare_all<std::uint32_t>(patterns, 17, 32, texts, alphabet.size(), matrix);
  compare_all<std::uint64_t>(patterns, 33, kLongestCompared, texts, alphabet.size(), matrix);
  return matrix;
}

void square_by_kinds(float* matrix, const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b,
                     float factor, float both_empty) {
  // What is left of the square by the other text alone; those of the same class are few, and put right behind.
  std::vector<float> of_loose(b.size()), of_strict(b.size());
  std::unordered_map<std::int32_t, std::vector<std::size_t>> by_class;
  for (std::size_t j = 0; j < b.size(); ++j) {
    of_strict[j] = b[j] < 0 ? 0.0f : factor;
    of_loose[j] = b[j] < 0 ? 0.0f : (b[j] & 1) ? factor : 1.0f;
    if (b[j] >= 0) by_class[b[j] >> 1].push_back(j);
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    float* row = matrix + i * b.size();
    if (a[i] < 0) {
      for (std::size_t j = 0; j < b.size(); ++j) row[j] = b[j] < 0 ? both_empty : 0.0f;
      continue;
    }
    const auto same = by_class.find(a[i] >> 1);
    std::vector<float> squares;
    if (same != by_class.end())
      for (std::size_t j : same->second) squares.push_back(row[j] * row[j]);
    const float* left = a[i] & 1 ? of_strict.data() : of_loose.data();
    for (std::size_t j = 0; j < b.size(); ++j) row[j] = row[j] * row[j] * left[j];
    for (std::size_t k = 0; k < squares.size(); ++k) row[same->second[k]] = squares[k];
  }
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
