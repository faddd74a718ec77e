// Errors name the line of the user's call, also in what(), which an uncaught error prints.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/failing.hpp"

namespace sites_test {

using namespace oriel;

namespace {

std::string here(int line) { return std::string(" (at ") + __FILE__ + ":" + std::to_string(line) + ")"; }

template <class F>
std::string what_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    CHECK(std::string(error.what()).starts_with(error.message()));
    return error.what();
  }
  return "nothing was thrown";
}

bool ends(const std::string& text, const std::string& end) { return text.ends_with(end); }

}  // namespace

TEST_CASE("a bad call names its line") {
  const Tensor a = ones({2, 3}), b = ones({4, 5});
  CHECK(ends(what_of([&] { matmul(a, b); }), here(__LINE__)));
  CHECK(ends(what_of([&] { a + b; }), here(__LINE__)));
  CHECK(ends(what_of([&] { a.reshape({7}); }), here(__LINE__)));
  CHECK(ends(what_of([&] { sum(a, 5); }), here(__LINE__)));
  CHECK(ends(what_of([&] { concat({a, b}, 0); }), here(__LINE__)));
  CHECK(ends(what_of([&] { a.to_vector<int>(); }), here(__LINE__)));
  CHECK(ends(what_of([&] { a.item<float>(); }), here(__LINE__)));
  CHECK(ends(what_of([&] { Tensor::from(std::vector<float>{1, 2, 3}, {2, 2}); }), here(__LINE__)));
  CHECK(ends(what_of([&] { Tensor::of<float>({{1, 2}, {3}}); }), here(__LINE__)));
  CHECK(ends(what_of([&] { read_npy("/nowhere/at/all.npy"); }), here(__LINE__)));
  CHECK(ends(what_of([&] { write_npy("/nowhere/at/all.npy", a); }), here(__LINE__)));
  CHECK(ends(what_of([&] { write_image("/nowhere/at/all.png", a); }), here(__LINE__)));
  CHECK(ends(what_of([&] { a.to(Device::null()).data<float>(); }), here(__LINE__)));
  Tensor whole = arange(4);
  CHECK(ends(what_of([&] { whole += 0.5; }), here(__LINE__)));
  // operator<< cannot take a line, and a line inside the library would not help.
  const std::string printed = what_of([&] { static_cast<void>(to_string(a.to(Device::null()))); });
  CHECK(printed.find("engine/") == std::string::npos);
}

TEST_CASE("the line is the user's, not that of a function inside") {
  // sort, var and layer_norm call other public functions; the error names the user's line.
  const Tensor x = Tensor::of<float>({{1, 2, 3}, {4, 5, 6}});
  CHECK(ends(what_of([&] { sort(x, 4); }), here(__LINE__)));
  CHECK(ends(what_of([&] { layer_norm(x, 3); }), here(__LINE__)));
  CHECK(ends(what_of([&] { x.transpose().view({6}); }), here(__LINE__)));
}

TEST_CASE("message() is without the line; an error outside of calls has none") {
  try {
    ones({2, 3}).reshape({7});
    FAIL("accepted");
  } catch (const ShapeError& error) {
    CHECK(error.message().find(__FILE__) == std::string_view::npos);
    CHECK(error.message().starts_with("reshape: "));
    CHECK(error.site().line == __LINE__ - 5);
  }
  try {
    Shape{SymInt(INT64_MAX)}[0] + 1;
    FAIL("accepted");
  } catch (const OverflowError& error) {
    CHECK(error.site().file == nullptr);
    CHECK(error.what() == error.message());
  }
  // After a call that threw, an error without a call does not name that call's line.
  CHECK(std::string(ArgumentError("mine", "text").what()) == "mine: text");
}

TEST_CASE("kernels name lines of the program, also those that functions of the library made by calling others") {
  const Tensor x = (sin(arange(48).to(DType::float32)).reshape({6, 8}) + 0.1F).realize();
  const Tensor square = (matmul(x, x.transpose()) + eye(6)).realize(), counts = (arange(48) % 7).realize();
  const Tensor image = x.reshape({1, 2, 4, 6}).to(DType::float32).realize(), kernel = ones({3, 2, 3, 3}).realize();
  ProfileScope scope;
  const auto run = [](const std::vector<Tensor>& results) { realize(results); };
  run({var(x), stddev(x, 1), layer_norm(x, 1), softmax(x), cov(x), quantile(x, {0.25, 0.5}, 1), median(x, 1).values});
  run({nonzero(x > 0), masked_select(x, x > 0.5F), unique(counts), unique_all(counts).inverse, unique(x, 0)});
  run({topk(x, 3).values, sort(x, 1), argsort(x, 0), searchsorted(sort(x.reshape(-1)), x), histogram(x, 4).counts});
  run({conv2d(image, kernel), max_pool2d(image, {2}), interpolate(image, {8, 12}),
       pad(image, {{0, 0}, {0, 0}, {1, 1}, {1, 1}}, PadMode::reflect)});
  run({einsum("ij,kj->ik", {x, x}), tensordot(x, x, 0), outer(x[0], x[1]), linear(x, ones({5, 8}).realize())});
  run({abs(fft(Complex(x, x))), rfft(x).real(), solve(square, x), inverse(square), svd(x).s, det(square)});
  run({cross_entropy(x, counts.slice({{0, 6}})), huber_loss(x, x * 2), gelu(x), mish(x), hypot(x, x)});
  run({bincount(counts, 7), segment_sum(x.reshape(-1), counts, 7), put_add(zeros(7), counts, x.reshape(-1)),
       one_hot(counts, 7)});
  run({cumsum(x, 1), diff(x), roll(x, 1, 0), kron(x, x), tril(square), repeat_interleave(x, 2, 0), trapezoid(x)});
  run({uniform(Key(1), {9}), normal(Key(2), {9}), permutation(Key(3), 9),
       multinomial(Key(4), abs(square[0]) + 1.0F, 3)});
  for (const KernelProfile& k : scope.take().kernels) {
    CAPTURE(k.kernel);
    CAPTURE(k.site);
    CHECK(!k.site.empty());
    for (std::string_view rest = k.site; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), one.size() + 1));
      CHECK((one.starts_with("sites_test.cpp:") || one == "..."));
    }
  }
}

TEST_CASE("a fault while the work runs names the line that asked for the value") {
  const Tensor x = ones({64}).realize();
  const int built = __LINE__ + 1;
  const Tensor y = exp(x) + 1;
  // Errors of a device: the elements of the null device cannot be read, and a sink that throws an Error simulates a
  // kernel that fails.
  set_debug("launch=2");
  set_debug_sink([](std::string_view) { throw DeviceError("launch", "it broke"); });
  const std::string said = what_of([&] { y.realize(); });
  set_debug("");
  set_debug_sink(nullptr);
  CHECK(said == "launch: it broke" + here(built));
}

}  // namespace sites_test
