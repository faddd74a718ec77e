// Tensors as text, in NumPy's form; and what describes them, for streams.
#pragma once

#include <iosfwd>
#include <string>

#include "oriel/api.hpp"
#include "oriel/device.hpp"
#include "oriel/dtype.hpp"
#include "oriel/layout.hpp"
#include "oriel/print_options.hpp"
#include "oriel/shape.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

struct View;
class ShapeTracker;
struct Iteration;
struct Explanation;
struct Profile;
struct ComprehensionRanges;

/// The elements as numpy.array2string prints them (`print` in Python), with one pair of brackets per axis. A tensor
/// with more than options.threshold elements is summarised. Runs the pending work of x, as realize() does; elements
/// that a summary leaves out are not copied. bfloat16, which NumPy lacks, is printed as a float with the digits it
/// needs. Throws ArgumentError for options out of range, DeviceError for the null device, which has no elements.
///   to_string(Tensor::of<float>({{1, 2.5}, {-3, 4}}));
///   [[ 1.   2.5]
///    [-3.   4. ]]
std::string to_string(const Tensor& x, const PrintOptions& options);
/// With the options in force (print_options).
std::string to_string(const Tensor& x);
/// As to_string(x).   std::cout << x << '\n';
std::ostream& operator<<(std::ostream& out, const Tensor& x);

/// The text of other types, as messages show it: their str() or name by one word. Sizes and shapes have to_string, too
/// (symint.hpp, shape.hpp).
///   to_string(x.device());  // "eigen"
/// @{
std::string to_string(DType dtype);
std::string to_string(Device device);
std::string to_string(MemoryFormat format);
std::string to_string(const Layout& layout);
std::string to_string(const View& view);
std::string to_string(const ShapeTracker& views);
std::string to_string(const Iteration& iteration);
std::string to_string(const Explanation& explanation);
/// @}

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

/// The print options of the thread's current context (context.hpp), which prints tensors of all contexts with them.
/// set_print_options throws ArgumentError for options out of range. Thread safety: any thread.
PrintOptions print_options();
void set_print_options(const PrintOptions& options);

}  // namespace oriel
