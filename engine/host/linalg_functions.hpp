// The functions of host memory that linear algebra and Fourier transforms call.
#pragma once

#include <string_view>
#include <vector>

#include "graph/host_function.hpp"

namespace oriel::api {

/// The function that a graph and a file call by this name: "solve", "svd:full". Null if there is none. Each is made
/// once. All are batched: operands and results are (batches, ...) in float32 or float64. A result of several parts has
/// them one after the other in each batch.
graph::HostFunctionPtr linalg_function(std::string_view name);

/// Those of Fourier transforms: "fft", "ifft", "rfft" and "irfft", which do not scale, and each with ":length" or
/// ":root" divided by the length or its root. With ":row" behind it they are for a single row, with other sums that
/// make it faster: how many rows a call gets must not change bits. Operands are the real and, if there is a second one,
/// the imaginary parts (batches, n); complex results (batches, 2, n).
std::vector<graph::HostFunctionPtr> fft_functions();

}  // namespace oriel::api
