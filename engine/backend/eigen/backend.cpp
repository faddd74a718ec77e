#include "backend/eigen/backend.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <string_view>
#include <thread>

#include "backend/eigen/isa/levels.hpp"
#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/parts.hpp"
#include "backend/eigen/products/windows_plan.hpp"
#include "backend/eigen/run.hpp"
#include "backend/eigen/tile/plan.hpp"
#include "base/context.hpp"
#include "base/debug.hpp"
#include "base/escape.hpp"
#include "base/settings.hpp"
#include "codegen/unroll.hpp"
#include "memory/host.hpp"
#include "oriel/error.hpp"
#include "source/cpp/render.hpp"

namespace oriel::backend::eigen {
namespace {

constexpr int kMaxThreads = 1024;

int thread_count(int wanted) {
  if (wanted > 0) return wanted;
  if (const auto text = base::env_text("ORIEL_THREADS")) {
    const std::string_view setting = *text;
    int count = 0;
    const auto [end, error] = std::from_chars(setting.data(), setting.data() + setting.size(), count);
    if (error != std::errc() || end != setting.data() + setting.size() || count < 1 || count > kMaxThreads) {
      throw ArgumentError("ORIEL_THREADS", "got \"" + base::escaped(setting) +
                                               "\"; accepted is a whole number from 1 to " +
                                               std::to_string(kMaxThreads));
    }
    return count;
  }
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware == 0 ? 1 : static_cast<int>(hardware);
}

}  // namespace

EigenBackend::EigenBackend(const Options& options)
    : options_(options),
      table_(options.isa.empty() ? isa::table() : isa::table(options.isa.c_str())),
      tile_(options.tile),
      strict_(options.strict.value_or(base::env_text("ORIEL_COMPILE_STRICT").value_or("0") == "1")),
      threads_(thread_count(options.threads > 0 ? options.threads : options.most_threads)),
      allocator_(options.context == 0
                     ? mem::host_allocator()
                     : mem::make_host_allocator(options.memory ? *options.memory : mem::options_from_environment(),
                                                device())) {
  if (tile_ < 0 || tile_ % isa::kPacket != 0) {
    throw ArgumentError("eigen", "a tile of " + std::to_string(tile_) + " elements; accepted are multiples of " +
                                     std::to_string(isa::kPacket));
  }
  tuner_ = std::make_unique<Tuner>([this]() -> NativeBuilder& { return builder(); }, options.patience,
                                   [this](const TieredKernel& k) { return threads_for(k.seconds); });
  capabilities_.threads = threads_.count();
  capabilities_.parts = kMostParts;
  capabilities_.scatters = true;
  capabilities_.source = "cpp";
  capabilities_.helpers = "hpp";
  capabilities_.hosts = true;
  capabilities_.description =
      "CPU, " + std::to_string(threads_.count()) + (threads_.count() == 1 ? " thread, " : " threads, ") + table_.name;
}

EigenTier EigenBackend::chosen_tier() const {
  return options_.tier ? base::given_tier(*options_.tier, "eigen")
                       : base::eigen_tier(base::context_state(options_.context));
}

namespace {

/// A short reduction runs as instructions.
codegen::LoopProgram as_it_runs(const codegen::LoopProgram& program) {
  std::optional<codegen::LoopProgram> unrolled = codegen::unrolled(program);
  return unrolled ? *std::move(unrolled) : program;
}

}  // namespace

std::shared_ptr<TieredKernel> EigenBackend::make(const codegen::LoopProgram& program) const {
  auto plan = make_plan(program, table_, tile_);
  const double seconds = estimated_seconds(program, *plan);
  std::string why = why_tile_only(program, *plan, threads_for(seconds));
  return std::make_shared<TieredKernel>(std::move(plan), program, seconds, std::move(why));
}

std::shared_ptr<const Kernel> EigenBackend::compile(const codegen::LoopProgram& program) {
  const std::optional<codegen::LoopProgram> unrolled = codegen::unrolled(program);
  if (!unrolled) return make(program);
#ifndef NDEBUG
  codegen::verify(*unrolled);
#endif
  const std::shared_ptr<TieredKernel> made = make(*unrolled);
  if (codegen::unrolled_for_compilers(program)) return made;
  return std::make_shared<TieredKernel>(made->plan, program, made->seconds, made->tile_only);
}

/// The tile machine plans for each size. Compiled kernels share a unit.
class EigenBackend::Family final : public KernelFamily {
 public:
  Family(const EigenBackend& backend, const codegen::LoopProgram& kernel, std::span<const sym::Expr> variables)
      : backend_(backend), units_(kernel, variables, backend.capabilities().row_bytes) {}

  std::shared_ptr<const Kernel> compile(const codegen::LoweredKernel& closed,
                                        std::span<const std::int64_t> values) const override {
    std::shared_ptr<TieredKernel> made = backend_.make(closed.program);
    if (backend_.chosen_tier() != EigenTier::tile && made->tile_only.empty()) {
      made->sized = units_.at(closed, values);
      take_compiled(*made);
    }
    return made;
  }

 private:
  const EigenBackend& backend_;
  const SymbolicUnits units_;
};

std::unique_ptr<const KernelFamily> EigenBackend::family(const codegen::LoopProgram& kernel,
                                                         std::span<const sym::Expr> variables) {
  return std::make_unique<const Family>(*this, kernel, variables);
}

NativeBuilder& EigenBackend::builder() {
  return builder_.get([&] { return make_builder(options_.compiler, options_.cache, table_.name); });
}

void EigenBackend::demand(std::span<const TieredKernel* const> kernels, const std::vector<std::string>& notes) {
  for (const TieredKernel* k : kernels) {
    if (!k->tile_only.empty() || k->native.load() != nullptr) continue;
    std::string said;
    for (const std::string& note : notes) said += "; " + note;
    throw DeviceError("compile", "kernel " + k->plan->name +
                                     " was not built, and ORIEL_COMPILE_STRICT forbids the tile machine to stand in" +
                                     said);
  }
}

void EigenBackend::build(std::span<const TieredKernel* const> kernels) {
  for (const TieredKernel* k : kernels) render_unit_of(*k);
  std::vector<std::string> notes;
  builder().build(kernels, notes);
  if (strict_) demand(kernels, notes);
  const base::Watch watch = base::watch_of(options_.context);
  if (!watch.debugging(base::Debug::Compile)) return;
  for (const std::string& note : notes) base::debug_say(options_.context, base::Debug::Compile, note);
  if (!watch.debugging(base::Debug::Compile, 2)) return;
  for (const TieredKernel* k : kernels) {
    base::debug_say(options_.context, base::Debug::Compile,
                    k->plan->name + (k->native.load() != nullptr ? ": compiled"
                                     : k->tile_only.empty()      ? ": tile machine"
                                                                 : ": tile machine, " + k->tile_only));
  }
}

void EigenBackend::prepare(std::span<const std::shared_ptr<const Kernel>> kernels) {
  if (chosen_tier() != EigenTier::compile) return;
  std::vector<const TieredKernel*> wanted;
  for (const auto& kernel : kernels) {
    const auto* k = static_cast<const TieredKernel*>(kernel.get());
    if (!k->tried && std::find(wanted.begin(), wanted.end(), k) == wanted.end()) wanted.push_back(k);
  }
  if (!wanted.empty()) build(wanted);
}

void EigenBackend::launch(const Kernel& kernel, std::span<void* const> arguments,
                          std::span<const graph::Scalar> parameters) {
  run(static_cast<const TieredKernel&>(kernel), arguments, parameters, nullptr);
}

void EigenBackend::launch_keeping(const Kernel& kernel, std::span<void* const> arguments,
                                  std::span<const graph::Scalar> parameters, const Keeping& keeping) {
  run(static_cast<const TieredKernel&>(kernel), arguments, parameters, &keeping);
}

std::vector<std::size_t> EigenBackend::keepable(const Kernel& kernel) const {
  return packed_arguments(*static_cast<const TieredKernel&>(kernel).plan);
}

void EigenBackend::run(const TieredKernel& k, std::span<void* const> arguments,
                       std::span<const graph::Scalar> parameters, const Keeping* keeping) {
  const EigenTier how = k.tile_only.empty() ? chosen_tier() : EigenTier::tile;
  if (how == EigenTier::automatic) return run_watched(k, arguments, parameters, keeping);
  if (how == EigenTier::compile) {
    if (!k.tried.load(std::memory_order_acquire)) {
      const TieredKernel* alone = &k;
      build({&alone, 1});
    }
    if (const NativeFn native = k.native.load(std::memory_order_acquire); native != nullptr)
      return run_native(k, native, team(k, true), arguments, parameters);
  }
  run_plan(*k.plan, team(k, false), arguments, parameters, keeping);
}

int EigenBackend::threads_for(double seconds) const {
  return options_.threads > 0 ? threads_.count() : threads_that_pay(seconds, threads_.count());
}

Team EigenBackend::team(const TieredKernel& kernel, bool native) {
  // Compiled kernels take about half of the tile machine's time.
  return {threads_, threads_for(native ? 0.5 * kernel.seconds : kernel.seconds)};
}

void EigenBackend::run_watched(const TieredKernel& kernel, std::span<void* const> arguments,
                               std::span<const graph::Scalar> parameters, const Keeping* keeping) {
  if (!kernel.tuning().recalled.load(std::memory_order_relaxed)) tuner_->recall(kernel);
  const Phase phase = kernel.tuning().phase.load(std::memory_order_acquire);
  const bool decided = phase == Phase::Tile || phase == Phase::Native;
  const bool wanted = decided ? phase == Phase::Native : tuner_->native_next(kernel);
  // Perhaps it was built for another size.
  if (wanted && kernel.native.load(std::memory_order_acquire) == nullptr) take_compiled(kernel);
  const NativeFn native = wanted ? kernel.native.load(std::memory_order_acquire) : nullptr;
  const auto start = decided ? std::chrono::steady_clock::time_point() : std::chrono::steady_clock::now();
  if (native != nullptr) {
    run_native(kernel, native, team(kernel, true), arguments, parameters);
  } else {
    run_plan(*kernel.plan, team(kernel, false), arguments, parameters, keeping);
  }
  if (!decided) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    tuner_->record(kernel, native != nullptr, took.count());
  }
  if (tuner_->has_notes() && base::watch_of(options_.context).debugging(base::Debug::Compile)) say_notes();
}

void EigenBackend::say_notes() {
  for (const std::string& note : tuner_->notes()) base::debug_say(options_.context, base::Debug::Compile, note);
}

std::string EigenBackend::details() {
  const EigenTier how = chosen_tier();
  const char* const names[] = {"the tile machine", "compiled", "the tile machine and compiled"};
  std::string text = capabilities_.description + " of those built, " + isa::levels_text() +
                     "; kernels: " + names[static_cast<int>(how)];
  if (how == EigenTier::tile) return text;
  return text + "; " + describe_compiler(options_.compiler, options_.cache);
}

std::string EigenBackend::tier(const codegen::LoopProgram& program, const Kernel* kernel) const {
  const auto* k = static_cast<const TieredKernel*>(kernel);
  const auto why_not = [&] {
    const codegen::LoopProgram runs = as_it_runs(program);
    const std::shared_ptr<const Plan> plan = make_plan(runs, table_, tile_);
    return why_tile_only(runs, *plan, threads_for(estimated_seconds(runs, *plan)));
  };
  const std::string why = k != nullptr ? k->tile_only : why_not();
  if (!why.empty()) return "tile machine only: " + why;
  const EigenTier how = chosen_tier();
  if (how == EigenTier::tile) return "tile machine, as set";
  const bool built = k != nullptr && k->native.load(std::memory_order_acquire) != nullptr;
  if (how == EigenTier::compile) {
    if (built) return "compiled";
    return k != nullptr && k->tried ? "tile machine: it could not be compiled" : "compiled before its first launch";
  }
  switch (k == nullptr ? Phase::Watched : k->tuning().phase.load(std::memory_order_acquire)) {
    case Phase::Watched:
      return "tile machine; compiled once its total run time reaches the time that compiling takes";
    case Phase::Asked:
      return "tile machine, being compiled";
    case Phase::Measured:
      return "compiled and tile machine in turns, being measured";
    case Phase::Native:
      return "compiled";
    case Phase::Tile:
      break;
  }
  return built ? "tile machine, no slower than compiled" : "tile machine: it could not be compiled";
}

std::string EigenBackend::source(const codegen::LoopProgram& program) const { return source::cpp::render(program); }
std::string EigenBackend::source_beside(const codegen::LoopProgram& program, source::SharedHelpers& shared) const {
  return source::cpp::render_beside(program, shared);
}
namespace {

PathReport paths_of(const EigenBackend& /*backend*/, const codegen::LoopProgram& program, const isa::Table& table,
                    std::int64_t tile) {
  const codegen::LoopProgram runs = as_it_runs(program);
  const std::shared_ptr<const Plan> plan = make_plan(runs, table, tile);
  PathReport report{plan->path, {}, 1e9 * estimated_seconds(runs, *plan)};
  if (plan->parts == nullptr) return report;
  for (const PartPlan& part : plan->parts->parts)
    report.parts.push_back(part.product != nullptr ? path_of(*part.product) : KernelPath::Reductions);
  if (plan->parts->online != nullptr) report.parts = {KernelPath::Blocked, KernelPath::Reductions, KernelPath::Blocked};
  return report;
}

std::string method_of(const EigenBackend& backend, const codegen::LoopProgram& program, const isa::Table& table,
                      std::int64_t tile) {
  if (codegen::unrolled(program))
    return "its short rows are unrolled: neighbouring points fill the registers, and terms are added one by one";
  const std::shared_ptr<const Plan> plan = make_plan(program, table, tile);
  if (plan->by_use != nullptr) return plan->by_use->describe(program);
  if (plan->parts != nullptr) return describe_parts(*plan->parts);
  if (plan->windows != nullptr) return describe_windows(*plan->windows);
  if (plan->contraction != nullptr) return describe_product(*plan->contraction);
  if (const codegen::Contraction* product = codegen::contraction_in(program.form))
    return "contraction: " + codegen::to_string(*product) + " (rows, columns, depth); tile by tile";
  std::string text = backend.Backend::method(program);
  for (const std::string& note : access_notes(program, *plan)) text += (text.empty() ? "" : "\n") + note;
  return text;
}

/// What explanations ask of the backend: a part that a program may have by use (base/by_use.hpp).
struct Descriptions {
  PathReport (*paths)(const EigenBackend&, const codegen::LoopProgram&, const isa::Table&, std::int64_t tile);
  std::string (*method)(const EigenBackend&, const codegen::LoopProgram&, const isa::Table&, std::int64_t tile);
};
constexpr Descriptions kDescriptions{paths_of, method_of};
#ifdef ORIEL_BY_USE
constinit std::atomic<const Descriptions*> descriptions{nullptr};
#else
constinit std::atomic<const Descriptions*> descriptions{&kDescriptions};
#endif

}  // namespace

#ifdef ORIEL_BY_USE
void use_descriptions() { descriptions.store(&kDescriptions, std::memory_order_release); }
#endif

PathReport EigenBackend::paths(const codegen::LoopProgram& program) const {
  const Descriptions* const known = descriptions;
  return known == nullptr ? PathReport() : known->paths(*this, program, table_, tile_);
}
std::string EigenBackend::method(const codegen::LoopProgram& program) const {
  const Descriptions* const known = descriptions;
  return known == nullptr ? std::string() : known->method(*this, program, table_, tile_);
}

}  // namespace oriel::backend::eigen
