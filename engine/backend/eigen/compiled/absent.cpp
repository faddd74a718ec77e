// In place of this folder where the build has no compiled tier (meson's option compiled): every kernel stays on the
// tile machine, because base::given_tier lets no other tier through.
#include <memory>
#include <string>
#include <utility>

#include "backend/eigen/compiled/native.hpp"
#include "backend/eigen/compiled/tuner.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {

namespace {

[[noreturn]] void no_compiled_tier(const char* what) {
  throw InternalError(what, "this build has no compiled tier, so no kernel may get here");
}

}  // namespace

LoadedUnit::~LoadedUnit() = default;

Compiler& Compiler::system() { no_compiled_tier("Compiler"); }
std::string describe_compiler(const Compiler* /*compiler*/, const mem::DiskCache* /*cache*/) { return {}; }

TieredKernel::TieredKernel(std::shared_ptr<const Plan> tile_plan, codegen::LoopProgram loop_program, double alone,
                           std::string why_tile)
    : plan(std::move(tile_plan)), program(std::move(loop_program)), seconds(alone), tile_only(std::move(why_tile)) {}

std::string why_tile_only(const codegen::LoopProgram& /*program*/, const Plan& /*plan*/, int /*threads*/) { return {}; }

std::unique_ptr<NativeBuilder> make_builder(const Compiler* /*compiler*/, mem::DiskCache* /*cache*/,
                                            const std::string& /*level*/) {
  no_compiled_tier("NativeBuilder");
}
void NativeBuilder::build(std::span<const TieredKernel* const> /*kernels*/, std::vector<std::string>& /*notes*/,
                          int /*niceness*/, const std::atomic<bool>* /*cancel*/) {
  no_compiled_tier("NativeBuilder");
}
void render_unit_of(const TieredKernel& /*kernel*/) { no_compiled_tier("render_unit_of"); }
void take_compiled(const TieredKernel& /*kernel*/) {}
void run_native(const TieredKernel& /*kernel*/, NativeFn /*native*/, const Team& /*threads*/,
                std::span<void* const> /*arguments*/, std::span<const graph::Scalar> /*parameters*/) {
  no_compiled_tier("run_native");
}

SymbolicUnits::SymbolicUnits(const codegen::LoopProgram& kernel, std::span<const sym::Expr> variables,
                             std::int64_t row_bytes)
    : kernel_(kernel), variables_(variables.begin(), variables.end()), row_bytes_(row_bytes) {}
SymbolicUnits::~SymbolicUnits() = default;
SizedUnit SymbolicUnits::at(const codegen::LoweredKernel& /*closed*/, std::span<const std::int64_t> /*values*/) const {
  no_compiled_tier("SymbolicUnits");
}

Tuner::Tuner(std::function<NativeBuilder&()> builder, double patience, std::function<int(const TieredKernel&)> threads)
    : builder_(std::move(builder)), patience_(patience), threads_(std::move(threads)) {}
Tuner::~Tuner() = default;
void Tuner::recall(const TieredKernel& /*kernel*/) {}
bool Tuner::native_next(const TieredKernel& /*kernel*/) { return false; }
void Tuner::record(const TieredKernel& /*kernel*/, bool /*native*/, double /*seconds*/) {}
std::vector<std::string> Tuner::notes() { return {}; }

}  // namespace oriel::backend::eigen
