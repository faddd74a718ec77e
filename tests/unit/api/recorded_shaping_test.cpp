// The functions of shaping.hpp beside the answers of PyTorch and NumPy.
#include "recorded_cases.hpp"

namespace oriel::testing::recorded_shaping_test {
namespace {

using A = RecordedArguments;

RecordedFunctions shaping_functions() {
  RecordedFunctions f;
  const auto unary = [&](const char* name, Tensor (*g)(const Operand&)) {
    f[name] = [g](const A& a) { return Results{g(a[0])}; };
  };
  using Join = Tensor (*)(ListOf<Tensor>, Site);
  const auto join = [&](const char* name, Join g) {
    f[name] = [g](const A& a) { return Results{g(a.tensors, Site::here())}; };
  };
  unary("fliplr", fliplr);
  unary("flipud", flipud);
  unary("atleast_1d", atleast_1d);
  unary("atleast_2d", atleast_2d);
  unary("atleast_3d", atleast_3d);
  join("hstack", hstack);
  join("vstack", vstack);
  join("dstack", dstack);
  join("block_diag", block_diag);
  join("cartesian_product", cartesian_product);
  f["meshgrid"] = [](const A& a) { return meshgrid(a.tensors); };
  f["meshgrid_xy"] = [](const A& a) { return meshgrid(a.tensors, Indexing::xy); };
  f["broadcast_tensors"] = [](const A& a) { return broadcast_tensors(a.tensors); };
  f["tile"] = [](const A& a) { return Results{tile(a[0], a.ints("counts"))}; };
  f["repeat_interleave"] = [](const A& a) {
    return Results{a.has("axis") ? repeat_interleave(a[0], a.whole("count"), a.whole("axis"))
                                 : repeat_interleave(a[0], a.whole("count"))};
  };
  f["split"] = [](const A& a) { return split(a[0], a.whole("size"), a.whole("axis")); };
  f["chunk"] = [](const A& a) { return chunk(a[0], a.whole("count"), a.whole("axis")); };
  f["split_with_sizes"] = [](const A& a) { return split_with_sizes(a[0], a.ints("sizes"), a.whole("axis")); };
  f["swapaxes"] = [](const A& a) { return Results{swapaxes(a[0], a.whole("a"), a.whole("b"))}; };
  f["flatten"] = [](const A& a) { return Results{flatten(a[0], a.whole("first"), a.whole("last"))}; };
  f["movedim"] = [](const A& a) { return Results{movedim(a[0], a.ints("origin"), a.ints("to"))}; };
  f["rot90"] = [](const A& a) { return Results{rot90(a[0], a.whole("k"), a.whole("a"), a.whole("b"))}; };
  f["unflatten"] = [](const A& a) { return Results{unflatten(a[0], a.whole("axis"), a.ints("shape"))}; };
  f["diag"] = [](const A& a) { return Results{diag(a[0], a.whole("offset"))}; };
  f["diag_embed"] = [](const A& a) { return Results{diag_embed(a[0], a.whole("offset"), a.whole("a"), a.whole("b"))}; };
  f["trace"] = [](const A& a) { return Results{trace(a[0], a.whole("offset"))}; };
  f["one_hot"] = [](const A& a) { return Results{one_hot(a[0], a.whole("classes"))}; };
  f["tril_indices"] = [](const A& a) {
    return Results{tril_indices(a.whole("rows"), a.whole("columns"), a.whole("offset"))};
  };
  f["triu_indices"] = [](const A& a) {
    return Results{triu_indices(a.whole("rows"), a.whole("columns"), a.whole("offset"))};
  };
  f["indices"] = [](const A& a) { return Results{indices(a.ints("shape"))}; };
  f["unravel_index"] = [](const A& a) { return unravel_index(a[0], a.ints("shape")); };
  f["ravel_index"] = [](const A& a) { return Results{ravel_index(a.tensors, a.ints("shape"))}; };
  f["logspace"] = [](const A& a) {
    return Results{logspace(a.whole("start"), a.whole("stop"), a.whole("count"), a.number("base"))};
  };
  f["geomspace"] = [](const A& a) {
    return Results{geomspace(a.number("start"), a.number("stop"), a.whole("count"), DType::float64)};
  };
  return f;
}

}  // namespace

TEST_CASE("functions of shapes give PyTorch's answers") {
  const bool few = default_device() != Device::eigen();
  run_recorded("shaping", shaping_functions(), 2e-6, few ? 37 : 1);
}

TEST_CASE("pieces and moved axes are views, which show what is written through them") {
  Tensor x = zeros({4, 6}).realize();
  std::vector<Tensor> halves = chunk(x, 2, 1);
  halves[1] += 1;
  split_with_sizes(x, {1, 3})[0] += 2;
  rot90(x).select(0, 0) += 4;  // the last column
  flatten(x).shrink({{6, 7}}).assign(9);
  movedim(x, {0}, {1}).select(0, 1).assign(7);
  CHECK(x.to_vector<float>() ==
        std::vector<float>{2, 7, 2, 3, 3, 7, 9, 7, 0, 1, 1, 5, 0, 7, 0, 1, 1, 5, 0, 7, 0, 1, 1, 5});
}

TEST_CASE("functions of shapes in a captured function serve many sizes") {
  const auto f = oriel::function(
      [](Tensor x, Tensor labels) {
        const std::vector<Tensor> halves = split_with_sizes(x, {2, x.size(0) - 2});
        const Tensor grid = meshgrid({arange(x.size(0)), arange(2)})[0];
        return std::tuple(sum(halves[1], 0), diag_embed(x.select(1, 0)) + diag(x.select(1, 1)),
                          one_hot(labels, x.size(0)), repeat_interleave(x, 2, 0), sum(grid),
                          trace(matmul(x, x.transpose())), hstack({x, flipud(x)}),
                          unravel_index(labels, {x.size(0), 3})[1]);
      },
      {.dynamic = Dynamic::yes});
  for (const std::int64_t n : {5, 8, 17}) {
    const Tensor x = iota({n, 3}).to(DType::float32).realize();
    const Tensor labels = (arange(n) / 1).to(DType::int64).realize();
    const auto [rest, matrix, hot, twice, grid, line, beside, column] = f(x, labels);
    CHECK(rest.to_vector<float>() == sum(x.shrink({{2, n}, {0, 3}}), 0).to_vector<float>());
    CHECK(matrix.to_vector<float>() == (eye(n) * (x.select(1, 0) + x.select(1, 1))).to_vector<float>());
    CHECK(hot.to_vector<std::int64_t>() == eye(n, n, 0, DType::int64).to_vector<std::int64_t>());
    CHECK(twice.shape() == Shape{2 * n, 3});
    CHECK(grid.item<std::int64_t>() == n * (n - 1));
    CHECK(line.item<float>() == sum(x * x).item<float>());
    CHECK(beside.to_vector<float>() == concat({x, flip(x, 0)}, 1).to_vector<float>());
    CHECK(column.to_vector<std::int64_t>() == remainder(labels, 3).to_vector<std::int64_t>());
  }
  CHECK(f.entries().size() == 1);
}

TEST_CASE("errors of functions of shapes name the function and what would do") {
  const Tensor x = iota({2, 3});
  CHECK_THROWS_WITH_AS(split(x, 0), doctest::Contains("split: size is 0; give a number >= 1"), ArgumentError);
  CHECK_THROWS_WITH_AS(split_with_sizes(x, {1, 2}), doctest::Contains("add up to 3, but axis 0 of (2, 3) has extent 2"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(chunk(x, 0), doctest::Contains("chunk: count is 0"), ArgumentError);
  CHECK_THROWS_WITH_AS(chunk(x, 2, 2), doctest::Contains("chunk: "), ShapeError);
  CHECK_THROWS_WITH_AS(movedim(x, {0, 0}, {0, 1}), doctest::Contains("movedim: "), ShapeError);
  CHECK_THROWS_WITH_AS(movedim(x, {0}, {0, 1}), doctest::Contains("movedim: 1 axes to 2 positions"), ShapeError);
  CHECK_THROWS_WITH_AS(flatten(x, 1, 0), doctest::Contains("flatten: axis 1 of (2, 3) lies behind axis 0"), ShapeError);
  CHECK_THROWS_WITH_AS(unflatten(ones({1}), 0, {}),
                       "unflatten: no extents to split an axis in; give one at least, or drop the axis with squeeze",
                       ShapeError);
  CHECK_THROWS_WITH_AS(unflatten(x, 1, {2, -1}), doctest::Contains("has extent 3, which (2, -1) does not split"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(rot90(x, 1, 0, 0), doctest::Contains("rot90: axes 0 and 0 of (2, 3) are the same"), ShapeError);
  CHECK_THROWS_WITH_AS(fliplr(arange(3)), doctest::Contains("fliplr: (3) has fewer than 2 axes"), ShapeError);
  CHECK_THROWS_WITH_AS(diag(iota({2, 2, 2})), doctest::Contains("diag: (2, 2, 2) has 3 axes"), ShapeError);
  CHECK_THROWS_WITH_AS(one_hot(x.to(DType::float32), 3),
                       doctest::Contains("one_hot: positions are integers, not float32"), DTypeError);
  CHECK_THROWS_WITH_AS(meshgrid({x}), doctest::Contains("meshgrid: tensor 0 has shape (2, 3)"), ShapeError);
  CHECK_THROWS_WITH_AS(hstack(std::vector<Tensor>{}), doctest::Contains("hstack: no tensors came"), ArgumentError);
  CHECK_THROWS_WITH_AS(hstack({x, iota({3, 2})}), doctest::Contains("hstack: (2, 3) and (3, 2) differ"), ShapeError);
  CHECK_THROWS_WITH_AS(vstack({x, iota({3, 2})}), doctest::Contains("vstack: (2, 3) and (3, 2) differ"), ShapeError);
  CHECK_THROWS_WITH_AS(trace(arange(3)), doctest::Contains("trace: (3) has fewer than the two axes"), ShapeError);
  CHECK_THROWS_WITH_AS(tile(x, {-1}), doctest::Contains("tile: counts (1, -1) must be >= 0"), ShapeError);
  CHECK_THROWS_WITH_AS(logspace(0, 1, -1), doctest::Contains("logspace: count is -1"), ArgumentError);
  CHECK_THROWS_WITH_AS(ravel_index({x}, {2, 3}), doctest::Contains("1 tensors for the 2 axes"), ShapeError);
  CHECK_THROWS_WITH_AS(geomspace(-1, 1, 3), doctest::Contains("geomspace: -1 and 1 have no constant quotient"),
                       ArgumentError);
}

}  // namespace oriel::testing::recorded_shaping_test
