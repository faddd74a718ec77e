// Kernels that can be written with the same outer loops, and what each of them is in those loops.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "schedule/loop_product.hpp"

namespace oriel::schedule {

/// Is this one of SharedLoops::units_of a loop over columns?
inline bool over_columns(SymInt unit) noexcept { return identical(unit, SymInt(0)); }

/// The rows of kernels each of which reads rows of `between`, the value that the one before it stores. nullopt if two
/// kernels have different rows, or loops that do not visit the rows one by one.
std::optional<SharedLoops> share_loops(std::span<const KernelLoops* const> kernels, std::span<const EntryId> between);

/// Rewrites an access of kernel `part` from its own loops (`outer`, then others) to the shared loops, its columns and
/// the others.
ShapeTracker over_shared(const SharedLoops& shared, std::size_t part, const Ints& outer, const ShapeTracker& access);

/// A product in shared loops: rows that share its right factor, the factor's columns, and points that are summed.
struct PartProduct {
  DType dtype = DType::float32;
  SymInt rows = 1;
  SymInt columns = 1;
  SymInt depth = 1;
  SymInt factor_bytes() const { return columns * depth * itemsize(dtype); }
};

/// What kernels are in their shared loops.
struct SharedProducts {
  SymInt rows = 1;  // that are rows to all products: the loops before these are batches to each of them
  std::vector<std::optional<PartProduct>> parts;  // nothing for a kernel that has no columns of its own
};
/// Nothing where a kernel with columns is no product, or its right factor is not shared by rows.
std::optional<SharedProducts> shared_products(std::span<const KernelLoops* const> kernels, const SharedLoops& shared);

}  // namespace oriel::schedule
