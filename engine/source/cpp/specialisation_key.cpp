#include "source/cpp/specialisation_key.hpp"

#include "source/cpp/frame.hpp"

namespace oriel::source::cpp {

SpecialisationKey::SpecialisationKey(const codegen::LoopProgram& program, std::span<const std::int32_t> accesses)
    : orientation_(program.orientation), accesses_(accesses.begin(), accesses.end()) {
  if (orientation_ == codegen::Orientation::Outer) columns_tile_ = columns_tile(program);
  for (const codegen::Stage& stage : program.stages)
    stages_.push_back({stage.body, stage.outer, fills_lanes(stage), one_block(stage)});
  for (const codegen::Argument& argument : program.arguments)
    bypasses_.push_back(argument.output && bypasses_caches(argument));
}

}  // namespace oriel::source::cpp
