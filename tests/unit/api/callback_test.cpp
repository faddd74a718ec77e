// Callables that a program hands over: lambdas, functions, std::function; and the ends of slices, which optionals
// convert to.
#include "oriel/callback.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oriel/debug.hpp"
#include "oriel/ops.hpp"
#include "oriel/tensor.hpp"

namespace callback_test {

using namespace oriel;

namespace {

int doubled(int x) { return 2 * x; }

}  // namespace

TEST_CASE("a callback calls a lambda, a function or a std::function") {
  int added = 3;
  const Callback<int(int)> lambda = [&](int x) { return x + added; };
  added = 4;
  CHECK(lambda(1) == 5);
  CHECK(Callback<int(int)>(doubled)(4) == 8);
  CHECK(Callback<int(int)>(&doubled)(5) == 10);
  CHECK(Callback<int(int)>(std::function<int(int)>(doubled))(6) == 12);
  const Callback<std::string(std::string_view)> converted = [](std::string_view text) { return text.data(); };
  CHECK(converted("text") == "text");
}

TEST_CASE("a callback of nothing is empty") {
  CHECK(!Callback<void()>());
  CHECK(!Callback<void()>(nullptr));
  CHECK(!Callback<void()>(std::function<void()>()));
  int (*none)(int) = nullptr;
  CHECK(!Callback<int(int)>(none));
  CHECK(Callback<int(int)>(doubled));
  CHECK(Callback<void()>([] {}));
}

TEST_CASE("copies of a callback share its callable, which the last one destroys") {
  const auto owned = std::make_shared<int>(0);
  {
    const Callback<int()> first = [owned, count = 0]() mutable { return ++count; };
    CHECK(owned.use_count() == 2);
    Callback<int()> second = first;
    CHECK(first() == 1);
    CHECK(second() == 2);
    const Callback<int()> third = std::move(second);
    CHECK(owned.use_count() == 2);
    CHECK(third() == 3);
  }
  CHECK(owned.use_count() == 1);
}

TEST_CASE("a deleter need not be copyable, and runs once") {
  int runs = 0;
  {
    auto memory = std::make_unique<float[]>(2);
    float* const first = memory.get();
    const Tensor x = Tensor::adopt(first, {2}, [memory = std::move(memory), &runs](float*) { ++runs; });
    const auto held = x.data<float>();
    CHECK(held[1] == 0);
  }
  CHECK(runs == 1);
}

TEST_CASE("elements keep the memory of a tensor that is gone") {
  int runs = 0;
  float numbers[] = {1, 2};
  Elements<float> kept;
  CHECK(kept.empty());
  {
    const Tensor x = Tensor::adopt(numbers, {2}, [&](float*) { ++runs; });
    kept = x.data<float>();
  }
  CHECK(runs == 0);
  CHECK(kept[1] == 2);
  kept = {};
  CHECK(runs == 1);
}

TEST_CASE("a sink of debug lines may be a std::function") {
  std::string lines;
  const std::function<void(std::string_view)> say = [&](std::string_view line) { lines += line; };
  set_debug("launch");
  set_debug_sink(say);
  (Tensor::of<float>({1, 2}) + 1).realize();
  set_debug_sink({});
  set_debug("");
  CHECK(lines.find("oriel launch") != std::string::npos);
}

TEST_CASE("the ends of a slice are sizes, optionals or left out") {
  const Tensor x = Tensor::of<int>({0, 1, 2, 3});
  const std::optional<std::int64_t> from = 1;
  const std::optional<SymInt> none;
  CHECK(x.slice({{.start = from, .stop = none}}).to_vector<int>() == std::vector<int>{1, 2, 3});
  CHECK(x.slice({{.start = x.size(0) - 1}}).to_vector<int>() == std::vector<int>{3});
  CHECK(x.slice({{{}, 2}}).to_vector<int>() == std::vector<int>{0, 1});
  const SliceEnd end = 3;
  CHECK(end.has_value());
  CHECK(*end == 3);
  CHECK(!SliceEnd(none));
  CHECK(SliceEnd().value_or(7) == 7);
}

}  // namespace callback_test
