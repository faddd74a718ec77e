// What the tests of saved functions share.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "oriel/oriel.hpp"
#include "support/saved_file.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::test {

inline Tensor counting(const Shape& shape, float from = 0) {
  float next = from;
  return Tensor::generate(shape, [next](auto) mutable { return next += 0.25F; });
}

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline bool has(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace oriel::test
