// Programs through `oriel eval`, compared with NumPy's answers: .npy files in and out, on each device of this machine.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::programs_test {
namespace {

using Json = nlohmann::json;

std::vector<Json> programs() {
  std::ifstream file(ORIEL_TEST_DATA "/tc_programs.jsonl");
  REQUIRE(file.good());
  std::vector<Json> out;
  for (std::string line; std::getline(file, line);) out.push_back(Json::parse(line));
  return out;
}

// Infinities and NaN are strings in the file.
double number(const Json& x) { return x.is_string() ? std::stod(x.get<std::string>()) : x.get<double>(); }

Shape shape_of(const Json& array) {
  Shape shape;
  for (const Json& extent : array["shape"]) shape.push_back(extent.get<std::int64_t>());
  return shape;
}

Tensor tensor_of(const Json& array) {
  const DType dtype = dtype_from_name(array["dtype"].get<std::string>());
  const Shape shape = shape_of(array);
  if (!is_floating(dtype)) return Tensor::from(array["data"].get<std::vector<std::int64_t>>(), shape).to(dtype);
  std::vector<double> values;
  for (const Json& x : array["data"]) values.push_back(number(x));
  return Tensor::from(values, shape).to(dtype);
}

// Compares within a relative and absolute tolerance; integers exactly.
void compare(const Tensor& got, const Json& expected, double tolerance) {
  REQUIRE(std::string(name(got.dtype())) == expected["dtype"]);
  REQUIRE(got.shape() == shape_of(expected));
  const Json& data = expected["data"];
  if (!is_floating(got.dtype())) {
    CHECK(got.to(DType::int64).to_vector<std::int64_t>() == data.get<std::vector<std::int64_t>>());
    return;
  }
  if (got.dtype() == DType::float16) tolerance = 2e-3;
  const std::vector<double> values = got.to(DType::float64).to_vector<double>();
  std::size_t apart = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double want = number(data[k]);
    const bool same = values[k] == want || (std::isnan(values[k]) && std::isnan(want)) ||
                      std::abs(values[k] - want) <= tolerance * (1 + std::abs(want));
    apart += same ? 0 : 1;
  }
  CHECK(apart == 0);
}

void run_all(const std::string& device, std::size_t step) {
  const std::vector<Json> all = programs();
  REQUIRE(all.size() >= 100);
  const test::TemporaryFolder folder;
  for (std::size_t k = 0; k < all.size(); k += step) {
    const Json& one = all[k];
    CAPTURE(device);
    CAPTURE(one["name"].get<std::string>());
    std::vector<std::string> arguments{"eval", "-e", one["def"], "--device", device};
    const auto add = [&](const char* option, const std::string& value) {
      arguments.emplace_back(option);
      arguments.push_back(value);
    };
    for (const auto& [parameter, array] : one["inputs"].items()) {
      const std::string path = folder / (parameter + ".npy");
      write_npy(path, tensor_of(array));
      add("--in", parameter + "=" + path);
    }
    const Json numbers = one.value("set", Json::object());
    for (const auto& [parameter, value] : numbers.items()) {
      add("--set", parameter + "=" + value.get<std::string>());
    }
    for (const auto& [result, array] : one["expect"].items()) {
      add("--out", result + "=" + (folder / ("out_" + result + ".npy")));
    }
    if (one.value("unchecked", false)) arguments.emplace_back("--unchecked");
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const int status = cli::run(arguments, in, out, err);
    REQUIRE_MESSAGE(status == 0, err.str());
    for (const auto& [result, array] : one["expect"].items()) {
      compare(read_npy(folder / ("out_" + result + ".npy")), array, one.value("tolerance", 2e-5));
    }
  }
}

}  // namespace

TEST_CASE("every program gives NumPy's answer on eigen") { run_all("eigen", 1); }

// Nearly all of the time is spent in the driver's compiler.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kOneOf = 10;
#else
constexpr std::size_t kOneOf = 3;
#endif

TEST_CASE("and on the first other device that computes") {
  for (const Device& device : devices()) {
    if (device.kind != DeviceKind::opencl) continue;
    run_all(device.str(), kOneOf);
    return;
  }
}

}  // namespace oriel::programs_test
