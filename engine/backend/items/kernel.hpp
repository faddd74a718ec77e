// A kernel of work items: what was rendered and built of a loop program, and its launches.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/items/programs.hpp"

namespace oriel::backend::items {

/// Thread safety: any thread.
class ItemKernel final : public Kernel {
 public:
  ItemKernel(const codegen::LoopProgram& program, Rendered rendered);

  const Rendered& rendered() const noexcept { return rendered_; }
  bool built() const {
    const std::lock_guard lock(guard_);
    return built_ != nullptr;
  }
  void take(std::shared_ptr<BuiltKernel> built) const {
    const std::lock_guard lock(guard_);
    built_ = std::move(built);
  }
  /// Builds the kernel unless it is built, and enqueues its functions. If `timed`, each is waited for and timed by the
  /// device's clock. Returns the nanoseconds that they took.
  std::uint64_t launch(const std::shared_ptr<DeviceMemory>& memory, ProgramStore& programs,
                       std::span<void* const> arguments, std::span<const graph::Scalar> parameters, bool timed) const;
  /// How it was built and how long it ran, in lines.
  std::string report(const std::string& options) const;

 private:
  struct LaunchTimes {
    std::uint64_t launches = 0;
    std::uint64_t last = 0, best = 0;  // nanoseconds
  };
  const std::string name_;
  const std::size_t arguments_;
  const Rendered rendered_;
  std::vector<std::size_t> outputs_;
  mutable std::mutex guard_;                    // guards the members below
  mutable std::shared_ptr<BuiltKernel> built_;  // null until it is built
  mutable std::vector<LaunchTimes> times_;      // of each function
};

/// The grid of a function, in words.
std::string grid_line(const Rendered& rendered, std::size_t function);

}  // namespace oriel::backend::items
