// Levenshtein distance and longest common subsequence, 64 characters of the pattern at a time.
#pragma once

#include "pattern_masks.hpp"

namespace parsemark {

// Levenshtein distance between pattern and other (Myers 1999, in Hyyrö's 2003 formulation).
int levenshtein(PatternMasks& masks, int other, int pattern);

// A part of a text.
struct TextRange {
  const std::uint32_t* first;
  const std::uint32_t* last;
  const std::uint32_t* begin() const { return first; }
  const std::uint32_t* end() const { return last; }
};

// Levenshtein distance between the selected pattern, which has this length above 0, and a part of a text.
int levenshtein_to_range(const PatternMasks& masks, TextRange text, int length);

// Least Levenshtein distance between pattern and a window of its length in other; -1 if above the cutoff, or
// if there is no such window.
int window_distance(PatternMasks& masks, int other, int pattern, int cutoff);

// Length of a longest common subsequence (Hyyrö 2004).
int lcs_length(PatternMasks& masks, int other, int pattern);

// Levenshtein distance divided by the longer length; 0 for two empty texts.
inline double normalized_levenshtein(PatternMasks& masks, int other, int pattern) {
  const std::size_t longer = std::max(masks.other(other).size(), masks.pattern(pattern).size());
  if (longer == 0) return 0.0;
  return static_cast<double>(levenshtein(masks, other, pattern)) / static_cast<double>(longer);
}

}  // namespace parsemark
