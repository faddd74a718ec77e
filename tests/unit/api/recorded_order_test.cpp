// The functions of order.hpp beside the answers of PyTorch and NumPy.
#include "recorded_cases.hpp"

namespace oriel::testing::recorded_order_test {
namespace {

using A = RecordedArguments;

RecordedFunctions order_functions() {
  RecordedFunctions f;
  // The values, and those at the positions: of equal elements any may be chosen.
  const auto both = [](const A& a, const Ordered& o, bool kept) {
    const Tensor& x = a[0];
    if (x.rank() == 0) return Results{o.values, o.values};
    const std::int64_t axis = a.whole("axis");
    const Tensor at = kept ? o.positions : unsqueeze(o.positions, axis);
    const Tensor read = gather(x, at, axis);
    return Results{o.values, kept ? read : squeeze(read, axis)};
  };
  f["topk"] = [=](const A& a) { return both(a, topk(a[0], a.whole("k"), a.whole("axis"), a.flag("largest")), true); };
  f["kthvalue"] = [=](const A& a) {
    const bool keep = a.flag("keepdim");
    return both(a, kthvalue(a[0], a.whole("k"), a.whole("axis"), keep), keep);
  };
  f["median"] = [=](const A& a) {
    return both(a, median(a[0], a.whole("axis"), a.flag("keepdim")), a.flag("keepdim"));
  };
  f["nanmedian"] = [=](const A& a) {
    return both(a, nanmedian(a[0], a.whole("axis"), a.flag("keepdim")), a.flag("keepdim"));
  };
  f["median_of_all"] = [](const A& a) { return Results{median(a[0])}; };
  f["nanmedian_of_all"] = [](const A& a) { return Results{nanmedian(a[0])}; };
  f["mode"] = [](const A& a) { return Results{mode(a[0], a.whole("axis"), a.flag("keepdim"))}; };
  f["quantile"] = [](const A& a) {
    const std::string name = a.text("between");
    const Between between = name == "lower"     ? Between::lower
                            : name == "higher"  ? Between::higher
                            : name == "nearest" ? Between::nearest
                            : name == "linear"  ? Between::linear
                                                : Between::midpoint;
    return Results{quantile(a[0], a.number("q"), a.whole("axis"), a.flag("keepdim"), between)};
  };
  f["quantiles"] = [](const A& a) {
    return Results{quantile(a[0], a.named["q"].get<std::vector<double>>(), a.whole("axis"), a.flag("keepdim"))};
  };
  f["searchsorted"] = [](const A& a) { return Results{searchsorted(a[0], a[1], a.flag("right"))}; };
  f["bucketize"] = [](const A& a) { return Results{bucketize(a[0], a[1], a.flag("right"))}; };
  f["isin"] = [](const A& a) { return Results{isin(a[0], a[1])}; };
  f["interp"] = [](const A& a) { return Results{interp(a[0], a[1], a[2])}; };
  return f;
}

}  // namespace

TEST_CASE("functions of order give PyTorch's answers") {
  const bool few = default_device() != Device::eigen();
  run_recorded("order", order_functions(), 2e-6, few ? 41 : 1);
}

TEST_CASE("of equal elements the first is chosen") {
  const Tensor x = Tensor::of<int>({2, 1, 2, 1, 2});
  CHECK(topk(x, 2).positions.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 2});
  CHECK(topk(x, 3, -1, false).positions.to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 3, 0});
  CHECK(kthvalue(x, 2).positions.item<std::int64_t>() == 3);
  CHECK(median(x, 0).positions.item<std::int64_t>() == 0);
}

TEST_CASE("functions of order in a captured function serve many sizes") {
  const auto f = oriel::function(
      [](Tensor x, Tensor line) {
        return std::tuple(topk(x, 2, 0).values, median(x, 0).values, quantile(x, 0.25, 0), searchsorted(line, x),
                          isin(x, line));
      },
      {.dynamic = Dynamic::yes});
  const Tensor line = Tensor::of<float>({-4, -1, 0, 2, 7, 9});
  for (const std::int64_t n : {5, 8, 17}) {
    const Tensor x = (remainder(iota({n, 3}) * 7, 11) - 5).to(DType::float32).realize();
    const auto [top, middle, quarter, place, in] = f(x, line);
    CHECK(allclose(top, topk(x, 2, 0).values));
    CHECK(allclose(middle, median(x, 0).values));
    CHECK(allclose(quarter, quantile(x, 0.25, 0)));
    CHECK(place.to_vector<std::int64_t>() == searchsorted(line, x).to_vector<std::int64_t>());
    CHECK(in.to_vector<bool>() == isin(x, line).to_vector<bool>());
  }
  if (default_device() == Device::eigen()) CHECK(f.entries().size() == 1);
}

TEST_CASE("errors of functions of order name the function and what would do") {
  const Tensor x = iota({2, 3});
  CHECK_THROWS_WITH_AS(topk(x, 4), doctest::Contains("topk: k is 4 of the 3 elements of axis 1 of (2, 3)"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(kthvalue(x, 0), doctest::Contains("kthvalue: k is 0; axis 1 of (2, 3) has places 1 to 3"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(topk(x, 1, 2), doctest::Contains("topk: "), ShapeError);
  CHECK_THROWS_WITH_AS(median(zeros({0}), 0), doctest::Contains("median: axis 0 of (0) has no elements"), ShapeError);
  CHECK_THROWS_WITH_AS(quantile(x, 1.5, 0), doctest::Contains("quantile: q is 1.5; give a number in [0, 1]"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(searchsorted(x, iota({3, 3})),
                       doctest::Contains("searchsorted: sorted elements (2, 3) for values (3, 3)"), ShapeError);
  CHECK_THROWS_WITH_AS(interp(x, iota({2}), iota({3})), doctest::Contains("interp: points (2) and (3)"), ShapeError);
}

}  // namespace oriel::testing::recorded_order_test
