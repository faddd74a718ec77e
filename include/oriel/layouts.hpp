// Other people's notations for layouts: CuTe, PyTorch, NumPy, tinygrad, linear layouts, ISL. Read, print, translate,
// compare, combine, and ask what an access costs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/view.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute
namespace layouts {

/// The notations, each with an example of the same map: index (i, j) of 2 x 3 elements stands at 3 * i + j.
enum class Notation : std::uint8_t {
  cute,      ///< `(2,3):(3,1)`: nested shapes and strides, axis 0 fastest; `Sw<2,0,3> o 0 o (8,8):(8,1)` with a swizzle
  torch,     ///< `size=(2, 3), stride=(3, 1), storage_offset=0`
  numpy,     ///< `{'shape': (2, 3), 'typestr': '<f4', 'strides': (12, 4), 'offset': 0, 'version': 3}`: bytes
  tinygrad,  ///< `View(shape=(2, 3), strides=(3, 1), offset=0, mask=None, contiguous=True)`, or
             ///< `ShapeTracker(views=(..))`
  oriel,     ///< `(2,3):(3,1)+0`: View::str and ShapeTracker::str; masks `[0:2,0:3)`, stacks joined by ` over `
  linear,    ///< `linear<{dim0 = [[1]], dim1 = [[2], [4]]}>`: Triton's bases over F2, lowest bit first (of 2 x 4)
  isl,       ///< `{ [i0, i1] -> [3*i0 + i1] : 0 <= i0 < 2 and 0 <= i1 < 3 }`
};
/// "cute", "torch", ...
std::string_view name(Notation notation) noexcept;
/// Throws ArgumentError, which lists the names, for any other text.
Notation notation_named(std::string_view name);

/// A number, or a list of trees of numbers (CuTe's IntTuple): `4`, `(2,(3,4))`.
struct IntTuple {
  SymInt value = 0;             ///< of a number
  std::vector<IntTuple> parts;  ///< of a list
  bool list = false;            ///< is it a list?

  /// A number, or a list.
  /// @{
  static IntTuple of(SymInt value) { return {value, {}, false}; }
  static IntTuple of(std::vector<IntTuple> parts) { return {0, std::move(parts), true}; }
  /// @}

  /// The product of the numbers. Throws OverflowError beyond 64 bits.
  SymInt product() const;
  /// The numbers, in order.
  Ints leaves() const;
  /// `(2,(3,4))`.
  std::string str() const;
  /// The same tree?
  friend bool operator==(const IntTuple& a, const IntTuple& b) = default;
};

/// CuTe's swizzle of a position: its `bits` bits from bit `base + max(shift, 0)` on are added without carry to the bits
/// that lie `shift` lower. |shift| >= bits, so it is its own inverse.
struct Swizzle {
  int bits = 0;   ///< how many
  int base = 0;   ///< the lowest bit that is changed or read
  int shift = 0;  ///< how far; negative: from lower bits to higher ones
  /// The position that a position becomes.
  std::int64_t operator()(std::int64_t position) const noexcept;
  /// `Sw<2,0,3>`
  std::string str() const;
  /// The same numbers?
  friend bool operator==(const Swizzle& a, const Swizzle& b) = default;
};

/// The outcome of a comparison.
struct Comparison {
  bool equal = false;  ///< the same map?
  /// If they differ: the number of the first index at which they do, axis 0 fastest. If one ends where the other goes
  /// on, its size. Empty where the shapes differ in a notation whose indices are lists of coordinates.
  std::optional<SymInt> first;
  /// "index (1, 0): 3 and 1", "the sizes differ: 4 and 8".
  std::string reason;
};

/// What the hardware sees of a layout.
struct AccessModel {
  int element_bytes = 4;  ///< of one element
  int vector = 1;         ///< elements that a lane takes at once, neighbours in the layout's order
  int lanes = 32;         ///< of a group that accesses together
  int line_bytes = 128;   ///< what memory transfers at once
  int banks = 32;         ///< of the memory that a group shares
  int bank_bytes = 4;     ///< that one bank serves at once
};

/// What people ask of a layout. Indices count in the layout's order: axis 0 fastest for CuTe and linear layouts, the
/// last axis fastest for the others.
struct Analysis {
  std::int64_t size = 0;         ///< indices
  std::int64_t valid = 0;        ///< indices that have a position
  std::int64_t distinct = 0;     ///< positions
  std::int64_t lowest = 0;       ///< position
  std::int64_t footprint = 0;    ///< highest - lowest + 1; 0 without positions
  bool injective = true;         ///< no two indices share a position
  std::int64_t longest_run = 0;  ///< most neighbours at neighbouring positions
  std::int64_t vector = 1;  ///< the widest vector: each aligned group of so many indices is one run. Divides the size
  std::int64_t lines = 0;   ///< lines touched by all, from the lowest position on
  std::int64_t groups = 0;  ///< of lanes
  std::int64_t transactions = 0;    ///< lines, counted for each group apart, from its lowest position on
  double coalescing = 1;            ///< distinct bytes of each group / bytes of its lines, over all groups
  std::int64_t bank_conflicts = 1;  ///< most words of one bank in a group: 1 is free of conflicts
  /// If the layout permutes 0 .. size-1: the lengths of its cycles, longest first, fixed points included.
  std::vector<std::int64_t> cycles;
  /// 0 .. footprint-1 without a gap?
  bool dense() const noexcept { return distinct == footprint; }
};

/// A layout read in one of the notations: a map from indices to positions, and the notation's own shape. Treat it as
/// immutable. Errors are UserErrors that name the operation ("layout"). Thread safety: const access from any thread.
class Map {
 public:
  /// Reads a layout; the notation shows from its form. Throws ParseError, which says where and what was expected,
  /// ShapeError if parts do not fit together, and ArgumentError for what is no map to positions of one buffer.
  static Map read(std::string_view text);
  /// Reads a layout in that notation.
  static Map read(std::string_view text, Notation notation);
  /// A stack of views, in Oriel's notation.
  static Map of(const ShapeTracker& tracker);

  /// In which it was read.
  Notation notation() const noexcept { return notation_; }
  /// The extents: nested in CuTe's notation, a list in the others.
  const IntTuple& shape() const noexcept { return shape_; }
  /// The views over the numbers of shape(), in order, before the swizzle.
  const ShapeTracker& tracker() const noexcept { return tracker_; }
  /// Applied to the position that the views give; empty: none.
  const std::optional<Swizzle>& swizzle() const noexcept { return swizzle_; }
  /// The number of indices.
  SymInt size() const { return shape_.product(); }
  /// The number of axes of the outermost list; 1 for a number.
  std::size_t rank() const noexcept { return shape_.list ? shape_.parts.size() : 1; }
  /// Is axis 0 the fastest where indices are counted? So it is in CuTe's notation and in linear layouts.
  bool colexicographic() const noexcept;
  /// The views over the axes of the outermost list.
  ShapeTracker axes() const;

  /// The position of each index in the layout's order; -1 for an invalid index. Throws ArgumentError if there are more
  /// than `limit`.
  std::vector<std::int64_t> table(std::int64_t limit = 10'000'000) const;

  /// The map in another notation. Throws ArgumentError, which says why, if that notation cannot say it: a mask in CuTe,
  /// a swizzle in strides, sizes that are no powers of two in a linear layout.
  Map as(Notation notation) const;
  /// The text in that notation, as `as`. Strides of axes of one index are 0, since no position depends on them.
  /// `element_bytes` is for numpy, which counts bytes.
  std::string str(Notation notation, int element_bytes = 4) const;
  /// The text in its own notation; of a stack that this cannot say, the text in Oriel's.
  std::string str() const;

  /// Are both the same map? If the extents of the outermost lists agree, indices are compared by their coordinates.
  /// Else two CuTe layouts are compared by the numbers of their indices, and others differ. Exact for layouts of
  /// strides, whatever their size, and for all others of up to 10^7 indices; else throws ArgumentError.
  Comparison compare(const Map& other) const;

  /// @{
  /// CuTe's algebra (Cecka, "CuTe layout representation and algebra", 2026), of CuTe layouts. Each is defined by
  /// tables.
  ///
  /// The same map of numbers with the fewest modes.
  Map coalesce() const;
  /// The same modes as one list without nesting.
  Map flatten() const;
  /// at'(i) = at(other(i)) for layouts of one order. Defined whenever the numbers lie in the layout; beyond its size
  /// the slowest mode of a CuTe layout goes on. CuTe refuses what does not divide; here the result has modes whenever
  /// such a layout exists, else it is a stack of views (notation oriel).
  Map compose(const Map& other) const;
  /// The modes whose positions fill the gaps of this layout's up to `bound` (its own reach if not given): no two sums
  /// of a position of each are equal. Modes of one index or stride 0 do not count. Throws ArgumentError unless strides
  /// are positive and, by rising strides, each is at least the extent times the stride of the mode before, which CuTe
  /// asks, too. So do the divisions and products, which complement a layout.
  Map complement(std::optional<SymInt> bound = std::nullopt) const;
  /// The largest layout R with at(R(i)) == i.
  Map right_inverse() const;
  /// The layout L with at(L(at(i))) == at(i): L(at(i)) == i if no two indices share a position. Throws ArgumentError if
  /// CuTe's construction gives no such layout.
  Map left_inverse() const;
  /// compose with (tiler, complement(tiler)): mode 0 is in a tile, mode 1 counts tiles.
  Map logical_divide(const Map& tiler) const;
  /// (this, complement(this) o other): mode 0 is in a block, mode 1 counts blocks.
  Map logical_product(const Map& other) const;
  /// logical_product with modes paired: ((in block, of blocks), ...).
  Map blocked_product(const Map& other) const;
  /// logical_product with modes paired the other way: ((of blocks, in block), ...).
  Map raked_product(const Map& other) const;
  /// @}

  /// Throws ArgumentError for more than 10^7 indices or a model with a number that is not positive.
  Analysis analyze(const AccessModel& model = {}) const;

 private:
  Map(Notation notation, IntTuple shape, ShapeTracker tracker, std::optional<Swizzle> swizzle = {});

  Notation notation_;
  IntTuple shape_;
  ShapeTracker tracker_;
  std::optional<Swizzle> swizzle_;
};

/// The same operations by a tiler: a list of layouts, `<2:1, 3:2>`, each for one mode. Axes that the tiler does not
/// name stay.
/// @{
std::vector<Map> read_tiler(std::string_view text);
Map compose(const Map& layout, const std::vector<Map>& tiler);
Map logical_divide(const Map& layout, const std::vector<Map>& tiler);
/// ((in tile, ...), (tiles, ...))
Map zipped_divide(const Map& layout, const std::vector<Map>& tiler);
/// @}

}  // namespace layouts
}  // namespace oriel
