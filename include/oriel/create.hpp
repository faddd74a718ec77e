// Tensors made of a rule: nothing is stored until it is needed. All throw ShapeError for a negative extent and
// OverflowError where the number of elements passes 2^63-1. They live on the default device.
#pragma once

#include <optional>

#include "oriel/tensor.hpp"

namespace oriel {

/// `value` everywhere, converted as Tensor::to does where a dtype is named (an integer that an integer dtype cannot
/// hold is an ArgumentError); its dtype is bool, int64 or float32 by the kind of number, unless one is named. A tensor
/// `value` must broadcast to the shape.
///   full({2, 3}, 0.5);  full({4}, 1, DType::int8);
Tensor full(const Shape& shape, const Operand& value);
Tensor full(const Shape& shape, const Operand& value, DType dtype);
/// A number without axes.   scalar(2.5) has shape () and dtype float32
Tensor scalar(const Operand& value);
Tensor scalar(const Operand& value, DType dtype);
Tensor zeros(const Shape& shape, DType dtype = DType::float32, Site site = Site::here());
Tensor ones(const Shape& shape, DType dtype = DType::float32, Site site = Site::here());

/// Elements of no meaning (zeros, as it is), to be written before they are read. Nothing is computed for them.
Tensor empty(const Shape& shape, DType dtype = DType::float32, Site site = Site::here());
/// The same with these strides, in elements: non-negative ones, which may leave gaps, repeat, or overlap (but what
/// holds an element twice cannot be written). Throws ShapeError unless there is one an axis and none is negative.
///   empty_strided({2, 3}, {1, 2}).strides();  // (1, 2)
Tensor empty_strided(const Shape& shape, const Ints& strides, DType dtype = DType::float32, Site site = Site::here());

/// start, start + step, ... before stop: int64 for whole numbers, float32 where a number is a float. Empty where stop
/// lies behind. Throws ArgumentError for step 0, a tensor, a value that is not finite.
///   arange(5);          // {0, 1, 2, 3, 4}
///   arange(5, 0, -2);   // {5, 3, 1}
Tensor arange(const Operand& stop);
Tensor arange(const Operand& start, const Operand& stop, const Operand& step = 1);
/// `count` numbers evenly spaced from start to stop, both ends included and exact (integers beyond 2^53: as float64
/// has them); one is start, none is an empty tensor. Each is worked out in float64 from the end that is nearer, and
/// converted as Tensor::to does: integers are cut towards zero. Throws ArgumentError for a negative count, an end that
/// is a tensor or not finite, and ends further apart than float64 reaches; DTypeError for bool.
///   linspace(0, 1, 5);  // {0, 0.25, 0.5, 0.75, 1}
Tensor linspace(const Operand& start, const Operand& stop, std::int64_t count, DType dtype = DType::float32);
/// int64; each element its own row-major position.   iota({2, 3});  // {{0, 1, 2}, {3, 4, 5}}
Tensor iota(const Shape& shape, Site site = Site::here());
/// rows x columns with 1 where column - row is `diagonal`; `columns` negative: as many as rows.
///   eye(2);  // {{1, 0}, {0, 1}}
Tensor eye(std::int64_t rows, std::int64_t columns = -1, std::int64_t diagonal = 0, DType dtype = DType::float32,
           Site site = Site::here());

// ---- Like another tensor: its shape and device, and its dtype where none is named. The strides are those that PyTorch
// gives: for preserve, Layout::preserved() of the operand's, which are its own where they are non-overlapping and
// dense, and else dense ones in the same order, in which strides of 0 have no say; for another format, those of a new
// tensor of the format. Each has a storage of its own. All throw ShapeError where the rank is not the format's.
//   zeros_like(x.to(MemoryFormat::channels_last)).strides();  // channels-last as well

/// Elements of no meaning, to be written before they are read. Nothing is computed for them.
Tensor empty_like(const Operand& x, std::optional<DType> dtype = {}, MemoryFormat format = MemoryFormat::preserve);
Tensor zeros_like(const Operand& x, std::optional<DType> dtype = {}, MemoryFormat format = MemoryFormat::preserve);
Tensor ones_like(const Operand& x, std::optional<DType> dtype = {}, MemoryFormat format = MemoryFormat::preserve);
/// `value` everywhere, converted as full() does.   full_like(x, 0.5, DType::float64)
Tensor full_like(const Operand& x, const Operand& value, std::optional<DType> dtype = {},
                 MemoryFormat format = MemoryFormat::preserve);

}  // namespace oriel
