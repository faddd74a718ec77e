#include "source/cpp/frame.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/loop_program.hpp"
#include "codegen/product_form.hpp"
#include "source/cpp/spelling.hpp"

namespace oriel::source::cpp {

namespace {

constexpr std::int64_t kAlignment = 64;

std::int64_t rounded(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

/// The size of a value. A half is held as a float.
std::int64_t bytes_of(DType dtype) { return static_cast<std::int64_t>(itemsize(codegen::register_dtype(dtype))); }

}  // namespace

bool one_block(const codegen::Stage& stage) { return sym::estimate(numel(stage.inner, "render")) <= kReductionBlock; }

int columns_tile(const codegen::LoopProgram& program) {
  const auto reduces = [](const codegen::Stage& stage) { return !stage.reductions.empty(); };
  if (program.outer.empty() || std::none_of(program.stages.begin(), program.stages.end(), reduces)) return 256;
  const std::int64_t columns = sym::estimate(program.outer.back());
  return columns <= 32 ? 32 : columns <= 128 ? 128 : 256;
}

int tile_length(const std::vector<std::int64_t>& extents, int longest) {
  int best = longest;
  double least = 0;
  for (int length = longest; length >= 16; length /= 2) {
    double cost = 0;
    for (const std::int64_t n : extents) {
      const auto tiles =
          static_cast<double>((n + length - 1) / length);  // NOLINT(bugprone-integer-division): whole tiles
      cost += tiles * (length + 24) / static_cast<double>(std::max<std::int64_t>(n, 1));
    }
    if (length == longest || cost < least) {
      best = length;
      least = cost;
    }
  }
  return best;
}

Type position_type() { return {"Int"}; }
Type pointer_type(const std::string& element) { return {element + "*"}; }
Type shifted_type(const std::string& element) { return {"Shifted<" + element + ">", 16}; }
Type number_type(DType dtype) { return {value_type(dtype), bytes_of(dtype)}; }

Type values_type(const std::string& text, DType dtype, std::int64_t n) {
  return {text, rounded(n * bytes_of(dtype), kAlignment), kAlignment};
}

Type row_reduction_type(const std::string& functor, DType dtype) {
  // Lanes, 64 blocks that wait to be paired, three counts.
  return {fmt::format("RowReduction<{}, {}>", functor, value_type(dtype)),
          rounded((kReductionLanes + 64) * bytes_of(dtype), kAlignment) + kAlignment, kAlignment};
}

Type column_reduction_type(const std::string& functor, DType dtype, std::int64_t tile, int levels) {
  return {fmt::format("ColumnReduction<{}, {}, kTile, {}>", functor, value_type(dtype), levels),
          (kReductionLanes + levels) * rounded(tile * bytes_of(dtype), kAlignment) + kAlignment, kAlignment};
}

void FrameMembers::add(const Type& type, const std::string& name) {
  if (!names_.insert(name).second) return;
  text_ += fmt::format("  {} {};\n", type.text, name);
  bytes_ = rounded(bytes_, type.alignment) + type.bytes;
}

std::int64_t FrameMembers::bytes() const { return std::max(rounded(bytes_, kAlignment), kAlignment); }

SpecialisationKey::SpecialisationKey(const codegen::LoopProgram& program, std::span<const std::int32_t> accesses)
    : orientation_(program.orientation), accesses_(accesses.begin(), accesses.end()) {
  if (orientation_ == codegen::Orientation::Outer) columns_tile_ = columns_tile(program);
  if (const codegen::Contraction* const c = codegen::contraction_in(program.form))
    product_ = {c->batch_loops, c->row_loops, c->column_loops, codegen::window_form(program).has_value()};
  for (const codegen::Stage& stage : program.stages)
    stages_.push_back({stage.body, stage.outer, fills_lanes(stage), one_block(stage)});
  for (const codegen::Argument& argument : program.arguments)
    bypasses_.push_back(argument.output && bypasses_caches(argument));
}

}  // namespace oriel::source::cpp
