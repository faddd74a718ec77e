// Small programs on the null device, for tests of inspection.
#pragma once

#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::test {

/// While it lives, new tensors are on the null device.
struct NullDevice {
  NullDevice() { set_default_device(Device::null()); }
  ~NullDevice() { set_default_device(Device::eigen()); }
};

inline Tensor data(const Shape& shape) {
  const std::vector<float> zeros(static_cast<std::size_t>(numel(shape).value()));
  return Tensor::from(zeros, shape);
}

/// One kernel: movements between the data and a sum of rows, and a pad that has to mask the value of exp. The mask is
/// not a box of the reshaped axes.
inline Tensor moved_sum() {
  const Tensor y = exp(data({4, 6}) * 3.5f);
  const Tensor z = pad(y, {{0, 0}, {1, 1}}).flip({1}).transpose().reshape({2, 4, 4});
  return sum(z, 2);
}

/// Several kernels with temporaries: a row that the whole matrix needs has to be stored.
inline Tensor several_kernels() {
  Tensor x = data({64, 96});
  for (int round = 0; round < 3; ++round) x = x + softmax(sum(x, 0, true)) * 7.25f;
  return x;
}

}  // namespace oriel::test
