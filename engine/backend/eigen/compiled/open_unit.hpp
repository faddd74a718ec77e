// Compiled kernels that serve many sizes: rendered once from a kernel whose sizes are symbols, and called with numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/eigen/compiled/compiler.hpp"
#include "codegen/open_kernel.hpp"
#include "source/cpp/outline.hpp"
#include "sym/program.hpp"

namespace oriel::backend::eigen {

/// The source of a kernel for all sizes with one outline, and what the compiler made of it. NativeBuilder fills in the
/// latter.
struct OpenUnit {
  std::string symbol;
  std::string source;
  /// The function, once it is built or found. `unit` holds it, and is written before it.
  mutable std::atomic<void*> native{nullptr};
  mutable std::shared_ptr<const LoadedUnit> unit;
  mutable std::atomic<bool> tried{false};
};

/// A unit and the numbers that a launch gives it.
struct SizedUnit {
  std::shared_ptr<const OpenUnit> unit;
  std::vector<std::int64_t> sizes;
};

/// The units of an open kernel, by outline. Thread safety: any thread.
class OpenUnits {
 public:
  /// Both must outlive it.
  OpenUnits(const codegen::OpenKernel& kernel, std::span<const sym::Expr> variables);
  /// `closed`: the kernel at these values of the variables. It is one that render_unit (source/cpp/render.hpp) takes.
  SizedUnit at(const codegen::LoweredKernel& closed, std::span<const std::int64_t> values) const;

 private:
  struct Known {
    source::cpp::Outline outline;
    std::shared_ptr<const OpenUnit> unit;
    sym::Program sizes;
    std::size_t count;                   // of sizes
    std::vector<std::size_t> variables;  // of the program of sizes: their places among variables_
  };
  const Known& known(const codegen::LoweredKernel& closed) const;

  const codegen::OpenKernel& kernel_;
  std::span<const sym::Expr> variables_;
  mutable std::vector<std::unique_ptr<const Known>> known_;
};

}  // namespace oriel::backend::eigen
