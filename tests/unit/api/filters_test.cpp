// Median filters, sums over windows, symmetric padding, quantiles without NaN and sorts by several keys, beside the
// answers of SciPy and NumPy (tests/data/scipy_windows.py).
#include <doctest/doctest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace filters_test {

using namespace oriel;
using nlohmann::json;

namespace {

Tensor recorded(const json& t) {
  std::vector<double> numbers;
  for (const json& x : t[2])
    numbers.push_back(x.is_number() ? x.get<double>() : std::numeric_limits<double>::quiet_NaN());
  return Tensor::from(numbers, t[1].get<std::vector<std::int64_t>>()).to(dtype_from_name(t[0].get<std::string>()));
}

PadMode pad_mode(const std::string& name) {
  if (name == "symmetric") return PadMode::symmetric;
  if (name == "replicate") return PadMode::replicate;
  if (name == "reflect") return PadMode::reflect;
  return name == "circular" ? PadMode::circular : PadMode::constant;
}

Between between(const std::string& name) {
  if (name == "linear") return Between::linear;
  if (name == "lower") return Between::lower;
  if (name == "higher") return Between::higher;
  return name == "nearest" ? Between::nearest : Between::midpoint;
}

Tensor computed(const std::string& name, const std::vector<Tensor>& x, const json& arguments) {
  if (name == "median_filter") {
    return median_filter(x[0], arguments["window"].get<std::vector<std::int64_t>>(),
                         pad_mode(arguments["mode"].get<std::string>()));
  }
  if (name == "pad") {
    Ranges widths;
    for (const json& pair : arguments["widths"]) widths.push_back({pair[0].get<int>(), pair[1].get<int>()});
    return pad(x[0], widths, PadMode::symmetric);
  }
  const auto axis = arguments["axis"].get<std::int64_t>();
  if (name == "lexsort") return lexsort(x, axis);
  if (name == "nanquantiles") return nanquantile(x[0], arguments["q"].get<std::vector<double>>(), axis);
  REQUIRE(name == "nanquantile");
  return nanquantile(x[0], arguments["q"].get<double>(), axis, false, between(arguments["between"].get<std::string>()));
}

}  // namespace

TEST_CASE("filters, quantiles and sorts give SciPy's and NumPy's answers") {
  std::ifstream in(std::string(ORIEL_TEST_DATA) + "/scipy_windows.json");
  REQUIRE(in);
  for (const json& one : json::parse(in)) {
    std::vector<Tensor> inputs;
    for (const json& t : one[1]) inputs.push_back(recorded(t));
    const Tensor got = computed(one[0].get<std::string>(), inputs, one[2]), want = recorded(one[3]);
    INFO(one.dump());
    REQUIRE(got.shape() == want.shape());
    CHECK(got.dtype() == want.dtype());
    CHECK(allclose(got, want, 1e-12, 0, true));
  }
}

TEST_CASE("col2im sums the windows that hold each element") {
  struct Case {
    Shape sizes;
    Ints window;
    ConvOptions options;
  };
  const Case cases[] = {{{5, 6}, {3, 2}, {}},
                        {{5, 6}, {3, 3}, {.stride = {2, 1}, .padding = {1, 2}}},
                        {{7, 4}, {2, 2}, {.stride = {3}, .dilation = {2, 1}}}};
  for (const Case& c : cases) {
    const Tensor x = iota({2, 3, c.sizes[0], c.sizes[1]}) % 13;
    const Tensor columns = im2col(x, c.window, c.options);
    const Tensor weights = iota(columns.shape()) % 7;
    const Tensor image = col2im(weights, c.sizes, c.window, c.options);
    CHECK(image.shape() == x.shape());
    CHECK(image.dtype() == DType::int64);
    // The transpose of im2col: <im2col(x), w> == <x, col2im(w)> for the given x, and elsewhere by single elements.
    CHECK(std::int64_t(sum(columns * weights)) == std::int64_t(sum(x * image)));
    const auto elements = image.to_vector<std::int64_t>();
    for (std::int64_t k = 0; k < 12; ++k) {
      const std::int64_t at = k * 5;
      const Tensor single = (iota(x.shape()) == at).to(DType::int64);
      CHECK(std::int64_t(sum(im2col(single, c.window, c.options) * weights)) == elements[static_cast<std::size_t>(at)]);
    }
  }
}

TEST_CASE("a partition is sorted around its place") {
  const Tensor x = Tensor::of<int>({5, 1, 4, 2, 3});
  CHECK(partition(x, 2).to_vector<int>()[2] == 3);
  CHECK(x.take(argpartition(x, -1)).to_vector<int>()[4] == 5);
  CHECK(partition(scalar(3), 0).rank() == 0);
}

TEST_CASE("rows sorted by two columns, and the distinct ones") {
  const Tensor z = Tensor::of<int>({{1, 2}, {0, 5}, {1, 2}, {0, 3}});
  const Tensor rows = z.take(lexsort({z.select(1, 1), z.select(1, 0)}));
  CHECK(rows.to_vector<int>() == std::vector<int>{0, 3, 0, 5, 1, 2, 1, 2});
}

TEST_CASE("windows and quantiles in a captured function serve many sizes") {
  const auto f = oriel::function(
      [](Tensor x) {
        return std::tuple(median_filter(x, {3, 1}), nanquantile(x, 0.25, 0), roll(x, 2), lexsort({x, -x}, 0),
                          col2im(im2col(x.reshape({1, 1, x.size(0), 3}), {2, 2}), {x.size(0), 3}, {2, 2}));
      },
      {.dynamic = Dynamic::yes});
  for (const std::int64_t n : {4, 7, 12}) {
    const Tensor x = (iota({n, 3}) * 7 % 11).to(DType::float32).realize();
    const auto [middle, quarter, rolled, order, image] = f(x);
    CHECK(allclose(middle, median_filter(x, {3, 1})));
    CHECK(allclose(quarter, nanquantile(x, 0.25, 0)));
    CHECK(allclose(rolled, roll(x, 2)));
    CHECK(bool(all(order == lexsort({x, -x}, 0))));
    CHECK(allclose(image, col2im(im2col(x.reshape({1, 1, n, 3}), {2, 2}), {n, 3}, {2, 2})));
  }
}

TEST_CASE("errors of filters and sorts name what would do") {
  const Tensor x = iota({2, 3});
  CHECK_THROWS_WITH_AS(lexsort({x, x[0]}), doctest::Contains("keys (2, 3) and (3) differ in shape"), ShapeError);
  CHECK_THROWS_WITH_AS(lexsort(std::span<const Tensor>()), doctest::Contains("no keys came"), ArgumentError);
  CHECK_THROWS_WITH_AS(partition(x, 3), doctest::Contains("k is 3; axis 1 of (2, 3) has places -3 to 2"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(argpartition(x, -4), doctest::Contains("k is -4"), ArgumentError);
  CHECK_THROWS_WITH_AS(nanquantile(x, 2, 0), doctest::Contains("nanquantile: q is 2"), ArgumentError);
  CHECK_THROWS_WITH_AS(median_filter(scalar(1), {3}), doctest::Contains("has no windows"), ShapeError);
  CHECK_THROWS_WITH_AS(median_filter(x, {9, 1}), doctest::Contains("median_filter: axis 0 of (2, 3) is too short"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(col2im(iota({1, 4, 5}), {3, 3}, {2, 2}), doctest::Contains("give (N, C * 4, 4)"), ShapeError);
}

TEST_CASE("as many quantiles as are asked for") {
  const Tensor x = (arange(50) * 7 % 50).to(DType::float64).realize();
  for (const std::size_t count : {64U, 65U, 1024U, 1025U, 2600U}) {
    std::vector<double> q(count), want(count);
    for (std::size_t k = 0; k < count; ++k) {
      q[k] = static_cast<double>(k * 37 % count) / static_cast<double>(count);
      want[k] = q[k] * 49;
    }
    const std::vector<double> got = quantile(x, q, 0).to_vector<double>();
    REQUIRE(got.size() == count);
    for (std::size_t k = 0; k < count; ++k) CHECK(got[k] == doctest::Approx(want[k]));
  }
}

}  // namespace filters_test
