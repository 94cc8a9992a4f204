#include "pattern_masks.hpp"

#include <algorithm>

namespace parsemark {

namespace {
constexpr std::size_t kMaxMaskWords = std::size_t{1} << 24;
}

PatternMasks::PatternMasks(const std::vector<Text>& patterns, const std::vector<Text>& others) {
  std::unordered_map<char32_t, std::uint32_t> dense;
  std::vector<std::uint32_t> latin(256, 0);  // spares the hash lookup for most characters
  auto number = [&](char32_t c) -> std::uint32_t& { return c < 256 ? latin[c] : dense[c]; };
  patterns_.reserve(patterns.size());
  for (const Text& text : patterns) {
    DenseText encoded;
    encoded.reserve(text.size());
    for (char32_t c : text) {
      std::uint32_t& n = number(c);
      if (n == 0) n = static_cast<std::uint32_t>(alphabet_++);
      encoded.push_back(n);
    }
    patterns_.push_back(std::move(encoded));
  }
  others_.reserve(others.size());
  for (const Text& text : others) {
    DenseText encoded;
    encoded.reserve(text.size());
    for (char32_t c : text) {
      if (c < 256) {
        encoded.push_back(latin[c]);
      } else {
        auto found = dense.find(c);
        encoded.push_back(found == dense.end() ? 0 : found->second);
      }
    }
    others_.push_back(std::move(encoded));
  }
  masks_.assign(alphabet_, 0);
}

void PatternMasks::select(int pattern) {
  if (pattern == current_) return;
  if (current_ >= 0 && usable_) {
    for (std::uint32_t c : patterns_[current_]) {
      std::uint64_t* words = &masks_[static_cast<std::size_t>(c) * blocks_];
      std::fill(words, words + blocks_, 0);
    }
  }
  current_ = pattern;
  const DenseText& text = patterns_[pattern];
  blocks_ = std::max<int>(1, static_cast<int>((text.size() + 63) / 64));
  const std::size_t words = alphabet_ * static_cast<std::size_t>(blocks_);
  usable_ = words <= std::max(kMaxMaskWords, alphabet_);
  if (!usable_) return;
  if (masks_.size() < words) masks_.resize(words, 0);
  for (std::size_t i = 0; i < text.size(); ++i) {
    masks_[static_cast<std::size_t>(text[i]) * blocks_ + i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

}  // namespace parsemark
