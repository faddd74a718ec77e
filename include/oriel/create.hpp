// Tensors that a rule describes. Nothing is stored until it is needed. All functions throw ShapeError for a negative
// extent and OverflowError if the number of elements exceeds 2^63-1. The tensors live on the default device.
#pragma once

#include <optional>

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// A tensor of `shape` with `value` everywhere. Without a dtype the result is bool, int64 or float32, by the kind of
/// number. With one, the value is converted as Tensor::to does; an integer that does not fit an integer dtype is an
/// ArgumentError. If `value` is a tensor, it must broadcast to the shape.
///   full({2, 3}, 0.5);  full({4}, 1, DType::int8);
[[nodiscard]] Tensor full(const Shape& shape, const Operand& value);
[[nodiscard]] Tensor full(const Shape& shape, const Operand& value, DType dtype);
/// A tensor without axes that holds one number.
///   scalar(2.5);  // shape (), float32
[[nodiscard]] Tensor scalar(const Operand& value);
[[nodiscard]] Tensor scalar(const Operand& value, DType dtype);
[[nodiscard]] Tensor zeros(const Shape& shape, DType dtype = DType::float32, Site site = Site::here());
[[nodiscard]] Tensor ones(const Shape& shape, DType dtype = DType::float32, Site site = Site::here());

/// Elements of unspecified value (zeros at present), to be written before they are read. Nothing is computed for them.
[[nodiscard]] Tensor empty(const Shape& shape, DType dtype = DType::float32, Site site = Site::here());
/// The same with these strides, in elements. They may leave gaps, repeat or overlap, but a tensor in which two indices
/// share an element cannot be written. Throws ShapeError unless there is one stride per axis and none is negative.
///   empty_strided({2, 3}, {1, 2}).strides();  // (1, 2)
[[nodiscard]] Tensor empty_strided(const Shape& shape, const Ints& strides, DType dtype = DType::float32,
                                   Site site = Site::here());

/// One axis: zeros(10) is zeros({10}).
/// @{
template <detail::Size T>
[[nodiscard]] Tensor zeros(T count, DType dtype = DType::float32, Site site = Site::here()) {
  return zeros(Shape{count}, dtype, site);
}
template <detail::Size T>
[[nodiscard]] Tensor ones(T count, DType dtype = DType::float32, Site site = Site::here()) {
  return ones(Shape{count}, dtype, site);
}
template <detail::Size T>
[[nodiscard]] Tensor empty(T count, DType dtype = DType::float32, Site site = Site::here()) {
  return empty(Shape{count}, dtype, site);
}
template <detail::Size T>
[[nodiscard]] Tensor full(T count, const Operand& value) {
  return full(Shape{count}, value);
}
template <detail::Size T>
[[nodiscard]] Tensor full(T count, const Operand& value, DType dtype) {
  return full(Shape{count}, value, dtype);
}
/// @}
/// Do not compile.
/// @{
// clang-format off
namespace detail { template <class T> Nothing one_list() { static_assert(kNever<T>, "the shape is one list: zeros({3, 4}), ones({3, 4}, DType::int32)"); return {}; } }
#define ORIEL_ONE_LIST(name) \
  template <detail::Size T, detail::Size U, class... More> detail::Nothing name(T, U, const More&...) { return detail::one_list<T>(); }
ORIEL_ONE_LIST(zeros) ORIEL_ONE_LIST(ones) ORIEL_ONE_LIST(empty)
#undef ORIEL_ONE_LIST
template <detail::Size T, detail::Size U, detail::PlainNumber V, class... More> detail::Nothing full(T, U, V, const More&...) { static_assert(detail::kNever<T>, "the shape is one list: full({3, 4}, value)"); return {}; }
// clang-format on
/// @}

/// The numbers start, start + step, ... up to but excluding stop, as one axis. The dtype is int64 if all three numbers
/// are integers, else float32. The result is empty if stop lies behind start. Throws ArgumentError for step 0, for a
/// tensor and for a number that is not finite.
///   arange(5);          // {0, 1, 2, 3, 4}
///   arange(5, 0, -2);   // {5, 3, 1}
[[nodiscard]] Tensor arange(const Operand& stop);
[[nodiscard]] Tensor arange(const Operand& start, const Operand& stop, const Operand& step = 1);
/// The same in a dtype. Floats are computed in float64 and rounded. Integers of float numbers are those of NumPy,
/// PyTorch and MLX: there are as many as steps fit, and they begin with `start` and increase by the difference of
/// `start + step` and `start`, both converted first.
///   arange(5, DType::float32);  arange(0, 1, 0.25, DType::float64);
///   arange(0., 5., 1.5, DType::int32);  // {0, 1, 2, 3}
/// @{
[[nodiscard]] Tensor arange(const Operand& stop, DType dtype);
[[nodiscard]] Tensor arange(const Operand& start, const Operand& stop, const Operand& step, DType dtype);
// clang-format off
[[nodiscard]] inline Tensor arange(const Operand& start, const Operand& stop, DType dtype) { return arange(start, stop, 1, dtype); }
// clang-format on
/// @}
/// `count` evenly spaced numbers from start to stop, as one axis. Both ends are included and exact; integers beyond
/// 2^53 are rounded to float64. A count of 1 gives start, a count of 0 an empty tensor. Each number is computed in
/// float64 from the nearer end and converted as Tensor::to does, so integers are truncated towards zero. Throws
/// ArgumentError for a negative count, for an end that is not finite, and if stop - start overflows float64; DTypeError
/// for bool. If an end is a tensor, the result has a leading axis of `count` entries, each of the ends' broadcast
/// shape, as in NumPy; its elements are not checked.
///   linspace(0, 1, 5);  // {0, 0.25, 0.5, 0.75, 1}
[[nodiscard]] Tensor linspace(const Operand& start, const Operand& stop, SymInt count, DType dtype = DType::float32);
/// Does linspace include its end?
enum class Endpoint : bool { excluded, included };
/// The same with or without the end: `count` of count + 1 numbers, from which the last is left out
/// (numpy.linspace with endpoint=False).
///   linspace(0, 1, 4, DType::float32, Endpoint::excluded);  // {0, 0.25, 0.5, 0.75}
[[nodiscard]] Tensor linspace(const Operand& start, const Operand& stop, SymInt count, DType dtype, Endpoint endpoint);
/// An int64 tensor in which each element is its own row-major position.
///   iota({2, 3});  // {{0, 1, 2}, {3, 4, 5}}
[[nodiscard]] Tensor iota(const Shape& shape, Site site = Site::here());
/// A matrix of rows x columns with 1 where column - row == diagonal and 0 elsewhere. A negative `columns` means `rows`.
///   eye(2);  // {{1, 0}, {0, 1}}
/// @{
[[nodiscard]] Tensor eye(SymInt rows, SymInt columns = -1, std::int64_t diagonal = 0, DType dtype = DType::float32,
                         Site site = Site::here());
// clang-format off
[[nodiscard]] inline Tensor eye(SymInt rows, DType dtype, Site site = Site::here()) { return eye(rows, -1, 0, dtype, site); }
[[nodiscard]] inline Tensor eye(SymInt rows, SymInt columns, DType dtype, Site site = Site::here()) { return eye(rows, columns, 0, dtype, site); }
// clang-format on
/// @}

// ---- Like another tensor: with its shape and device, and its dtype unless you name one. The strides are PyTorch's.
// For preserve they are Layout::preserved() of the operand's layout: its own strides if they are non-overlapping and
// dense, else dense strides in the same order, where strides of 0 do not affect the order. For another format they are
// those of a new tensor of the format. Each result has a storage of its own. All throw ShapeError if the tensor's rank
// is not the format's.
//   zeros_like(x.to(MemoryFormat::channels_last)).strides();  // channels-last as well

/// Elements of unspecified value, to be written before they are read. Nothing is computed for them.
[[nodiscard]] Tensor empty_like(const Operand& x, std::optional<DType> dtype = {},
                                MemoryFormat format = MemoryFormat::preserve);
[[nodiscard]] Tensor zeros_like(const Operand& x, std::optional<DType> dtype = {},
                                MemoryFormat format = MemoryFormat::preserve);
[[nodiscard]] Tensor ones_like(const Operand& x, std::optional<DType> dtype = {},
                               MemoryFormat format = MemoryFormat::preserve);
/// `value` everywhere, converted as full() does.
///   full_like(x, 0.5, DType::float64)
[[nodiscard]] Tensor full_like(const Operand& x, const Operand& value, std::optional<DType> dtype = {},
                               MemoryFormat format = MemoryFormat::preserve);

}  // namespace oriel
