// The functions of windows.hpp beside the answers of PyTorch and NumPy, and how they run.
#include "oriel/explain.hpp"
#include "recorded_cases.hpp"

namespace oriel::testing::recorded_windows_test {
namespace {

using A = RecordedArguments;

ConvOptions conv_options(const A& a) {
  ConvOptions options;
  if (a.has("stride")) options.stride = a.ints("stride");
  if (a.has("padding")) options.padding = a.ints("padding");
  if (a.has("dilation")) options.dilation = a.ints("dilation");
  if (a.has("groups")) options.groups = a.whole("groups");
  options.same = a.has("same");
  return options;
}

PoolOptions pool_options(const A& a) {
  PoolOptions options;
  if (a.has("stride")) options.stride = a.ints("stride");
  if (a.has("padding")) options.padding = a.ints("padding");
  if (a.has("dilation")) options.dilation = a.ints("dilation");
  options.ceil_mode = a.has("ceil_mode");
  if (a.has("count_include_pad")) options.count_include_pad = a.flag("count_include_pad");
  return options;
}

RecordedFunctions window_functions() {
  RecordedFunctions f;
  using Conv = Tensor (*)(const Operand&, const Operand&, const ConvOptions&);
  using Biased = Tensor (*)(const Operand&, const Operand&, const Tensor&, const ConvOptions&);
  using Transposed = Tensor (*)(const Operand&, const Operand&, const ConvOptions&, const Ints&);
  using Pool = Tensor (*)(const Operand&, const Ints&, const PoolOptions&);
  const auto conv = [&](const char* name, Conv g, Biased biased) {
    f[name] = [=](const A& a) {
      return Results{a.tensors.size() > 2 ? biased(a[0], a[1], a[2], conv_options(a)) : g(a[0], a[1], conv_options(a))};
    };
  };
  const auto transposed = [&](const char* name, Transposed g) {
    f[name] = [=](const A& a) {
      return Results{g(a[0], a[1], conv_options(a), a.has("output_padding") ? a.ints("output_padding") : Ints{0})};
    };
  };
  const auto pool = [&](const char* name, Pool g) {
    f[name] = [=](const A& a) { return Results{g(a[0], a.ints("window"), pool_options(a))}; };
  };
  const auto adaptive = [&](const char* name, Tensor (*g)(const Operand&, const Ints&)) {
    f[name] = [=](const A& a) { return Results{g(a[0], a.ints("sizes"))}; };
  };
  conv("conv1d", conv1d, conv1d);
  conv("conv2d", conv2d, conv2d);
  conv("conv3d", conv3d, conv3d);
  transposed("conv_transpose1d", conv_transpose1d);
  transposed("conv_transpose2d", conv_transpose2d);
  transposed("conv_transpose3d", conv_transpose3d);
  pool("max_pool1d", max_pool1d);
  pool("max_pool2d", max_pool2d);
  pool("max_pool3d", max_pool3d);
  pool("avg_pool1d", avg_pool1d);
  pool("avg_pool2d", avg_pool2d);
  pool("avg_pool3d", avg_pool3d);
  adaptive("adaptive_avg_pool1d", adaptive_avg_pool1d);
  adaptive("adaptive_avg_pool2d", adaptive_avg_pool2d);
  adaptive("adaptive_avg_pool3d", adaptive_avg_pool3d);
  adaptive("adaptive_max_pool1d", adaptive_max_pool1d);
  adaptive("adaptive_max_pool2d", adaptive_max_pool2d);
  adaptive("adaptive_max_pool3d", adaptive_max_pool3d);
  f["im2col"] = [](const A& a) { return Results{im2col(a[0], a.ints("window"), conv_options(a))}; };
  f["pad"] = [](const A& a) {
    Ranges around;
    for (const json& pair : a.named["around"])
      around.push_back({pair[0].get<std::int64_t>(), pair[1].get<std::int64_t>()});
    const std::string mode = a.text("mode");
    return Results{pad(a[0], around,
                       mode == "reflect"     ? PadMode::reflect
                       : mode == "replicate" ? PadMode::replicate
                                             : PadMode::circular)};
  };
  f["interpolate"] = [](const A& a) {
    const std::string mode = a.text("mode");
    const Interpolation how = mode == "nearest"  ? Interpolation::nearest
                              : mode == "linear" ? Interpolation::linear
                              : mode == "cubic"  ? Interpolation::cubic
                                                 : Interpolation::area;
    return Results{interpolate(a[0], a.ints("sizes"), how, a.has("align") && a.flag("align"))};
  };
  f["grid_sample"] = [](const A& a) {
    const Interpolation mode = a.text("mode") == "nearest" ? Interpolation::nearest : Interpolation::linear;
    return Results{grid_sample(a[0], a[1], mode, a.flag("align"), a.flag("border"))};
  };
  const auto overlap = [](const A& a) {
    const std::string mode = a.text("mode");
    return mode == "full" ? Overlap::full : mode == "same" ? Overlap::same : Overlap::valid;
  };
  f["convolve"] = [=](const A& a) { return Results{convolve(a[0], a[1], overlap(a))}; };
  f["correlate"] = [=](const A& a) { return Results{correlate(a[0], a[1], overlap(a))}; };
  return f;
}

}  // namespace

TEST_CASE("functions of windows give PyTorch's answers") {
  const bool few = default_device() != Device::eigen();
  run_recorded("windows", window_functions(), 4e-6, few ? 17 : 1);
}

TEST_CASE("convolutions run as windows or products, in one kernel with what follows") {
  if (default_device() != Device::eigen()) return;
  const Tensor x = mixed_numbers({1, 16, 30, 30});
  const auto kernel = [](const Tensor& y) {
    const Explanation e = explain(y);
    REQUIRE(e.kernels.size() == 1);
    return e.kernels[0].path;
  };
  CHECK(kernel(relu(conv2d(x, mixed_numbers({32, 16, 3, 3}), mixed_numbers({32}), {.padding = {1}}))) ==
        "blocked products");
  CHECK(kernel(conv2d(x, mixed_numbers({32, 16, 1, 1}))) == "blocked products");
  CHECK(kernel(conv2d(x, mixed_numbers({16, 1, 3, 3}), {.padding = {1}, .groups = 16})) == "windows");
  CHECK(kernel(max_pool2d(x, {3}, {.stride = {2}, .padding = {1}})) == "windows");
  CHECK(kernel(avg_pool2d(x, {2})) == "windows");
  CHECK(kernel(convolve(mixed_numbers({4096}), mixed_numbers({8}))) == "windows");
}

TEST_CASE("functions of windows in a captured function serve many sizes") {
  const auto f = oriel::function(
      [](Tensor x, Tensor w) {
        return std::tuple(conv2d(x, w, {.padding = {1}}),
                          max_pool2d(x, {3}, {.stride = {2}, .padding = {1}, .ceil_mode = true}),
                          avg_pool2d(x, {2}, {.padding = {1}, .count_include_pad = false}),
                          pad(x, {{0, 0}, {0, 0}, {1, 1}, {2, 0}}, PadMode::reflect),
                          interpolate(x, {x.size(2) * 2, x.size(3)}, Interpolation::linear));
      },
      {.dynamic = Dynamic::yes});
  const Tensor w = mixed_numbers({3, 2, 3, 3});
  for (const std::int64_t n : {5, 7, 11}) {
    const Tensor x = mixed_numbers({2, 2, n + 1, n});
    const auto [c, m, a, p, i] = f(x, w);
    CHECK(allclose(c, conv2d(x, w, {.padding = {1}})));
    CHECK(allclose(m, max_pool2d(x, {3}, {.stride = {2}, .padding = {1}, .ceil_mode = true})));
    CHECK(allclose(a, avg_pool2d(x, {2}, {.padding = {1}, .count_include_pad = false})));
    CHECK(allclose(p, pad(x, {{0, 0}, {0, 0}, {1, 1}, {2, 0}}, PadMode::reflect)));
    CHECK(allclose(i, interpolate(x, {x.size(2) * 2, x.size(3)}, Interpolation::linear), 1e-5, 1e-5));
  }
  CHECK(f.entries().size() == 1);
}

TEST_CASE("in ceil mode a window longer than the padded axis is one window") {
  const Tensor x = Tensor::of<float>({{3, 1}});  // one channel of two elements
  CHECK(max_pool1d(x, {3}, {.ceil_mode = true}).to_vector<float>() == std::vector<float>{3});
  CHECK(max_pool1d(x, {9}, {.stride = {1}, .ceil_mode = true}).to_vector<float>() == std::vector<float>{3});
  CHECK(max_pool1d(x, {5}, {.stride = {1}, .padding = {1}, .ceil_mode = true}).shape() == Shape{1, 1});
  CHECK(avg_pool1d(x, {3}, {.ceil_mode = true}).to_vector<float>() == std::vector<float>{2});
  CHECK(max_pool2d(x.reshape({1, 1, 2}), {3}, {.stride = {2}, .ceil_mode = true}).shape() == Shape{1, 1, 1});
  CHECK_THROWS_WITH_AS(max_pool1d(x, {3}), doctest::Contains("a window of 3 elements is wanted of 2 with padding 0"),
                       ShapeError);
  CHECK_THROWS_AS(max_pool1d(zeros({1, 0}), {3}, {.ceil_mode = true}), ShapeError);
  const auto f = oriel::function([](Tensor v) { return max_pool1d(v, {4}, {.stride = {2}, .ceil_mode = true}); },
                                 {.dynamic = Dynamic::yes});
  for (const std::int64_t n : {2, 3, 7})
    CHECK(all(f(mixed_numbers({1, n})) == max_pool1d(mixed_numbers({1, n}), {4}, {.stride = {2}, .ceil_mode = true}))
              .item<bool>());
}

TEST_CASE("a window far wider than its axis reads what it has of the axis") {
  constexpr std::int64_t wide = std::int64_t{1} << 40;
  const Tensor x = mixed_numbers({1, 1, 4});
  const auto same = [](const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() && a.to_vector<float>() == b.to_vector<float>();
  };
  CHECK(same(max_pool1d(x, {wide}, {.ceil_mode = true}), max_pool1d(x, {4})));
  CHECK(same(avg_pool1d(x, {wide}, {.ceil_mode = true, .count_include_pad = false}), avg_pool1d(x, {4})));
  CHECK(same(max_pool1d(x, {wide}, {.stride = {3}, .padding = {wide / 2}}),
             max_pool1d(x, {8}, {.stride = {3}, .padding = {4}})));
  CHECK(same(avg_pool1d(x, {wide}, {.stride = {3}, .padding = {wide / 2}}) * wide,
             avg_pool1d(x, {8}, {.stride = {3}, .padding = {4}}) * 8));
  for (const std::int64_t dilation : {1, 2, 3})
    for (const std::int64_t padding : {0, 1, 2, 3})
      for (const std::int64_t stride : {1, 2, 5}) {
        const PoolOptions options{.stride = {stride}, .padding = {padding}, .dilation = {dilation}, .ceil_mode = true};
        CAPTURE(dilation);
        CAPTURE(padding);
        CAPTURE(stride);
        const std::vector<float> found = max_pool1d(x, {7}, options).to_vector<float>(), given = x.to_vector<float>();
        for (std::size_t i = 0; i < found.size(); ++i) {
          float most = -INFINITY;
          for (std::int64_t j = 0; j < 7; ++j) {
            const std::int64_t at = static_cast<std::int64_t>(i) * stride - padding + j * dilation;
            if (at >= 0 && at < 4) most = std::max(most, given[static_cast<std::size_t>(at)]);
          }
          CHECK(found[i] == most);
        }
      }
}

TEST_CASE("errors of functions of windows name the function and what would do") {
  const Tensor x = mixed_numbers({1, 4, 6, 6}), w = mixed_numbers({2, 4, 3, 3});
  CHECK_THROWS_WITH_AS(
      conv2d(x, mixed_numbers({2, 3, 3, 3})),
      doctest::Contains("conv2d: weights (2, 3, 3, 3) do not fit the channels of (1, 4, 6, 6) in 1 group"), ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, w, {.groups = 3}), doctest::Contains("conv2d: "), ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(mixed_numbers({6, 6}), w), doctest::Contains("it takes 3 or 4 axes"), ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, mixed_numbers({2, 4, 9, 3})),
                       doctest::Contains("a window of 9 elements, padding included, is wanted of 6"), ShapeError);
  CHECK_THROWS_WITH_AS(conv2d(x, w, {.stride = {2}, .same = true}), doctest::Contains("needs stride 1"), ArgumentError);
  CHECK_THROWS_WITH_AS(conv2d(x, w, {.stride = {0}}), doctest::Contains("stride (0); numbers must be >= 1"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(conv2d(x, w, mixed_numbers({3})), doctest::Contains("a bias (3) for 2 channels"), ShapeError);
  CHECK_THROWS_WITH_AS(max_pool2d(x, {2}, {.padding = {2}}),
                       doctest::Contains("max_pool2d: padding (2, 2) is more than half"), ArgumentError);
  CHECK_THROWS_WITH_AS(max_pool1d(zeros({1, 1, 0}), {2}, {.padding = {1}}),
                       doctest::Contains("max_pool1d: a window of 2 elements is wanted of 0 with padding 1"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(avg_pool1d(zeros({1, 1, 0}), {2}, {.padding = {1}, .ceil_mode = true}),
                       doctest::Contains("avg_pool1d: a window of 2 elements is wanted of 0 with padding 1"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(
      max_pool1d(zeros({1, 4}), {3}, {.dilation = {INT64_MAX}}),
      doctest::Contains("max_pool1d: a window of 3 elements with dilation 9223372036854775807 is wider"), ShapeError);
  CHECK_THROWS_WITH_AS(max_pool2d(x, {2, 2, 2}), doctest::Contains("max_pool2d: window (2, 2, 2) for 2 spatial axes"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(pad(arange(3), {{3, 0}}, PadMode::reflect),
                       doctest::Contains("too short to be padded by 3 and 0 in mode reflect"), ShapeError);
  CHECK_THROWS_WITH_AS(interpolate(x, {0, 3}), doctest::Contains("interpolate: (1, 4, 6, 6) to (0, 3)"), ShapeError);
  CHECK_THROWS_WITH_AS(grid_sample(x, x), doctest::Contains("grid_sample: images (1, 4, 6, 6) and a grid (1, 4, 6, 6)"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(grid_sample(x, x, Interpolation::area),
                       doctest::Contains("takes the modes nearest, linear and cubic"), ArgumentError);
  CHECK_THROWS_WITH_AS(convolve(x, w[0]), doctest::Contains("convolve: (1, 4, 6, 6) and (4, 3, 3): both must have"),
                       ShapeError);
}

}  // namespace oriel::testing::recorded_windows_test
