// Tensors as text, compared with NumPy's output.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "oriel/oriel.hpp"

namespace oriel::print_test {
namespace {

using nlohmann::json;

Tensor tensor_of(const json& c) {
  Shape shape;
  for (const auto& n : c["shape"]) shape.push_back(n.get<std::int64_t>());
  const DType dtype = dtype_from_name(c["dtype"].get<std::string>());
  const json& elements = c["elements"];
  if (elements.is_number()) return (iota(shape).to(DType::float64) * elements.get<double>()).to(dtype);
  if (is_floating(dtype)) {
    std::vector<double> values;
    for (const auto& x : elements) values.push_back(std::strtod(x.get<std::string>().c_str(), nullptr));
    return Tensor::from(values, shape).to(dtype);
  }
  if (dtype == DType::uint64) {
    std::vector<std::uint64_t> values;
    for (const auto& x : elements) values.push_back(x.get<std::uint64_t>());
    return Tensor::from(values, shape);
  }
  std::vector<std::int64_t> values;
  for (const auto& x : elements) values.push_back(x.get<std::int64_t>());
  return Tensor::from(values, shape).to(dtype);
}

PrintOptions options_of(const json& given) {
  PrintOptions out;
  out.precision = given.value("precision", out.precision);
  out.threshold = given.value("threshold", out.threshold);
  out.edge_items = given.value("edgeitems", out.edge_items);
  out.line_width = given.value("linewidth", out.line_width);
  out.suppress = given.value("suppress", out.suppress);
  out.sign = given.value("sign", std::string("-"))[0];
  out.nan = given.value("nanstr", out.nan);
  out.inf = given.value("infstr", out.inf);
  const std::string mode = given.value("floatmode", std::string("maxprec"));
  using Mode = PrintOptions::FloatMode;
  out.float_mode = mode == "fixed"           ? Mode::fixed
                   : mode == "unique"        ? Mode::unique
                   : mode == "maxprec_equal" ? Mode::maxprec_equal
                                             : Mode::maxprec;
  return out;
}

std::string refusal(const PrintOptions& options) {
  try {
    static_cast<void>(to_string(ones({2}), options));
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("arrays of all kinds are written as NumPy writes them") {
  std::ifstream file(std::string(ORIEL_TEST_DATA) + "/numpy_text.json");
  REQUIRE(file);
  const json cases = json::parse(file)["cases"];
  CHECK(cases.size() > 280);
  for (const json& c : cases) {
    INFO(c["dtype"].dump() << c["shape"].dump() << c["options"].dump() << c["elements"].dump().substr(0, 400));
    CHECK(to_string(tensor_of(c), options_of(c["options"])) == c["text"].get<std::string>());
  }
}

TEST_CASE("streams write with the process's options") {
  const Tensor x = Tensor::of<float>({{1, 2.5}, {-3, 4}});
  std::ostringstream out;
  out << x << '\n' << x.select(0, 0) << sum(x);
  CHECK(out.str() == "[[ 1.   2.5]\n [-3.   4. ]]\n[1.  2.5]4.5");
  const PrintOptions before = print_options();
  PrintOptions options;
  options.float_mode = PrintOptions::FloatMode::fixed;
  options.precision = 1;
  set_print_options(options);
  CHECK(to_string(x) == "[[ 1.0  2.5]\n [-3.0  4.0]]");
  set_print_options(before);
  CHECK(to_string(x) == "[[ 1.   2.5]\n [-3.   4. ]]");
}

TEST_CASE("bfloat16 is written with the digits that it needs, views and pending work as what they are") {
  CHECK(to_string(Tensor::of<bfloat16_t>({0.1, 1, -2.5})) == "[ 0.1  1.  -2.5]");
  const Tensor x = iota({2, 3});
  CHECK(to_string(x.transpose() * 2) == "[[ 0  6]\n [ 2  8]\n [ 4 10]]");
}

TEST_CASE("a summary asks for the elements that it shows alone") {
  const Tensor x = iota({std::int64_t{1} << 20}).to(DType::float32).realize();
  CHECK(to_string(x.expand({4, 1 << 20}).slice({{}, {.step = 2}}).select(0, 1).shrink({{0, 5000}})) ==
        "[0.000e+00 2.000e+00 4.000e+00 ... 9.994e+03 9.996e+03 9.998e+03]");
}

TEST_CASE("options out of range") {
  PrintOptions options;
  options.precision = 65;
  CHECK(refusal(options) == "print: a precision of 65; give 0 to 64 digits");
  options = {};
  options.edge_items = 0;
  CHECK(refusal(options).starts_with("print: threshold 1000, edge_items 0, line_width 75; "));
  options = {};
  options.sign = 'x';
  CHECK(refusal(options) == "print: sign 'x'; give '-', '+' or ' '");
  CHECK_THROWS_AS(set_print_options(options), ArgumentError);
}

TEST_CASE("what describes a tensor is written in the words of messages") {
  const auto written = [](const auto& x) {
    std::ostringstream out;
    out << x;
    return out.str();
  };
  const Tensor x = Tensor::of<float>({{1, 2, 3}, {4, 5, 6}});
  CHECK(written(x.dtype()) == "float32");
  CHECK(written(x.device()) == "eigen");
  CHECK(written(x.shape()) == "(2, 3)");
  CHECK(written(x.shape()[1]) == "3");
  CHECK(written(x.strides()) == "(3, 1)");
  CHECK(written(x.layout()) == x.layout().str());
  CHECK(written(MemoryFormat::channels_last) == "channels_last");
  CHECK(written(View::contiguous({2, 3}).flip({0})) == "(2,3):(-3,1)+3");
  const ShapeTracker stack = ShapeTracker({2, 3}).permute({1, 0}).reshape({6});
  CHECK(written(stack) == "(6):(1) over (3,2):(1,3)");
  CHECK(written(explain(x + 1)) == explain(x + 1).str());
#ifndef ORIEL_SMALL
  const Comprehension f = comprehension("def f(float(N) X) -> (Y) { Y(i) = X(i) }");
  CHECK(written(f.ranges({{3}})) == f.ranges({{3}}).str());
#endif
  CHECK(written(iterate({x, x})) == iterate({x, x}).str());
  CHECK(written(Profile{}) == Profile{}.str());
}

}  // namespace oriel::print_test
