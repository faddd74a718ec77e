// What the source of a kernel of symbolic sizes takes from the numbers of a call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/loop_program.hpp"

namespace oriel::source::cpp {

/// The kernel at two sets of sizes has the same source (render_unit) if it has the same key at both: loops run
/// along the same axis in equal tiles, the same rows are kept, the same reductions stay in registers or in one block,
/// and the same outputs bypass the caches.
class SpecialisationKey {
 public:
  /// `program`: the kernel at some sizes. `accesses`: codegen::LoweredKernel::former_accesses.
  SpecialisationKey(const codegen::LoopProgram& program, std::span<const std::int32_t> accesses);

  friend bool operator==(const SpecialisationKey&, const SpecialisationKey&) = default;

 private:
  struct StageOutline {
    std::vector<codegen::Instr> body;
    std::vector<codegen::Instr> outer;
    bool fills_lanes;
    bool one_block;
    friend bool operator==(const StageOutline&, const StageOutline&) = default;
  };
  codegen::Orientation orientation_;
  std::vector<StageOutline> stages_;
  std::vector<std::int32_t> accesses_;
  std::vector<bool> bypasses_;  // by argument
  int columns_tile_ = 0;
};

}  // namespace oriel::source::cpp
