// Bit masks of one text ("pattern"): for each character, the positions at which the pattern has it.
//
// Myers' Levenshtein, Hyyrö's LCS and our difflib all consume such masks. Characters are renumbered densely
// (0 = not in any pattern), so that a lookup is one load, and moving to another pattern only touches the
// characters of the old and the new one.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "texts.hpp"

namespace parsemark {

using DenseText = std::vector<std::uint32_t>;

class PatternMasks {
 public:
  PatternMasks(const std::vector<Text>& patterns, const std::vector<Text>& others);

  // Makes `pattern` the current one.
  void select(int pattern);

  const DenseText& pattern(int index) const { return patterns_[index]; }
  const DenseText& other(int index) const { return others_[index]; }

  // Number of 64-bit words per mask of the current pattern.
  int blocks() const { return blocks_; }
  // Whether masks exist; not so for texts that are huge and have a huge alphabet.
  bool usable() const { return usable_; }
  const std::uint64_t* mask(std::uint32_t character) const {
    return &masks_[static_cast<std::size_t>(character) * blocks_];
  }

 private:
  std::vector<DenseText> patterns_;
  std::vector<DenseText> others_;
  std::vector<std::uint64_t> masks_;
  std::size_t alphabet_ = 1;
  int current_ = -1;
  int blocks_ = 1;
  bool usable_ = true;
};

}  // namespace parsemark
