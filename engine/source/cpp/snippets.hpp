// The helper functions that rendered sources are written with. A source holds those that it uses.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace oriel::source::cpp {

struct Snippet {
  std::string_view name;
  std::string_view uses;  // names, and headers that its text needs in <>, each followed by a space
  std::string_view text;
};

// The parts of the headers of these names, which the engine compiles too (snippets_of.py). In this order: each snippet
// uses only what stands above it in its table, or in a table before.
std::span<const Snippet> tile_snippets();
std::span<const Snippet> element_snippets();
std::span<const Snippet> division_snippets();
std::span<const Snippet> philox_snippets();
std::span<const Snippet> halves_snippets();
std::span<const Snippet> packets_snippets();
std::span<const Snippet> float_math_snippets();
std::span<const Snippet> vectors_snippets();
std::span<const Snippet> elementary_snippets();
std::span<const Snippet> angle_math_snippets();
std::span<const Snippet> power_math_snippets();
std::span<const Snippet> in_doubles_snippets();
std::span<const Snippet> reduce_snippets();
std::span<const Snippet> scatter_snippets();
std::span<const Snippet> recurrence_snippets();
std::span<const Snippet> reduction_order_snippets();
std::span<const Snippet> reductions_snippets();
std::span<const Snippet> product_order_snippets();
std::span<const Snippet> vector_sums_snippets();
std::span<const Snippet> register_blocks_snippets();
std::span<const Snippet> size_arithmetic_snippets();
std::span<const Snippet> value_places_snippets();
std::span<const Snippet> memory_check_snippets();

class Snippets {
 public:
  /// Asks for a helper and for those that it uses. Throws InternalError for an unknown name.
  void need(std::string_view name);
  bool needs(std::string_view name) const { return needed_.contains(name); }
  /// The headers that these helpers declare to need, each in <>.
  const std::set<std::string_view>& headers() const { return headers_; }
  /// What was asked for, in an order in which it compiles.
  std::string text() const;
  /// Calls f(number, name, text) for each of these; numbers rise in that order and are the same in every source.
  void each(const std::function<void(std::size_t, std::string_view, std::string_view)>& f) const;

 private:
  std::set<std::string_view> needed_;
  std::set<std::string_view> headers_;
};

}  // namespace oriel::source::cpp
