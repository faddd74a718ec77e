// Compiles and runs programs, and compares the bytes that they write.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../../support/temporary_folder.hpp"
#include "backend/eigen/isa/table.hpp"
#include "oriel/oriel.hpp"

namespace oriel::test {

/// The compiler flags with which Eigen behaves as in the engine's loops.
inline std::string level_flags() {
  const std::string level = backend::isa::table().name;
  std::string flags = "-ffp-contract=off";
  if (level == "avx2" || level == "avx512") flags += " -mavx2 -mfma -mf16c";
  if (level == "avx512") flags += " -mavx512f -mavx512bw -mavx512dq -mavx512vl";
  return flags;
}

template <class T>
bool nan_at(const unsigned char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return std::isnan(static_cast<double>(static_cast<float>(value)));
}
inline bool is_nan(DType dtype, const unsigned char* at) {
  return dtype == DType::float16    ? nan_at<float16_t>(at)
         : dtype == DType::bfloat16 ? nan_at<bfloat16_t>(at)
         : dtype == DType::float32  ? nan_at<float>(at)
                                    : dtype == DType::float64 && nan_at<double>(at);
}
/// The index of the first different element, or -1. Any NaN equals any other NaN.
inline std::int64_t difference(DType dtype, const std::vector<unsigned char>& a, const std::vector<unsigned char>& b) {
  if (a.size() != b.size()) return 0;
  const std::size_t size = itemsize(dtype);
  for (std::size_t i = 0; i < a.size(); i += size) {
    if (std::memcmp(a.data() + i, b.data() + i, size) == 0) continue;
    if (!is_nan(dtype, a.data() + i) || !is_nan(dtype, b.data() + i)) return static_cast<std::int64_t>(i / size);
  }
  return -1;
}

/// Runs a command. If it fails, so does the test, with what it said.
inline void shell(const TemporaryFolder& folder, const std::string& command) {
  const std::string messages = folder / "messages";
  if (std::system((command + " 2> " + messages).c_str()) != 0)
    FAIL(command << "\n" << file_text(messages).substr(0, 4000));
}

/// What the main of a program of exports needs to read and write files. newlib has no aligned_alloc.
inline constexpr const char* kProgramFiles = R"(
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#if defined(__NEWLIB__)
#include <malloc.h>
extern "C" int getentropy(void*, std::size_t) { return -1; }
#endif

static void* memory(std::size_t bytes) {
#if defined(__NEWLIB__)
  void* const data = memalign(64, (bytes + 127) / 64 * 64);
#else
  void* const data = std::aligned_alloc(64, (bytes + 127) / 64 * 64);
#endif
  if (data == nullptr) std::abort();
  std::memset(data, 0xa5, bytes);
  return data;
}
[[maybe_unused]] static void* read(const std::string& path, std::size_t bytes) {
  void* const data = memory(bytes);
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr || std::fread(data, 1, bytes, file) != bytes) {
    std::fprintf(stderr, "%s\n", path.c_str());
    std::abort();
  }
  std::fclose(file);
  return data;
}
static void write(const std::string& path, const void* data, std::size_t bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr || std::fwrite(data, 1, bytes, file) != bytes) std::abort();
  std::fclose(file);
}
)";

}  // namespace oriel::test
