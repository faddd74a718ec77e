// Operands of random products: views of any kind over memory between guard pages, and the elements that they show.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oriel/tensor.hpp"

namespace oriel::testing {

/// Elements in row-major order, as numbers: the model with which a tensor is compared.
struct Dense {
  std::vector<std::int64_t> shape;
  std::vector<double> values;

  double at(std::initializer_list<std::int64_t> index) const;
};

/// One movement or computation, with the numbers that decide its choices. Every step is valid at every place, as
/// shrinking needs.
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

/// A tensor of this shape. The last step is applied to the memory first. Elements are whole numbers from -4 to 4 (from
/// 0 for unsigned dtypes), so that sums of their products are exact in every order.
Viewed make_operand(const std::vector<std::int64_t>& shape, DType dtype, std::span<const ViewStep> steps,
                    std::uint32_t seed);

/// Random int64 or int32 positions in [least, end).
Viewed make_positions(const std::vector<std::int64_t>& shape, std::int64_t least, std::int64_t end, std::uint32_t seed);

std::int64_t count(const std::vector<std::int64_t>& shape);
Shape to_shape(const std::vector<std::int64_t>& shape);

}  // namespace oriel::testing
