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

/// How elements are written: NumPy's print options, with its names and defaults (numpy.set_printoptions).
struct PrintOptions {
  /// How many digits follow the point. In the first and the last, as few as tell the element from its neighbours, at
  /// most `precision`, each element its own (maxprec) or all as many as the longest (maxprec_equal). `fixed`: exactly
  /// `precision`. `unique`: as few as tell it from its neighbours, however many.
  enum class FloatMode : std::uint8_t { maxprec, maxprec_equal, fixed, unique };

  int precision = 8;              ///< digits behind the point, 0 to 64
  std::int64_t threshold = 1000;  ///< tensors of more elements are summarised
  std::int64_t edge_items = 3;    ///< how many entries a summary has at each end of an axis, at least 1
  std::int64_t line_width = 75;   ///< characters a line, after which rows are broken
  bool suppress = false;          ///< never scientific notation for what is small
  char sign = '-';                ///< of what is not negative: '-' none, '+' a plus, ' ' a blank
  FloatMode float_mode = FloatMode::maxprec;
  std::string nan = "nan";
  std::string inf = "inf";
};

/// The elements as numpy.array2string writes them (`print` in Python), in as many brackets as there are axes. More than
/// options.threshold elements are summarised. Runs the pending work of x, as realize() does; elements that a summary
/// leaves out are not copied. bfloat16, which NumPy lacks, is written as a float with as many digits as it needs.
/// Throws ArgumentError for options out of range, DeviceError for the null device, which has no elements.
///   to_string(Tensor::of<float>({{1, 2.5}, {-3, 4}}));
///   [[ 1.   2.5]
///    [-3.   4. ]]
std::string to_string(const Tensor& x, const PrintOptions& options);
/// With the process's options.
std::string to_string(const Tensor& x);
/// As to_string(x).   std::cout << x << '\n';
std::ostream& operator<<(std::ostream& out, const Tensor& x);

// The rest of what a program may want to see, in the words that messages use: its str(), to_string or name.
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

/// The options of this process, from any thread. Setting them throws ArgumentError as to_string does.
PrintOptions print_options();
void set_print_options(const PrintOptions& options);

}  // namespace oriel
