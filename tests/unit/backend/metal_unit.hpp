// Collects loop programs in a made-up language near Metal in one unit, whose syntax a C++ compiler then checks.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "metal_dialect.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "source/items/render.hpp"

namespace oriel::test {

/// What the language's own compiler has beyond C++.
inline constexpr const char* kMetalDeclarations = R"src(
#include <limits>
#include <type_traits>
#define device
#define thread
#define threadgroup
#define constant const
#define kernel
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
using std::decay_t, std::numeric_limits;
using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned;
using ulong = unsigned long;
using atomic_int = int;
struct uint3 {
  uint operator[](int axis) const;
};
struct half {
  half(float);
  operator float() const;
  ushort bits;
};
enum { memory_order_relaxed };
namespace mem_flags { enum { mem_threadgroup = 1, mem_device = 2 }; }
void threadgroup_barrier(int);
int atomic_fetch_add_explicit(atomic_int*, int, int);
template <class T, class X> T as_type(X) {
  static_assert(sizeof(T) == sizeof(X), "as many bits");
  return T(0);
}
template <class T> T min(T, T);
template <class T> T max(T, T);
template <class T> T abs(T);
template <class T> T clamp(T, T, T);
float fma(float, float, float);
double fma(double, double, double);
#define ONE(f) float f(float); double f(double);
#define TWO(f) float f(float, float); double f(double, double);
TWO(fmod)
)src";

/// The C functions of the table, overloaded for both floats.
inline std::string metal_functions() {
  std::string text;
  for (const graph::OpRow& row : graph::kOpTable)
    if (!row.c_function.empty()) text += fmt::format("{}({})\n", row.arity == 1 ? "ONE" : "TWO", row.c_function);
  return text;
}

class MetalUnit {
 public:
  /// The unit of the running test executable.
  static MetalUnit& instance() {
    static MetalUnit unit;
    return unit;
  }

  /// Renders the program for a GPU with single lanes, and with vectors of four. Returns the second source.
  std::string add(const LoopProgram& program) {
    std::string source;
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
      const source::items::Rendered r = source::items::render(program, kMetal, gpu, options);
      source = r.source();
      for (const auto& [name, function] : r.helpers)
        if (names_.insert(name).second) text_ += function;
      if (!names_.insert(r.functions.front()).second) continue;
      text_ += r.body;
      kernels_ += r.functions.size();
    }
    return source;
  }

  /// Lets the system's C++ compiler check everything that was added.
  void check() const {
    REQUIRE(kernels_ > 0);
    std::string folder = (std::filesystem::temp_directory_path() / "oriel-metal-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    std::string opening = kMetal.prelude(true);
    opening.erase(0, opening.find("\n\n"));  // the headers of the language
    std::ofstream(folder + "/kernels.cpp") << kMetalDeclarations << metal_functions() << opening << text_;
    const std::string command = fmt::format(
        "c++ -std=c++17 -fsyntax-only -Wall -Wno-unused-function -Wno-unused-variable -Wno-unused-but-set-variable "
        "-Wno-attributes -Wno-unknown-attributes -Wno-unknown-pragmas -Wno-undefined-inline -Werror {0}/kernels.cpp > "
        "{0}/messages 2>&1",
        folder);
    const int status = std::system(command.c_str());
    std::ifstream in(folder + "/messages");
    const std::string messages{std::istreambuf_iterator<char>(in), {}};
    std::filesystem::remove_all(folder);
    INFO(messages.substr(0, 4000));
    CHECK(status == 0);
  }

 private:
  std::set<std::string> names_;  // names of the functions that were added
  std::string text_;
  std::size_t kernels_ = 0;
};

}  // namespace oriel::test
