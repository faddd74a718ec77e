// The oracle: tables of positions, computed element by element. It shares the definitions of a View and of each
// movement (graph/movements.hpp), and nothing with the algebra of engine/view, so that a fault there cannot be repeated
// here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/case.hpp"
#include "oriel/inline_vector.hpp"

namespace oriel::fuzz {

inline constexpr std::int64_t kInvalid = INT64_MIN;
/// Marks a position outside the view below. Only indices that nothing reaches may have it.
inline constexpr std::int64_t kOutside = INT64_MIN + 1;

using Extents = InlineVector<std::int64_t, 8>;

/// Positions in row-major order of the shape; kInvalid for invalid indices.
struct Table {
  Extents shape;
  std::vector<std::int64_t> at;
};

/// Computes tables. It reuses its memory from case to case; use one per thread.
class Eager {
 public:
  /// Computes the table of a stack.
  void tabulate(std::span<const View> innermost_first, Table& table);
  /// Applies a legal movement to the table.
  void move(Table& table, const Movement& movement);
  /// Computes the table of a whole case.
  void run(const Case& c, Table& table);
  /// True if the view has this table.
  bool equal(const View& view, const Table& table);
  /// The single view with this table, in canonical form, or nullopt if there is none. Every shape except () has a view
  /// that is invalid everywhere.
  std::optional<View> fit(const Table& table);

 private:
  std::vector<std::int64_t> inner_;
  std::vector<std::int64_t> other_;
};

/// The position of one index of the stack. Exact for all 64-bit views; a position beyond 64 bits counts as invalid.
std::int64_t position(std::span<const View> innermost_first, const Extents& index);

}  // namespace oriel::fuzz
