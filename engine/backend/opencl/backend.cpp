#include "backend/opencl/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>

#include "backend/tile_cost.hpp"
#include "base/fork_lock.hpp"
#include "codegen/contraction.hpp"
#include "oriel/error.hpp"
#include "source/items/product.hpp"
#include "source/items/tiles.hpp"
#include "source/opencl/dialect.hpp"

namespace oriel::backend::opencl {
namespace {

Rendered render(const codegen::LoopProgram& program, const DeviceTable& table, const RenderOptions& options) {
  return source::items::render(program, source::opencl::dialect(), table, options);
}

// With larger kernels the device's compiler takes longer than fusion saves.
constexpr int kMostInstructions = 1024;

/// Times of launches, by the device's clock.
struct LaunchTimes {
  std::uint64_t launches = 0;
  std::uint64_t last = 0, best = 0;  // nanoseconds
};

struct OpenClKernel final : Kernel {
  std::string name;
  std::size_t arguments = 0;
  std::vector<std::size_t> outputs;
  Rendered rendered;
  mutable std::shared_ptr<BuiltKernel> built;  // null until it is built; guarded by `guard`
  mutable std::vector<LaunchTimes> times;      // of each function; guarded by `guard`
  mutable std::mutex guard;
};

const Api& loaded_api(const Options& options) {
  std::string why_not;
  const Api* api = driver_lost() || options.api == nullptr ? system_api(why_not) : options.api;
  if (api == nullptr) throw DeviceError("opencl", why_not);
  use_driver();
  return *api;
}

DeviceTable pick_device(const Api& api, int index, const Options& options) {
  std::vector<DeviceTable> found = find_devices(api);
  if (found.empty()) {
    throw DeviceError("opencl",
                      "the OpenCL loader finds no device: install a driver, say PoCL (Debian: pocl-opencl-icd)");
  }
  if (index < 0 || index >= static_cast<int>(found.size())) {
    throw DeviceError("opencl",
                      fmt::format("there is no device opencl:{}; the last is opencl:{}", index, found.size() - 1));
  }
  DeviceTable table = std::move(found[static_cast<std::size_t>(index)]);
  if (options.adjust != nullptr) options.adjust(table);
  return table;
}

/// A scalar argument as the bytes that the kernel takes.
struct Word {
  alignas(8) unsigned char bytes[8] = {};
  std::size_t size = 0;
};
template <class T>
Word word(T value) {
  Word w;
  std::memcpy(w.bytes, &value, sizeof value);
  w.size = sizeof value;
  return w;
}

Word word_of(const graph::Scalar& given, DType dtype) {
  const graph::Scalar value = given.dtype == dtype ? given : given.cast(dtype);
  if (dtype == DType::float64) return word(value.f);
  if (is_floating(dtype)) return word(static_cast<float>(value.f));
  switch (itemsize(dtype)) {
    case 1:
      return word(static_cast<std::uint8_t>(value.i));
    case 2:
      return word(static_cast<std::uint16_t>(value.i));
    case 4:
      return word(static_cast<std::uint32_t>(value.i));
    default:
      return word(value.i);
  }
}

using source::items::Grid;
using source::items::WorkMapping;

std::string sizes_line(const Rendered& r, std::size_t f) {
  const Grid& g = r.grids[f];
  return fmt::format("{}: {} x {} x {} items in groups of {} x {} x {}", r.functions[f], g.global[0], g.global[1],
                     g.global[2], g.local[0], g.local[1], g.local[2]);
}

std::shared_ptr<OpenClKernel> make_kernel(const codegen::LoopProgram& program, Rendered rendered) {
  auto kernel = std::make_shared<OpenClKernel>();
  kernel->name = program.name;
  kernel->arguments = program.arguments.size();
  for (std::size_t a = 0; a < program.arguments.size(); ++a)
    if (program.arguments[a].output) kernel->outputs.push_back(a);
  kernel->rendered = std::move(rendered);
  return kernel;
}

}  // namespace

int device_count() {
  std::string why_not;
  const Api* api = system_api(why_not);
  if (api == nullptr) return 0;
  // A fork waits for it, so that no child finds it half made.
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::backends));
  static constinit int count = -1;
  use_driver();
  if (count < 0) count = static_cast<int>(find_devices(*api).size());
  return count;
}

OpenClBackend::OpenClBackend(int index, const Options& options)
    : api_(loaded_api(options)),
      table_(pick_device(api_, index, options)),
      device_{DeviceKind::opencl, static_cast<std::uint8_t>(index), options.context},
      render_(options.render),
      cache_(options.cache != nullptr ? *options.cache : mem::DiskCache::shared()),
      memory_(std::make_shared<DeviceMemory>(api_, table_, device_)),
      programs_(*memory_, table_, cache_),
      choices_(cache_, programs_.context(), options.tune ? *options.tune : tuning_wanted()) {
  // Half of the argument bytes are for buffers and a quarter for parameters of at most 8 bytes. The rest is left for
  // extents and strides.
  capabilities_.max_arguments = std::max(8, static_cast<int>(table_.argument_bytes / 16));
  capabilities_.max_parameters = std::max(4, static_cast<int>(table_.argument_bytes / 32));
  capabilities_.max_instructions = kMostInstructions;
  capabilities_.threads = table_.units;
  capabilities_.host_numbers = false;
  capabilities_.source = capabilities_.helpers = "cl";
  // The scheduler lets kept rows use a quarter of this. Rows lie in local memory.
  capabilities_.cache_bytes = std::min<std::int64_t>(2 * table_.local_memory, std::int64_t{1} << 20);
  capabilities_.patterns = table_.cpu ? source::items::kProductPatterns : source::items::kTilePatterns;
  // Products that are too thin for blocks are also faster as kernels of their own.
  capabilities_.patterns.product_side = capabilities_.patterns.product_depth = 4;
  capabilities_.float64 = table_.fp64;
  capabilities_.description = table_.describe();
}

std::shared_ptr<mem::Buffer> OpenClBackend::wrap(void* data, std::size_t bytes, std::function<void(void*)> deleter) {
  const bool writable = deleter != nullptr;
  if (void* block = memory_->adopt(data, bytes, deleter))
    return std::make_shared<mem::Buffer>(memory_, block, bytes, writable);
  auto copy = std::make_shared<mem::Buffer>(memory_, bytes);
  memory_->write(copy->data(), data, bytes);
  if (deleter) deleter(data);
  return copy;
}

Rendered OpenClBackend::rendered(const codegen::LoopProgram& program) const {
  Rendered usual = render(program, table_, render_);
  const int shape = choices_.find(program, usual.shapes);
  if (shape <= 0) return usual;
  RenderOptions options = render_;
  options.shape = shape;
  return render(program, table_, options);
}

std::shared_ptr<const Kernel> OpenClBackend::compile(const codegen::LoopProgram& program) {
  Rendered usual = render(program, table_, render_);
  if (!choices_.on() || usual.shapes < 2) return make_kernel(program, std::move(usual));
  try {
    if (choices_.find(program, usual.shapes) < 0) time_shapes(program, usual.shapes);
  } catch (const MemoryError&) {
    // There is no memory for arguments to time with. Use the default way.
  }
  return make_kernel(program, rendered(program));
}

void OpenClBackend::time_shapes(const codegen::LoopProgram& program, int shapes) {
  constexpr int kTurns = 4;  // the first one is a warm-up
  std::vector<std::shared_ptr<mem::Buffer>> buffers;
  std::vector<void*> arguments;
  for (const codegen::Argument& a : program.arguments) {
    if (a.shares >= 0) {
      arguments.push_back(arguments[static_cast<std::size_t>(a.shares)]);
      continue;
    }
    const std::vector<char> zeros(static_cast<std::size_t>(a.elements.value()) * itemsize(a.dtype), 0);
    buffers.push_back(std::make_shared<mem::Buffer>(memory_, zeros.size()));
    arguments.push_back(buffers.back()->data());
    memory_->write(arguments.back(), zeros.data(), zeros.size());
  }
  std::int32_t most = -1;
  for (const codegen::Constant& c : program.constants) most = std::max(most, c.parameter);
  const std::vector<graph::Scalar> parameters(static_cast<std::size_t>(most + 1),
                                              graph::Scalar::of_float(DType::float64, 1));
  int best = 0;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int shape = 0; shape < shapes; ++shape) {
    RenderOptions options = render_;
    options.shape = shape;
    const auto kernel = make_kernel(program, render(program, table_, options));
    for (int turn = 0; turn < kTurns; ++turn) {
      run(*kernel, arguments, parameters, true);
      std::uint64_t took = 0;
      for (const LaunchTimes& t : kernel->times) took += t.last;
      if (turn == 0 || took >= least) continue;
      least = took;
      best = shape;
    }
  }
  choices_.remember(program, shapes, best);
}

void OpenClBackend::prepare(std::span<const std::shared_ptr<const Kernel>> kernels) {
  std::vector<const OpenClKernel*> wanted;
  std::vector<const Rendered*> sources;
  for (const auto& kernel : kernels) {
    const auto* k = static_cast<const OpenClKernel*>(kernel.get());
    const std::lock_guard lock(k->guard);
    if (k->built != nullptr) continue;
    wanted.push_back(k);
    sources.push_back(&k->rendered);
  }
  if (wanted.empty()) return;
  memory_->queue().check_process("compile");
  const auto built = programs_.build(sources);
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const std::lock_guard lock(wanted[k]->guard);
    wanted[k]->built = built[k];
  }
}

void OpenClBackend::launch(const Kernel& kernel, std::span<void* const> arguments,
                           std::span<const graph::Scalar> parameters) {
  run(kernel, arguments, parameters, timed_.load(std::memory_order_relaxed));
}

void OpenClBackend::run(const Kernel& kernel, std::span<void* const> arguments,
                        std::span<const graph::Scalar> parameters, bool timed) {
  const auto& k = static_cast<const OpenClKernel&>(kernel);
  if (arguments.size() != k.arguments) {
    throw InternalError("launch",
                        fmt::format("kernel {} takes {} arguments, not {}", k.name, k.arguments, arguments.size()));
  }
  std::shared_ptr<BuiltKernel> built;
  {
    const std::lock_guard lock(k.guard);
    if (k.built == nullptr) {
      memory_->queue().check_process("compile");
      const Rendered* alone = &k.rendered;
      k.built = programs_.build({&alone, 1}).front();
    }
    built = k.built;
  }
  const Rendered& r = k.rendered;
  // Retransposed to the pool when this function ends. The queue is in order, so later users of the memory run later.
  std::vector<std::unique_ptr<mem::Buffer>> partials;
  for (const std::int64_t bytes : r.partial_bytes)
    partials.push_back(std::make_unique<mem::Buffer>(memory_, static_cast<std::size_t>(bytes)));
  const std::lock_guard lock(built->guard);
  const std::size_t functions = built->functions.size();
  for (std::size_t turn = 0; turn < functions * static_cast<std::size_t>(std::max(r.passes, 1)); ++turn) {
    const std::size_t f = turn % functions;
    cl_kernel function = built->functions[f].get();
    cl_uint next = 0;
    const auto set = [&](std::size_t bytes, const void* value) {
      const cl_int status = api_.clSetKernelArg(function, next, bytes, value);
      if (status != CL_SUCCESS) check(status, "launch", fmt::format("argument {} of kernel {}", next, k.name));
      ++next;
    };
    const auto set_block = [&](const void* data) {
      cl_mem memory = static_cast<const Block*>(data)->memory.get();
      set(sizeof memory, &memory);  // NOLINT(bugprone-sizeof-expression): the argument is the handle
    };
    for (void* argument : arguments) set_block(argument);
    for (const auto& partial : partials) set_block(partial->data());
    for (const std::int64_t number : r.numbers) {
      const Word w = r.wide ? word(number) : word(static_cast<std::int32_t>(number));
      set(w.size, w.bytes);
    }
    for (const auto& [parameter, dtype] : r.parameters) {
      const Word w = word_of(parameters[static_cast<std::size_t>(parameter)], dtype);
      set(w.size, w.bytes);
    }
    if (r.passes > 0) {
      const auto pass = static_cast<cl_int>(turn / functions);
      set(sizeof pass, &pass);
    }
    if (f == 0)
      for (const std::int64_t bytes : r.kept_bytes) set(static_cast<std::size_t>(bytes), nullptr);
    const auto& global = r.grids[f].global;
    if (global[0] * global[1] * global[2] == 0) continue;
    std::uint64_t launch = 0;
    if (timed) {
      std::uint64_t took = 0;
      launch = memory_->queue().enqueue(function, k.name, r.functions[f], r.grids[f].global, r.grids[f].local, &took);
      const std::lock_guard one(k.guard);
      k.times.resize(built->functions.size());
      LaunchTimes& t = k.times[f];
      t.best = t.launches++ == 0 ? took : std::min(t.best, took);
      t.last = took;
    } else {
      launch = memory_->queue().enqueue(function, k.name, r.functions[f], r.grids[f].global, r.grids[f].local);
    }
    for (const std::size_t output : k.outputs) memory_->written(arguments[output], launch);
  }
}

void OpenClBackend::submit() {
  memory_->queue().flush();
  if (!programs_.has_new()) return;
  // Wait for the first run: until it ends, the device's compiler may still be at work.
  memory_->queue().finish("launch");
  if (on_build_ != nullptr) on_build_();
  programs_.export_new();
}

void OpenClBackend::quiesce() noexcept {
  if (driver_lost()) return;
  memory_->queue().drain();
  programs_.stop();
}

std::string OpenClBackend::launch_comment(const Rendered& rendered) const {
  std::string text = fmt::format("// Build options: {}\n", programs_.options());
  for (std::size_t f = 0; f < rendered.functions.size(); ++f) text += "// " + sizes_line(rendered, f) + "\n";
  return text;
}

std::string OpenClBackend::source(const codegen::LoopProgram& program) const {
  const Rendered r = rendered(program);
  return launch_comment(r) + r.source();
}

std::string OpenClBackend::source_beside(const codegen::LoopProgram& program, source::SharedHelpers& shared) const {
  const Rendered r = rendered(program);
  return launch_comment(r) + r.source_beside(shared);
}

namespace {

KernelPath path_of(const codegen::LoopProgram& program, WorkMapping mapping) {
  switch (mapping) {
    case WorkMapping::Blocked:
      return KernelPath::Blocked;
    case WorkMapping::Squares:
      return KernelPath::Squares;
    case WorkMapping::Loops:
      break;
  }
  return tile_path_report(program).path;
}

}  // namespace

std::string OpenClBackend::method(const codegen::LoopProgram& program) const {
  std::string text = rendered(program).method;
  return text.empty() ? Backend::method(program) : text;
}

PathReport OpenClBackend::paths(const codegen::LoopProgram& program) const {
  PathReport report;
  report.path = path_of(program, render(program, table_, render_).mapping);
  report.parts.push_back({report.path, 0});
  if (report.path != KernelPath::Reductions) return report;
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    for (std::size_t r = 0; r < program.stages[s].reductions.size(); ++r) {
      const std::optional<codegen::LoopProgram> one = alone(program, s, r);
      if (!one || render(*one, table_, render_).mapping != WorkMapping::Blocked) continue;
      const std::string what = codegen::to_string(*codegen::contraction_in(one->form));
      const auto known =
          std::find_if(report.missed.begin(), report.missed.end(), [&](const PathMiss& m) { return m.what == what; });
      if (known != report.missed.end()) {
        ++known->times;
      } else {
        report.missed.push_back({KernelPath::Blocked, PathObstacle::SharedKernel, what, 1, 0});
      }
    }
  }
  return report;
}

std::string OpenClBackend::report(const Kernel& kernel) const {
  const auto& k = static_cast<const OpenClKernel&>(kernel);
  const std::lock_guard lock(k.guard);
  if (k.built == nullptr) return "not built yet\n";
  const BuildNote& note = *k.built->note;
  std::string text = note.from_disk
                         ? "its binary was found in the disk cache\n"
                         : fmt::format("built in {:.1f} ms, {}\n", 1e3 * note.seconds,
                                       note.kernels == 1 ? std::string("alone in its program")
                                                         : fmt::format("{} kernels in its program", note.kernels));
  text += fmt::format("build options: {}\n", programs_.options());
  if (!note.from_disk) text += note.log.empty() ? "build log: empty\n" : fmt::format("build log:\n{}\n", note.log);
  for (std::size_t f = 0; f < k.rendered.functions.size(); ++f) {
    text += sizes_line(k.rendered, f);
    if (f < k.times.size() && k.times[f].launches > 0) {
      const LaunchTimes& t = k.times[f];
      text += fmt::format("; {} {} timed by the device: last {:.1f} us, best {:.1f} us", t.launches,
                          t.launches == 1 ? "launch" : "launches", 1e-3 * static_cast<double>(t.last),
                          1e-3 * static_cast<double>(t.best));
    }
    text += "\n";
  }
  return text;
}

std::string OpenClBackend::details() { return capabilities_.description + "; disk cache " + cache_.state(); }

}  // namespace oriel::backend::opencl
