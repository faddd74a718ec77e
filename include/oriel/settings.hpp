// Settings of a context (context.hpp). The functions read and set those of the thread's current context, which is the
// default context unless a ContextScope says otherwise. Each setting is also an environment variable, which is read
// once for each context. The call takes precedence.
#pragma once

#include <cstdint>

#include "oriel/api.hpp"

namespace ORIEL_API oriel {

/// Limits of pending work. A tensor is realised by the call that makes it if its longest chain of pending operations
/// exceeds `nodes`, or if the buffers that only its pending work keeps alive exceed `bytes` in total. So a loop that
/// keeps adding to a tensor and never reads it does not grow in memory. Buffers that the program still holds do not
/// count. The total is recounted each time the pending work has doubled and each time a quarter of `bytes` has been
/// allocated, so it may exceed the limit by that much. 0 turns a limit off. Tensors on the null device are never
/// realised automatically.
///
/// `bytes` also limits what one piece of work keeps of values that were not asked for, so that they are not computed
/// again and again.
struct LazyLimits {
  std::int64_t nodes = 8192;                   ///< ORIEL_LAZY_NODES
  std::int64_t bytes = std::int64_t{1} << 30;  ///< ORIEL_LAZY_BYTES
};

/// The limits in force. The first call throws ArgumentError if an environment variable is not a number >= 0.
///   oriel::lazy_limits().nodes;  // 8192
LazyLimits lazy_limits();
/// Sets the limits for the context's tensors, from the next operation on. Throws ArgumentError for a negative number.
///   oriel::set_lazy_limits({.nodes = 0, .bytes = 0});  // never realise before a result is asked for
void set_lazy_limits(LazyLimits limits);

/// What functions that take positions in a tensor (take, gather, embedding, put_add, segment_sum, one_hot, ...) do with
/// a position outside the axis that it indexes. Comprehensions have an option of their own.
enum class Bounds : std::uint8_t {
  zero,     ///< no check, the fastest: a read gives 0, a write is left out
  checked,  ///< IndexError: of the call if the positions are known, else of the work that needs them, which loses
            ///< nothing
};

/// The bounds of calls that name none: set by set_default_bounds, else by ORIEL_BOUNDS (`zero` or `checked`), else
/// checked. The first call throws ArgumentError if ORIEL_BOUNDS has another value.
Bounds default_bounds();
/// Sets the default bounds for all threads that work in the context, from the next call on.
///   oriel::set_default_bounds(oriel::Bounds::zero);  // nothing is checked
void set_default_bounds(Bounds bounds);

/// How the CPU runs kernels.
enum class EigenTier : std::uint8_t {
  tile,  ///< the tile machine: kernels run at once, without a compiler
  /// The system's compiler builds each kernel's source before its first run. If that fails, the tile machine runs it.
  compile,
  /// The tile machine runs each kernel at first. Kernels that run for long are compiled in the background, and the
  /// compiled form is used if it measured faster, in this process or in an earlier one whose result is in the disk
  /// cache.
  automatic,
};

/// The tier in force: set by set_eigen_tier, else by ORIEL_EIGEN (`tile`, `compile` or `auto`), else automatic. The
/// first call throws ArgumentError if ORIEL_EIGEN has another value. A build without the compiled tier (meson's option
/// compiled; the profile small) runs every kernel on the tile machine: the tier in force is always tile there.
EigenTier eigen_tier();
/// Sets the tier for the context's devices, from the next launch on. All tiers give the same results to
/// the bit. Throws ArgumentError for EigenTier::compile if the build has no compiled tier.
///   oriel::set_eigen_tier(oriel::EigenTier::compile);
void set_eigen_tier(EigenTier tier);

}  // namespace oriel
