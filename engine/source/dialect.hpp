// A language of the C family as the emitter sees it: how it spells types, numbers and, for kernels of work items,
// memory, vectors, items and barriers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/op.hpp"
#include "graph/scalar.hpp"
#include "oriel/dtype.hpp"

namespace oriel::source {

class Dialect {
 public:
  virtual ~Dialect() = default;
  /// The type of a value, or of `width` of them in a vector. Halves are held as float, bool as 8 bits, 0 or 1.
  virtual std::string value_type(DType dtype, int width = 1) const = 0;
  /// The type of an element in memory: halves as 16 bits.
  virtual std::string memory_type(DType dtype) const = 0;
  /// A number as an expression of its value type.
  virtual std::string literal(const graph::Scalar& value) const = 0;

 protected:
  /// The shortest text that reads back as the same finite float.
  static std::string decimal(const graph::Scalar& value);
};

enum class MemorySpace : std::uint8_t { Private, Global, Local };

/// The text around the body of a kernel.
struct KernelHead {
  struct LocalRow {  // an array in local memory, sized at launch
    DType dtype = DType::float32;
    std::string name;
    std::int64_t bytes = 0;
  };
  std::string name;
  std::vector<std::string> arguments;
  std::vector<LocalRow> rows;
  std::size_t group[3] = {1, 1, 1};
};

/// Where compilers of a language get one of its functions of floats wrong. The texts are expressions of x.
struct FunctionFault {
  bool in_vectors = false;         // wrong in vectors: called lane by lane
  std::string vectors_where = {};  // the same, if this holds in a lane
  std::string where = {};          // wrong here, where it is `value`
  std::string value = {};
};

/// A language whose kernels run as work items.
class ItemDialect : public Dialect {
 public:
  /// "OpenCL", in messages.
  virtual std::string name() const = 0;
  /// The beginning of every source.
  virtual std::string prelude(bool fp64) const = 0;
  /// Arguments of `head` are named; rows in local memory are arguments of their own or declared in the body.
  virtual std::string kernel(const KernelHead& head, const std::string& body) const = 0;
  /// The qualifiers at the beginning of a helper function.
  virtual std::string function_prefix() const = 0;
  /// The same for a function that is called and not inlined.
  virtual std::string called_function_prefix() const = 0;
  virtual std::string restricted() const = 0;

  /// "__global const float*".
  virtual std::string pointer(MemorySpace space, const std::string& type, bool constant) const = 0;
  /// The declaration of an array that a group shares.
  virtual std::string local_array(const std::string& type, const std::string& name, std::int64_t elements) const = 0;
  /// A signed integer for positions.
  virtual std::string position_type(bool wide) const = 0;

  virtual std::string global_id(int axis) const = 0;
  virtual std::string group_id(int axis) const = 0;
  virtual std::string local_id(int axis) const = 0;
  /// A barrier for all items of a group. `global`: their writes to global memory become visible too.
  virtual std::string barrier(bool global) const = 0;
  /// Adds 1 to an int in local memory, which items of the group may do at the same time.
  virtual std::string increment(const std::string& pointer) const = 0;

  // --- vectors ------------------------------------------------------------------------------------------------------

  /// Do operators, comparisons and functions take vectors? Else instructions on vectors are written lane by lane.
  virtual bool has_vector_arithmetic() const = 0;
  virtual std::string load_vector(int width, const std::string& pointer) const = 0;
  virtual std::string store_vector(int width, const std::string& value, const std::string& pointer) const = 0;
  virtual std::string lane(const std::string& vector, const std::string& k) const = 0;
  /// The first or second half of a vector of `width`.
  virtual std::string half_of(const std::string& vector, int width, bool second) const = 0;
  /// The even (or odd) lanes of a, then the even (or odd) lanes of b, of vectors of `width` lanes of `dtype`.
  virtual std::string parted(DType dtype, int width, const std::string& a, const std::string& b, bool odd) const = 0;

  // --- numbers ------------------------------------------------------------------------------------------------------

  /// A position between `least` and `most`, as an int.
  virtual std::string clamped(const std::string& position, int least, int most) const = 0;
  /// Reinterprets the bits as another type of the same size.
  virtual std::string bits_as(DType to, int width, const std::string& value) const = 0;
  virtual std::string converted(DType to, int width, const std::string& value) const = 0;
  /// Converts a float, not NaN, to an integer; a float outside the range gives the nearest integer of the range.
  virtual std::string saturated(DType to, int width, const std::string& value) const = 0;
  /// The magnitude of a signed integer; the lowest integer stays itself.
  virtual std::string magnitude(DType dtype, int width, const std::string& value) const = 0;
  virtual std::string infinity(DType dtype) const = 0;
  /// How the function of an op has to be called, for numbers of `type`.
  virtual FunctionFault fault(graph::Op op, DType dtype, const std::string& type) const {
    static_cast<void>(op), static_cast<void>(dtype), static_cast<void>(type);
    return {};
  }

  // --- halves in memory ---------------------------------------------------------------------------------------------

  /// A float16 at `pointer`[`at`] as a float, and back, as an expression.
  virtual std::string load_half(const std::string& pointer, const std::string& at) const = 0;
  virtual std::string store_half(const std::string& pointer, const std::string& at, const std::string& value) const = 0;
  /// The functions `name`, which gives the bits of a float16 nearest to a float, and `name`_widened, which is its
  /// inverse.
  virtual std::string half_functions(int width, const std::string& name) const = 0;
};

}  // namespace oriel::source
