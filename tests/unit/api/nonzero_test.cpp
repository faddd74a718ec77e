// nonzero, masked_select and unique: results whose sizes depend on data.
#include "oriel/nonzero.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "oriel/oriel.hpp"

namespace nonzero_test {

using namespace oriel;

namespace {

using Ints64 = std::vector<std::int64_t>;

Ints64 values(const Tensor& x) { return x.to_vector<std::int64_t>(); }

}  // namespace

TEST_CASE("nonzero gives the positions in row-major order") {
  const Tensor found = nonzero(Tensor::of<int>({{0, 5, 0}, {6, 0, -1}}));
  CHECK(found.shape() == Shape{3, 2});
  CHECK(found.dtype() == DType::int64);
  CHECK(values(found) == Ints64{0, 1, 1, 0, 1, 2});
  CHECK(values(nonzero(Tensor::of<int>({{0, 5}, {6, 0}}).transpose())) == Ints64{0, 1, 1, 0});
  CHECK(values(nonzero(Tensor::of<float>({0, NAN, -0.0F, 1e-40F}))) == Ints64{1, 3});
  CHECK(nonzero(zeros({4, 5})).shape() == Shape{0, 2});
  CHECK(nonzero(zeros({0, 5})).shape() == Shape{0, 2});
  CHECK(nonzero(scalar(3)).shape() == Shape{1, 0});
  CHECK(nonzero(0).shape() == Shape{0, 0});
  CHECK(values(nonzero(arange(5) > 2)) == Ints64{3, 4});  // pending
}

TEST_CASE("masked_select broadcasts both and takes bool alone") {
  const Tensor x = Tensor::of<float>({{1, 2}, {3, 4}});
  CHECK(masked_select(x, x > 2).to_vector<float>() == std::vector<float>{3, 4});
  CHECK(masked_select(x.transpose(), x > 1).to_vector<float>() == std::vector<float>{3, 2, 4});
  CHECK(masked_select(x, Tensor::of<bool>({false, true})).to_vector<float>() == std::vector<float>{2, 4});
  CHECK(masked_select(Tensor::of<int>({7, 8}), ones({2, 1}, DType::bool_)).to_vector<int>() ==
        std::vector<int>{7, 8, 7, 8});
  CHECK(masked_select(x, x > 9).shape() == Shape{0});
  CHECK(masked_select(2.5, true).to_vector<float>() == std::vector<float>{2.5F});
  CHECK_THROWS_WITH_AS(masked_select(x, x), doctest::Contains("masked_select: the mask is float32; it must be bool"),
                       DTypeError);
  CHECK_THROWS_AS(masked_select(x, ones({3}, DType::bool_)), ShapeError);
}

TEST_CASE("unique: values, inverse and counts") {
  const UniqueElements u = unique_all(Tensor::of<int>({{3, 1, 3}, {2, 1, 3}}));
  CHECK(u.values.to_vector<int>() == std::vector<int>{1, 2, 3});
  CHECK(u.inverse.shape() == Shape{2, 3});
  CHECK(values(u.inverse) == Ints64{2, 0, 2, 1, 0, 2});
  CHECK(values(u.counts) == Ints64{2, 1, 3});
  CHECK(unique(Tensor::of<bool>({true, false, true})).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(unique(Tensor::of<float>({NAN, 1, NAN, 1})).shape() == Shape{3});  // as in PyTorch: a NaN equals no other NaN
  CHECK(unique(Tensor::of<float>({0.0F, -0.0F})).shape() == Shape{1});
  // Of equal zeros the first one counts.
  for (const float zero : {0.0F, -0.0F}) {
    const auto got = unique(Tensor::of<float>({2, zero, -1, -zero, 2})).to_vector<float>();
    REQUIRE(got == std::vector<float>{-1, 0, 2});
    CHECK(std::signbit(got[1]) == std::signbit(zero));
  }
  CHECK(unique(zeros({0, 3})).shape() == Shape{0});
  CHECK(unique_all(zeros({0, 3})).inverse.shape() == Shape{0, 3});
  CHECK(unique_all(zeros({0, 3})).counts.shape() == Shape{0});
  CHECK(unique(5).to_vector<std::int64_t>() == Ints64{5});
}

TEST_CASE("random tensors against the standard library") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const std::int64_t rows = 1 + static_cast<std::int64_t>(random() % 9);
    const std::int64_t columns = 1 + static_cast<std::int64_t>(random() % 200);
    const auto below = 1 + static_cast<int>(random() % 12);
    const Tensor data = Tensor::generate(
        {rows, columns}, [&](auto) { return static_cast<std::int16_t>(static_cast<int>(random() % 1000) % below); });
    const Tensor x = round % 2 == 0 ? data : data.transpose();
    const std::vector<std::int16_t> v = x.to_vector<std::int16_t>();
    Ints64 found;
    std::vector<std::int16_t> chosen;
    std::map<std::int16_t, std::int64_t> count;
    for (std::size_t k = 0; k < v.size(); ++k) {
      const auto width = static_cast<std::size_t>(x.size(1));
      if (v[k] != 0)
        found.insert(found.end(), {static_cast<std::int64_t>(k / width), static_cast<std::int64_t>(k % width)});
      if (v[k] > 2) chosen.push_back(v[k]);
      ++count[v[k]];
    }
    CHECK(values(nonzero(x)) == found);
    CHECK(masked_select(x, x > 2).to_vector<std::int16_t>() == chosen);
    const UniqueElements u = unique_all(x);
    const std::vector<std::int16_t> distinct = u.values.to_vector<std::int16_t>();
    Ints64 counts;
    std::vector<std::int16_t> keys;
    for (const auto& [key, n] : count) {
      keys.push_back(key);
      counts.push_back(n);
    }
    CHECK(distinct == keys);
    CHECK(unique(x).to_vector<std::int16_t>() == keys);
    CHECK(values(u.counts) == counts);
    const Ints64 inverse = values(u.inverse);
    for (std::size_t k = 0; k < v.size(); ++k) REQUIRE(distinct[static_cast<std::size_t>(inverse[k])] == v[k]);
  }
}

TEST_CASE("masks of many sizes, sparse and dense, against plain loops") {
  std::mt19937 random(11);
  for (int round = 0; round < 120; ++round) {
    constexpr std::int64_t kSizes[] = {1, 7, 8, 9, 63, 64, 65, 1023, 3000, 5001};
    const std::int64_t size = kSizes[random() % std::size(kSizes)];
    constexpr unsigned kTrue[] = {0, 1, 30, 500, 990, 1000};  // of a thousand
    const unsigned share = kTrue[random() % std::size(kTrue)];
    std::vector<std::int32_t> v(static_cast<std::size_t>(size));
    for (std::int32_t& x : v) x = random() % 1000 < share ? static_cast<std::int32_t>(1 + random() % 50) : 0;
    Ints64 found;
    for (std::size_t k = 0; k < v.size(); ++k)
      if (v[k] != 0) found.push_back(static_cast<std::int64_t>(k));
    const Tensor x = Tensor::from(v, {size});
    CAPTURE(size);
    CAPTURE(share);
    CHECK(values(nonzero(x)) == found);
    CHECK(values(nonzero(x != 0)) == found);
    // The same elements in three axes.
    if (size % 9 == 0 || size % 8 == 0) {
      const std::int64_t last = size % 9 == 0 ? 3 : 2;
      const Tensor cube = x.reshape({size / (last * last), last, last});
      Ints64 indices;
      for (const std::int64_t k : found) {
        for (const std::int64_t i : {k / (last * last), k / last % last, k % last}) indices.push_back(i);
      }
      CHECK(values(nonzero(cube)) == indices);
    }
    // Elements of each width, computed and reversed.
    for (const DType dtype : {DType::int8, DType::int16, DType::float32, DType::float64, DType::float16}) {
      std::vector<double> want;
      for (const std::int32_t e : v)
        if (e != 0) want.push_back(e + 1);
      CHECK(masked_select((x + 1).to(dtype), x != 0).to(DType::float64).to_vector<double>() == want);
      std::reverse(want.begin(), want.end());
      CHECK(masked_select(flip((x + 1).to(dtype)), flip(x) != 0).to(DType::float64).to_vector<double>() == want);
    }
    CHECK(masked_select(x != 0, x != 0).to_vector<bool>() == std::vector<bool>(found.size(), true));
  }
}

TEST_CASE("what is selected keeps its elements when the source is written later") {
  Tensor x = Tensor::of<float>({1, 2, 3, 4});
  const Tensor mask = x > 2;
  const Tensor chosen = masked_select(x, mask);
  x.assign(0);
  CHECK(chosen.to_vector<float>() == std::vector<float>{3, 4});
  CHECK(masked_select(x, mask).to_vector<float>() == std::vector<float>{0, 0});
  // A mask of bytes of the caller: every byte that is not 0 is true.
  const std::uint8_t bytes[] = {0, 2, 255, 1, 0, 128, 0, 0, 64, 3};
  CHECK(values(nonzero(Tensor::borrow(bytes, {10}))) == Ints64{1, 2, 3, 5, 8, 9});
}

namespace {

FunctionOptions with(Dynamic dynamic) { return {.dynamic = dynamic, .names = {"x", "y"}}; }

}  // namespace

TEST_CASE("captured functions find counts during the call") {
  const auto serves = [](const auto& program) {
    const auto f = oriel::function(program, with(Dynamic::yes));
    std::mt19937 random(3);
    for (const std::int64_t n : {5, 70, 2, 33, 5, 64}) {
      for (const unsigned zeros : {50U, 100U, 0U}) {
        const Tensor x = Tensor::generate(
            {n, 3}, [&](auto) { return random() % 100 < zeros ? 0.F : static_cast<float>(random() % 9) - 3; });
        const Tensor got = f(x), wanted = program(x);
        CHECK(got.shape() == wanted.shape());
        CHECK(got.dtype() == wanted.dtype());
        CHECK(got.strides() == wanted.strides());
        CHECK(got.to(DType::float64).to_vector<double>() == wanted.to(DType::float64).to_vector<double>());
      }
    }
    CHECK(f.counts().traces == 1);
  };
  serves([](Tensor x) { return nonzero(x); });
  serves([](Tensor x) { return nonzero(x.transpose()) + 1; });
  serves([](Tensor x) { return nonzero(sum(x, 1) > 0); });
  serves([](Tensor x) { return masked_select(x, x > 0); });
  serves([](Tensor x) { return sum(masked_select(exp(x), x > 0)); });
  serves([](Tensor x) { return masked_select(x, sum(x, 1, true) > 1) * x.size(0); });
  if (default_device().kind == DeviceKind::eigen) {
    serves([](Tensor x) { return unique(x) * 2; });
    // The number of distinct elements of those that are chosen: three stages.
    serves([](Tensor x) { return nonzero(masked_select(x, x > 0) > 2); });
  }
  // What both stages need is computed once, and results of an earlier stage are results.
  serves([](Tensor x) {
    const Tensor scores = sum(exp(x), 1);
    const Tensor good = nonzero(scores > 3);
    return take(scores, good.reshape({good.size(0)}), 0) + sum(scores);
  });
  serves([](Tensor x) { return take(softmax(x, 1), nonzero(sum(x, 1)).reshape({-1}), 0); });
}

TEST_CASE("a value that two stages need is computed once") {
  const auto f = oriel::function([](Tensor x) {
    const Tensor scores = softmax(matmul(x, x.transpose()), 1);
    const Tensor good = nonzero(max(scores, 1) > 0.5F);
    return std::tuple{scores, take(scores, good.reshape({-1}), 0)};
  });
  const Tensor x = arange(12).reshape({4, 3}).to(DType::float32);
  const auto [scores, chosen] = f(x);
  CHECK(scores.shape() == Shape{4, 4});
  const std::vector<std::string> kernels = f.entries()[0].kernels;
  CHECK(std::ranges::count_if(kernels, [](const std::string& k) { return k.starts_with("sum_f32_4x4_by_3"); }) == 1);
  CHECK(f.entries()[0].symbols[0].starts_with("u0 = the number of true elements at nonzero_test.cpp:"));
}

TEST_CASE("counts that a captured function may not branch on") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  CHECK_THROWS_WITH_AS(oriel::function([](Tensor a) { return nonzero(a).size(0) > 1 ? a : a + 1; })(x),
                       doctest::Contains("u0 > 1"), DataDependentError);
  CHECK_THROWS_AS(oriel::function([](Tensor a) { return a * nonzero(a).to_vector<std::int64_t>()[0]; })(x),
                  DataDependentError);
  CHECK_THROWS_AS(nonzero(zeros({2}).to(Device::null())), DeviceError);
}

TEST_CASE("statements on counts are checked once the counts are known") {
  const auto f = oriel::function([](Tensor x) {
    const Tensor found = masked_select(x, x > 0);
    expect_true(found.size(0) <= 2);
    return found.size(0) < 3 ? found + 1 : found;  // decided by the statement
  });
  CHECK(f(Tensor::of<float>({1, 0, 2})).to_vector<float>() == std::vector<float>{2, 3});
  CHECK_THROWS_WITH_AS(f(Tensor::of<float>({1, 1, 2})),
                       doctest::Contains("u0 <= 2 does not hold, which expect_true at"), ArgumentError);
  CHECK(f(Tensor::of<float>({0, 0, 2})).to_vector<float>() == std::vector<float>{3});
  CHECK_THROWS_AS(expect_true(SymInt(3) == 4), ArgumentError);
  expect_true(SymInt(3) == 3);
}

TEST_CASE("slices of what a count chooses ask nothing of the count") {
  const auto halves = [](Tensor boxes, Tensor mask) {
    const Tensor chosen = take(boxes, nonzero(mask).reshape({-1}), 0);
    return chosen.slice({{}, {{}, 2}}) - chosen.slice({{}, {2}});
  };
  const auto f = oriel::function(halves);
  const Tensor boxes = Tensor::of<float>({{1, 2, 3, 4}, {5, 7, 9, 11}, {0, 0, 1, 3}});
  for (const std::vector<bool>& keep :
       {std::vector<bool>{true, false, true}, {true, true, true}, {false, true, false}, {false, false, false}}) {
    const Tensor mask =
        Tensor::generate({3}, [next = std::size_t{0}, &keep](auto) mutable { return keep[next++] ? 1.F : 0.F; }) > 0;
    const Tensor got = f(boxes, mask), want = halves(boxes, mask);
    CHECK(got.shape() == want.shape());
    CHECK(got.to_vector<float>() == want.to_vector<float>());
  }
  CHECK(f.counts().traces == 1);
}

TEST_CASE("an element is a size") {
  const Tensor three = Tensor::of<std::int32_t>({{3}});
  CHECK(identical(item(three), 3));
  CHECK(identical(item(sum(Tensor::of<int>({1, 2})) != 5), 1));
  CHECK_THROWS_AS(static_cast<void>(item(zeros({1}))), DTypeError);
  CHECK_THROWS_AS(static_cast<void>(item(arange(2))), ShapeError);
}

TEST_CASE("an element is a symbol in a captured function, read at each call") {
  const auto serves = [](const auto& program, std::initializer_list<std::int64_t> numbers) {
    const auto f = oriel::function(program);
    const Tensor x = arange(40).reshape({10, 4}).to(DType::float32);
    for (const std::int64_t n : numbers) {
      const Tensor number = Tensor::of<std::int64_t>({n});
      const Tensor got = f(x, number), wanted = program(x, number);
      CHECK(got.shape() == wanted.shape());
      CHECK(got.dtype() == wanted.dtype());
      CHECK(got.to(DType::float64).to_vector<double>() == wanted.to(DType::float64).to_vector<double>());
    }
    CHECK(f.counts().traces == 1);
  };
  serves([](Tensor x, Tensor n) { return x * item(n); }, {3, -2, 0, 3});
  serves([](Tensor x, Tensor n) { return sum(x) + arange(item(n + 1)); }, {3, 0, 9, 1});
  serves(
      [](Tensor x, Tensor n) {
        const SymInt rows = item(n);
        constrain_range(rows, {0, 10});
        return x.slice({{0, rows}}) * 2 + rows;
      },
      {3, 10, 0, 1});
  // A range without a lower end.
  serves(
      [](Tensor x, Tensor n) {
        const SymInt below = item(n);
        constrain_range(below, {{}, -1});
        return below < 0 ? x * below : x;
      },
      {-3, -1});
  // An element of an array of the length that another element tells: three stages.
  serves([](Tensor x, Tensor n) { return x + item(sum(arange(item(n)))); }, {3, 6, 1});
  serves([](Tensor x, Tensor n) { return x.slice({{0, 1}}).expand({item(n), 4}) * 2; }, {3, 1, 7});
  serves(
      [](Tensor x, Tensor n) {
        const SymInt rows = item(n);
        return full({rows, 2}, 3) * rows + sum(x);
      },
      {3, 0, 1});
  // With a count.
  serves([](Tensor x, Tensor n) { return x.size(0) * nonzero(x > item(n)); }, {3, 39, -1});

  const auto ones_of = oriel::function([](Tensor n) { return full({item(n)}, 1); });
  CHECK(ones_of(Tensor::of<int>({2})).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 1});
  CHECK_THROWS_WITH_AS(ones_of(Tensor::of<int>({-2})), doctest::Contains("u0 >= 0 does not hold, which full at"),
                       ArgumentError);
  const auto twice = oriel::function([](Tensor n) { return full({item(n)}, 2) * item(n); });
  CHECK(twice(Tensor::of<int>({2})).to_vector<std::int64_t>() == std::vector<std::int64_t>{4, 4});
  CHECK(twice.entries()[0].symbols.size() == 1);  // one element is one symbol
  CHECK(ones_of.entries()[0].symbols[0].starts_with("u0 = the element at nonzero_test.cpp:"));
  CHECK_THROWS_AS(oriel::function([](Tensor n) { return item(n) > 2 ? n : n + 1; })(Tensor::of<int>({5})),
                  DataDependentError);
}

TEST_CASE("detection in two stages, captured once") {
  const auto detect = [](Tensor boxes) {
    const Tensor good = nonzero(sum(boxes, 1) > 5);
    return take(boxes, good.reshape({-1}), 0) * 2;
  };
  const auto f = oriel::function(detect);
  for (const float shift : {0.F, 1.F, 2.F}) {
    const Tensor boxes = Tensor::of<float>({{1, 2}, {3, 4}, {5, 6}, {2, 2}}) + shift;
    CHECK(f(boxes).to_vector<float>() == detect(boxes).to_vector<float>());
  }
  CHECK(f.counts().traces == 1);
}

TEST_CASE("unique along an axis: rows in order, where they went, how often, and first where") {
  const Tensor rows = Tensor::of<int>({{2, 1}, {1, 5}, {2, 1}, {1, 4}});
  CHECK(unique(rows, 0).to_vector<int>() == std::vector<int>{1, 4, 1, 5, 2, 1});
  const UniqueElements u = unique_all(rows, 0);
  CHECK(values(u.inverse) == Ints64{2, 1, 2, 0});
  CHECK(values(u.counts) == Ints64{1, 1, 2});
  CHECK(values(u.first) == Ints64{3, 1, 0});
  CHECK(unique(rows.transpose(), -1).shape() == Shape{2, 3});
  CHECK(unique(Tensor::of<float>({{NAN, 1}, {NAN, 1}}), 0).shape() == Shape{2, 2});
  CHECK(unique(zeros({3, 0}), 0).shape() == Shape{1, 0});
  CHECK(unique(zeros({0, 3}), 0).shape() == Shape{0, 3});
  CHECK_THROWS_AS(unique(rows, 2), ShapeError);
  std::mt19937 draw(3);
  for (int k = 0; k < 20; ++k) {
    const std::int64_t n = 1 + draw() % 30, m = 1 + draw() % 3, l = 1 + draw() % 2;
    const Tensor x = Tensor::generate({n, m, l}, [&](auto) { return static_cast<int>(draw() % 2); });
    const std::vector<int> flat = x.to_vector<int>();
    std::map<std::vector<int>, Ints64> where;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = flat.begin() + i * m * l;
      where[std::vector<int>(at, at + m * l)].push_back(i);
    }
    const UniqueElements found = unique_all(x, 0);
    std::vector<int> wanted;
    Ints64 first, counts, inverse(static_cast<std::size_t>(n));
    for (const auto& [row, places] : where) {
      for (const std::int64_t i : places)
        inverse[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(first.size());
      wanted.insert(wanted.end(), row.begin(), row.end());
      first.push_back(places[0]);
      counts.push_back(static_cast<std::int64_t>(places.size()));
    }
    CHECK(found.values.to_vector<int>() == wanted);
    CHECK(values(found.first) == first);
    CHECK(values(found.counts) == counts);
    CHECK(values(found.inverse) == inverse);
  }
}

TEST_CASE("repeat_interleave by counts") {
  const Tensor x = Tensor::of<int>({7, 8, 9});
  CHECK(repeat_interleave(x, Tensor::of<int>({2, 0, 1}), 0).to_vector<int>() == std::vector<int>{7, 7, 9});
  CHECK(repeat_interleave(Tensor::of<int>({{1, 2}, {3, 4}}), Tensor::of<std::int64_t>({1, 3}), -1).to_vector<int>() ==
        std::vector<int>{1, 2, 2, 2, 3, 4, 4, 4});
  CHECK(repeat_interleave(x, zeros({3}, DType::int64), 0).shape() == Shape{0});
  CHECK(repeat_interleave(zeros({0, 2}), zeros({0}, DType::int32), 0).shape() == Shape{0, 2});
  CHECK_THROWS_WITH_AS(repeat_interleave(x, Tensor::of<std::uint64_t>({1, UINT64_MAX, 1}), 0),
                       doctest::Contains("repeat_interleave: the counts pass 2^62 in sum"), OverflowError);
  CHECK_THROWS_WITH_AS(repeat_interleave(x, Tensor::of<int>({1, -2, 1}), 0), doctest::Contains("a count is -2"),
                       ArgumentError);
  CHECK_THROWS_AS(repeat_interleave(x, Tensor::of<int>({1, 2}), 0), ShapeError);
  CHECK_THROWS_AS(repeat_interleave(x, Tensor::of<float>({1, 2, 3}), 0), DTypeError);
  const auto f = oriel::function([](Tensor v, Tensor counts) { return repeat_interleave(v, counts, 0) * 2; });
  CHECK(f(x, Tensor::of<int>({2, 0, 1})).to_vector<int>() == std::vector<int>{14, 14, 18});
  CHECK(f(x, Tensor::of<int>({0, 1, 3})).to_vector<int>() == std::vector<int>{16, 18, 18, 18});
}

}  // namespace nonzero_test
