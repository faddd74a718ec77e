// A lowered kernel whose sizes may still be symbols, and the same kernel at given sizes.
#pragma once

#include <vector>

#include "codegen/lower.hpp"
#include "graph/sizes.hpp"
#include "schedule/loops.hpp"

namespace oriel::codegen {

/// What lowering gives before it looks at numbers. Everything that depends on numbers (accesses, elements, the name,
/// which loops run along a tile, the form, kept rows) is added by close().
struct OpenKernel {
  LoweredKernel lowered;
  std::vector<schedule::LoopAccess> accesses;
  std::vector<const Shape*> shapes;  // of each argument's value; the arena owns them
  struct SizeConstant {
    std::int32_t constant;
    SymInt size;
  };
  std::vector<SizeConstant> size_constants;  // constants whose values are symbolic sizes
};

/// Precondition: the kernel's root has elements, and the kernel is not joined with others.
OpenKernel lower_open(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);

/// The kernel, if its sizes are numbers.
LoweredKernel close(OpenKernel&& kernel, std::int64_t row_bytes);

/// Structural hash and equality of what close_at() makes, names and bindings excluded. Sizes are equal if they are the
/// same expression.
std::uint64_t hash_value(const OpenKernel& kernel) noexcept;
bool same_kernel(const OpenKernel& a, const OpenKernel& b);

/// Adds the symbolic sizes of the kernel to `sizes`.
void add_sizes(const OpenKernel& kernel, graph::Sizes& sizes);
/// The kernel with the sizes `at`.
LoweredKernel close_at(const OpenKernel& kernel, const graph::Sizes::At& at, std::int64_t row_bytes);

}  // namespace oriel::codegen
