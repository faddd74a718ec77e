// A fuzz target: a function of one input. libFuzzer calls it, or replay_main.cpp with given inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/// Aborts if the input reveals a fault, else returns 0. It must not throw.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace oriel::fuzzing {

/// Aborts the process; libFuzzer then keeps the input.
[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

inline void require(bool holds, const std::string& what) {
  if (!holds) fail(what);
}

}  // namespace oriel::fuzzing
