// Reductions that devices run in a form of their own, many times faster than as loops: products of matrices in blocks,
// products of a matrix and a vector, windows. They are recognised on values and index maps, before kernels are formed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/arena.hpp"
#include "schedule/maps.hpp"
#include "schedule/pattern_limits.hpp"
#include "schedule/value_properties.hpp"

namespace oriel::schedule {

enum class PatternKind : std::uint8_t {
  None,     // a plain reduction
  Product,  // sum of left[b, i, r] * right[b, j, r] over r, with rows i and columns j
  Vector,   // the same with one row or one column
  Windows,  // neighbouring results read overlapping or alternating elements
};

/// What a reduction is, independent of the kernel that will hold it. A kernel that holds nothing else has a loop
/// program of the same form (codegen/contraction.hpp, codegen/windows.hpp).
struct ReductionPattern {
  PatternKind kind = PatternKind::None;
  DType dtype = DType::float32;
  // Of a product. A device adds in another order if a reduction runs in a form. So this is decided for the sizes
  // themselves, not for estimates.
  SymInt batches = 1;
  SymInt rows = 1;
  SymInt columns = 1;
  SymInt depth = 1;    // points that are reduced
  SymInt results = 1;  // elements of the result

  /// False if no reduction of so many points runs in a form of its own on a device with these limits.
  static bool may_run(std::int64_t points, const PatternLimits& limits);
  /// Does a device with these limits run it in its form?
  bool runs(const PatternLimits& limits) const;
  /// "a product in blocks (64 x 256 x 128)": rows, columns, depth.
  std::string text() const;
};

/// The number of points of the axes on which a map depends. A product evaluates each factor only at these.
std::int64_t own_points(const MapTable& maps, MapId map);

class ReductionPatterns {
 public:
  /// Index maps are added to `maps`.
  ReductionPatterns(const Arena& arena, const std::vector<ValueProperties>& properties, MapTable& maps)
      : arena_(arena), properties_(properties), maps_(maps) {}

  /// The form of a reduction, which is found once. A reduction that needs more than a few hundred values has none.
  const ReductionPattern& of(EntryId v);
  /// Does a reduction, or a factor of the product that it sums, read windows? If many rows share the factors, a product
  /// in blocks may still be its form.
  bool windows(EntryId v);
  /// The values in memory of which a reduction reads a different element for each of its points. A vector that is
  /// multiplied with every row of a matrix does not count: it is read again and again, from a cache.
  std::vector<EntryId> sources(EntryId v);
  /// The sources, and all values between them and the reduction that have an element for each of its points.
  std::vector<EntryId> operands(EntryId v);
  /// Do two reductions share a source?
  bool share_source(EntryId a, EntryId b);

  /// A value in memory, positions or a reduction, as `map` reads it.
  struct Read {
    EntryId entry;
    MapId map;
  };
  /// What `value` reads at each point of `map`. False if more than `most` values have to be looked at. `values`
  /// receives each value that is evaluated, once for each map, and each value that is read.
  bool find_reads(EntryId value, MapId map, std::vector<Read>& reads, std::vector<EntryId>* values = nullptr,
                  std::size_t most = 256);

 private:
  ReductionPattern find(EntryId v);
  bool reads_nothing(EntryId v) const;
  bool find_product(EntryId v, ReductionPattern& pattern);
  bool may_overlap(EntryId v) const;
  /// `repeated`: axes along which the windows stay the same count, too.
  bool reads_windows(EntryId source, MapId map, const std::vector<bool>& reduced, bool repeated);
  bool find_factors(EntryId v, EntryId& product, MapId& map);

  const Arena& arena_;
  const std::vector<ValueProperties>& properties_;
  MapTable& maps_;
  std::unordered_map<EntryId, ReductionPattern> pattern_of_;
};

}  // namespace oriel::schedule
