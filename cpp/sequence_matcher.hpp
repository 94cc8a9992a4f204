// The number of characters that Python's difflib.SequenceMatcher matches, bit for bit.
#pragma once

#include "pattern_masks.hpp"

namespace parsemark {

// Sum of the sizes of SequenceMatcher(None, a, b).get_matching_blocks(), a = other, b = pattern, including the
// "autojunk" rule for |b| >= 200.
int difflib_matched(PatternMasks& masks, int other, int pattern);

// For each query the index of the candidate that difflib.get_close_matches(query, candidates, n=1, cutoff) gives: the
// greatest ratio, among equals the greatest string; -1 if none reaches the cutoff.
std::vector<int> close_matches(const std::vector<Text>& queries, const std::vector<Text>& candidates, double cutoff);

}  // namespace parsemark
