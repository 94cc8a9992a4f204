#include "ordered_tree.hpp"

#include <algorithm>
#include <unordered_map>

#include "edit_similarity.hpp"

namespace parsemark {

namespace {

// The roots of the subtrees that need their own table: the last node for each leftmost leaf.
std::vector<int> key_roots(const std::vector<int>& leftmost) {
  std::vector<int> roots;
  std::vector<char> seen(leftmost.size(), 0);
  for (int i = static_cast<int>(leftmost.size()) - 1; i >= 0; --i) {
    if (!seen[leftmost[i]]) roots.push_back(i);
    seen[leftmost[i]] = 1;
  }
  std::reverse(roots.begin(), roots.end());
  return roots;
}

class ZhangShasha {
 public:
  ZhangShasha(const OrderedTree& a, const OrderedTree& b, bool structure_only)
      : a_(a),
        b_(b),
        structure_only_(structure_only),
        masks_(b.texts.unique, a.texts.unique),
        memo_(structure_only ? 0 : a.texts.unique.size() * b.texts.unique.size(), -1.0),
        tree_(a.labels.size() * b.labels.size()),
        forest_((a.labels.size() + 1) * (b.labels.size() + 1)) {
    std::unordered_map<std::string, int> names;
    for (const std::string& label : a.labels) labels_a_.push_back(names.try_emplace(label, names.size()).first->second);
    for (const std::string& label : b.labels) labels_b_.push_back(names.try_emplace(label, names.size()).first->second);
  }

  double distance() {
    const std::vector<int> roots_b = key_roots(b_.leftmost);
    for (int i : key_roots(a_.leftmost))
      for (int j : roots_b) fill(i, j);
    return tree_.back();
  }

 private:
  double rename(int i, int j) {
    if (labels_a_[i] != labels_b_[j]) return 1.0;
    const int text_a = a_.text_ids[i], text_b = b_.text_ids[j];
    if (structure_only_ || text_a < 0 || text_b < 0) return 0.0;
    double& known = memo_[static_cast<std::size_t>(text_a) * b_.texts.unique.size() + text_b];
    if (known < 0) known = normalized_levenshtein(masks_, text_a, text_b);
    return known;
  }

  // Distances between all prefixes of the forests below the key roots i and j.
  void fill(int root_a, int root_b) {
    const int first_a = a_.leftmost[root_a], first_b = b_.leftmost[root_b];
    const std::size_t width = root_b - first_b + 2;
    for (std::size_t y = 0; y < width; ++y) forest_[y] = static_cast<double>(y);
    for (int i = first_a; i <= root_a; ++i) {
      double* row = &forest_[(i - first_a + 1) * width];
      const double* above = row - width;
      const double* before_subtree = &forest_[(a_.leftmost[i] - first_a) * width];
      row[0] = above[0] + 1;
      for (int j = first_b; j <= root_b; ++j) {
        const std::size_t y = j - first_b + 1;
        double& subtrees = tree_[static_cast<std::size_t>(i) * b_.labels.size() + j];
        double best = std::min(above[y], row[y - 1]) + 1;
        if (a_.leftmost[i] == first_a && b_.leftmost[j] == first_b) {
          if (above[y - 1] < best) best = std::min(best, above[y - 1] + rename(i, j));
          subtrees = best;
        } else {
          best = std::min(best, before_subtree[b_.leftmost[j] - first_b] + subtrees);
        }
        row[y] = best;
      }
    }
  }

  const OrderedTree& a_;
  const OrderedTree& b_;
  const bool structure_only_;
  PatternMasks masks_;
  std::vector<double> memo_;
  std::vector<double> tree_;    // distance between the subtrees of i and j
  std::vector<double> forest_;  // scratch of `fill`
  std::vector<int> labels_a_, labels_b_;
};

}  // namespace

double ordered_tree_distance(const OrderedTree& a, const OrderedTree& b, bool structure_only) {
  if (a.labels.empty() || b.labels.empty()) return static_cast<double>(a.labels.size() + b.labels.size());
  return ZhangShasha(a, b, structure_only).distance();
}

}  // namespace parsemark
