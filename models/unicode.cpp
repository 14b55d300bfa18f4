#include "models/unicode.h"

#include <algorithm>
#include <boost/locale/utf.hpp>
#include <iterator>
#include <span>

namespace tessera::models {
namespace {

struct Range {
  char32_t first, last;
};

/// Code points that the reference keeps although NFD moves them behind marks of a lower order.
struct Reordered {
  char32_t first, last;
  int order;
};

enum Form { same, shift, pair };

/// What decomposing, dropping marks and lower-casing make of [first, last]: `to` for all (same), `to` and its
/// successors (shift), or the second of each two (pair).
struct Fold {
  char32_t first, last, to;
  Form form;
};

struct Sequence {
  char32_t first;
  char32_t to[3];
};

#include "models/unicode_tables.inc"

/// The entry of a sorted table whose [first, last] holds c, or nullptr.
template <typename Entry>
const Entry* find(std::span<const Entry> table, char32_t c) {
  auto above = std::upper_bound(table.begin(), table.end(), c,
                                [](char32_t value, const Entry& entry) { return value < entry.first; });
  if (above == table.begin()) return nullptr;
  const Entry& entry = *std::prev(above);
  if constexpr (requires { entry.last; }) {
    return c <= entry.last ? &entry : nullptr;
  } else {
    return c == entry.first ? &entry : nullptr;
  }
}

template <typename Entry, size_t count>
const Entry* find(const Entry (&table)[count], char32_t c) {
  return find(std::span<const Entry>(table), c);
}

/// The blocks that the reference spaces out; they leave some later extensions out.
bool is_cjk_ideograph(char32_t c) {
  static constexpr Range kIdeographs[] = {{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},
                                          {0x20000, 0x2A6DF}, {0x2A700, 0x2B81F}, {0x2B920, 0x2CEAF},
                                          {0x2F800, 0x2FA1F}};
  return find(kIdeographs, c) != nullptr;
}

/// Appends code points in canonical order: a run of reordered ones is kept sorted as it grows.
class Output {
 public:
  void add(char32_t c) {
    const Reordered* entry = find(kReordered, c);
    size_t at = text_.size();
    if (entry) {
      while (at > run_ && find(kReordered, text_[at - 1])->order > entry->order) --at;
    }
    text_.insert(at, 1, c);
    if (!entry) end_run();
  }

  void end_run() { run_ = text_.size(); }

  std::u32string take() { return std::move(text_); }

 private:
  std::u32string text_;
  size_t run_ = 0;  // where the run at the end begins
};

/// Hangul syllables are composed by arithmetic (The Unicode Standard, section 3.12).
void add_hangul(Output& out, char32_t c) {
  constexpr char32_t kLead = 0x1100, kVowel = 0x1161, kTrail = 0x11A7, kVowels = 21, kTrails = 28;
  char32_t index = c - 0xAC00;
  out.add(kLead + index / (kVowels * kTrails));
  out.add(kVowel + index / kTrails % kVowels);
  if (index % kTrails != 0) out.add(kTrail + index % kTrails);
}

char32_t fold(char32_t c) {
  if (c - kCompatibilityFirst < std::size(kCompatibility)) return kCompatibility[c - kCompatibilityFirst];
  if (c - kCompatibilitySupplementFirst < std::size(kCompatibilitySupplement))
    return kCompatibilitySupplement[c - kCompatibilitySupplementFirst];
  const Fold* entry = find(kFolds, c);
  if (!entry) return c;
  switch (entry->form) {
    case same:
      return entry->to;
    case shift:
      return entry->to + (c - entry->first);
    case pair:
      return c + ((c - entry->first) % 2 == 0 ? 1 : 0);
  }
  return c;
}

void add_folded(Output& out, char32_t c) {
  if (find(kMarks, c)) return;
  if (find(kMarksThatStart, c)) return out.end_run();
  if (c >= 0xAC00 && c <= 0xD7A3) return add_hangul(out, c);
  if (const Sequence* entry = find(kSequences, c)) {
    for (char32_t to : entry->to)
      if (to != 0) out.add(to);
    return;
  }
  out.add(fold(c));
}

using Utf8 = boost::locale::utf::utf_traits<char>;

}  // namespace

std::u32string decode_utf8(std::string_view text) {
  std::u32string points;
  points.reserve(text.size());
  for (auto at = text.begin(); at != text.end();) {
    auto c = Utf8::decode(at, text.end());
    bool valid = c != boost::locale::utf::illegal && c != boost::locale::utf::incomplete;
    points.push_back(valid ? c : 0xFFFD);
  }
  return points;
}

std::string encode_utf8(std::u32string_view text) {
  std::string bytes;
  for (char32_t c : text) Utf8::encode(c, std::back_inserter(bytes));
  return bytes;
}

bool is_punctuation(char32_t c) {
  return find(kPunctuation, c) != nullptr;
}

std::u32string bert_normalize(std::u32string_view text) {
  Output out;
  for (char32_t c : text) {
    if (find(kDropped, c)) continue;
    if (find(kSpaces, c)) {
      out.add(U' ');
    } else if (is_cjk_ideograph(c)) {
      out.add(U' ');
      add_folded(out, c);
      out.add(U' ');
    } else {
      add_folded(out, c);
    }
  }
  return out.take();
}

}  // namespace tessera::models
