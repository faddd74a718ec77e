// The oracle: tables of positions, filled and moved element by element. It shares no code with engine/view beyond the
// definition of a View, so that a fault there cannot hide here.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/case.hpp"

namespace oriel::fuzz {

inline constexpr std::int64_t kInvalid = INT64_MIN;
/// A position that no view below has. An index that nothing reaches may have it; one that is reached never may.
inline constexpr std::int64_t kOutside = INT64_MIN + 1;

using Extents = boost::container::small_vector<std::int64_t, 8>;

/// Positions in row-major order of the shape, kInvalid where there is none.
struct Table {
  Extents shape;
  std::vector<std::int64_t> at;
};

/// Holds memory that is used again from case to case; one a thread.
class Eager {
 public:
  /// Fills `table` with the stack's positions.
  void tabulate(std::span<const View> innermost_first, Table& table);
  /// The table after a legal movement.
  void move(Table& table, const Movement& movement);
  /// The whole case.
  void run(const Case& c, Table& table);
  /// True if the one view's positions are the table's.
  bool equal(const View& view, const Table& table);
  /// The one view with this table, in canonical form, or nothing where there is none. "Invalid everywhere" is a view on
  /// every shape but ().
  std::optional<View> fit(const Table& table);

 private:
  std::vector<std::int64_t> inner_;
  std::vector<std::int64_t> other_;
};

/// The stack at one index. Exact for every 64-bit view; a position beyond 64 bits counts as invalid.
std::int64_t position(std::span<const View> innermost_first, const Extents& index);

}  // namespace oriel::fuzz
