// How one operand of a loop program is reached from the loops, as numbers, which may be symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oriel/dtype.hpp"
#include "oriel/inline_vector.hpp"
#include "oriel/shape.hpp"
#include "oriel/view.hpp"

namespace oriel::codegen {

/// What one loop adds to a position, and for which of its points there is a position.
struct AccessAxis {
  std::int64_t extent = 1;
  std::int64_t coefficient = 0;
  std::int64_t begin = 0;  // the valid points: [begin, end)
  std::int64_t end = 1;
  /// Are points left out?
  bool cut() const noexcept { return begin > 0 || end < extent; }
};

/// position = offset + the sum over the axes of point * coefficient, for the points inside of the axes' ranges.
struct AffineMap {
  std::int64_t offset = 0;
  InlineVector<AccessAxis, 4> axes;
  bool boxed = false;  // is an axis cut?
};

/// The same with sizes that may be symbols.
struct SymbolicAxis {
  SymInt extent;
  SymInt coefficient;
  SymInt begin;
  SymInt end;
};

/// An operand over the loops: outer extents ++ the stage's inner extents (outer extents alone for an access that outer
/// instructions use). Renderers and backends read the numbers below. They are computed once, from a stack of views,
/// when the access is made; only codegen looks at that stack (codegen/stack.hpp). An access with symbolic sizes has no
/// such numbers; renderers use start() and axis() instead.
class Access {
 public:
  std::int32_t buffer = -1;  // which argument; -1 for Index and Valid
  DType dtype = DType::float32;

  /// `stack` leads from the loops to the elements of argument `argument`; it is canonical.
  Access(std::int32_t argument, DType element, ShapeTracker stack);
  /// An affine access without a box: offset 0, the loops' coefficients.
  static Access strided(std::int32_t argument, DType element, const Ints& extents, const Ints& coefficients);
  /// Element after element, in the order of the loops.
  static Access row_major(std::int32_t argument, DType element, const Ints& extents);
  /// Makes it another access of the same buffer.
  void remap(ShapeTracker stack);

  /// The loops in another order: loop d is the former order[d].
  void permute(const Ints& order);
  /// For symbolic sizes. Loop d of the result is loop order[d] of this access, or a new loop of this `extent` if the
  /// access has no such loop. Loops that `order` lacks are fixed at point 0, which has an element. Takes no guards.
  void select(const std::vector<std::size_t>& order, const Ints& extents);
  /// The first loops run over these ranges alone, counted from their first points; the others stay.
  void restrict(const Ranges& ranges);
  /// Loops d - 1 and d as one, or nothing where that needs a further map, or a question about symbols.
  std::optional<Access> with_joined(std::size_t d) const;

  /// Are there symbols among its sizes? Then LoopProgram::at gives the access with numbers.
  bool is_symbolic() const noexcept { return maps_.empty(); }
  // Of map(), as they are written: numbers or symbols.
  SymInt start() const { return outermost().offset; }
  SymbolicAxis axis(std::size_t d) const;

  /// The position is map(). In the general case there are further maps: the position is taken apart, row-major, into
  /// points of the next map's axes, and so on; the last one gives the position in the buffer.
  bool affine() const noexcept { return is_symbolic() ? stack_.views().size() == 1 : maps_.size() == 1; }
  const AffineMap& map() const noexcept { return maps_.front(); }
  std::span<const AffineMap> maps() const noexcept { return {maps_.data(), maps_.size()}; }

  // Of map().
  std::size_t loops() const noexcept { return is_symbolic() ? outermost().rank() : map().axes.size(); }
  std::int64_t offset() const noexcept { return map().offset; }
  std::int64_t coefficient(std::size_t d) const noexcept { return map().axes[d].coefficient; }
  std::int64_t extent(std::size_t d) const noexcept { return map().axes[d].extent; }
  /// Are points left out?
  bool boxed() const noexcept { return is_symbolic() ? outermost().masked() : map().boxed; }
  /// The points of loop d inside of the box: [begin, end).
  std::int64_t begin(std::size_t d) const noexcept { return map().axes[d].begin; }
  std::int64_t end(std::size_t d) const noexcept { return map().axes[d].end; }

  /// The stack of views that it was made from, as one line.
  std::string stack_text() const { return stack_.str(); }

 private:
  const View& outermost() const noexcept { return stack_.views().back(); }
  friend const ShapeTracker& stack_of(const Access& access) noexcept;

  ShapeTracker stack_;  // innermost first, canonical
  InlineVector<AffineMap, 1> maps_;
};

/// What a loop of an access of two maps adds to a position in memory.
struct LoopMove {
  std::int64_t stride = 0;  // in memory
  std::int64_t step = 0;    // along an axis of the second map
  int axis = -1;            // that axis; -1 if the loop moves along none
};
struct LoopMoves {
  std::vector<LoopMove> loops;
  std::vector<std::int64_t> start;  // the point of the second map's axes where all loops are 0
};
/// If each loop moves along one axis of the second map and none carries into another axis, the position in memory is a
/// plain sum, too. nullopt for all other accesses, and for those whose first map has a box.
std::optional<LoopMoves> loop_moves(const Access& access);

/// The one coefficient of loops [from, to) of the access' first map, if they walk evenly; 0 where they have one point.
std::optional<std::int64_t> even_stride(const Access& access, std::size_t from, std::size_t to);

}  // namespace oriel::codegen
