// Graphs that span devices: a kernel runs where its operands are, and copies connect devices.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

namespace devices_test {

using namespace oriel;

namespace {

/// Runs a test with an OpenCL device, and between two if there are two.
template <class F>
void each_pair(F&& body) {
  std::vector<Device> there = devices();
  std::erase(there, Device::null());
  if (there.size() < 2) MESSAGE("skipped: this machine has no OpenCL device");
  const auto with = [&](Device a, Device b) {
    CAPTURE(a.str());
    CAPTURE(b.str());
    body(a, b);
  };
  if (there.size() >= 2) with(there[0], there[1]);
  if (there.size() >= 2) with(there[1], there[0]);
  if (there.size() >= 3) with(there[1], there[2]);
}

Tensor on(Device device, const Tensor& x) { return x.to(device).realize(); }
Tensor counting(const Shape& shape) { return arange(0, numel(shape).value(), 1).to(DType::float32).reshape(shape); }

std::vector<float> numbers(const Tensor& x) { return x.to_vector<float>(); }

std::size_t copies(const Explanation& e) {
  return static_cast<std::size_t>(
      std::count_if(e.kernels.begin(), e.kernels.end(), [](const auto& k) { return k.copied_from && k.runs; }));
}

}  // namespace

TEST_CASE("a copy is on the other device and has the same elements") {
  each_pair([](Device a, Device b) {
    const Tensor x = on(a, counting({3, 4}));
    CHECK(x.device() == a);
    const Tensor y = x.to(b);
    CHECK(y.device() == b);
    CHECK_FALSE(y.realized());
    CHECK(numbers(y) == numbers(x));
    CHECK(numbers(y.to(a)) == numbers(x));
  });
  const Tensor x = counting({2, 2});
  CHECK(x.to(x.device()).realized() == x.realized());
}

TEST_CASE("work runs where its operands are") {
  each_pair([](Device a, Device b) {
    const Tensor x = on(a, counting({4, 8})), w = on(b, counting({8, 4}));
    const Tensor y = (matmul((x * 0.5f).to(b), w).to(a) + sum(x, 1, true)) * 2.0f;
    const Explanation e = explain(y);
    CHECK(copies(e) == 2);
    std::vector<float> want =
        numbers((matmul(on(w.device(), x) * 0.5f, w).to(Device::eigen()) + sum(x, 1, true).to(Device::eigen())) * 2.0f);
    CHECK(numbers(y) == want);
    for (const ExplainedKernel& k : e.kernels) CHECK((k.device == a || k.device == b));
    const std::string text = e.str();
    CAPTURE(text);
    CHECK(text.find(a.str() + " and " + b.str()) != std::string::npos);
    CHECK(text.find("bytes from " + a.str() + " to " + b.str()) != std::string::npos);
  });
}

TEST_CASE("results on several devices are one piece of work") {
  each_pair([](Device a, Device b) {
    const Tensor x = on(a, counting({5}));
    const Tensor shared = exp(x * 0.1f);
    const Tensor here = shared + 1.0f, there = shared.to(b) * 2.0f;
    const auto before = runtime::counters();
    realize({here, there, full({3}, 7).to(b)});
    const auto after = runtime::counters();
    CHECK(after.schedules_built + after.schedules_reused == before.schedules_built + before.schedules_reused + 1);
    const auto s = numbers(shared);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(numbers(here)[i] == s[i] + 1.0f);
      CHECK(numbers(there)[i] == s[i] * 2.0f);
    }
  });
}

TEST_CASE("operands of different devices are refused, by name") {
  const Tensor a = counting({2}).realize(), b = counting({2}).to(Device::null());
  CHECK_THROWS_WITH_AS(a + b, "add: operands live on eigen and null; copy one of them with to(Device)", DeviceError);
  CHECK_THROWS_WITH_AS(
      b.to(Device::eigen()),
      "to: float32 (2) on null has no elements that could be copied to eigen; the null device computes "
      "nothing",
      DeviceError);
  CHECK_THROWS_AS(a.to(Device::opencl(200)), DeviceError);
}

// These cases only plan, so the null device can stand for any other device.
TEST_CASE("a copy of a copy is one, and movements of what is copied are free") {
  const Device n = Device::null();
  const Tensor x = counting({3, 4}).realize();
  CHECK(explain(x.to(n)).kernels.size() == 1);
  CHECK(explain(x.to(n).permute({1, 0}) + 1.0f).kernels.size() == 2);
  CHECK(explain(x.permute({1, 0}).to(n) + 1.0f).kernels.size() == 2);
  CHECK(explain(x.reshape({2, 6}).flip().to(n) + 1.0f).kernels.size() == 2);
  // Only the part that is read is copied.
  const Explanation cut = explain(x.shrink({{0, 1}, {0, 2}}).to(n) + 1.0f);
  REQUIRE(cut.kernels.size() == 3);
  CHECK(cut.kernels[1].copied_from == Device::eigen());
  CHECK(cut.kernels[1].method == "8 bytes from eigen to null");
  // The value is expanded after the copy.
  const Explanation wide = explain(sum(x, 0, true).expand({100, 4}).to(n) + 1.0f);
  REQUIRE(wide.kernels.size() == 3);
  CHECK(wide.kernels[1].method == "16 bytes from eigen to null");
  // Two equal copies become one.
  CHECK(explain(x.to(n) + exp(x.to(n))).kernels.size() == 2);
  each_pair([](Device a, Device b) {
    const Tensor y = on(a, counting({3, 4}));
    CHECK(copies(explain(y.to(b).permute({1, 0}).to(a) + 1.0f)) == 0);
    CHECK(numbers(y.to(b).permute({1, 0}).to(a)) == numbers(y.permute({1, 0})));
  });
}

TEST_CASE("numbers go where they are read, be they in memory elsewhere by now") {
  each_pair([](Device a, Device b) {
    const Tensor x = on(a, counting({6}));
    for (const int value : {3, 5}) {
      set_default_device(b);
      const Tensor c = full({6}, static_cast<float>(value)), places = iota({6});
      set_default_device(Device::eigen());
      const Tensor y = x * c + places.to(DType::float32).to(a);
      const Tensor z = where(x < c, x, c);
      realize({c, places});
      const auto xs = numbers(x), ys = numbers(y), zs = numbers(z);
      for (std::size_t i = 0; i < 6; ++i) {
        const auto v = static_cast<float>(value);
        CHECK(ys[i] == xs[i] * v + static_cast<float>(i));
        CHECK(zs[i] == std::min(xs[i], v));
      }
    }
  });
}

TEST_CASE("writes take their value from another device by way of a copy") {
  each_pair([](Device a, Device b) {
    Tensor x = on(a, counting({4, 4}));
    const Tensor y = on(b, counting({2, 2}));
    const Tensor before = x.to(b);
    x.shrink({{1, 3}, {1, 3}}).assign(y.to(a) * 10.0f);
    CHECK(numbers(x)[5] == 0);
    CHECK(numbers(x)[10] == 30);
    CHECK(numbers(before)[10] == 10);  // read before the write
    Tensor z = y.to(a);
    z.shrink({{0, 1}, {0, 2}}).assign(7);
    CHECK(numbers(z) == std::vector<float>{7, 7, 2, 3});
    CHECK(numbers(y) == std::vector<float>{0, 1, 2, 3});
    z += x.shrink({{0, 2}, {0, 2}});
    CHECK(numbers(z) == std::vector<float>{7, 8, 6, 3});
  });
}

TEST_CASE("a copy lies in memory as a new tensor like its source") {
  each_pair([](Device a, Device b) {
    const Tensor x = on(a, counting({2, 3, 4, 5})).to(MemoryFormat::channels_last).realize();
    const Tensor y = x.to(b);
    CHECK(y.strides() == x.strides());
    CHECK(copies(explain(y)) == 1);
    CHECK(explain(y).kernels.size() == 1);
    CHECK(numbers(y) == numbers(x));
    CHECK(y.strides() == x.strides());
    const Tensor z = (x.permute({3, 1, 0, 2}) + 1.0f).to(b);
    CHECK(numbers(z * 2.0f) == numbers((x.permute({3, 1, 0, 2}) + 1.0f) * 2.0f));
    CHECK(numbers(z) == numbers(x.permute({3, 1, 0, 2}) + 1.0f));
    const Tensor row = on(a, counting({1, 3})).expand({2, 3});
    const Ints dense{3, 1};
    CHECK(row.to(b).strides() == dense);
    CHECK(row.to(b).to(a).strides() == dense);
  });
}

TEST_CASE("nothing, one number and every dtype can be copied") {
  each_pair([](Device a, Device b) {
    CHECK(numbers(on(a, zeros({0, 3})).to(b) + 1.0f).empty());
    CHECK(on(a, sum(counting({4}))).to(b).item<float>() == 6);
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto dtype = static_cast<DType>(d);
      const Tensor x = on(a, arange(0, 7, 1).to(dtype));
      CHECK(x.to(b).to(Device::eigen()).to(DType::float64).to_vector<double>() ==
            x.to(Device::eigen()).to(DType::float64).to_vector<double>());
    }
  });
}

TEST_CASE("gathers read what was copied, or made, on their device") {
  each_pair([](Device a, Device b) {
    const Tensor x = on(a, counting({5})), at = on(b, Tensor::of<std::int64_t>({4, 0, 2}));
    CHECK(numbers(take(x.to(b), at)) == std::vector<float>{4, 0, 2});
    CHECK(numbers(take(x, at.to(a)).to(b) + 1.0f) == std::vector<float>{5, 1, 3});
  });
}

TEST_CASE("a realised number lies on its own device; other devices that read it compute it again") {
  each_pair([](Device a, Device b) {
    const Tensor x = on(a, counting({2, 3}));
    const Tensor one = full_like(x, 1);
    const Tensor largest = maximum(one.to(b), x.to(b));
    const Tensor back = largest.to(a);
    realize({back, one});
    CHECK(one.device() == a);
    CHECK(numbers(one) == std::vector<float>(6, 1.0F));
    CHECK(numbers(back) == std::vector<float>{1, 1, 2, 3, 4, 5});
  });
}

}  // namespace devices_test
