// Sizes that are symbols, in sources for many sizes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oriel/dtype.hpp"
#include "oriel/symint.hpp"
#include "sym/node.hpp"

namespace oriel::source::cpp {

/// Writes expressions over symbols as statements, each node once, with the functions of sym/size_arithmetic.hpp. The
/// one place that knows how a node is written.
class SizeStatements {
 public:
  /// `names`: what each symbol is in the source, an expression of type std::int64_t.
  explicit SizeStatements(const std::unordered_map<sym::Expr, std::string>& names) : names_(names) {}

  /// The variable that holds the value of `e`: a Size, whose `known` is false if the value overflows or divides by 0.
  /// Conditions are 0 or 1. Throws ArgumentError for a predicate other than density, which has no text.
  std::string of(sym::Expr e);
  /// The statements so far, each a line.
  const std::string& text() const noexcept { return text_; }

 private:
  std::string written(sym::Expr e) const;
  std::string list(sym::Expr e) const;

  const std::unordered_map<sym::Expr, std::string>& names_;
  std::unordered_map<sym::Expr, std::string> made_;
  std::string text_;
};

/// A number given at launch that is a size.
struct SizeNumber {
  std::int32_t parameter;
  SymInt size;
  DType dtype;
};

/// The symbolic sizes that the kernels of a source need. The source computes them once, into an array.
class SizeTable {
 public:
  /// The place of the size in the array.
  std::size_t place(SymInt size);
  const std::vector<sym::Expr>& sizes() const noexcept { return sizes_; }

 private:
  std::unordered_map<sym::Expr, std::size_t> places_;
  std::vector<sym::Expr> sizes_;
};

/// A literal, or the size's element of the array, whose name is `sizes`. `table`: not null if n is a symbol.
std::string size_text(SymInt n, SizeTable* table);

}  // namespace oriel::source::cpp
