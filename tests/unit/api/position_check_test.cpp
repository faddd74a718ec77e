// Positions outside an axis, which reads and writes refuse: by the call, by the work, in captured and saved functions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"
#include "support/refusal.hpp"
#include "support/temporary_folder.hpp"
#include "support/unchecked_positions.hpp"

namespace oriel::position_check_test {
namespace {

using test::refusal;
void agree(const Tensor& x) {
  const std::vector<reference::Number> want = reference::interpret(x);
  CHECK(reference::difference(x, want, reference::elements(x)) == "");
}

bool holds(const Tensor& condition) { return all(condition).item<bool>(); }

}  // namespace

TEST_CASE("positions that a call knows are checked by the call") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor index = Tensor::of<std::int32_t>({0, 3, -4, 2});
  const std::string outside = "take: index 3 is out of range for axis 0 of size 3; valid are -3 to 2";
  const int line = __LINE__ + 2;
  try {
    (void)take(x, index);
    FAIL("no error");
  } catch (const IndexError& error) {
    CHECK(error.message() == outside);
    CHECK(error.site().line == line);
  }
  CHECK_NOTHROW((void)take(x, Tensor::of<std::int32_t>({0, -3, 2})));
  CHECK(refusal([&] { gather(x, index, 0); }) == "gather" + outside.substr(4));
  CHECK(refusal([&] { embedding(index, x); }) == "embedding" + outside.substr(4));
  CHECK(refusal([&] { index_select(x, 0, index); }) == "index_select" + outside.substr(4));
  CHECK(refusal([&] { take_along_axis(x, index, 0); }) == "take_along_axis" + outside.substr(4));
  CHECK(refusal([&] {
          take(zeros({2, 5}), scalar(-6), 1);
        }) == "take: index -6 is out of range for axis 1 of size 5; valid are -5 to 4");
  CHECK(refusal([&] { take(zeros({0}), index); }) == "take: index 0 is out of range for axis 0 of size 0; it has none");
  CHECK(refusal([&] { one_hot(index, 3); }) ==
        "one_hot: index 3 is out of range for axis 1 of size 3; valid are 0 to 2");
  CHECK(refusal([&] { one_hot(Tensor::of<int>({0, -1}), 3); }).starts_with("one_hot: index -1 is out of range"));
  CHECK(take(zeros({0}), zeros({0}, DType::int32)).count() == 0);
  CHECK(refusal([&] { take(x, Tensor::of<float>({0, 1})); }) == "take: positions are integers, not float32");
  CHECK(
      refusal([&] { gather(x, Tensor::of<std::int32_t>({{0}}), 0); }).starts_with("gather: an index (1, 1) does not"));
}

TEST_CASE("positions that are computed are checked by the work, which loses nothing") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor index = Tensor::of<std::int32_t>({0, 1, 2});
  const Tensor kept = x * 2;
  const int line = __LINE__ + 1;
  const Tensor taken = take(x, index + 1, 0);
  const Tensor later = taken * 2 + kept;
  for (int k = 0; k < 2; ++k) {
    try {
      later.realize();
      FAIL("no error");
    } catch (const IndexError& error) {
      CHECK(error.message() == "take: index 3 is out of range for axis 0 of size 3; valid are -3 to 2");
      CHECK(error.site().line == line);
    }
  }
  CHECK(kept.to_vector<float>() == std::vector<float>{2, 4, 6});
  CHECK(take(x, index - 3).to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK_THROWS_WITH_AS((void)take(x, index - 4).to_vector<float>(),
                       doctest::Contains("take: index -4 is out of range for axis 0 of size 3"), IndexError);
  CHECK_THROWS_WITH_AS((void)embedding(index * 2, x).to_vector<float>(),
                       doctest::Contains("embedding: index 4 is out of range"), IndexError);
  CHECK_THROWS_WITH_AS((void)one_hot(index - 1, 3).to_vector<std::int64_t>(),
                       doctest::Contains("one_hot: index -1 is out of range for axis 1 of size 3; valid are 0 to 2"),
                       IndexError);
  CHECK(one_hot(index - 1, 3, DType::int64, Bounds::zero).to_vector<std::int64_t>() ==
        std::vector<std::int64_t>{0, 0, 0, 1, 0, 0, 0, 1, 0});
  // More of them than a call reads.
  const Tensor many = arange(70000).to(DType::int32).realize();
  CHECK(all(take(many, many) == many).item<bool>());
  CHECK_THROWS_AS((void)take(many.shrink({{1, 70000}}), many).realize(), IndexError);
}

TEST_CASE("positions that cannot be outside are not checked") {
  const Tensor x = (arange(8) * 2).realize(), y = (x * 3 % 7).realize();
  const auto checks = [](const Tensor& t) { return explain(t).str().find("check_positions") != std::string::npos; };
  CHECK(checks(take(x, y * 2 - 1)));
  for (const Tensor& index : {arange(8), argsort(y, 0), y % 8, clamp(y, 0, 7), maximum(minimum(y, 7), -8),
                              where(y > 3, 7, -8), arange(8).flip(0), arange(4).repeat({2}).to(DType::int16)}) {
    CHECK(!checks(take(x, index)));
    agree(take(x, index));
  }
  CHECK(!checks(take(x, y % 9, 0, Bounds::zero)));
  CHECK(checks(take(x, y % 9)));
  CHECK(!checks(take((arange(256) * 2).realize(), y.to(DType::uint8))));
}

TEST_CASE("a captured function checks the positions of each call, whatever its sizes are") {
  for (const Dynamic dynamic : {Dynamic::no, Dynamic::yes}) {
    const auto f = function([](Tensor t, Tensor i) { return take(t, i) + 1; }, {.dynamic = dynamic});
    for (const std::int64_t n : {4, 3, 7, 40, 70}) {
      const Tensor t = arange(n).realize();
      CHECK(f(t, Tensor::of<int>({0, 2, -1})).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 3, n});
      CHECK_THROWS_WITH_AS(
          f(t, Tensor::of<int>({0, 1, static_cast<int>(n)})),
          doctest::Contains(("take: index " + std::to_string(n) + " is out of range for axis 0 of size " +
                             std::to_string(n) + "; valid are " + std::to_string(-n) + " to ")
                                .c_str()),
          IndexError);
    }
    CHECK(f.counts().traces == (dynamic == Dynamic::yes ? 1 : 5));
  }
}

TEST_CASE("one plan for many sizes checks positions of all kinds") {
  // Rows and positions: the last position is outside by one.
  const auto refuses = [](const char* what, const auto& program, const char* message) {
    CAPTURE(std::string(what));
    const auto f = function(program, {.dynamic = Dynamic::yes});
    for (const std::int64_t n : {5, 6, 9, 12, 11, 7}) {
      const Tensor x = (arange(n * 3) % 7).reshape({n, 3}).realize();
      const Tensor good = ((arange(n) * 2) % n).realize(), bad = (arange(n) + 1).realize();
      CHECK(holds(abs(f(x, good) - program(x, good)) <= 1e-5));
      CHECK_THROWS_WITH_AS((void)f(x, bad), doctest::Contains(message), IndexError);
    }
    CHECK(f.counts().traces == 1);
    REQUIRE(f.entries().size() == 1);
    CHECK(f.entries()[0].sizes == 6);
    CHECK(f.entries()[0].scheduled < 6);
  };
  using T = const Tensor&;
  refuses(
      "take", [](T x, T i) { return take(x, i) * 2; }, "take: index ");
  refuses(
      "gather",
      [](T x, T i) {
        return gather(x, i.reshape({-1, 1}), 0);
      },
      "gather: index ");
  refuses(
      "embedding", [](T x, T i) { return embedding(i, x).sum(1); }, "embedding: index ");
  refuses(
      "one_hot", [](T x, T i) { return one_hot(i, x.size(0)).sum(0); }, "one_hot: index ");
  refuses(
      "put", [](T x, T i) { return put(x, i, 7); }, "put: index ");
  refuses(
      "put_add", [](T x, T i) { return put_add(x, i, x); }, "put_add: index ");
  refuses(
      "scatter",
      [](T x, T i) {
        return scatter(x, i.reshape({-1, 1}), 1, 0);
      },
      "scatter: index ");
  refuses(
      "index_put",
      [](T x, T i) {
        return index_put(x, {i, i % 3}, 5);
      },
      "index_put: index ");
  refuses(
      "segment_sum", [](T x, T i) { return segment_sum(x, i, x.size(0)); }, "segment_sum: index ");
#ifndef ORIEL_NO_LOSSES
  refuses(
      "cross_entropy",
      [](T x, T i) {
        const Tensor logits = x.to(DType::float32);
        return cross_entropy(matmul(logits, logits.transpose()), i);
      },
      "cross_entropy: index ");
#endif
}

TEST_CASE("a position that sizes keep inside is not checked, whatever they are") {
  const auto checks = [](const auto& program) {
    const auto f = function(program, {.dynamic = Dynamic::yes});
    for (const std::int64_t n : {5, 6, 40}) {
      const Tensor x = (arange(n) * 2).realize(), y = (arange(n) * 3 % 7).realize();
      CHECK(holds(f(x, y) == program(x, y)));
    }
    const std::vector<std::string> kernels = f.entries()[0].kernels;
    return std::ranges::any_of(
        kernels, [](const std::string& name) { return name.find("check_positions") != std::string::npos; });
  };
  using T = const Tensor&;
  CHECK(checks([](T x, T y) { return take(x, y % 5); }) == true);
  CHECK(!checks([](T x, T) { return take(x, arange(x.size(0))); }));
  CHECK(!checks([](T x, T) { return take(x, arange(x.size(0)).flip(0)); }));
  CHECK(!checks([](T x, T y) { return take(x, argsort(y, 0)); }));
  CHECK(!checks([](T x, T y) { return take(x, y % x.size(0)); }));
  CHECK(!checks([](T x, T y) { return take(x, clamp(y, 0, x.size(0) - 1)); }));
}

TEST_CASE("what is read or written at a position outside is refused, also where it would be a number") {
  const auto refuses = [](const char* what, const auto& f) {
    CAPTURE(std::string(what));
    const Tensor index = Tensor::of<int>({1, 2}) * 2;
    CHECK_THROWS_AS((void)(f(index) + 0).realize(), IndexError);
  };
  using T = const Tensor&;
  refuses("take", [](T i) { return take(zeros({4}), i); });
  refuses("take of none", [](T i) { return take(zeros({0, 2}), i); });
  refuses("gather", [](T i) { return gather(full({4}, 3), i, 0); });
  refuses("put", [](T i) { return put(zeros({4}), i, 0); });
  refuses("put_add of 0", [](T i) { return put_add(zeros({4}), i, 0); });
  refuses("put_add of 1", [](T i) { return put_add(zeros({4}), i, 1); });
#ifndef ORIEL_SMALL
  const auto f = comprehension("def f(float(N) X, int32(L) I) -> (Y) { Y(l) = X(I(l)) }");
  refuses("an access", [&](T i) -> Tensor { return f(zeros({4}), i); });
  refuses("an access of none", [&](T i) -> Tensor { return f(zeros({0}), i); });
#endif
}

TEST_CASE("a call that finds a position outside changes no argument and gives no result") {
  const auto f = function(
      [](Tensor x, Tensor y, Tensor i) {
        y += 1;
        x.add_at(i, y);
        return take(y, i) + x;
      },
      {.dynamic = Dynamic::yes});
  for (const std::int64_t n : {4, 5, 9}) {
    Tensor x = zeros({n}).realize(), y = ones({n}).realize();
    const Tensor bad = (arange(n) + 1).realize(), good = arange(n).realize();
    CHECK_THROWS_AS((void)f(x, y, bad), IndexError);
    CHECK(holds(x == 0));
    CHECK(holds(y == 1));
    const Tensor got = f(x, y, good);
    CHECK(holds(x == 2));
    CHECK(holds(y == 2));
    CHECK(holds(got == 4));
  }
}

TEST_CASE("a saved function checks the positions of each call") {
  const test::TemporaryFolder folder;
  const auto f = function([](Tensor t, Tensor i) { return take(t, i) + one_hot(i, 5).sum(1); });
  const Tensor t = Tensor::of<std::int64_t>({4, 5, 6});
  const std::vector<std::int64_t> wanted{7, 5};
  CHECK(f(t, Tensor::of<int>({2, 0})).to_vector<std::int64_t>() == wanted);
  f.save(folder / "f");
  const auto g = load_function<Tensor(Tensor, Tensor)>(folder / "f");
  CHECK(g(t, Tensor::of<int>({2, 0})).to_vector<std::int64_t>() == wanted);
  CHECK_THROWS_WITH_AS(g(t, Tensor::of<int>({2, 3})), doctest::Contains("take: index 3 is out of range for axis 0"),
                       IndexError);
  const auto none = function([](Tensor i) { return take(zeros({3, 0}), i); });  // a result without elements
  CHECK(none(Tensor::of<int>({2, 0})).shape() == Shape{2, 0});
  none.save(folder / "f");
  const auto loaded = load_function<Tensor(Tensor)>(folder / "f");
  CHECK(loaded(Tensor::of<int>({2, 0})).shape() == Shape{2, 0});
  CHECK_THROWS_AS((void)loaded(Tensor::of<int>({2, 3})), IndexError);
}

TEST_CASE("a process may switch the check off wherever a call names none") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor index = Tensor::of<std::int32_t>({0, 3});
  const test::UncheckedPositions unchecked;
  CHECK_THROWS_AS(take(x, index, 0, Bounds::checked), IndexError);
  CHECK(take(x, index).to_vector<float>() == std::vector<float>{1, 0});
  CHECK(gather(x, index, 0).to_vector<float>() == std::vector<float>{1, 0});
}

TEST_CASE("positions of uint64 past the largest of int64 lie outside") {
  const Tensor x = Tensor::of<float>({1, 2, 3});
  const Tensor index = Tensor::of<std::uint64_t>({2, UINT64_MAX, std::uint64_t{1} << 63});
  CHECK(take(x, index, 0, Bounds::zero).to_vector<float>() == std::vector<float>{3, 0, 0});
  CHECK(gather(x, index, 0, Bounds::zero).to_vector<float>() == std::vector<float>{3, 0, 0});
  const auto far = doctest::Contains("take: index 9223372036854775807 or more is out of range for axis 0 of size 3");
  CHECK_THROWS_WITH_AS(take(x, index), far, IndexError);
  CHECK_THROWS_WITH_AS((void)take(x, index + 0).realize(), far, IndexError);
}

}  // namespace oriel::position_check_test
