// The words of the notations: what their readers and writers share.
#pragma once

#include <string>
#include <string_view>

#include "oriel/layouts.hpp"
#include "view/notations/cute.hpp"

namespace oriel::layouts {

/// "(2,(3,4)):(1,(2,6))"
std::string cute_text(const CuteLayout& layout);
std::string to_text(SymInt number);

/// Reads a text from the left. Blanks between words do not count. Errors cite the place and the whole text.
class Reader {
 public:
  Reader(std::string_view text, std::string_view form) : whole_(text), text_(text), form_(form) { skip(); }

  bool done() const { return text_.empty(); }
  bool sees(std::string_view word) const { return text_.starts_with(word); }
  /// Skips the word if it is next.
  bool take(std::string_view word);
  void expect(std::string_view word);
  /// A letter or underscore, then letters, digits and underscores; empty if none is next.
  std::string_view word();
  std::string_view next_word() const;
  SymInt number();
  /// "(2, 3)", "[2, 3]", "(2,)", "2".
  Ints numbers();
  /// "4", "_4" or a list of trees.
  IntTuple tree(int depth = 0);
  /// Refuses what is left.
  void end();
  [[noreturn]] void refuse(std::string_view expected) const;

 private:
  void skip();

  std::string_view whole_;
  std::string_view text_;
  std::string_view form_;  // what the notation looks like, for errors
};

/// A shape and a tracker over its numbers, before they are a Map.
struct Parsed {
  Notation notation;
  IntTuple shape;
  ShapeTracker tracker;
  std::optional<Swizzle> swizzle = {};
};
Parsed parse(std::string_view text);
Parsed parse(std::string_view text, Notation notation);
Parsed parse_isl(std::string_view text);

/// The most indices that are compared or examined one by one.
inline constexpr std::int64_t kMostIndices = 10'000'000;

/// Checks a swizzle. Throws ArgumentError.
Swizzle checked_swizzle(SymInt bits, SymInt base, SymInt shift);

/// A list of numbers as a tree.
IntTuple flat_shape(const Ints& extents);

}  // namespace oriel::layouts
