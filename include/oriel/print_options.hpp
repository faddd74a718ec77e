// How tensors are printed.
#pragma once

#include <cstdint>
#include <string>

#include "oriel/api.hpp"

namespace ORIEL_API oriel {

/// How elements are printed: NumPy's print options with its names and defaults (numpy.set_printoptions).
struct PrintOptions {
  /// The number of digits after the point. `maxprec`: the fewest that tell an element from neighbouring floats, at most
  /// `precision`, separately for each element. `maxprec_equal`: as maxprec, but all elements have as many as the
  /// longest. `fixed`: exactly `precision`. `unique`: the fewest that tell an element from neighbouring floats, without
  /// a limit.
  enum class FloatMode : std::uint8_t { maxprec, maxprec_equal, fixed, unique };

  int precision = 8;                          ///< digits after the point, 0 to 64
  std::int64_t threshold = 1000;              ///< tensors with more elements are summarised
  std::int64_t edge_items = 3;                ///< entries that a summary shows at each end of an axis, at least 1
  std::int64_t line_width = 75;               ///< characters per line; longer rows are broken
  bool suppress = false;                      ///< never use scientific notation for small numbers
  char sign = '-';                            ///< sign of non-negative numbers: '-' none, '+' a plus, ' ' a blank
  FloatMode float_mode = FloatMode::maxprec;  ///< how many digits floats have
  std::string nan = "nan";                    ///< what is printed for NaN
  std::string inf = "inf";                    ///< what is printed for infinity
};

}  // namespace oriel
