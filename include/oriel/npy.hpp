// Arrays from and to NumPy's files.
#pragma once

#include <string>

#include "oriel/tensor.hpp"

namespace oriel {

/// The array in a .npy file (versions 1 to 3 of the format, https://numpy.org/doc/stable/reference/generated/
/// numpy.lib.format.html), of any dtype that Oriel has and NumPy writes: bool, integers, float16, float32, float64, in
/// row-major or Fortran order; the latter reads as a view of the same elements. Reads now. Throws IoError, naming the
/// file, where it cannot be read, is no .npy file, cut short, or of another dtype; big-endian elements are refused,
/// with what to write instead.
///   auto a = oriel::read_npy("a.npy");
Tensor read_npy(const std::string& path, Site site = Site::here());

/// Writes the elements row-major, little-endian, version 1. Runs the pending work. The file appears whole or not at
/// all. Throws DTypeError for bfloat16, which NumPy lacks; IoError where the file cannot be written.
void write_npy(const std::string& path, const Tensor& array);

}  // namespace oriel
