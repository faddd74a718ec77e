// Compiled kernels that serve many sizes: rendered once from a kernel whose sizes are symbols, and called with numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/eigen/compiled/compiler.hpp"
#include "backend/eigen/compiled/tuning.hpp"
#include "codegen/lower.hpp"
#include "source/cpp/frame.hpp"
#include "sym/program.hpp"

namespace oriel::backend::eigen {

class SymbolicUnits;

/// The source of a kernel for all sizes with one specialisation key, and what the compiler made of it. It is rendered
/// when it is first to be built. NativeBuilder fills in what the compiler made.
class SymbolicUnit {
 public:
  explicit SymbolicUnit(const SymbolicUnits& maker) : maker_(&maker) {}

  struct Text {
    std::string symbol;
    std::string source;
    sym::Program sizes;
    std::size_t count;                   // of sizes
    std::vector<std::size_t> variables;  // for each variable of `sizes`: its index among the plan's variables
  };
  /// Null if it is not rendered.
  const Text* text() const noexcept { return text_.load(std::memory_order_acquire); }
  /// Renders it, unless that is done. `values`: of the plan's variables, at which the kernel has the unit's key.
  /// Returns false if it is too late: the plan that has the kernel is gone, and its symbols with it.
  bool render(std::span<const std::int64_t> values) const;
  /// The numbers that a launch gives the rendered unit, for these values of the plan's variables. None if the plan is
  /// gone, or if one of them has no value.
  std::optional<std::vector<std::int64_t>> numbers(std::span<const std::int64_t> values) const;

  /// The function, once it is built or found. `unit` holds it, and is written before it.
  mutable std::atomic<void*> native{nullptr};
  mutable std::shared_ptr<const LoadedUnit> unit;
  mutable std::atomic<bool> tried{false};
  mutable Tuning tuning;

 private:
  friend class SymbolicUnits;

  // Null once the plan is gone; guarded by the lock of sources, as what follows is.
  mutable const SymbolicUnits* maker_;
  mutable std::unique_ptr<const Text> own_text_;
  mutable std::atomic<const Text*> text_{nullptr};
};

/// A unit and the sizes of one kernel that shares it.
struct SizedUnit {
  std::shared_ptr<const SymbolicUnit> unit;
  std::vector<std::int64_t> values;  // of the plan's variables
};

/// The units of a symbolic kernel, by specialisation key. Thread safety: any thread.
class SymbolicUnits {
 public:
  /// The kernel, and the environment of its sizes, must outlive it. Rows keep at most `row_bytes`.
  SymbolicUnits(const codegen::LoopProgram& kernel, std::span<const sym::Expr> variables, std::int64_t row_bytes);
  ~SymbolicUnits();
  SymbolicUnits(const SymbolicUnits&) = delete;
  /// `closed`: the kernel at these values of the variables. It is one that render_unit (source/cpp/render.hpp) takes.
  SizedUnit at(const codegen::LoweredKernel& closed, std::span<const std::int64_t> values) const;

 private:
  friend class SymbolicUnit;
  SymbolicUnit::Text rendered(std::span<const std::int64_t> values) const;

  struct Known {
    source::cpp::SpecialisationKey key;
    std::shared_ptr<const SymbolicUnit> unit;
  };

  const codegen::LoopProgram& kernel_;
  const std::vector<sym::Expr> variables_;
  const std::int64_t row_bytes_;
  mutable std::vector<Known> known_;  // guarded by the lock of sources
};

}  // namespace oriel::backend::eigen
