// Interned texts: every different string of a table once, as code points.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace parsemark {

using Text = std::u32string;

// The different texts of a table, and for each cell the index of its text.
struct TextPool {
  std::vector<Text> unique;
  std::vector<int> ids;

  void add(const Text& text) {
    auto [entry, is_new] = index_.try_emplace(text, static_cast<int>(unique.size()));
    if (is_new) unique.push_back(text);
    ids.push_back(entry->second);
  }

 private:
  std::unordered_map<Text, int> index_;
};

}  // namespace parsemark
