// Operations of a loop program on vectors of any width, and the helper functions that they need.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codegen/loop_program.hpp"
#include "source/dialect.hpp"

namespace oriel::source::items {

/// For example "f32" or "i8"; used in the names of helpers.
std::string short_type(DType dtype);

/// The helper functions that a source uses, each written once, for one type and width.
class Helpers {
 public:
  /// `dialect` must outlive the object. `asks_alignment`: a vector of 16 bytes or fewer in global memory is one access
  /// where it is aligned, which a device's compiler does not ask by itself (it makes four of it).
  explicit Helpers(const Dialect& dialect, bool asks_alignment = false)
      : dialect_(dialect), asks_alignment_(asks_alignment) {}

  /// Roundings to halves become calls of a function that is not inlined: the time in which drivers compile a kernel
  /// grows with the square of the number of those that are.
  void call_roundings() { calls_roundings_ = true; }

  /// Adds a function unless it is there.
  void add(const std::string& name, const std::string& text);
  bool has(const std::string& name) const;
  /// Names and texts in an order in which they compile. The same name has the same text in every source.
  const std::vector<std::pair<std::string, std::string>>& all() const { return functions_; }

  /// Loads lanes [first, last) of `width` elements that lie `step` apart from position `at` on. The other lanes are 0.
  std::string load(DType memory, int width, const std::string& buffer, const std::string& at, std::int64_t step,
                   const std::string& step_text, const std::string& first, const std::string& last);
  /// Stores lanes [first, last) of a value. Other elements are not written.
  std::string store(DType memory, int width, const std::string& buffer, const std::string& at, std::int64_t step,
                    const std::string& step_text, const std::string& first, const std::string& last,
                    const std::string& value);
  /// One element, for accesses that go lane by lane.
  std::string load_one(DType memory, const std::string& buffer, const std::string& at);
  std::string store_one(DType memory, const std::string& buffer, const std::string& at, const std::string& value);

  /// An instruction (Elementwise or Round) on operands of its width.
  std::string spell(const codegen::Instr& in, int width, const std::vector<std::string>& operands);
  /// Combines two values by a reduction's op.
  std::string join(graph::Op op, DType dtype, int width, const std::string& a, const std::string& b);
  /// a * b + c, rounded once.
  std::string fused(DType dtype, int width, const std::string& a, const std::string& b, const std::string& c);
  /// Combines all lanes of a vector by a reduction's op.
  std::string fold(graph::Op op, DType dtype, int width, const std::string& a);
  /// Stores `count` lanes of a value to a row in local memory. `kept` loads them.
  std::string keep(DType dtype, int width, const std::string& value, const std::string& place,
                   const std::string& count);
  std::string kept(DType dtype, int width, const std::string& place, const std::string& count);
  /// Replaces the lanes from `count` on by the identity of `op`.
  std::string keep_lanes(graph::Op op, DType dtype, int width, const std::string& a, const std::string& count);

  /// The identity of a reduction, as a scalar of its value type.
  std::string identity(graph::Op op, DType dtype) const;

 private:
  std::string value_type(DType dtype, int width = 1) const { return dialect_.value_type(dtype, width); }
  std::string memory_type(DType dtype) const { return dialect_.memory_type(dtype); }
  std::string truth(const std::string& test, DType compared, int width) const;
  std::string choose(const std::string& mask, int width, const std::string& yes, const std::string& no) const;
  std::string wrapping(const char* sign, DType dtype, int width, const std::string& a, const std::string& b) const;
  std::string element(DType memory, const std::string& pointer, const std::string& at) const;
  std::string whole(DType memory, int width, const std::string& pointer, const std::string& at);
  /// The address as one of vectors, and the condition that it is aligned; empty where nothing asks.
  std::string as_vectors(DType memory, int width, const std::string& at, bool constant) const;
  std::string aligned(DType memory, int width, const std::string& at) const;
  /// `expression` gives one lane of the result from one lane of each operand. For languages without vector arithmetic.
  std::string by_lane(const std::string& name, DType result, std::span<const DType> types, int width,
                      const std::vector<std::string>& operands,
                      const std::function<std::string(const std::vector<std::string>&)>& expression);
  std::string lanewise(const std::string& name, DType from, DType to, int width, int arity, const std::string& scalar);
  std::string narrow_half(DType half, int width);
  std::string rounded(DType half, int width);
  std::string extreme(graph::Op op, DType dtype, int width, const std::string& a, const std::string& b);
  std::string spell_float(const codegen::Instr& in, int width, const std::vector<std::string>& x);
  std::string spell_integer(const codegen::Instr& in, int width, const std::vector<std::string>& x);
  std::string spell_conversion(const codegen::Instr& in, int width, const std::string& x);

  const Dialect& dialect_;
  const bool asks_alignment_;
  bool calls_roundings_ = false;
  std::vector<std::pair<std::string, std::string>> functions_;
};

}  // namespace oriel::source::items
