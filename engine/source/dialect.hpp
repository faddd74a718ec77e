// A language of the C family as data: how it spells types, numbers and, for kernels of work items, memory, vectors,
// items and barriers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>

#include "graph/op.hpp"
#include "graph/scalar.hpp"
#include "oriel/dtype.hpp"

namespace oriel::source {

/// Text with numbered places, {0} to {9}, for its arguments. All other braces stand for themselves.
class Pattern {
 public:
  constexpr Pattern(const char* text = "") : text_(text) {}  // NOLINT(google-explicit-constructor): tables are texts
  template <class... T>
  std::string operator()(const T&... values) const {
    return fill({piece(values)...});
  }

 private:
  template <class T>
  static std::string piece(const T& value) {
    if constexpr (std::is_integral_v<T>)
      return std::to_string(value);
    else
      return value;
  }
  std::string fill(std::initializer_list<std::string> values) const;

  const char* text_;
};

enum class MemorySpace : std::uint8_t { Private, Global, Local };

/// Where compilers of a language get one of its functions of floats wrong. The texts are expressions of x, whose type
/// is {0}.
struct FunctionFault {
  graph::Op op;
  bool in_float32 = true, in_float64 = true;
  bool in_vectors = false;     // wrong in vectors: called lane by lane
  Pattern vectors_where = {};  // the same, if this holds in a lane
  Pattern where = {};          // wrong here, where it is `value`
  Pattern value = {};
};

/// The comment behind a pattern names its arguments in their order. A language without kernels of work items has types
/// and numbers alone.
struct Dialect {
  const char* name = "";    // in messages
  const char* ending = "";  // of files
  // --- types and numbers --------------------------------------------------------------------------------------------
  const char* types[kDTypeCount] = {};  // of values: halves are held as float, bool as 8 bits, 0 or 1
  const char* half_bits = "";           // the type of a half in memory
  // A number as an expression of its type, by itself as in C: type, number.
  Pattern integer = "({0}){1}", int64 = "({0}){1}L", uint64 = "{1}UL";
  const char* least_int64 = "(-9223372036854775807L - 1)";
  const char* nan[2] = {"NAN", "(double)NAN"};  // float32, float64
  const char* infinity[2] = {"INFINITY", "(double)INFINITY"};
  Pattern signed_float = "({0}{1})";  // sign, magnitude
  // --- kernels ------------------------------------------------------------------------------------------------------
  const char* opening = "";       // the beginning of every source
  const char* fp64_opening = "";  // before it, if the source computes in float64
  Pattern kernel = {};            // items of a group along three axes, name, arguments (rows in local memory too), body
  Pattern number_argument = "const {0} {1}";  // type, name
  const char* function_prefix = "";
  const char* called_function_prefix = "";  // of a function that is called and not inlined
  const char* restricted = "";
  Pattern pointers[3] = {};                              // by MemorySpace: type, "const " or nothing
  Pattern local_array = {};                              // which a group shares: type, name, elements
  Pattern global_id = {}, group_id = {}, local_id = {};  // axis
  const char* barrier = "";                              // for all items of a group
  const char* global_barrier = "";                       // the same; their writes to global memory become visible too
  Pattern increment = {};  // adds 1 to an int in local memory, which items may do at the same time: pointer
  // --- vectors ------------------------------------------------------------------------------------------------------
  bool vector_arithmetic = false;  // operators, comparisons and functions take vectors: else all goes lane by lane
  Pattern vector_type = {};        // type, width
  Pattern load_vector = {};        // width, pointer
  Pattern store_vector = {};       // width, value, pointer
  Pattern lane = {};               // vector, lane
  Pattern halves[2] = {};          // of a vector of 4 or more lanes: vector, width of the half
  Pattern every_second = {};  // lane of a, then of b: type, a, b, "even" or "odd" (of two lanes "x" or "y"), 0 or 1
  // --- conversions --------------------------------------------------------------------------------------------------
  Pattern clamped = {};                     // a position as an int: position, least, most
  Pattern bits_as = {};                     // the same bits in another type of the same size: type, value
  Pattern converted = {};                   // type, value
  Pattern saturated = {};                   // a float, not NaN, as the nearest integer of the type: type, value
  Pattern magnitude = {};                   // of a signed integer; the lowest stays itself: type, value
  Pattern load_half = {}, store_half = {};  // a float16 in memory as a float, and back: pointer, position, value
  // Of scalars and of vectors: NAME gives the bits of the float16 nearest to a float, and NAME_widened is its inverse:
  // name, width, bytes.
  Pattern half_functions[2] = {};
  std::span<const FunctionFault> faults = {};

  /// The type of a value, or of `width` of them in a vector.
  std::string value_type(DType dtype, int width = 1) const;
  /// The type of an element in memory.
  std::string memory_type(DType dtype) const { return is_half(dtype) ? half_bits : value_type(dtype); }
  /// A signed integer for positions.
  std::string position_type(bool wide) const { return value_type(wide ? DType::int64 : DType::int32); }
  /// A number as an expression of its value type.
  std::string literal(const graph::Scalar& value) const;
  std::string prelude(bool fp64) const { return (fp64 ? fp64_opening : std::string()) + opening; }
  /// "__global const float*".
  std::string pointer(MemorySpace space, const std::string& type, bool constant) const;
  /// The first or second half of a vector of `width`.
  std::string half_of(const std::string& vector, int width, bool second) const;
  /// The even (or odd) lanes of a, then the even (or odd) lanes of b, of vectors of `width` lanes of `dtype`.
  std::string parted(DType dtype, int width, const std::string& a, const std::string& b, bool odd) const;
  /// How the function of an op has to be called; null where nothing is wrong.
  const FunctionFault* fault(graph::Op op, DType dtype) const;
};

}  // namespace oriel::source
