#include "backend/items/backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "oriel/error.hpp"
#include "source/items/mappings.hpp"

namespace oriel::backend::items {
namespace {

using source::items::WorkMapping;

Capabilities capabilities_of(const Driver& driver, const source::Dialect& dialect) {
  const DeviceTable& table = driver.table();
  Capabilities c;
  // Half of the argument bytes are for buffers and a quarter for parameters of at most 8 bytes. The rest is left for
  // extents and strides.
  c.max_arguments = std::max(8, static_cast<int>(table.argument_bytes / 16));
  c.max_parameters = std::max(4, static_cast<int>(table.argument_bytes / 32));
  c.max_instructions = 1024;  // with larger kernels the device's compiler takes longer than fusion saves
  c.threads = table.units;
  c.host_numbers = false;
  c.source = c.helpers = dialect.ending;
  // Rows lie in local memory.
  c.row_bytes = std::min<std::int64_t>(table.local_memory / 2, schedule::kRowBytes);
  c.patterns = table.cpu ? source::items::kProductPatterns : source::items::kTilePatterns;
  // Products that are too thin for blocks are also faster as kernels of their own.
  c.patterns.product_side = c.patterns.product_depth = 4;
  c.float64 = table.fp64;
  c.description = driver.description();
  return c;
}

}  // namespace

ItemBackend::ItemBackend(std::unique_ptr<Driver> driver, const source::Dialect& dialect, Device device,
                         const Options& options)
    : dialect_(dialect),
      render_(options.render),
      cache_(options.cache != nullptr ? *options.cache : mem::DiskCache::shared()),
      memory_(std::make_shared<DeviceMemory>(std::move(driver), device)),
      programs_(*memory_, dialect, cache_),
      choices_(cache_, programs_.context(), options.tune ? *options.tune : tuning_wanted()),
      capabilities_(capabilities_of(memory_->driver(), dialect)) {}

std::shared_ptr<mem::Buffer> ItemBackend::wrap(void* data, std::size_t bytes, std::function<void(void*)> deleter) {
  const bool writable = deleter != nullptr;
  if (void* block = memory_->adopt(data, bytes, deleter))
    return std::make_shared<mem::Buffer>(memory_, block, bytes, writable);
  auto copy = std::make_shared<mem::Buffer>(memory_, bytes);
  memory_->write(copy->data(), data, bytes);
  if (deleter) deleter(data);
  return copy;
}

Rendered ItemBackend::rendered_as(const codegen::LoopProgram& program, int shape) const {
  RenderOptions options = render_;
  options.shape = shape;
  return source::items::render(program, dialect_, driver().table(), options);
}

Rendered ItemBackend::rendered(const codegen::LoopProgram& program) const {
  Rendered usual = rendered_as(program, render_.shape);
  const int shape = choices_.find(program, usual.shapes);
  return shape <= 0 ? usual : rendered_as(program, shape);
}

std::shared_ptr<const Kernel> ItemBackend::compile(const codegen::LoopProgram& program) {
  Rendered usual = rendered_as(program, render_.shape);
  if (!choices_.on() || usual.shapes < 2) return std::make_shared<ItemKernel>(program, std::move(usual));
  try {
    if (choices_.find(program, usual.shapes) < 0) time_shapes(program, usual.shapes);
  } catch (const MemoryError&) {
    // There is no memory for arguments to time with. Use the default way.
  }
  return std::make_shared<ItemKernel>(program, rendered(program));
}

void ItemBackend::time_shapes(const codegen::LoopProgram& program, int shapes) {
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
    const ItemKernel kernel(program, rendered_as(program, shape));
    for (int turn = 0; turn < kTurns; ++turn) {
      const std::uint64_t took = kernel.launch(memory_, programs_, arguments, parameters, true);
      if (turn == 0 || took >= least) continue;
      least = took;
      best = shape;
    }
  }
  choices_.remember(program, shapes, best);
}

void ItemBackend::prepare(std::span<const std::shared_ptr<const Kernel>> kernels) {
  std::vector<const ItemKernel*> wanted;
  std::vector<const Rendered*> sources;
  for (const auto& kernel : kernels) {
    const ItemKernel& k = item_kernel(*kernel);
    if (k.built()) continue;
    wanted.push_back(&k);
    sources.push_back(&k.rendered());
  }
  if (wanted.empty()) return;
  memory_->queue().check_process("compile");
  const auto built = programs_.build(sources);
  for (std::size_t k = 0; k < wanted.size(); ++k) wanted[k]->take(built[k]);
}

void ItemBackend::launch(const Kernel& kernel, std::span<void* const> arguments,
                         std::span<const graph::Scalar> parameters) {
  item_kernel(kernel).launch(memory_, programs_, arguments, parameters, timed_.load(std::memory_order_relaxed));
}

void ItemBackend::submit() {
  memory_->queue().flush();
  if (!programs_.has_new()) return;
  // Wait for the first run: until it ends, the device's compiler may still be at work.
  memory_->queue().finish("launch");
  if (on_build_ != nullptr) on_build_();
  programs_.export_new();
}

void ItemBackend::quiesce() noexcept {
  if (driver().forks().lost()) return;
  memory_->queue().drain();
  programs_.stop();
}

std::string ItemBackend::launch_comment(const Rendered& rendered) const {
  std::string text = fmt::format("// Build options: {}\n", driver().options());
  for (std::size_t f = 0; f < rendered.functions.size(); ++f) text += "// " + grid_line(rendered, f) + "\n";
  return text;
}

std::string ItemBackend::source(const codegen::LoopProgram& program) const {
  const Rendered r = rendered(program);
  return launch_comment(r) + r.source();
}

std::string ItemBackend::source_beside(const codegen::LoopProgram& program, source::SharedHelpers& shared) const {
  const Rendered r = rendered(program);
  return launch_comment(r) + r.source_beside(shared);
}

std::string ItemBackend::method(const codegen::LoopProgram& program) const {
  std::string text = rendered(program).method;
  return text.empty() ? Backend::method(program) : text;
}

PathReport ItemBackend::paths(const codegen::LoopProgram& program) const {
  switch (rendered_as(program, render_.shape).mapping) {
    case WorkMapping::Blocked:
      return {KernelPath::Blocked, {}, 0};
    case WorkMapping::Squares:
      return {KernelPath::Squares, {}, 0};
    case WorkMapping::Loops:
      break;
  }
  return Backend::paths(program);
}

}  // namespace oriel::backend::items
