// Reads and writes NumPy's .npy files.
#pragma once

#include <string>

#include "oriel/api.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// The array in a .npy file (versions 1 to 3 of the format, https://numpy.org/doc/stable/reference/generated/
/// numpy.lib.format.html), of dtype bool, an integer, float16, float32 or float64, in row-major or Fortran order. An
/// array in Fortran order becomes a view of the elements in their order. Reads at once; a named pipe has 5 seconds to
/// get a writer. Memory grows with the bytes that arrive, by at most 64 MiB ahead of them. Throws IoError, naming the
/// file, if it cannot be read, is not a .npy file, is truncated, has another dtype, or is big-endian (the message says
/// how to convert it); MemoryError if its shape states more bytes than the machine, or the process's control group, has
/// memory. Complex arrays: read_npy_complex (complex.hpp).
///   auto a = oriel::read_npy("a.npy");
[[nodiscard]] Tensor read_npy(const std::string& path, Site site = Site::here());

/// The same, mapped: pages are read from the file when they are touched, so that data of any size costs no memory of
/// its own. The file must not change and must not be cut while the tensor exists; a write to the tensor leaves it as it
/// is. Throws as read_npy does, and IoError for what is no regular file.
///   auto images = oriel::map_npy("images.npy");
[[nodiscard]] Tensor map_npy(const std::string& path, Site site = Site::here());

/// Writes the elements row-major and little-endian, as version 1 of the format. Runs the pending work. The file is
/// either written completely or not at all; a named pipe has 5 seconds to get a reader. Throws DTypeError for bfloat16,
/// which NumPy lacks; IoError if the file cannot be written.
void write_npy(const std::string& path, const Tensor& array, Site site = Site::here());

}  // namespace oriel
