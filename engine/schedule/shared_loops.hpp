// Kernels that can be written with the same outer loops, and what each of them is in those loops.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "schedule/loops.hpp"

namespace oriel::schedule {

/// A kernel's only sum, if it sums a product of two factors. The kernel's loop program has the same form
/// (codegen/contraction.hpp).
struct LoopProduct {
  std::size_t value = 0;  // the product, by its place in Kernel::instances
  std::size_t factors[2] = {0, 0};
  std::vector<std::int32_t> accesses[2];  // below each factor
  int stage = 0;
  DType dtype = DType::float32;
  SymInt depth = 1;  // points that are summed
};
std::optional<LoopProduct> find_product(const KernelLoops& loops);

/// The number of points of the outer loops along which only one of the factors changes; 1 if there is no such loop.
struct ProductSides {
  SymInt rows = 1;
  SymInt columns = 1;
};
/// Rows and columns of the kernel's product over its own loops; nullopt if no outer loop changes one factor only.
std::optional<ProductSides> sides_of(const KernelLoops& loops, const LoopProduct& product);

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
