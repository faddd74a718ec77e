// Tensors as text, in NumPy's form; and what describes them, for streams.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "oriel/device.hpp"
#include "oriel/dtype.hpp"
#include "oriel/layout.hpp"
#include "oriel/shape.hpp"
#include "oriel/tensor.hpp"

namespace oriel {

struct View;
class ShapeTracker;
struct Iteration;
struct Explanation;
struct Profile;
struct ComprehensionRanges;

/// How elements are printed: NumPy's print options with its names and defaults (numpy.set_printoptions).
struct PrintOptions {
  /// The number of digits after the point. `maxprec`: the fewest that tell an element from neighbouring floats, at most
  /// `precision`, separately for each element. `maxprec_equal`: as maxprec, but all elements have as many as the
  /// longest. `fixed`: exactly `precision`. `unique`: the fewest that tell an element from neighbouring floats, without
  /// a limit.
  enum class FloatMode : std::uint8_t { maxprec, maxprec_equal, fixed, unique };

  int precision = 8;              ///< digits after the point, 0 to 64
  std::int64_t threshold = 1000;  ///< tensors with more elements are summarised
  std::int64_t edge_items = 3;    ///< entries that a summary shows at each end of an axis, at least 1
  std::int64_t line_width = 75;   ///< characters per line; longer rows are broken
  bool suppress = false;          ///< never use scientific notation for small numbers
  char sign = '-';                ///< sign of non-negative numbers: '-' none, '+' a plus, ' ' a blank
  FloatMode float_mode = FloatMode::maxprec;
  std::string nan = "nan";
  std::string inf = "inf";
};

/// The elements as numpy.array2string prints them (`print` in Python), with one pair of brackets per axis. A tensor
/// with more than options.threshold elements is summarised. Runs the pending work of x, as realize() does; elements
/// that a summary leaves out are not copied. bfloat16, which NumPy lacks, is printed as a float with the digits it
/// needs. Throws ArgumentError for options out of range, DeviceError for the null device, which has no elements.
///   to_string(Tensor::of<float>({{1, 2.5}, {-3, 4}}));
///   [[ 1.   2.5]
///    [-3.   4. ]]
std::string to_string(const Tensor& x, const PrintOptions& options);
/// With the options of the process (print_options).
std::string to_string(const Tensor& x);
/// As to_string(x).   std::cout << x << '\n';
std::ostream& operator<<(std::ostream& out, const Tensor& x);

// Prints other types as messages show them: by their str(), to_string or name.
//   std::cout << x.dtype() << ' ' << x.shape() << " on " << x.device();  // float32 (2, 3) on eigen
std::ostream& operator<<(std::ostream& out, DType dtype);
std::ostream& operator<<(std::ostream& out, Device device);
std::ostream& operator<<(std::ostream& out, MemoryFormat format);
std::ostream& operator<<(std::ostream& out, SymInt n);
std::ostream& operator<<(std::ostream& out, const Ints& shape);
std::ostream& operator<<(std::ostream& out, const Layout& layout);
std::ostream& operator<<(std::ostream& out, const View& view);
std::ostream& operator<<(std::ostream& out, const ShapeTracker& views);
std::ostream& operator<<(std::ostream& out, const Iteration& iteration);
std::ostream& operator<<(std::ostream& out, const Explanation& explanation);
std::ostream& operator<<(std::ostream& out, const Profile& profile);
std::ostream& operator<<(std::ostream& out, const ComprehensionRanges& ranges);

/// The print options of the process. set_print_options throws ArgumentError for options out of range. Thread safety:
/// any thread.
PrintOptions print_options();
void set_print_options(const PrintOptions& options);

}  // namespace oriel
