// Errors name the line of the user's call, also in what(), which an uncaught error prints.
#include <doctest/doctest.h>

#include <string>

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
