#include "plain_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace parsemark {
namespace {

using Name = std::string_view;

constexpr std::size_t kLongestAttributes = 1000;
constexpr std::size_t kDepth = 16;  // inline elements inside each other

constexpr std::array<Name, 3> kSections = {"thead", "tbody", "tfoot"};
constexpr std::array<Name, 8> kInline = {"b", "i", "u", "em", "strong", "sup", "sub", "span"};
constexpr std::array<Name, 4> kBreaks = {"br", "br ", "br/", "br /"};
constexpr std::array<Name, 10> kHarmless = {"align",  "border", "cellpadding", "cellspacing", "class",
                                            "height", "id",     "scope",       "valign",      "width"};
constexpr std::array<Name, 5> kHiding = {"display", "visibility", "opacity", "font-size", "color"};
constexpr std::array<Name, 7> kReferences = {"amp;", "lt;", "gt;", "quot;", "nbsp;", "#39;", "#x27;"};
constexpr std::array<char32_t, 7> kReferred = {U'&', U'<', U'>', U'"', 0xa0, U'\'', U'\''};

template <std::size_t N>
bool is_one_of(Name name, const std::array<Name, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_blank(char32_t c) { return c == U' ' || c == U'\t' || c == U'\n' || c == U'\r'; }

// White space of Python's `str.split`, without the characters that are odd.
bool is_space(char32_t c) {
  if (c < 0x80) return is_blank(c);
  return c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

// Control characters, surrogates and what is no character: parsers of HTML disagree about them.
bool is_odd(char32_t c) {
  return (c < 0x20 && !is_blank(c)) || (c >= 0x7f && c <= 0x9f) || (c >= 0xd800 && c <= 0xdfff) || c == 0xfffe ||
         c == 0xffff;
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_bare(char c) { return is_letter(c) || is_digit(c) || Name("_#.%-").find(c) != Name::npos; }
bool is_quoted(char c) { return is_bare(c) || Name(" ,:;").find(c) != Name::npos; }

struct Spans {
  int rows = 0, cols = 0;  // 0 where the tag does not say
};

// Each step returns whether the text may still be a plain table.
class Reading {
 public:
  PlainTable table;

  explicit Reading(const Text& text) : text_(text) {}

  bool read() {
    read_optional("html");
    if (read_optional("head") && !read_optional("/head")) return false;
    read_optional("body");
    skip_blanks();
    table.start = at_;
    if (!read_tag() || name() != "table" || !read_attributes() || !read_sections()) return false;
    table.end = at_;
    read_optional("/body");
    read_optional("/html");
    skip_blanks();
    return at_ == text_.size();
  }

 private:
  const Text& text_;
  std::size_t at_ = 0;
  std::string tag_;  // what stands between the last `<` and `>`, in lower case

  Name name() const {
    std::size_t end = 0;
    while (end < tag_.size() && is_letter(tag_[end])) ++end;
    return Name(tag_).substr(0, end);
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  bool read_tag() {
    skip_blanks();
    tag_.clear();
    if (at_ == text_.size() || text_[at_] != U'<') return false;
    for (++at_; at_ < text_.size() && text_[at_] != U'>'; ++at_) {
      const char32_t c = text_[at_];
      if (c == U'<' || c >= 0x80) return false;
      tag_.push_back(static_cast<char>(c >= U'A' && c <= U'Z' ? c + 32 : c));
    }
    return at_++ < text_.size();
  }

  bool read_optional(Name tag) {
    const std::size_t before = at_;
    if (read_tag() && tag_ == tag) return true;
    at_ = before;
    return false;
  }

  // Reads the attributes of the last tag, and its spans where they are asked for.
  bool read_attributes(Spans* spans = nullptr) {
    const Name rest = Name(tag_).substr(name().size());
    if (rest.size() > kLongestAttributes) return false;
    std::size_t at = 0;
    const auto skip = [&] {
      const std::size_t before = at;
      while (at < rest.size() && is_blank(static_cast<unsigned char>(rest[at]))) ++at;
      return at > before;
    };
    while (at < rest.size()) {
      if (!skip()) return false;
      if (at == rest.size()) return true;
      const std::size_t begin = at;
      while (at < rest.size() && is_letter(rest[at])) ++at;
      const Name name = rest.substr(begin, at - begin);
      skip();
      if (at == rest.size() || rest[at++] != '=') return false;
      skip();
      const char quote = at < rest.size() && (rest[at] == '"' || rest[at] == '\'') ? rest[at++] : '\0';
      const std::size_t first = at;
      while (at < rest.size() && (quote ? is_quoted(rest[at]) : is_bare(rest[at]))) ++at;
      const Name value = rest.substr(first, at - first);
      if (quote ? at == rest.size() || rest[at++] != quote : value.empty()) return false;
      if (!accept(name, value, quote != '\0', spans)) return false;
    }
    return true;
  }

  bool accept(Name name, Name value, bool quoted, Spans* spans) {
    if (is_one_of(name, kHarmless)) return true;
    if (name == "style")
      return quoted && std::none_of(kHiding.begin(), kHiding.end(),
                                    [&](Name word) { return value.find(word) != Name::npos; });
    if (name != "rowspan" && name != "colspan") return false;
    if (value.empty() || value.size() > 3 || value[0] == '0' || !std::all_of(value.begin(), value.end(), is_digit))
      return false;
    if (!spans) return true;
    int& span = name == "rowspan" ? spans->rows : spans->cols;
    if (span) return false;  // said twice
    span = std::stoi(std::string(value));
    return true;
  }

  // Reads rows and sections up to the end of the table.
  bool read_sections() {
    while (read_tag()) {
      if (tag_ == "/table") return true;
      if (name() == "tr") {
        if (!read_row(false)) return false;
        continue;
      }
      const std::string section(name());
      if (!is_one_of(section, kSections) || !read_attributes()) return false;
      while (true) {
        if (!read_tag()) return false;
        if (tag_ == "/" + section) break;
        if (name() != "tr" || !read_row(section == "thead")) return false;
      }
    }
    return false;
  }

  bool read_row(bool in_head) {
    if (!read_attributes()) return false;
    table.row_lengths.push_back(0);
    table.says_headers |= in_head;
    while (read_tag()) {
      if (tag_ == "/tr") return true;
      const bool is_header = name() == "th";
      Spans spans;
      if ((!is_header && name() != "td") || !read_attributes(&spans) || !read_cell(is_header ? "/th" : "/td"))
        return false;
      const int rows = std::max(spans.rows, 1), cols = std::max(spans.cols, 1);
      if (rows > 1 || cols > 1) table.spans.push_back({static_cast<int>(table.ends.size()), rows, cols});
      table.ends.push_back(table.characters.size());
      table.headers.push_back(is_header || in_head);
      table.says_headers |= is_header;
      ++table.row_lengths.back();
    }
    return false;
  }

  // Reads what is in a cell, and the tag that ends it.
  bool read_cell(Name closing) {
    const std::size_t begin = table.characters.size();
    std::vector<Name> opened;
    std::vector<Text> pieces;
    Text piece;
    bool after_space = false;
    while (at_ < text_.size()) {
      char32_t c = text_[at_];
      if (c == U'<') {
        if (!read_tag()) return false;
        if (tag_ == closing) {
          if (!pieces.empty()) {
            pieces.push_back(std::move(piece));
            table.marked.emplace_back(static_cast<int>(table.ends.size()), std::move(pieces));
          }
          return opened.empty();
        }
        if (is_one_of(tag_, kBreaks)) tag_ = "br";
        else if (!nest(opened)) return false;
        pieces.push_back(std::move(piece));
        pieces.emplace_back(tag_.begin(), tag_.end());
        piece.clear();
        continue;
      }
      if (is_odd(c)) return false;
      if (c == U'&' && !read_reference(c)) return false;
      ++at_;
      piece.push_back(c);
      if (is_space(c)) {
        after_space = true;
        continue;
      }
      if (after_space && table.characters.size() > begin) table.characters.push_back(U' ');
      after_space = false;
      table.characters.push_back(c);
    }
    return false;
  }

  // Keeps track of the elements inside a cell.
  bool nest(std::vector<Name>& opened) {
    const bool closes = !tag_.empty() && tag_[0] == '/';
    const auto known = std::find(kInline.begin(), kInline.end(), Name(tag_).substr(closes ? 1 : 0));
    if (known == kInline.end()) return false;
    if (!closes) {
      opened.push_back(*known);
      return opened.size() <= kDepth;
    }
    if (opened.empty() || opened.back() != *known) return false;
    opened.pop_back();
    return true;
  }

  // Puts the character for a reference, and moves to its last character.
  bool read_reference(char32_t& c) {
    const Text& text = text_;
    if (at_ + 1 < text.size() && text[at_ + 1] == U' ') return true;
    for (std::size_t k = 0; k < kReferences.size(); ++k) {
      const Name name = kReferences[k];
      if (at_ + name.size() < text.size() && std::equal(name.begin(), name.end(), text.begin() + at_ + 1)) {
        c = kReferred[k];
        at_ += name.size();
        return true;
      }
    }
    return false;
  }
};

}  // namespace

std::optional<PlainTable> read_plain_table(const Text& text) {
  Reading reading(text);
  if (!reading.read()) return std::nullopt;
  return std::move(reading.table);
}

}  // namespace parsemark
