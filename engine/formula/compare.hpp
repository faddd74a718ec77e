// Comparisons by value between elements of any two dtypes; the neighbours of floats.
#pragma once

#include "formula/call.hpp"

namespace oriel::api {

/// a op b of the numbers themselves, whatever their dtypes; `op` is Eq, Ne, Lt or Le. Nothing is rounded: where no
/// dtype holds the elements of both, an integer is compared with the whole numbers beside a float, and a negative
/// number is less than any uint64. A NaN compares as in one dtype. Broadcasts.
NodePtr compared(const Call& call, Op op, const NodePtr& a, const NodePtr& b);

/// An operand that is to be compared with elements of dtype `beside` by value: a tensor as it is. A number takes this
/// dtype if it is a float or holds the number, else a dtype that holds it.
NodePtr comparable(const Call& call, const Operand& x, DType beside, Device device);

/// C's nextafter: the next number of the dtype after x in the direction of y; y if they are equal, NaN if either is.
/// Both are floats of one dtype and shape.
NodePtr next_after(const Call& call, const NodePtr& x, const NodePtr& y);

}  // namespace oriel::api
