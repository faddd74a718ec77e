// The header of a .npy file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/pixels.hpp"
#include "oriel/dtype.hpp"

namespace oriel::io {

struct NpyHeader {
  DType dtype = DType::float32;
  bool complex = false;  // elements are pairs of the dtype
  bool fortran = false;
  std::vector<std::int64_t> shape;
};

/// Parses the dictionary in a header, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3,)}. Throws
/// IoError, which names the file.
NpyHeader parse_npy_header(std::string_view text, const std::string& path);

/// The bytes before the elements: magic, version 1 (2 if the dictionary is long) and dictionary, padded to 64 bytes.
Bytes npy_header(const NpyHeader& header);

/// Throws IoError with the text: read_npy: "path": what.
[[noreturn]] void refuse_npy(const std::string& path, std::string_view what);

}  // namespace oriel::io
