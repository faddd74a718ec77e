#include "oriel/device.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "oriel/error.hpp"
#include "oriel/tensor.hpp"

namespace device_test {

using namespace oriel;

TEST_CASE("devices read from text and print as it") {
  CHECK(Device::parse("eigen") == Device::eigen());
  CHECK(Device::parse("null") == Device::null());
  CHECK(Device::parse("opencl:1") == Device::opencl(1));
  CHECK(Device::parse("opencl") == Device::opencl(0));
  for (const char* text : {"eigen", "null", "opencl:0", "opencl:7"}) CHECK(Device::parse(text).str() == text);
  for (const char* text : {"", "cuda", "eigen:1", "opencl:", "opencl:x", "opencl:256", "opencl:-1"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(Device::parse(text),
                         ("device: \"" + std::string(text) +
                          "\" names no device; use eigen, null, opencl or opencl:N with N from 0 to 255")
                             .c_str(),
                         ArgumentError);
  }
}

TEST_CASE("the default device") {
  CHECK(default_device() == Device::eigen());
  CHECK_THROWS_AS(set_default_device({DeviceKind::opencl, 9}), DeviceError);
  CHECK(default_device() == Device::eigen());
  set_default_device(Device::null());
  CHECK(Tensor::of<float>({1, 2}).device() == Device::null());
  CHECK_THROWS_WITH_AS(Tensor::of<float>({1, 2}).to_vector<float>(),
                       "to_vector: the null device computes nothing, so there is nothing to read; use the eigen device",
                       DeviceError);
  set_default_device(Device::eigen());
  CHECK(devices().size() >= 2);
}

}  // namespace device_test
