#include "backend/eigen/backend.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "backend/eigen/contraction_plan.hpp"
#include "backend/eigen/machine.hpp"
#include "backend/eigen/plan.hpp"
#include "backend/eigen/render.hpp"
#include "memory/host.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr int kMaxThreads = 1024;

int thread_count(int wanted) {
  if (wanted > 0) return wanted;
  if (const char* text = std::getenv("ORIEL_THREADS"); text != nullptr && *text != '\0') {
    const std::string_view setting = text;
    int count = 0;
    const auto [end, error] = std::from_chars(setting.data(), setting.data() + setting.size(), count);
    if (error != std::errc() || end != setting.data() + setting.size() || count < 1 || count > kMaxThreads) {
      throw ArgumentError(
          "ORIEL_THREADS",
          "got \"" + std::string(setting) + "\"; accepted is a whole number from 1 to " + std::to_string(kMaxThreads));
    }
    return count;
  }
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware == 0 ? 1 : static_cast<int>(hardware);
}

}  // namespace

EigenBackend::EigenBackend(const Options& options)
    : table_(options.isa.empty() ? isa::table() : isa::table(options.isa.c_str())),
      tile_(options.tile),
      threads_(thread_count(options.threads)),
      allocator_(memory::host_allocator()) {
  if (tile_ < 0 || tile_ % isa::kPacket != 0) {
    throw ArgumentError("eigen", "a tile of " + std::to_string(tile_) + " elements; accepted are multiples of " +
                                     std::to_string(isa::kPacket));
  }
  capabilities_.threads = threads_.count();
  capabilities_.description =
      "CPU, " + std::to_string(threads_.count()) + (threads_.count() == 1 ? " thread, " : " threads, ") + table_.name;
}

std::shared_ptr<const Kernel> EigenBackend::compile(const codegen::LoopProgram& program) {
  return make_plan(program, table_, tile_);
}

void EigenBackend::launch(const Kernel& kernel, std::span<void* const> arguments,
                          std::span<const graph::Scalar> parameters) {
  run_plan(static_cast<const Plan&>(kernel), threads_, arguments, parameters);
}

std::string EigenBackend::source(const codegen::LoopProgram& program) const { return render(program); }
std::string EigenBackend::method(const codegen::LoopProgram& program) const {
  return describe_contraction(program, table_);
}

}  // namespace oriel::backend::eigen
