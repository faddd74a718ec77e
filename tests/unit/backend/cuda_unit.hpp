// Collects loop programs as CUDA C++ in one unit, whose syntax a compiler then checks.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "programs.hpp"
#include "reference/loops.hpp"
#include "source/cuda/dialect.hpp"
#include "source/items/render.hpp"

namespace oriel::test {

/// Declarations that a CUDA compiler provides.
inline constexpr const char* kCudaDeclarations = R"src(
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))
struct Uint3 {
  unsigned x, y, z;
};
extern const __device__ Uint3 threadIdx, blockIdx, blockDim;
__device__ void __syncthreads();
__device__ int atomicAdd(int*, int);
__device__ float __int_as_float(int);
__device__ double __longlong_as_double(long long);
extern "C" __device__ void* memcpy(void*, const void*, unsigned long);
#define ONE(f) __device__ float f(float); __device__ double f(double);
#define TWO(f) __device__ float f(float, float); __device__ double f(double, double);
TWO(fmod)
__device__ float fma(float, float, float);
__device__ double fma(double, double, double);
#define ENDS(T) __device__ T min(T, T); __device__ T max(T, T);
ENDS(int) ENDS(unsigned) ENDS(long long) ENDS(unsigned long long)
)src";

/// The C functions of the table, overloaded as CUDA does.
inline std::string cuda_functions() {
  std::string text;
  for (const graph::OpRow& row : graph::kOpTable) {
    if (!row.c_function.empty()) text += fmt::format("{}({})\n", row.arity == 1 ? "ONE" : "TWO", row.c_function);
  }
  return text;
}

class CudaUnit {
 public:
  /// The unit of the running test executable.
  static CudaUnit& instance() {
    static CudaUnit unit;
    return unit;
  }

  /// Renders the program for a GPU with single lanes, and with vectors of four.
  void add(const LoopProgram& program) {
    source::items::DeviceTraits gpu;
    gpu.name = "a GPU";
    gpu.fp64 = gpu.fma = true;
    gpu.units = 16;
    gpu.argument_bytes = 4096;
    gpu.local_memory = 48 << 10;
    gpu.group_size = gpu.group_extent = 1024;
    for (const int lanes : {0, 4}) {
      source::items::RenderOptions options;
      options.lanes = lanes;
      const source::items::Rendered r = source::items::render(program, source::cuda::dialect(), gpu, options);
      for (const auto& [name, function] : r.helpers)
        if (names_.insert(name).second) text_ += function;
      if (!names_.insert(r.functions.front()).second) continue;
      text_ += r.body;
      kernels_ += r.functions.size();
    }
  }

  /// Lets clang check everything that was added. Returns false, with a message, if there is no clang.
  bool check() const {
    if (std::system("command -v clang > /dev/null 2>&1") != 0) {
      MESSAGE("skipped: there is no clang to check the syntax of CUDA C++");
      return false;
    }
    REQUIRE(kernels_ > 0);
    std::string folder = (std::filesystem::temp_directory_path() / "oriel-cuda-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    std::ofstream(folder + "/kernels.cu")
        << kCudaDeclarations << cuda_functions() << source::cuda::dialect().prelude(true) << text_;
    const std::string command = fmt::format(
        "clang -x cuda -std=c++17 -fsyntax-only --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib -Wall "
        "-Wno-unused-function -Wno-unused-variable -Wno-unused-const-variable -Wno-unknown-cuda-version -Werror "
        "{0}/kernels.cu > {0}/messages 2>&1",
        folder);
    const int status = std::system(command.c_str());
    std::ifstream in(folder + "/messages");
    const std::string messages{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove_all(folder);
    INFO(messages.substr(0, 4000));
    CHECK(status == 0);
    return true;
  }

 private:
  std::set<std::string> names_;  // names of the functions that were added
  std::string text_;
  std::size_t kernels_ = 0;
};

}  // namespace oriel::test
