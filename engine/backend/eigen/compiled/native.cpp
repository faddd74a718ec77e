#include "backend/eigen/compiled/native.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "backend/eigen/products/windows_plan.hpp"
#include "backend/eigen/tile/machine.hpp"
#include "base/fork_lock.hpp"
#include "codegen/definitions.hpp"
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
    blocks = source::cpp::rendered_blocks(program, *contraction);
  if (!tile_only.empty()) return;
  bases = codegen::argument_bases(program);
  if (std::ranges::all_of(bases, [](std::int64_t base) { return base == 0; })) bases.clear();
}

std::string why_tile_only(const codegen::LoopProgram& program, const Plan& plan, int threads) {
  const std::size_t count = instructions(program);
  if (count > kMostInstructions) {
    return fmt::format("{} instructions, more than the {} that a compiler is given", count, kMostInstructions);
  }
  if (program.scanning) return "it scans along an axis, which is no loop of instructions";
  if (program.scattering) return "it scatters, which is no loop of instructions";
  if (program.hosting) return "it calls a function of the program";
  if (program.sorting) return "it sorts, which is no loop of instructions";
  if (plan.parts != nullptr) return "its parts share rows in cache, which the tile machine keeps there";
  if (plan.by_use != nullptr)
    return "it multiplies small matrices side by side, which the tile machine turns in registers";
  const bool blocked = rendered_contraction(program, plan).has_value();
  if (!blocked && plan.windows != nullptr && plan.windows->shape.weight != codegen::kNoValue)
    return "this convolution is too small for blocked products; the tile machine reads its windows in place";
  if (!blocked && plan.grid_rows > 1)
    return "an operand is transposed, and only the tile machine transposes tiles in registers";
  if (!blocked && shares_rows(plan, threads) && native_shares(plan, threads) < threads)
    return "its few rows are shared among threads";
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

std::unique_ptr<NativeBuilder> make_builder(const Compiler* compiler, mem::DiskCache* cache, const std::string& level) {
  return std::make_unique<NativeBuilder>(compiler != nullptr ? *compiler : Compiler::system(),
                                         cache != nullptr ? *cache : mem::DiskCache::shared(), level);
}

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

namespace {

std::string source_key(const std::string& context, const std::string& source) {
  return mem::DiskCache::file_name("kernel\n" + context + source);
}

/// Gives the kernel its function. Returns false for a kernel that can no longer share its unit: it is compiled by
/// itself from now on.
bool use(const TieredKernel& kernel, void* symbol, const std::shared_ptr<const LoadedUnit>& unit) {
  if (kernel.native.load(std::memory_order_relaxed) != nullptr) return true;
  if (kernel.shared() != nullptr) {
    std::optional<std::vector<std::int64_t>> numbers = kernel.shared()->numbers(kernel.sized.values);
    if (!numbers) {
      kernel.orphaned = true;
      return false;
    }
    kernel.numbers = *std::move(numbers);
  }
  kernel.unit = unit;
  kernel.native.store(reinterpret_cast<NativeFn>(symbol), std::memory_order_release);
  return true;
}

/// Marks a kernel, and all that share its source, as one that the tile machine runs.
void give_up(const TieredKernel& kernel) {
  kernel.tried = true;
  if (kernel.shared() != nullptr) kernel.shared()->tried = true;
}

}  // namespace

void render_unit_of(const TieredKernel& kernel) {
  if (kernel.shared() != nullptr && !kernel.shared()->render(kernel.sized.values)) kernel.orphaned = true;
}

void take_compiled(const TieredKernel& kernel) {
  const SymbolicUnit* const symbolic = kernel.shared();
  if (symbolic == nullptr || !symbolic->tried.load(std::memory_order_acquire)) return;
  if (void* const symbol = symbolic->native.load(std::memory_order_acquire)) {
    const std::lock_guard lock(base::fork_mutex(base::ForkLock::units));
    if (!use(kernel, symbol, symbolic->unit)) return;
  }
  kernel.tried.store(true, std::memory_order_release);
}

NativeBuilder::Wanted NativeBuilder::wanted(const TieredKernel& kernel, const std::string& name) {
  if (kernel.shared() != nullptr) return {&kernel, kernel.shared()->text()->symbol, kernel.shared()->text()->source};
  // Kernels over other slices of the same memory are one source.
  codegen::LoopProgram program = kernel.program;
  codegen::take_bases(program);
  program.name = name;
  return {&kernel, identifier(name), render(program)};
}

bool NativeBuilder::adopt(const std::string& context, const Wanted& wanted,
                          const std::shared_ptr<const LoadedUnit>& unit) {
  void* const symbol = unit->symbol(wanted.symbol);
  if (symbol == nullptr) return false;
  const SymbolicUnit* const symbolic = wanted.kernel->shared();
  {
    const std::lock_guard lock(loading_);
    by_source_[source_key(context, wanted.source)] = unit;
  }
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::units));
  const bool used = use(*wanted.kernel, symbol, unit);
  if (symbolic == nullptr) return true;
  symbolic->unit = unit;
  symbolic->native.store(symbol, std::memory_order_release);
  symbolic->tried.store(true, std::memory_order_release);
  return used;
}

/// Sources for many sizes and for many slices are shared among plans, also without a disk cache.
bool NativeBuilder::find_loaded(const std::string& context, const Wanted& wanted) {
  std::shared_ptr<const LoadedUnit> unit;
  {
    const std::lock_guard lock(loading_);
    const auto known = by_source_.find(source_key(context, wanted.source));
    if (known != by_source_.end()) unit = known->second.lock();
  }
  return unit != nullptr && adopt(context, wanted, unit);
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
  if (unit != nullptr && adopt(context, wanted, unit)) return true;
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
    take_compiled(*kernel);
    if (!kernel->tile_only.empty() || kernel->tried.load(std::memory_order_relaxed)) continue;
    std::string name = kernel->program.name;
    if (kernel->shared() != nullptr) {
      if (!symbols.insert(kernel->shared()->text()->symbol).second)
        continue;  // build() gives it what the first one gets
    } else {
      for (int copy = 2; !symbols.insert(identifier(name)).second; ++copy)
        name = fmt::format("{}_{}", kernel->program.name, copy);
    }
    Wanted w = NativeBuilder::wanted(*kernel, name);
    if (find_loaded(context, w)) {
      kernel->tried = true;
    } else if (find(context, w)) {
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

/// The key depends on the program's structure, or on the source that all sizes share. If two programs share a hash, a
/// wrong verdict only costs speed.
std::string NativeBuilder::verdict_key(const std::string& context, const TieredKernel& kernel, int threads) const {
  if (kernel.shared() != nullptr)
    return fmt::format("verdict\n{}{} threads\n{}", context, threads, kernel.shared()->text()->source);
  return fmt::format("verdict\n{}{} threads {} {:016x}", context, threads, kernel.program.name,
                     codegen::hash_value(kernel.program));
}

bool NativeBuilder::was_faster(const TieredKernel& kernel, int threads) const {
  return cache_.find(verdict_key(context(), kernel, threads)) == kFaster;
}

bool NativeBuilder::recall(const TieredKernel& kernel, int threads) {
  // A unit of many sizes is not rendered for this question: look_up() asks it later.
  if (kernel.shared() != nullptr) return false;
  if (!cache_.usable() || !compiler_.known() || kernel.tried.load(std::memory_order_acquire)) return false;
  std::string context;
  {
    const std::lock_guard lock(loading_);
    if (recalled_context_.empty()) recalled_context_ = this->context();
    context = recalled_context_;
  }
  if (cache_.find(verdict_key(context, kernel, threads)) != kFaster) return false;
  if (!find(context, wanted(kernel, kernel.program.name))) return false;
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
    for (const TieredKernel* kernel : kernels) give_up(*kernel);
    return;
  }
  const std::string context = this->context();
  const std::vector<Wanted> wanted = take_found(context, kernels, notes);
  build_units(context, wanted, notes, niceness, cancel);
  if (cancel != nullptr && cancel->load()) return;
  // Kernels of one source, of which one stood for all.
  for (const TieredKernel* kernel : kernels) {
    if (kernel->shared() == nullptr || kernel->tried || !kernel->tile_only.empty()) continue;
    if (find_loaded(context, NativeBuilder::wanted(*kernel, {}))) {
      kernel->tried = true;
    } else {
      give_up(*kernel);
    }
  }
}

void NativeBuilder::build_units(const std::string& context, std::span<const Wanted> wanted,
                                std::vector<std::string>& notes, int niceness, const std::atomic<bool>* cancel) {
  // The last element is the next unit.
  std::vector<std::span<const Wanted>> units;
  for (std::size_t begin = 0, end = 0; begin < wanted.size(); begin = end) {
    std::size_t weight = 0;
    do weight += kOfEachKernel + instructions(wanted[end].kernel->program);
    while (++end < wanted.size() &&
           weight + kOfEachKernel + instructions(wanted[end].kernel->program) <= kUnitInstructions);
    units.insert(units.begin(), wanted.subspan(begin, end - begin));
  }
  while (!units.empty()) {
    const std::span<const Wanted> unit = units.back();
    units.pop_back();
    if (failures_ >= kMostFailures) {
      for (const Wanted& w : unit) give_up(*w.kernel);
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
    give_up(*unit[0].kernel);
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
    adopt(context, w, unit);
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

}  // namespace oriel::backend::eigen
