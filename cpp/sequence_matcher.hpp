// The number of characters that Python's difflib.SequenceMatcher matches, bit for bit.
#pragma once

#include "pattern_masks.hpp"

namespace parsemark {

// Sum of the sizes of SequenceMatcher(None, a, b).get_matching_blocks(), a = other, b = pattern, including the
// "autojunk" rule for |b| >= 200.
int difflib_matched(PatternMasks& masks, int other, int pattern);

}  // namespace parsemark
