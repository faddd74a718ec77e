// Tensors of other libraries without a copy, by DLPack (https://dmlc.github.io/dlpack). Oriel needs no dlpack.h: a
// program that has one includes it beside this header.
#pragma once

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

struct DLManagedTensor;           // dlpack.h
struct DLManagedTensorVersioned;  // dlpack.h from version 1.0 on

namespace ORIEL_API oriel {

/// A tensor over the memory that `managed` describes, as torch.from_dlpack and numpy.from_dlpack: its shape, strides
/// (also 0 and negative ones) and offset are kept. Takes `managed` over, in every case: its deleter runs once, when no
/// tensor needs the memory any more, in any thread, or before this throws. A write to the tensor may write this memory.
/// A versioned tensor that is read-only is copied. Dtypes: bool, integers and floats of Oriel's sizes, bfloat16.
/// Throws ArgumentError (null, strides that are none, memory that is not aligned, a version other than 1), DTypeError
/// (complex, vectors, other sizes), DeviceError (memory that is not the host's).
/// @{
[[nodiscard]] Tensor from_dlpack(DLManagedTensor* managed, Site site = Site::here());
[[nodiscard]] Tensor from_dlpack(DLManagedTensorVersioned* managed, Site site = Site::here());
/// @}

/// The tensor's elements for another library, which calls the deleter of the result when it is done, in any thread. A
/// realised tensor, and a view of one that strides can say, is not copied; anything else is computed in row-major
/// order. The memory holds the present elements until then: writes to x go to other memory. So the consumer must not
/// write it; the versioned form says so (DLPACK_FLAG_BITMASK_READ_ONLY). Throws DeviceError for the elements of another
/// device: x.to(Device::eigen()) copies them.
/// @{
[[nodiscard]] DLManagedTensor* to_dlpack(const Tensor& x);
[[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& x);
/// @}

}  // namespace oriel
