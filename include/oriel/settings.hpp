// What a program may set. Each setting is also an environment variable, read once a context; the call wins. The calls
// read and set the settings of this thread's current context (context.hpp), which is the default one as a rule.
#pragma once

#include <cstdint>

namespace oriel {

/// How far laziness may go before the engine realises on its own. A tensor is realised at the call that makes it when
/// the longest chain of pending operations below it passes `nodes`, or the buffers that its pending work alone keeps
/// alive pass `bytes` in sum. (Buffers that the program still holds do not count. The sum is counted again as the work
/// doubles, and whenever a quarter of `bytes` was allocated, so it may be passed by that much.) So a loop that keeps
/// adding to a tensor and never reads it stays flat in memory. 0 turns a bound off. Tensors on the null device are
/// never realised on their own.
struct LazyLimits {
  std::int64_t nodes = 8192;                   ///< ORIEL_LAZY_NODES
  std::int64_t bytes = std::int64_t{1} << 30;  ///< ORIEL_LAZY_BYTES
};

/// The bounds in force. Throws ArgumentError at the first call where an environment variable is not a number >= 0.
///   oriel::lazy_limits().nodes;  // 8192
LazyLimits lazy_limits();
/// Sets the bounds for the context's tensors, from the next operation on. Throws ArgumentError for a negative number.
///   oriel::set_lazy_limits({.nodes = 0, .bytes = 0});  // never realise before a result is asked for
void set_lazy_limits(LazyLimits limits);

/// What a read at positions that are only known when the work runs does with those outside of the axis: `take`,
/// `gather`, and comprehensions that index by elements.
enum class Bounds : std::uint8_t {
  zero,     ///< gives 0
  checked,  ///< the call computes the positions now, and throws IndexError naming the first one that is outside
};

/// What calls that name no bounds do: what set_default_bounds said, else ORIEL_BOUNDS (`zero` or `checked`), else zero.
/// Throws ArgumentError at the first call where ORIEL_BOUNDS is neither.
Bounds default_bounds();
/// Sets it for all threads that work in the context, from the next call on.
///   oriel::set_default_bounds(oriel::Bounds::checked);  // a position outside is an error wherever one is read
void set_default_bounds(Bounds bounds);

/// What runs the kernels of the CPU.
enum class EigenTier : std::uint8_t {
  tile,       ///< the tile machine: at once, with no compiler
  compile,    ///< their sources, built by the system's compiler before the first run; the tile machine where that fails
  automatic,  ///< the tile machine; and, kernel by kernel, what was built in the background and measured faster, in
              ///< this process or, where the disk cache holds it, an earlier one
};

/// The tier in force: what set_eigen_tier said, else ORIEL_EIGEN (`tile`, `compile` or `auto`), else automatic. Throws
/// ArgumentError at the first call where ORIEL_EIGEN is none of these.
EigenTier eigen_tier();
/// Sets the tier for the context's devices, from the next launch on. Results do not depend on it, to the bit.
///   oriel::set_eigen_tier(oriel::EigenTier::compile);
void set_eigen_tier(EigenTier tier);

}  // namespace oriel
