// From a kernel of the schedule to its loop program.
#pragma once

#include <span>
#include <vector>

#include "codegen/loop_program.hpp"
#include "schedule/domain.hpp"
#include "schedule/kernels.hpp"

namespace oriel::codegen {

/// Which buffer an argument of the program stands for.
struct Binding {
  schedule::EntryId entry = schedule::kNone;
  bool leaf = false;  // the entry's own buffer; else what the schedule stores for the entry
};

/// Where in the schedule an access comes from, for explain and the dumps. `map` is the access before the domain was
/// normalised.
struct AccessNote {
  schedule::KernelId kernel = -1;
  schedule::EntryId entry = schedule::kNone;
  schedule::ScopeId scope = schedule::kRootScope;
  schedule::MapId map = -1;
};

struct LoweredKernel {
  LoopProgram program;
  std::vector<Binding> bindings;              // one an argument; none for local ones
  std::vector<AccessNote> notes;              // one an access
  std::string domain_before;                  // "(4, 6) | (5)": outer, then each stage's inner loops
  std::vector<std::int32_t> former_accesses;  // by access: its number before some were dropped; empty if none were
  schedule::DomainChange change;
};

/// The program of one step of a schedule, a kernel or several fused ones, before any decision that needs sizes as
/// numbers. Sizes may be symbols (sizes.hpp).
struct KernelParts {
  std::vector<LoweredKernel> kernels;
  schedule::FusedKernels fused;  // of several kernels
};

/// Precondition: the kernel's root has elements.
KernelParts lower_parts(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);
/// Adds what follows from numbers, and joins the parts. Precondition: no size is a symbol. A row keeps at most
/// `row_bytes` from stage to stage.
LoweredKernel complete(KernelParts parts, std::int64_t row_bytes);

/// Both, of sizes that are numbers. A kernel that is fused with others gives the program of them all.
LoweredKernel lower(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel,
                    std::int64_t row_bytes);

/// Precondition: the kernel is alone, and its root has elements.
LoweredKernel lower_alone(const schedule::Arena& arena, const schedule::KernelGraph& graph, schedule::KernelId kernel);

/// Sets everything that follows from the shapes of the arguments of such a program. Arguments are row-major, and sizes
/// may be symbols. Shapes are (rows, elements of a row) for a sort, and (rows, entries, elements of a line) for a scan
/// and for the result of a scatter. A scatter's positions and elements have keys in place of entries; an argument that
/// is one number has no axes. A host function has the shapes of its operands.
void set_shapes(LoopProgram& program, std::span<const Shape> shapes);

}  // namespace oriel::codegen
