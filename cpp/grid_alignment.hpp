// The factored two-dimensional most similar substructures of GriTS (Smock et al. 2022).
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "texts.hpp"

namespace parsemark {

// `ids[r * cols + c]` is the entry of a grid position.
struct Grid {
  int rows = 0, cols = 0;
  std::vector<int> ids;
};

struct TextGrid : Grid {
  std::vector<Text> texts;
};

// A span as seen from one of its positions: columns from x0 to x1, rows from y0 to y1, with (0, 0) the position.
using Span = std::array<int, 4>;

struct SpanGrid : Grid {
  std::vector<Span> spans;
};

enum class TextSimilarity { kDifflib, kLcs };
enum class SpanOverlap { kUnion, kHull };

using Pairs = std::vector<std::pair<int, int>>;

// Matched rows, matched columns, and the similarity summed over all positions that they share.
struct GridMatch {
  double total = 0;
  Pairs rows, cols;
};

GridMatch match_text_grids(const TextGrid& a, const TextGrid& b, TextSimilarity similarity);
GridMatch match_span_grids(const SpanGrid& a, const SpanGrid& b, SpanOverlap overlap);

}  // namespace parsemark
