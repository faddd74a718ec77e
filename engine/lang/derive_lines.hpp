// Statements as text, with as few where clauses as they need.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lang/infer.hpp"
#include "lang/syntax/program.hpp"

namespace oriel::lang {

struct Loop {
  std::string name, lo, end;
};

/// A statement `head op right` over loops.
struct Line {
  std::string head, op, right;
  std::vector<Loop> loops;
};

/// Names that a definition does not use.
class Names {
 public:
  explicit Names(const Program& program);
  /// `like`, perhaps with a number behind it. No second call gives it again.
  std::string fresh(const std::string& like);

 private:
  std::set<std::string, std::less<>> taken_;
};

/// The names and numbers in a text of the notation.
std::vector<std::string_view> words(std::string_view text);
/// The formula in the notation.
std::string notation(sym::Expr formula);
/// The ranges of a definition for all sizes. Throws as infer_symbolic().
Inference infer_open(const Program& program);
/// The definition with these statements. A statement gives the range of a loop where inference would find none, or
/// another one.
std::string without_needless_ranges(const std::string& head, std::vector<Line> lines);

}  // namespace oriel::lang
