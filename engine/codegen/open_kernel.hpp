// Lowered kernels whose sizes may still be symbols, and the same kernels at given sizes.
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

/// What a step of a schedule runs: a kernel, or several that are joined. It says nothing of the values that it reads
/// and stores but which of them are the same, so that repeated layers are equal programs: each binding's entry is a
/// number of OpenStep::values.
struct OpenProgram {
  std::vector<OpenKernel> kernels;
  schedule::JoinedKernels joined;  // of several kernels: the rows, and what is between them, by its numbers
};

/// A program, and what the numbers in its bindings stand for.
struct OpenStep {
  OpenProgram program;
  std::vector<Binding> values;
  /// Is values[number] between joined kernels, in no memory?
  bool between(std::size_t number) const;
};

/// Precondition: the kernel's root has elements.
OpenStep open_step(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);

/// Structural hash and equality of what close_at() makes, names excluded. Sizes are equal if they are the same
/// expression.
std::uint64_t hash_value(const OpenProgram& program) noexcept;
bool same_program(const OpenProgram& a, const OpenProgram& b);

/// Adds the symbolic sizes of the program to `sizes`.
void add_sizes(const OpenProgram& program, graph::Sizes& sizes);
/// The program with the sizes `at`, as one kernel.
LoweredKernel close_at(const OpenProgram& program, const graph::Sizes::At& at, std::int64_t row_bytes);

}  // namespace oriel::codegen
