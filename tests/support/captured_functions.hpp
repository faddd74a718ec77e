// What tests of captured functions share.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "oriel/function.hpp"
#include "oriel/oriel.hpp"

namespace oriel::test {

/// first + 0.25, first + 0.5, ...
inline Tensor numbers(const Shape& shape, float first = 0) {
  float next = first;
  return Tensor::generate(shape, [&](auto) { return next += 0.25F; });
}

/// The guards on sizes of an entry.
inline std::vector<std::string> size_guards(const FunctionEntry& entry) {
  std::vector<std::string> out;
  for (const std::string& guard : entry.guards)
    if (guard.find("size(") != std::string::npos) out.push_back(guard);
  return out;
}

/// The tensors of a call are x, y and z.
inline FunctionOptions with(Dynamic dynamic) {
  FunctionOptions options;
  options.dynamic = dynamic;
  options.names = {"x", "y", "z"};
  return options;
}

/// Checks that the function computes what the callable does, and how often it was traced.
template <class F, class G, class... T>
void same(const F& f, const G& plain, std::uint64_t traced, const T&... x) {
  const Tensor got = f(x...);
  const Tensor want = plain(x...);
  CHECK(got.shape() == want.shape());
  CHECK(got.strides() == want.strides());
  CHECK(got.dtype() == want.dtype());
  CHECK(got.to(DType::float64).template to_vector<double>() == want.to(DType::float64).template to_vector<double>());
  CHECK(f.counts().traces == traced);
}

}  // namespace oriel::test
