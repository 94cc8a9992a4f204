// Tree edit distance for any ordered tree (Zhang and Shasha 1989).
#pragma once

#include <string>
#include <vector>

#include "texts.hpp"

namespace parsemark {

// Nodes in postorder. `leftmost[i]` is the leftmost leaf below node i; nodes with different labels cannot be
// renamed for free; `text_ids[i]` is -1 for a node without text.
struct OrderedTree {
  std::vector<int> leftmost;
  std::vector<std::string> labels;
  std::vector<int> text_ids;
  TextPool texts;
};

// Insert = delete = 1; rename = 1 if the labels differ, else the normalized Levenshtein distance of the texts.
double ordered_tree_distance(const OrderedTree& a, const OrderedTree& b, bool structure_only);

}  // namespace parsemark
