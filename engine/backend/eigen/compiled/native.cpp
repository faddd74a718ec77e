#include "backend/eigen/compiled/native.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "backend/eigen/products/windows_plan.hpp"
#include "backend/eigen/tile/machine.hpp"
#include "base/fork_lock.hpp"
#include "oriel/error.hpp"
#include "source/cpp/contraction_source.hpp"
#include "source/cpp/render.hpp"
#include "source/names.hpp"

namespace oriel::backend::eigen {

using source::identifier;
using source::cpp::render;

namespace {

// Change this number if the form of sources or of cache entries changes.
constexpr int kFormat = 1;
constexpr std::string_view kFaster = "faster";
// The time and memory of a compiler grow linearly with the instructions, to about 8 s and 0.3 GB at this limit.
constexpr std::size_t kMostInstructions = 8192;
// The most instructions of a unit, counting kOfEachKernel more for each kernel. The compiler's time limit is meant for
// this size; if the compiler is killed, its work on the unit is lost.
constexpr std::size_t kUnitInstructions = 1024;
constexpr std::size_t kOfEachKernel = 32;
// After so many failures in a row the compiler is not used again by this process. A failure means that it hung,
// crashed, built something that does not load, or also refuses the small unit of its trial. If it refuses only one
// kernel, that kernel is at fault.
constexpr int kMostFailures = 3;
// Blocks of results are large, so there are many tasks: otherwise the other threads would wait long for the last one.
constexpr std::int64_t kBlockTasksPerThread = 16;
// If points are elements, ranges begin at multiples of this, so that vectors have the same alignment.
constexpr std::int64_t kRange = 1024;

/// A check in the source that Eigen has the same version as the tile machine's: another version may give other bits.
std::string eigen_check() {
  return "#ifdef EIGEN_WORLD_VERSION\n#define ORIEL_TEXT_OF(x) #x\n#define ORIEL_VERSION_OF(a, b, c) "
         "ORIEL_TEXT_OF(a.b.c)\n"
         "constexpr bool oriel_same(const char* a, const char* b) { return *a == *b && (*a == 0 || oriel_same(a + 1, b "
         "+ 1)); }\n"
         "static_assert(oriel_same(ORIEL_VERSION_OF(EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION), "
         "\"" ORIEL_EIGEN_VERSION "\"), \"Eigen " ORIEL_EIGEN_VERSION " is needed\");\n#endif\n";
}

}  // namespace

namespace {

/// source::cpp::rendered_contraction, or the plan's answer if it has one.
std::optional<codegen::ProductForm> rendered_contraction(const codegen::LoopProgram& program, const Plan& plan) {
  if (plan.windows != nullptr) return source::cpp::rendered_contraction(program);
  if (plan.contraction == nullptr || plan.contraction->path == Path::Dots) return std::nullopt;
  return plan.contraction->form();
}

}  // namespace

std::size_t instructions(const codegen::LoopProgram& program) {
  std::size_t count = 0;
  for (const codegen::Stage& stage : program.stages) count += stage.body.size() + stage.outer.size();
  return count;
}

TieredKernel::TieredKernel(std::shared_ptr<const Plan> tile_plan, codegen::LoopProgram loop_program, double alone,
                           std::string why_tile)
    : plan(std::move(tile_plan)), program(std::move(loop_program)), seconds(alone), tile_only(std::move(why_tile)) {
  if (const auto contraction = rendered_contraction(program, *plan))
    blocks = source::cpp::rendered_blocks(*contraction);
}

std::string why_tile_only(const codegen::LoopProgram& program, const Plan& plan, int threads) {
  const std::size_t count = instructions(program);
  if (count > kMostInstructions) {
    return fmt::format("{} instructions, more than the {} that a compiler is given", count, kMostInstructions);
  }
  if (plan.sorting != nullptr) return "it sorts, which is no loop of instructions";
  if (plan.parts != nullptr) return "its parts share rows in cache, which the tile machine keeps there";
  const bool blocked = rendered_contraction(program, plan).has_value();
  if (!blocked && plan.windows != nullptr && plan.windows->shape.weight != codegen::kNoValue)
    return "it reduces a few windows of products, which the tile machine reads where they lie";
  if (!blocked && plan.grid_rows > 1)
    return "its operands cross, and the tile machine turns squares of them in registers";
  if (!blocked && shares_rows(plan, threads)) return "its rows are shared among threads";
  if (plan.points == 0) return "it has no points";
  std::vector<DType> dtypes(plan.parameters, DType::bool_);
  std::vector<bool> seen(plan.parameters, false);
  for (const codegen::Constant& c : program.constants) {
    if (c.parameter < 0) continue;
    const auto p = static_cast<std::size_t>(c.parameter);
    if (seen[p] && dtypes[p] != c.value.dtype) return "a number given at launch is used as two types";
    seen[p] = true;
    dtypes[p] = c.value.dtype;
  }
  return {};
}

NativeBuilder::NativeBuilder(const Compiler& compiler, mem::DiskCache& cache, std::string level)
    : compiler_(compiler), cache_(cache), level_(std::move(level)) {}

void NativeBuilder::introduce(std::vector<std::string>& notes) {
  if (std::exchange(introduced_, true)) return;
  notes.push_back("compiler " + compiler_.description());
  notes.push_back("disk cache " + cache_.state());
}

/// Everything besides its sources on which a library depends.
std::string NativeBuilder::context() const {
  std::string text = fmt::format("oriel native {}\nEigen {}\nlevel {}\n{}\n", kFormat, ORIEL_EIGEN_VERSION, level_,
                                 compiler_.identity());
  for (const std::string& flag : compiler_.flags(level_)) text += flag + ' ';
  return text + '\n';
}

bool NativeBuilder::adopt(const Wanted& wanted, const std::shared_ptr<const LoadedUnit>& unit) {
  void* const symbol = unit->symbol(wanted.symbol);
  if (symbol == nullptr) return false;
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::units));
  wanted.kernel->unit = unit;
  wanted.kernel->native.store(reinterpret_cast<NativeFn>(symbol), std::memory_order_release);
  return true;
}

std::shared_ptr<const LoadedUnit> NativeBuilder::load(const std::string& key, std::string& trouble) {
  const std::lock_guard lock(loading_);
  if (auto known = loaded_[key].lock()) return known;
  const auto library = cache_.find(key);
  if (!library) {
    trouble = "is gone";
    return nullptr;
  }
  auto unit = load_unit(*library, trouble);
  loaded_[key] = unit;
  return unit;
}

/// A kernel's entry on disk names the unit that holds it.
bool NativeBuilder::find(const std::string& context, const Wanted& wanted) {
  const std::string key = "kernel\n" + context + wanted.source;
  const auto unit_key = cache_.find(key);
  if (!unit_key) return false;
  std::string trouble;
  const auto unit = load(*unit_key, trouble);
  if (unit != nullptr && adopt(wanted, unit)) return true;
  cache_.drop(*unit_key);
  cache_.drop(key);
  return false;
}

/// The kernels that the cache lacks, rendered.
std::vector<NativeBuilder::Wanted> NativeBuilder::take_found(const std::string& context,
                                                             std::span<const TieredKernel* const> kernels,
                                                             std::vector<std::string>& notes) {
  std::vector<Wanted> wanted;
  std::set<std::string> symbols;
  std::size_t found = 0;
  for (const TieredKernel* kernel : kernels) {
    if (!kernel->tile_only.empty() || kernel->tried.load(std::memory_order_relaxed)) continue;
    codegen::LoopProgram program = kernel->program;
    Wanted w{kernel, identifier(program.name), {}};
    for (int copy = 2; !symbols.insert(w.symbol).second; ++copy) {
      program.name = fmt::format("{}_{}", kernel->program.name, copy);
      w.symbol = identifier(program.name);
    }
    w.source = render(program);
    if (find(context, w)) {
      kernel->tried = true;
      ++found;
    } else {
      wanted.push_back(std::move(w));
    }
  }
  if (found > 0) notes.push_back(fmt::format("found {} kernels in the disk cache", found));
  return wanted;
}

void NativeBuilder::look_up(std::span<const TieredKernel* const> kernels, std::vector<std::string>& notes) {
  const std::lock_guard lock(guard_);
  // A compiler that was never tried has built nothing.
  if (!compiler_.known()) return;
  introduce(notes);
  take_found(context(), kernels, notes);
}

/// The key depends on the program's structure. If two programs share a hash, a wrong verdict only costs speed.
std::string NativeBuilder::verdict_key(const std::string& context, const TieredKernel& kernel, int threads) const {
  return fmt::format("verdict\n{}{} threads {} {:016x}", context, threads, kernel.program.name,
                     codegen::hash_value(kernel.program));
}

bool NativeBuilder::recall(const TieredKernel& kernel, int threads) {
  if (!cache_.usable() || !compiler_.known() || kernel.tried.load(std::memory_order_acquire)) return false;
  std::string context;
  {
    const std::lock_guard lock(loading_);
    if (recalled_context_.empty()) recalled_context_ = this->context();
    context = recalled_context_;
  }
  if (cache_.find(verdict_key(context, kernel, threads)) != kFaster) return false;
  if (!find(context, {&kernel, identifier(kernel.program.name), render(kernel.program)})) return false;
  kernel.tried = true;
  return true;
}

void NativeBuilder::remember(const TieredKernel& kernel, int threads, bool faster) {
  if (!compiler_.known()) return;
  const std::string key = verdict_key(context(), kernel, threads);
  if (faster) {
    cache_.put(key, kFaster);
  } else {
    cache_.drop(key);
  }
}

void NativeBuilder::build(std::span<const TieredKernel* const> kernels, std::vector<std::string>& notes, int niceness,
                          const std::atomic<bool>* cancel) {
  const std::lock_guard lock(guard_);
  introduce(notes);
  if (!compiler_.usable()) {
    for (const TieredKernel* kernel : kernels) kernel->tried = true;
    return;
  }
  const std::string context = this->context();
  const std::vector<Wanted> wanted = take_found(context, kernels, notes);
  if (wanted.empty()) return;
  // The last element is the next unit.
  std::vector<std::span<const Wanted>> units;
  for (std::size_t begin = 0, end = 0; begin < wanted.size(); begin = end) {
    std::size_t weight = 0;
    do weight += kOfEachKernel + instructions(wanted[end].kernel->program);
    while (++end < wanted.size() &&
           weight + kOfEachKernel + instructions(wanted[end].kernel->program) <= kUnitInstructions);
    units.insert(units.begin(), std::span(wanted).subspan(begin, end - begin));
  }
  while (!units.empty()) {
    const std::span<const Wanted> unit = units.back();
    units.pop_back();
    if (failures_ >= kMostFailures) {
      for (const Wanted& w : unit) w.kernel->tried = true;
      continue;
    }
    const auto [trouble, refused] = build_unit(context, unit, notes, niceness, cancel);
    if (cancel != nullptr && cancel->load()) return;
    if (trouble.empty()) continue;
    // One kernel may have made the whole unit fail, or the unit was too large for one run.
    if (unit.size() > 1) {
      notes.push_back(
          fmt::format("a unit of {} kernels was not built, its halves are tried: {}", unit.size(), trouble));
      units.push_back(unit.subspan(unit.size() / 2));
      units.push_back(unit.first(unit.size() / 2));
      continue;
    }
    unit[0].kernel->tried = true;
    if (refused && compiler_.trial().empty()) {
      notes.push_back(fmt::format("a unit of 1 kernels was not built: {}; it held {}", trouble, unit[0].symbol));
      continue;
    }
    ++failures_;
    notes.push_back(fmt::format("a unit of 1 kernels was not built: {}{}", trouble,
                                failures_ == kMostFailures ? "; the compiler is not asked again" : ""));
  }
}

/// Builds a unit and gives its functions to the kernels.
NativeBuilder::Failure NativeBuilder::build_unit(const std::string& context, std::span<const Wanted> wanted,
                                                 std::vector<std::string>& notes, int niceness,
                                                 const std::atomic<bool>* cancel) {
  std::string source;
  for (const Wanted& w : wanted) source += w.source + '\n';
  source += eigen_check();
  const Built built = compiler_.build(source, level_, niceness, cancel);
  if (built.library.empty()) return {built.trouble, built.refused};
  std::string trouble;
  const std::shared_ptr<const LoadedUnit> unit = load_unit(built.library, trouble);
  if (unit == nullptr) return {trouble};
  for (const Wanted& w : wanted)
    if (unit->symbol(w.symbol) == nullptr) return {"holds no " + w.symbol};
  for (const Wanted& w : wanted) {
    adopt(w, unit);
    w.kernel->tried = true;
  }
  failures_ = 0;
  seconds_a_kernel_ = 0.5 * (seconds_a_kernel_ + built.cpu_seconds / static_cast<double>(wanted.size()));
  notes.push_back(fmt::format("built a unit of {} kernels in {:.0f} ms", wanted.size(), built.seconds * 1e3));
  // Write the unit before the entries that name it.
  const std::string key = "unit\n" + mem::DiskCache::file_name(context + source);
  {
    const std::lock_guard lock(loading_);
    loaded_[key] = unit;
  }
  if (!cache_.put(key, built.library)) return {};
  for (const Wanted& w : wanted) cache_.put("kernel\n" + context + w.source, key);
  return {};
}

namespace {

/// Runs a contraction's blocks of results, in ranges of the points that represent them (contraction_source.hpp).
void run_blocks(const TieredKernel& kernel, NativeFn native, const Team& threads, void* const* arguments,
                const NativeScalar* scalars) {
  const std::int64_t points = kernel.plan->points;
  const std::int64_t tasks = std::min(kernel.blocks, threads.count() * kBlockTasksPerThread);
  if (threads.count() == 1 || kernel.plan->work < kParallelWork || tasks < 2)
    return native(arguments, scalars, 0, points);
  const std::int64_t each = points / kernel.blocks;
  threads.run(tasks, [&](std::int64_t task) {
    const auto first = [&](std::int64_t t) {
      return t == tasks ? points : share_begin(kernel.blocks, t, tasks) * each;
    };
    native(arguments, scalars, first(task), first(task + 1));
  });
}

}  // namespace

void run_native(const TieredKernel& kernel, NativeFn native, const Team& threads, std::span<void* const> arguments,
                std::span<const graph::Scalar> parameters) {
  const Plan& plan = *kernel.plan;
  check_launch(plan, arguments, parameters);
  std::array<NativeScalar, 16> few;
  std::vector<NativeScalar> many;
  NativeScalar* scalars = few.data();
  if (plan.parameters > few.size()) {
    many.resize(plan.parameters);
    scalars = many.data();
  }
  for (const codegen::Constant& c : kernel.program.constants) {
    if (c.parameter < 0) continue;
    const graph::Scalar& given = parameters[static_cast<std::size_t>(c.parameter)];
    const graph::Scalar value = given.dtype == c.value.dtype ? given : given.cast(c.value.dtype);
    NativeScalar& scalar = scalars[c.parameter];
    if (is_floating(value.dtype)) {
      scalar.f = value.f;
    } else {
      scalar.i = value.i;
    }
  }
  if (kernel.blocks > 0) return run_blocks(kernel, native, threads, arguments.data(), scalars);
  const bool rows = std::any_of(plan.stages.begin(), plan.stages.end(), [](const StagePlan& s) { return s.loops; });
  const std::int64_t grain = rows && !plan.columns ? 1 : kRange;
  const std::int64_t grains = plan.points / grain + (plan.points % grain != 0 ? 1 : 0);
  const std::int64_t tasks = tasks_for(plan.work, kTaskWork, std::min(grains, threads.count() * kTasksPerThread));
  if (threads.count() == 1 || plan.work < kParallelWork || tasks < 2) {
    return native(arguments.data(), scalars, 0, plan.points);
  }
  threads.run(tasks, [&](std::int64_t task) {
    const std::int64_t first = share_begin(grains, task, tasks) * grain;
    const bool last = task + 1 == tasks;  // the last task may be smaller
    native(arguments.data(), scalars, first, last ? plan.points : share_begin(grains, task + 1, tasks) * grain);
  });
}

}  // namespace oriel::backend::eigen
