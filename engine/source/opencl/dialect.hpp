// OpenCL C 1.2.
#pragma once

#include "source/dialect.hpp"

namespace oriel::source::opencl {

const Dialect& dialect();

}  // namespace oriel::source::opencl
