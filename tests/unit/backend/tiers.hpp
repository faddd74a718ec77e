// Runs the same program on both tiers: on the tile machine, and as a kernel that a compiler built.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "../../support/temporary_folder.hpp"
#include "backend/eigen/compiled/native.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"

namespace oriel::test {

using backend::eigen::EigenBackend;

/// A program and the buffers of its inputs.
struct Work {
  LoopProgram program;
  std::vector<Bytes> inputs;
  std::vector<graph::Scalar> parameters = {};
};

/// Equal bits? NaNs may have any bits.
inline bool same(const Bytes& a, const Bytes& b, std::string& where) {
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const Word x = read_element(a, i);
    const Word y = read_element(b, i);
    if (x == y) continue;
    const bool nan = a.dtype() == DType::float64
                         ? std::isnan(get<double>(x)) && std::isnan(get<double>(y))
                         : is_floating(a.dtype()) && std::isnan(get<float>(x)) && std::isnan(get<float>(y));
    if (nan) continue;
    where = "element " + std::to_string(i);
    return false;
  }
  return true;
}

inline void check_same_bits(const std::vector<Work>& works, const std::string& level, int threads = 2) {
  const TemporaryFolder folder;
  mem::DiskCache cache(folder / "cache");
  EigenBackend tile({threads, 0, level, EigenTier::tile});
  EigenBackend compiled({threads, 0, level, EigenTier::compile, nullptr, &cache});
  std::vector<std::shared_ptr<const backend::Kernel>> kernels;
  for (const Work& w : works) {
    codegen::verify(w.program);
    kernels.push_back(compiled.compile(w.program));
  }
  compiled.prepare(kernels);
  for (std::size_t w = 0; w < works.size(); ++w) {
    const auto& kernel = static_cast<const backend::eigen::TieredKernel&>(*kernels[w]);
    CAPTURE(works[w].program.name);
    CAPTURE(level);
    CHECK((kernel.native.load() != nullptr));
    std::vector<Bytes> one;
    std::vector<Bytes> two;
    std::size_t next = 0;
    for (const codegen::Argument& a : works[w].program.arguments) {
      one.push_back(a.output ? Bytes(a.dtype, a.elements.value()) : works[w].inputs[next]);
      two.push_back(a.output ? Bytes(a.dtype, a.elements.value()) : works[w].inputs[next++]);
    }
    std::vector<void*> first;
    std::vector<void*> second;
    for (const Bytes& b : one) first.push_back(b.data());
    for (const Bytes& b : two) second.push_back(b.data());
    tile.launch(*tile.compile(works[w].program), first, works[w].parameters);
    compiled.launch(*kernels[w], second, works[w].parameters);
    for (std::size_t a = 0; a < one.size(); ++a) {
      std::string where;
      CAPTURE(a);
      CHECK(same(one[a], two[a], where));
      CAPTURE(where);
      CHECK(where.empty());
    }
  }
}

}  // namespace oriel::test
