// From a kernel of the schedule to its loop program.
#pragma once

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

}  // namespace oriel::codegen
