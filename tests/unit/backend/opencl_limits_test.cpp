// A device with low limits: kernels are split to stay within them, and what is impossible is refused with an
// explanation.
#include <cmath>
#include <cstring>

#include "opencl_device.hpp"
#include "oriel/oriel.hpp"

namespace opencl_limits_test {

using namespace oriel;
using namespace oriel::test;
namespace opencl = oriel::backend::opencl;

namespace {

const opencl::Api* real;

template <class T>
cl_int answer(std::size_t room, void* value, std::size_t* size, T what) {
  if (value != nullptr && room >= sizeof what) std::memcpy(value, &what, sizeof what);
  if (size != nullptr) *size = sizeof what;
  return CL_SUCCESS;
}

// Reports 256 bytes of arguments, 2 KiB of local memory and no float64.
cl_int poor(cl_device_id device, cl_device_info what, std::size_t room, void* value, std::size_t* size) {
  if (what == CL_DEVICE_MAX_PARAMETER_SIZE) return answer(room, value, size, std::size_t{256});
  if (what == CL_DEVICE_LOCAL_MEM_SIZE) return answer(room, value, size, cl_ulong{2048});
  const cl_int status = real->clGetDeviceInfo(device, what, room, value, size);
  if (what == CL_DEVICE_EXTENSIONS && value != nullptr && status == CL_SUCCESS) {
    char* text = static_cast<char*>(value);
    if (char* found = std::strstr(text, "cl_khr_fp64")) std::memset(found, 'x', 11);
  }
  return status;
}

/// Opens the device. Returns false, with a message, if there is none. Call it before any other use of the device.
bool with_poor_device() {
  static opencl::Api table;
  if (real == nullptr) {
    std::string why_not;
    real = opencl::system_api(why_not);
    if (real != nullptr) {
      table = *real;
      table.clGetDeviceInfo = poor;
      opencl::replace_system_api(&table);
    }
  }
  return has_opencl();
}

}  // namespace

TEST_CASE("the table says what the device does") {
  if (!with_poor_device()) return;
  const auto& capabilities = backend::backend_for(Device::opencl(0)).capabilities();
  CHECK(capabilities.max_arguments == 16);
  CHECK(capabilities.max_parameters == 8);
  CHECK(capabilities.row_bytes == 1024);
  CHECK(capabilities.description.find("no float64") != std::string::npos);
}

TEST_CASE("a kernel of many buffers, outputs and numbers is split, with the same results") {
  if (!with_poor_device()) return;
  std::vector<Tensor> here, there;
  for (int i = 0; i < 50; ++i) {
    here.push_back((arange(0, 6, 1).to(DType::float32) * (0.5f + static_cast<float>(i))).realize());
    there.push_back(here.back().to(Device::opencl(0)));
  }
  realize(there);
  const auto work = [](const std::vector<Tensor>& x) {
    Tensor up = x[0], down = x.back(), scaled = x[1];
    for (std::size_t i = 1; i < x.size(); ++i) up = up + x[i];
    for (std::size_t i = x.size() - 1; i-- > 0;) down = maximum(down * 0.75f, x[i]);
    for (int i = 0; i < 200; ++i)
      scaled = scaled * (1.0f + 0.001f * static_cast<float>(i)) + 0.1f * static_cast<float>(i);
    std::vector<Tensor> results{up, down, scaled, concat(x), sum(stack(x), 0)};
    for (int i = 0; i < 20; ++i) results.push_back(x[0] * (3.0f + static_cast<float>(i)));
    return results;
  };
  const std::vector<Tensor> want = work(here), got = work(there);
  const Explanation e = explain(got);
  bool split = false;
  for (const ExplainedKernel& k : e.kernels)
    for (const ExplainedOutput& o : k.outputs)
      split =
          split || o.reason.find("as many arguments as the device takes (16 buffers, 8 numbers)") != std::string::npos;
  CHECK(split);
  realize(got);
  for (std::size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    const auto w = want[i].to_vector<float>(), g = got[i].to_vector<float>();
    REQUIRE(w.size() == g.size());
    for (std::size_t k = 0; k < w.size(); ++k) CHECK(g[k] == doctest::Approx(w[k]).epsilon(1e-6));
  }
}

TEST_CASE("rows longer than local memory are computed again or stored") {
  if (!with_poor_device()) return;
  const Tensor x = (sin(arange(0, 3 * 5000, 1).to(DType::float32)).reshape({3, 5000})).realize();
  const auto want = softmax(x, 1).to_vector<float>();
  const auto got = softmax(x.to(Device::opencl(0)), 1).to_vector<float>();
  for (std::size_t k = 0; k < want.size(); k += 97) CHECK(got[k] == doctest::Approx(want[k]).epsilon(1e-5));
  const Tensor a = x.shrink({{0, 3}, {0, 1600}}).reshape({60, 80}).realize();
  const auto product = matmul(a, a.transpose()).to_vector<float>();
  const Tensor b = a.to(Device::opencl(0));
  const auto there = matmul(b, b.transpose()).to_vector<float>();
  for (std::size_t k = 0; k < product.size(); ++k) CHECK(std::fabs(there[k] - product[k]) < 1e-4);
}

TEST_CASE("float64 is kept and copied by a device without it, and computed elsewhere") {
  if (!with_poor_device()) return;
  const Tensor x = Tensor::of<double>({1.5, 2.25, -3.0}).to(Device::opencl(0)).realize();
  CHECK(x.to_vector<double>() == std::vector<double>{1.5, 2.25, -3.0});
  const Tensor y = x * 2.0;
  try {
    y.realize();
    FAIL("float64 was computed");
  } catch (const DeviceError& error) {
    const std::string said = error.what();
    CAPTURE(said);
    CHECK(said.find("float64, which ") != std::string::npos);
    CHECK(said.find("use float32 there, or to(Device::eigen())") != std::string::npos);
  }
  CHECK((x.to(Device::eigen()) * 2.0).to_vector<double>() == std::vector<double>{3, 4.5, -6});
  CHECK((x.to(Device::eigen()).to(DType::float32).to(Device::opencl(0)) + 1.0f).to_vector<float>()[2] == -2);
  CHECK((Tensor::of<std::int64_t>({std::int64_t{1} << 40, -7}).to(Device::opencl(0)) * 3).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{std::int64_t{3} << 40, -21});
}

TEST_CASE("moments of float32 without float64 stay in the range") {
  if (!with_poor_device()) return;
  using Floats = std::vector<float>;
  const auto there = [](const Floats& x) {
    return Tensor::from(x, {1, static_cast<std::int64_t>(x.size())}).to(Device::opencl(0));
  };
  const Tensor equal = there(Floats(10, 1e10F)), opposite = there({1e30F, -1e30F}), small = there({1e-30F, -1e-30F});
  CHECK(layer_norm(equal).to_vector<float>() == Floats(10, 0));
  CHECK(group_norm(equal, 1).to_vector<float>() == Floats(10, 0));
  CHECK(var(equal).item<float>() == 0);
  for (const Tensor& x :
       {layer_norm(opposite), rms_norm(opposite), layer_norm(small, -1, 0), rms_norm(small, -1, {.eps = 0})}) {
    const Floats values = x.to_vector<float>();
    CHECK(values[0] == doctest::Approx(1));
    CHECK(values[1] == doctest::Approx(-1));
  }
  CHECK(stddev(opposite, Axes{}, false, 0).item<float>() == doctest::Approx(1e30));
  CHECK(stddev(small, Axes{}, false, 0).item<float>() == doctest::Approx(1e-30));
  CHECK(rms_norm(small).to_vector<float>()[0] == doctest::Approx(1e-30 / std::sqrt(1e-5)));
  const Floats ordinary = layer_norm(there({1, 2, 4, 5})).to_vector<float>();
  CHECK(ordinary[0] == doctest::Approx(-2 / std::sqrt(2.5 + 1e-5)));
}

}  // namespace opencl_limits_test
