// Operands of random products: views of any kind over memory with nothing beside it, and the elements that they show.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oriel/tensor.hpp"

namespace oriel::testing {

/// Elements in row-major order, as numbers: the model that a tensor is held against.
struct Dense {
  std::vector<std::int64_t> shape;
  std::vector<double> values;

  double at(std::initializer_list<std::int64_t> index) const;
};

/// One movement, or one computation, with the numbers that its choices are read off. Every step is meaningful in every
/// place: that is what shrinking needs.
struct ViewStep {
  std::uint32_t kind = 0;
  std::array<std::uint32_t, 3> dice{};
};
inline constexpr std::uint32_t kViewKinds = 18;

struct Viewed {
  Tensor tensor;
  Dense model;
  std::string text;
};

/// A tensor of that shape. The last step is nearest to the memory. Elements are whole numbers from -4 to 4, or from 0
/// to 4 where the dtype has no sign, so that sums of their products are exact in every order.
Viewed make_operand(const std::vector<std::int64_t>& shape, DType dtype, std::span<const ViewStep> steps,
                    std::uint32_t seed);

/// int64 or int32 positions in [least, end).
Viewed make_positions(const std::vector<std::int64_t>& shape, std::int64_t least, std::int64_t end, std::uint32_t seed);

std::int64_t count(const std::vector<std::int64_t>& shape);
Shape to_shape(const std::vector<std::int64_t>& shape);

}  // namespace oriel::testing
