#include "backend/items/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "oriel/error.hpp"

namespace oriel::backend::items {
namespace {

/// A number as a kernel takes it: the first bytes of `bits`, which are the low ones.
struct Word {
  std::uint64_t bits;
  std::size_t bytes;
};

Word word_of(const graph::Scalar& given, DType dtype) {
  const graph::Scalar value = given.dtype == dtype ? given : given.cast(dtype);
  if (dtype == DType::float64) return {std::bit_cast<std::uint64_t>(value.f), 8};
  if (is_floating(dtype)) return {std::bit_cast<std::uint32_t>(static_cast<float>(value.f)), 4};
  return {static_cast<std::uint64_t>(value.i), itemsize(dtype)};
}

}  // namespace

std::string grid_line(const Rendered& r, std::size_t f) {
  const auto by = [](const Extents& extents) { return fmt::format("{}", fmt::join(extents, " x ")); };
  return fmt::format("{}: {} items in groups of {}", r.functions[f], by(r.grids[f].global), by(r.grids[f].local));
}

ItemKernel::ItemKernel(const codegen::LoopProgram& program, Rendered rendered)
    : name_(program.name), arguments_(program.arguments.size()), rendered_(std::move(rendered)) {
  for (std::size_t a = 0; a < arguments_; ++a)
    if (program.arguments[a].output) outputs_.push_back(a);
}

std::uint64_t ItemKernel::launch(const std::shared_ptr<DeviceMemory>& memory, ProgramStore& programs,
                                 std::span<void* const> arguments, std::span<const graph::Scalar> parameters,
                                 bool timed) const {
  if (arguments.size() != arguments_) {
    throw InternalError("launch",
                        fmt::format("kernel {} takes {} arguments, not {}", name_, arguments_, arguments.size()));
  }
  DeviceQueue& queue = memory->queue();
  Driver& driver = memory->driver();
  const Rendered& r = rendered_;
  std::shared_ptr<BuiltKernel> built;
  {
    const std::lock_guard lock(guard_);
    if (built_ == nullptr) {
      queue.check_process("compile");
      const Rendered* alone = &r;
      built_ = programs.build({&alone, 1}).front();
    }
    built = built_;
  }
  // Returned to the pool when this function ends. The queue is in order, so later users of the memory run later.
  std::vector<std::unique_ptr<mem::Buffer>> partials;
  for (const std::int64_t bytes : r.partial_bytes)
    partials.push_back(std::make_unique<mem::Buffer>(memory, static_cast<std::size_t>(bytes)));
  std::uint64_t nanoseconds = 0;
  const std::lock_guard lock(built->guard);
  const std::size_t functions = built->functions.size();
  for (std::size_t turn = 0; turn < functions * static_cast<std::size_t>(std::max(r.passes, 1)); ++turn) {
    const std::size_t f = turn % functions;
    const Object& function = built->functions[f];
    unsigned next = 0;
    const auto set = [&](std::size_t bytes, const void* value) {
      const int status = driver.set_argument(function, next, bytes, value);
      if (status != 0) driver.check(status, "launch", fmt::format("argument {} of kernel {}", next, name_));
      ++next;
    };
    const auto set_block = [&](const void* data) {
      void* const buffer = static_cast<const Block*>(data)->buffer.get();
      set(sizeof buffer, &buffer);  // NOLINT(bugprone-sizeof-expression): the argument is the handle
    };
    const auto set_word = [&](const Word& w) { set(w.bytes, &w.bits); };
    for (void* argument : arguments) set_block(argument);
    for (const auto& partial : partials) set_block(partial->data());
    for (const std::int64_t number : r.numbers) set_word({static_cast<std::uint64_t>(number), r.wide ? 8U : 4U});
    for (const auto& [parameter, dtype] : r.parameters)
      set_word(word_of(parameters[static_cast<std::size_t>(parameter)], dtype));
    if (r.passes > 0) set_word({turn / functions, 4});
    if (f == 0)
      for (const std::int64_t bytes : r.kept_bytes) set(static_cast<std::size_t>(bytes), nullptr);
    const auto& [global, local] = r.grids[f];
    if (global[0] * global[1] * global[2] == 0) continue;
    std::uint64_t took = 0;
    const std::uint64_t launch = queue.enqueue(function, name_, r.functions[f], global, local, timed ? &took : nullptr);
    if (timed) {
      nanoseconds += took;
      const std::lock_guard one(guard_);
      times_.resize(functions);
      LaunchTimes& t = times_[f];
      t.best = t.launches++ == 0 ? took : std::min(t.best, took);
      t.last = took;
    }
    for (const std::size_t output : outputs_) memory->written(arguments[output], launch);
  }
  return nanoseconds;
}

std::string ItemKernel::report(const std::string& options) const {
  const std::lock_guard lock(guard_);
  if (built_ == nullptr) return "not built yet\n";
  const BuildNote& note = *built_->note;
  std::string text = note.from_disk
                         ? "its binary was found in the disk cache\n"
                         : fmt::format("built in {:.1f} ms, {}\n", 1e3 * note.seconds,
                                       note.kernels == 1 ? std::string("alone in its program")
                                                         : fmt::format("{} kernels in its program", note.kernels));
  text += fmt::format("build options: {}\n", options);
  if (!note.from_disk) text += note.log.empty() ? "build log: empty\n" : fmt::format("build log:\n{}\n", note.log);
  for (std::size_t f = 0; f < rendered_.functions.size(); ++f) {
    text += grid_line(rendered_, f);
    if (f < times_.size() && times_[f].launches > 0) {
      const LaunchTimes& t = times_[f];
      text += fmt::format("; {} {} timed by the device: last {:.1f} us, best {:.1f} us", t.launches,
                          t.launches == 1 ? "launch" : "launches", 1e-3 * static_cast<double>(t.last),
                          1e-3 * static_cast<double>(t.best));
    }
    text += "\n";
  }
  return text;
}

}  // namespace oriel::backend::items
