// The products that a kernel's reductions sum. The loop program carries what is decided here (codegen::Reduction).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/loops.hpp"

namespace oriel::schedule {

/// A reduction that sums a product of two factors, neither of which needs a reduction.
struct LoopProduct {
  std::size_t value = 0;                  // the product, by its place in Kernel::instances
  std::vector<std::int32_t> accesses[2];  // below each factor
  int stage = 0;
  DType dtype = DType::float32;
  SymInt depth = 1;  // points that are summed
};
/// The product of a kernel's only reduction, which has the only loops; nullopt if it sums none, or a converted one.
std::optional<LoopProduct> only_product(const KernelLoops& loops);
/// What the reduction whose result is this instance gathers.
ReductionSource source_of(const KernelLoops& loops, std::size_t reduction);

/// Which factors of a product change along each of the first loops of their accesses.
class AxisRoles {
 public:
  explicit AxisRoles(std::size_t loops) : changes_{std::vector<bool>(loops, false), std::vector<bool>(loops, false)} {}
  void add(int side, const ShapeTracker& access);
  AxisRole operator[](std::size_t d) const {
    return changes_[0][d] == changes_[1][d] ? AxisRole::Batch : changes_[0][d] ? AxisRole::Left : AxisRole::Right;
  }
  std::size_t size() const { return changes_[0].size(); }

 private:
  std::vector<bool> changes_[2];
};

/// The number of points of the outer loops along which only one of the factors changes; 1 if there is no such loop.
struct ProductSides {
  SymInt rows = 1;
  SymInt columns = 1;
};
/// Rows and columns of the kernel's product over its own loops; nullopt if no outer loop changes one factor only.
std::optional<ProductSides> sides_of(const KernelLoops& loops, const LoopProduct& product);

}  // namespace oriel::schedule
