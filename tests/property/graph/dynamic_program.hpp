// Random programs over symbolic sizes: what random_dynamic and random_symbolic_exports capture.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "oriel/tensor.hpp"

namespace oriel::testing {

constexpr std::size_t kSizes = 3;

struct Step {
  std::uint32_t kind = 0;
  std::array<std::uint32_t, 4> dice{};
};
struct Program {
  std::vector<Step> steps;
  std::array<std::array<std::uint32_t, 2>, 3> leaves{};  // which of the sizes each axis of a leaf has
  std::array<std::uint32_t, 3> views{};                  // how each leaf is passed
  bool automatic = false;
  bool long_sizes = false;  // so long that kernels are fused row by row
  bool checked = false;     // are positions? Some are outside
};

/// The program that the captured callable runs, which may not hold it.
extern const Program* current;
/// How many comprehensions ran, and how many did not accept their sizes.
extern std::size_t comprehensions;
extern std::size_t refused;

/// The last value of the program, and one in the middle.
std::pair<Tensor, Tensor> run(const std::vector<Tensor>& leaves);

/// Small quarters, of which there are few: comparisons meet equal elements.
Tensor leaf(const Shape& shape, std::uint32_t seed);

}  // namespace oriel::testing
