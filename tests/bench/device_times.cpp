// The rows of users' work on a device (ORIEL_DEVICE, else the first OpenCL device) beside the device's own copy of
// memory, measured in the same process. tests/bench/device_peers.py has the same rows in PyTorch.
//
//   device_times [SUBSTRING..]    only rows whose names hold one of these
//
// Prints for each row the median time, bytes that have to move as GB/s and as a share of the copy's bandwidth, and
// operations as TFLOP/s. A row is run, and waited for, at least five times after two to warm up.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace {

using namespace oriel;
using Clock = std::chrono::steady_clock;

double seconds(const std::function<void()>& run) {
  run();
  run();
  std::vector<double> times;
  double total = 0;
  while (times.size() < 5 || (times.size() < 25 && total < 0.3)) {
    const auto start = Clock::now();
    run();
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    total += times.back();
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

/// Values between -1 and 1 that are made on the device.
Tensor values(const Shape& shape, DType dtype = DType::float32) {
  return (uniform(Key(7), shape) * 2 - 1).to(dtype).realize();
}

class Rows {
 public:
  explicit Rows(std::vector<std::string> only) : only_(std::move(only)) {}

  void operator()(const std::string& name, double bytes, double flops, const std::function<Tensor()>& build) {
    if (!wanted(name)) return;
    try {
      const double s = seconds([&] {
        Tensor result = build();
        result.realize();
        synchronize(default_device());
      });
      if (name == "copy") copy_ = bytes / s;
      std::string line = fmt::format("{:34} {:10.3f} ms", name, 1e3 * s);
      if (bytes > 0) line += fmt::format(" {:9.1f} GB/s", 1e-9 * bytes / s);
      if (bytes > 0 && copy_ > 0) line += fmt::format(" {:5.2f} of a copy", bytes / s / copy_);
      if (flops > 0) line += fmt::format(" {:8.2f} TFLOP/s", 1e-12 * flops / s);
      fmt::print("{}\n", line);
    } catch (const std::exception& error) {
      fmt::print("{:34} {}\n", name, error.what());
    }
    std::fflush(stdout);
  }

 private:
  bool wanted(const std::string& name) const {
    return only_.empty() || name == "copy" ||
           std::ranges::any_of(only_, [&](const std::string& part) { return name.find(part) != std::string::npos; });
  }

  std::vector<std::string> only_;
  double copy_ = 0;
};

constexpr double kMany = double(1 << 27);

void streams(Rows& row) {
  const Tensor a = values({1 << 27}), b = values({1 << 27}), c = values({1 << 27});
  row("copy", 8 * kMany, 0, [&] { return a + 1.0F; });
  row("chain of 3 operands", 16 * kMany, 0, [&] { return (a * b + c) * 2.0F - a; });
  row("exp and tanh", 16 * kMany, 0, [&] { return relu(a * b + c) * exp(-abs(a)) + 0.5F * tanh(b); });
  row("where", 16 * kMany, 0, [&] { return where(a > 0, b, c); });
  row("sum of all", 4 * kMany, 0, [&] { return sum(a); });
  row("dot", 8 * kMany, 0, [&] { return sum(a * b); });
  const Tensor x = a.reshape({16384, 8192});
  row("sums of rows", 4 * kMany, 0, [&] { return sum(x, 1); });
  row("sums of columns", 4 * kMany, 0, [&] { return sum(x, 0); });
  row("maxima of columns", 4 * kMany, 0, [&] { return max(x, 0); });
  row("transposed copy", 8 * kMany, 0, [&] { return x.transpose().contiguous(); });
  row("last axis first", 8 * kMany, 0, [&] { return a.reshape({256, 512, 1024}).permute({2, 0, 1}).contiguous(); });
  const Tensor r = a.reshape({1 << 17, 1024});
  row("softmax of 1024", 8 * kMany, 0, [&] { return softmax(r); });
  row("layer norm of 1024", 8 * kMany, 0, [&] { return layer_norm(r); });
  row("softmax of 8192", 8 * kMany, 0, [&] { return softmax(x); });
  row("argmax of 1024", 4 * kMany, 0, [&] { return argmax(r, 1); });
  row("sums of rows of 16", 4 * kMany, 0, [&] { return sum(a.reshape({1 << 23, 16}), 1); });
  row("stencil of 5 points", 8 * kMany, 0, [&] {
    const Tensor p = pad(x, {{1, 1}, {1, 1}});
    const auto at = [&](int i, int j) { return p.slice({{1 + i, 16385 + i}, {1 + j, 8193 + j}}); };
    return at(0, 0) * 4.0F - at(-1, 0) - at(1, 0) - at(0, -1) - at(0, 1);
  });
  row("concat of 2", 16 * kMany, 0, [&] { return concat({a, b}, 0); });
  row("cumsum", 8 * kMany, 0, [&] { return cumsum(a, 0); });
  row("cumsum of rows", 8 * kMany, 0, [&] { return cumsum(x, 1); });
  const Tensor rows = randint(Key(3), {1 << 17}, 0, 1 << 17).realize();
  row("take of rows of 1024", 8 * kMany, 0, [&] { return take(r, rows); });
  row("add of rows by index", 12 * kMany, 0, [&] { return index_add(r, rows, r); });
}

void products(Rows& row) {
  for (const std::int64_t n : {1024, 2048, 4096, 8192}) {
    const Tensor a = values({n, n}), b = values({n, n});
    const double d = static_cast<double>(n);
    row(fmt::format("product of {}", n), 0, 2 * d * d * d, [&] { return matmul(a, b); });
  }
  const Tensor a = values({4096, 4096}), b = values({4096, 4096});
  row("product of 4096, right transposed", 0, 2 * std::pow(4096.0, 3), [&] { return matmul(a, b.transpose()); });
  row("product of 4096, relu, bias", 0, 2 * std::pow(4096.0, 3), [&] { return relu(matmul(a, b) + a.select(0, 1)); });
  const Tensor v = values({4096});
  row("matrix x vector of 16384 x 8192", 4 * kMany, 0,
      [x = values({16384, 8192}), w = values({8192})] { return matmul(x, w); });
  const Tensor p = values({64, 512, 512}), q = values({64, 512, 512});
  row("64 products of 512", 0, 64 * 2 * std::pow(512.0, 3), [&] { return matmul(p, q); });
  const Tensor h = values({4096, 4096}, DType::float16), k = values({4096, 4096}, DType::float16);
  row("product of 4096 in float16", 0, 2 * std::pow(4096.0, 3), [&] { return matmul(h, k); });
  const Tensor s = values({100000, 4, 4}), t = values({100000, 4, 4});
  row("100000 products of 4", 12.0 * 16 * 100000, 0, [&] { return matmul(s, t); });
  const Tensor query = values({16, 2048, 64}), key = values({16, 2048, 64}), value = values({16, 2048, 64});
  row("attention, 16 heads of 2048 x 64", 0, 16 * 4 * std::pow(2048.0, 2) * 64,
      [&] { return matmul(softmax(matmul(query, key.transpose(1, 2)) * 0.125F), value); });
  const Tensor image = values({32, 64, 56, 56}), weight = values({64, 64, 3, 3});
  row("conv 3x3, 64 to 64, 32 of 56x56", 0, 2.0 * 32 * 64 * 64 * 9 * 56 * 56,
      [&] { return conv2d(image, weight, {.padding = {1}}); });
}

void other(Rows& row) {
  const Tensor x = values({1 << 22});
  row("sort of 4M", 0, 0, [&] { return sort(x); });
  row("argsort of 4M", 0, 0, [&] { return argsort(x); });
  row("sort of 4096 x 1024", 0, 0, [y = values({4096, 1024})] { return sort(y); });
  row("sort of 64M", 0, 0, [y = values({1 << 26})] { return sort(y); });
  row("masked_select of 4M", 0, 0, [&] { return masked_select(x, x > 0); });
  row("normal, 64M", 4.0 * (1 << 26), 0, [&] { return normal(Key(1), {1 << 26}); });
  const Tensor bins = randint(Key(3), {1 << 24}, 0, 1000).realize();
  row("bincount of 16M into 1000", 0, 0, [&] { return bincount(bins, 1000); });
  const Tensor tiny = values({16});
  row("one small kernel", 0, 0, [&] { return tiny + 1.0F; });
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (default_device() == Device::eigen()) set_default_device(Device::opencl(0));
    fmt::print("{}\n", to_string(default_device()));
    Rows rows({argv + 1, argv + argc});
    streams(rows);
    products(rows);
    other(rows);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
