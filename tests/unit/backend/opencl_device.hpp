// An OpenCL device for tests, and a function that runs loop programs on it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "backend/opencl/backend.hpp"
#include "metal_unit.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "source/opencl/dialect.hpp"

namespace oriel::test {

/// Does this machine have an OpenCL device? If not, prints that the test is skipped.
inline bool has_opencl() {
  const bool has = backend::opencl::device_count() > 0;
  if (!has) MESSAGE("skipped: this machine has no OpenCL device");
  return has;
}

/// A backend's options. ORIEL_TEST_LANES sets the width of vectors, for simulators that prefer no vectors.
inline backend::opencl::Options opencl_options(int group_items = 0) {
  backend::opencl::Options options;
  options.render.group_items = group_items;
  if (const char* lanes = std::getenv("ORIEL_TEST_LANES")) options.render.lanes = std::atoi(lanes);
  return options;
}

/// The dtypes that tests of kernels use: all on a simulator, which interprets; fewer where a driver's compiler takes a
/// second for each.
inline std::vector<DType> tested_dtypes() {
  if (std::getenv("ORIEL_TEST_LANES") != nullptr) return register_dtypes();
  return {DType::bool_, DType::int32, DType::uint64, DType::float32};
}

/// Runs a program on copies of the arguments; afterwards the copies hold the results. Also renders the program in a
/// language near Metal for the last case of the source.
inline void run_there(backend::opencl::OpenClBackend& device, const LoopProgram& p,
                      const std::vector<const Bytes*>& arguments, std::span<const graph::Scalar> parameters = {},
                      bool builds_fail = false) {
  MetalUnit::instance().add(p);
  const auto kernel = device.compile(p);
  device.prepare({&kernel, 1});
  // builtins.hpp knows what kernels call.
  CHECK((builds_fail || device.driver().retried() == 0));
  std::vector<std::unique_ptr<mem::Buffer>> buffers;
  std::vector<void*> data;
  for (std::size_t a = 0; a < arguments.size(); ++a) {
    const std::int32_t shares = p.arguments[a].shares;
    if (shares >= 0) {
      data.push_back(data[static_cast<std::size_t>(shares)]);
      buffers.push_back(nullptr);
      continue;
    }
    buffers.push_back(std::make_unique<mem::Buffer>(device.allocator(), arguments[a]->bytes()));
    data.push_back(buffers.back()->data());
    device.allocator()->write(data.back(), arguments[a]->data(), arguments[a]->bytes());
  }
  device.launch(*kernel, data, parameters);
  device.submit();
  for (std::size_t a = 0; a < arguments.size(); ++a)
    device.allocator()->read(data[a], arguments[a]->data(), arguments[a]->bytes());
}

/// The largest difference between two float32 arguments, relative to `scale`.
inline double worst_difference(const Bytes& a, const Bytes& b, double scale) {
  double worst = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double d = std::fabs(static_cast<double>(a.as<float>()[i]) - b.as<float>()[i]);
    worst = std::max(worst, d / scale);
  }
  return worst;
}

}  // namespace oriel::test
