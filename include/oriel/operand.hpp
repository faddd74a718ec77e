// What functions take: a tensor or a number.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "oriel/api.hpp"
#include "oriel/site.hpp"
#include "oriel/symint.hpp"

namespace oriel::detail {
struct Access;
}

namespace ORIEL_API oriel {

class ComprehensionResults;
class Tensor;

/// A function argument: a tensor or a C++ number. It converts implicitly and records the calling line. It must not
/// outlive the call. A number takes the dtype of the tensor with which it is combined, unless its category (bool <
/// integer < float) is higher; then it is int64 or float32. A tensor without axes behaves in the same way beside a
/// tensor with axes, but keeps its own dtype if its category is higher. Numbers alone are bool, int64 or float32. An
/// integer that the tensor's integer dtype cannot hold is an ArgumentError. The value of a tensor without axes is not
/// known when the operation is built, so it wraps to the integer dtype instead, as in PyTorch:
///   scalar(256, DType::int16) + Tensor::of<std::uint8_t>({1});  // {1}, uint8
/// Comparisons (ops.hpp) do not wrap.
class Operand {
 public:
  /// The tensor itself.
  Operand(const Tensor& tensor, Site site = Site::here()) noexcept  // NOLINT(google-explicit-constructor)
      : tensor_(&tensor), site_(site) {}
  /// A value of an expression, such as x * 2.
  Operand(Tensor&& tensor, Site site = Site::here()) noexcept  // NOLINT(google-explicit-constructor)
      : tensor_(&tensor), temporary_(true), site_(site) {}
  /// The only result of a comprehension. Throws ArgumentError if it has several.
  Operand(const ComprehensionResults& results, Site site = Site::here());  // NOLINT(google-explicit-constructor)
  /// A number.
  template <class T>
  // NOLINTNEXTLINE(google-explicit-constructor)
  requires std::is_arithmetic_v<T> Operand(T number, Site site = Site::here())
  noexcept : site_(site) {
    if constexpr (std::is_floating_point_v<T>) {
      kind_ = Kind::Float;
      float_ = static_cast<double>(number);
    } else {
      kind_ = std::same_as<T, bool> ? Kind::Bool : std::is_unsigned_v<T> ? Kind::Unsigned : Kind::Signed;
      int_ = static_cast<std::int64_t>(number);
    }
  }
  /// A size: an int64, such as x.size(0). A symbol stays one where operators and full() take it, and arange() takes it
  /// as an end. Whatever else takes it asks for its value().
  Operand(SymInt size, Site site = Site::here()) : site_(site) {  // NOLINT(google-explicit-constructor)
    if (size.is_symbolic()) {
      kind_ = Kind::Size;
      size_ = size.node();
    } else {
      kind_ = Kind::Signed;
      int_ = size.value();
    }
  }

 private:
  friend struct detail::Access;
  enum class Kind : std::uint8_t { Tensor, Bool, Signed, Unsigned, Float, Size };

  const Tensor* tensor_ = nullptr;
  Kind kind_ = Kind::Tensor;
  bool temporary_ = false;  // the tensor is a value of an expression, which ends with it
  union {
    std::int64_t int_ = 0;
    double float_;
    const sym::Node* size_;
  };
  Site site_;
};

}  // namespace oriel
