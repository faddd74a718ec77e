// What a device does for the engine: memory, and running loop programs.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backend/kept_factors.hpp"
#include "backend/path.hpp"
#include "codegen/lower.hpp"
#include "codegen/stencil.hpp"
#include "graph/scalar.hpp"
#include "memory/buffer.hpp"
#include "schedule/pattern_limits.hpp"
#include "source/shared_helpers.hpp"
#include "sym/node.hpp"

namespace oriel::backend {

/// A loop program made ready for one device. Launching it is thread-safe.
class Kernel {
 public:
  virtual ~Kernel() = default;
};

/// What the scheduler may ask about a device.
struct Capabilities {
  int max_arguments = 1 << 20;     // buffers a kernel may take
  int max_parameters = 1 << 20;    // numbers given at launch that it may take
  int max_instructions = 1 << 16;  // instructions a kernel may hold
  int threads = 1;
  std::int64_t row_bytes = schedule::kRowBytes;  // of a row, that a kernel may keep between stages
  int parts = 1;                                 // of a program, at most (codegen/join.hpp)
  schedule::PatternLimits patterns;  // which reductions run in a form of their own (schedule/reduction_patterns.hpp)
  bool scatters = false;             // runs programs that scatter
  bool host_numbers = true;          // kernels read tensors of one number in the host's memory
  const char* source = "txt";        // how files of its sources end
  const char* helpers = "txt";       // and the headers of their helpers
  bool hosts = false;                // runs programs that call functions of host memory
  std::string description;
  bool float64 = true;  // computes with it
};

/// The kernels that one kernel of symbolic sizes becomes at different sizes, on one device. They may share code. Thread
/// safety: any thread.
class KernelFamily {
 public:
  virtual ~KernelFamily() = default;
  /// As Backend::compile. `closed`: the kernel at these values of the variables.
  virtual std::shared_ptr<const Kernel> compile(const codegen::LoweredKernel& closed,
                                                std::span<const std::int64_t> values) const = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual Device device() const = 0;
  virtual const Capabilities& capabilities() const = 0;
  virtual std::shared_ptr<mem::Allocator> allocator() = 0;
  /// Throws DeviceError naming the kernel.
  virtual std::shared_ptr<const Kernel> compile(const codegen::LoopProgram& program) = 0;
  /// Returns a factory that compiles `kernel` for given values of `variables`, which must include every symbol of its
  /// sizes. Both must outlive the factory. Null if the factory would only call compile() for each size.
  virtual std::unique_ptr<const KernelFamily> family(const codegen::LoopProgram& kernel,
                                                     std::span<const sym::Expr> variables) {
    static_cast<void>(kernel);
    static_cast<void>(variables);
    return nullptr;
  }
  /// Prepares all kernels of a new schedule before the first one is launched, so that a device that builds sources can
  /// build them together. Throws DeviceError if a kernel cannot run at all.
  virtual void prepare(std::span<const std::shared_ptr<const Kernel>> kernels) { static_cast<void>(kernels); }
  /// Runs once. `arguments` in the program's order: what the device's buffers have as data; `parameters` are
  /// the scalars that constants refer to.
  virtual void launch(const Kernel& kernel, std::span<void* const> arguments,
                      std::span<const graph::Scalar> parameters) = 0;
  /// The arguments that the kernel arranges in memory of its own before it computes, such as a matrix in panels.
  virtual std::vector<std::size_t> keepable(const Kernel& kernel) const;
  /// Runs once, as launch. What is made of the stable arguments may be kept.
  virtual void launch_keeping(const Kernel& kernel, std::span<void* const> arguments,
                              std::span<const graph::Scalar> parameters, const Keeping& keeping);
  /// Sends all launches to the device, without waiting for them. A later wait or read reports a launch that failed.
  /// Throws DeviceError.
  virtual void submit() { synchronize(); }
  /// Waits for all launches. Throws DeviceError.
  virtual void synchronize() = 0;
  /// Makes a buffer over memory of the host. `deleter` runs when the last reader is gone, or as soon as the device has
  /// copied the memory. It is empty for borrowed memory.
  virtual std::shared_ptr<mem::Buffer> wrap(void* data, std::size_t bytes, std::function<void(void*)> deleter) {
    return std::make_shared<mem::Buffer>(device(), data, bytes, std::move(deleter));
  }
  /// Describes the device and the way it runs kernels, in one line. May try a compiler.
  virtual std::string details() { return capabilities().description; }
  /// The kernel as source that a person can read and a compiler can build.
  virtual std::string source(const codegen::LoopProgram& program) const = 0;
  /// The same, whose helpers go to `shared`, a header beside it, so that it reads as the kernel. Where a device's
  /// sources have none it is `source`.
  virtual std::string source_beside(const codegen::LoopProgram& program, source::SharedHelpers& shared) const;
  /// How the kernel runs, in a line, where the loop program does not tell; else empty. By itself it names stencils.
  virtual std::string method(const codegen::LoopProgram& program) const;
  /// The path that the kernel takes, and its estimated time. Costs as much as compiling it.
  virtual PathReport paths(const codegen::LoopProgram& program) const;
  /// Which of several ways to run kernels this one takes by now, in a line; empty where there is one way. `kernel`:
  /// what compile gave for the program, or null before that.
  virtual std::string tier(const codegen::LoopProgram& program, const Kernel* kernel) const;
  /// Switches the timing of single launches by the device's clock on or off. Does nothing if the device has no clock.
  virtual void time_launches(bool timed) { static_cast<void>(timed); }
  /// Finishes all work. Afterwards the driver may be gone.
  virtual void quiesce() noexcept {}
  /// What the device has told about a kernel so far, in lines: its compiler's log, sizes, times of launches. Empty
  /// where it tells nothing.
  virtual std::string report(const Kernel& kernel) const;
};

inline std::vector<std::size_t> Backend::keepable(const Kernel& /*kernel*/) const { return {}; }
inline void Backend::launch_keeping(const Kernel& kernel, std::span<void* const> arguments,
                                    std::span<const graph::Scalar> parameters, const Keeping& /*keeping*/) {
  launch(kernel, arguments, parameters);
}
inline PathReport Backend::paths(const codegen::LoopProgram& program) const {
  const bool points = std::ranges::none_of(program.outer, [](SymInt n) { return n == 0; });
  return {!points                 ? KernelPath::Nothing
          : reduces(program.form) ? KernelPath::Reductions
                                  : KernelPath::Elementwise,
          {},
          0};
}
inline std::string Backend::source_beside(const codegen::LoopProgram& program,
                                          source::SharedHelpers& /*shared*/) const {
  return source(program);
}
inline std::string Backend::method(const codegen::LoopProgram& program) const { return codegen::stencil_text(program); }
inline std::string Backend::report(const Kernel& /*kernel*/) const { return {}; }
inline std::string Backend::tier(const codegen::LoopProgram& /*program*/, const Kernel* /*kernel*/) const { return {}; }

/// The backend of a device, made at first use and kept. Throws DeviceError for a device that this build or machine
/// lacks.
Backend& backend_for(Device device);
/// The devices of this build and machine.
std::vector<Device> available_devices();
/// The device of a context that runs on the host, in its memory.
Device host_device(std::uint16_t context);
/// Does the device compute? One that only plans has nothing to read.
bool computes(Device device) noexcept;
/// The number of kinds of devices.
std::size_t device_kinds() noexcept;

}  // namespace oriel::backend
