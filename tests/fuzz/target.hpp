// A target: what is done with one input. libFuzzer calls it, or replay_main.cpp with the inputs that it is given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

/// Aborts where the input shows a fault, and returns 0 otherwise. Nothing may be thrown out of it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace oriel::fuzzing {

/// Ends the run; libFuzzer then keeps the input.
[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

inline void require(bool holds, const std::string& what) {
  if (!holds) fail(what);
}

}  // namespace oriel::fuzzing
