// Kernels of captured functions whose sizes are symbols, against captures at these very sizes, in turns. The plan that
// serves a row was made for sizes a third as large. Prints the median of both, their ratio, and how many sets of sizes
// were scheduled: two, unless the row is scheduled for each set. Takes the number of rounds.
#include <fmt/format.h>

#include <cstdlib>
#include <tuple>

#include "bench/encoder_block.hpp"
#include "bench/turns.hpp"
#include "oriel/oriel.hpp"

namespace {

using oriel::Shape;
using oriel::Tensor;

Tensor filled(const Shape& shape) {
  float next = 0.1F;
  return Tensor::generate(shape, [&](auto) { return next = next > 1 ? next - 0.97F : next + 0.37F; });
}

/// `inputs` makes the arguments for a length.
template <class Program, class Inputs>
void row(const char* name, const Program& program, const Inputs& inputs, std::int64_t length, int rounds) {
  const auto open = oriel::function(program, {.dynamic = oriel::Dynamic::yes});
  const auto fixed = oriel::function(program, {.dynamic = oriel::Dynamic::no});
  for (const std::int64_t n : {length / 3, length / 3 + 1}) std::apply(open, inputs(n));
  const auto x = inputs(length);
  oriel::bench::Times of_open, of_fixed;
  std::apply(open, x);
  std::apply(fixed, x);
  for (int k = 0; k < rounds; ++k) {
    of_open.take([&] { std::apply(open, x); });
    of_fixed.take([&] { std::apply(fixed, x); });
  }
  const auto entries = open.entries();
  const double a = oriel::bench::Times::median(of_open.wall), b = oriel::bench::Times::median(of_fixed.wall);
  fmt::print("{:<28} {:>10.1f} us {:>10.1f} us   {:.3f}   {} kernels, {} of {} sets scheduled\n", name, a * 1e6,
             b * 1e6, a / b, entries.back().kernels.size(), entries.back().scheduled, entries.back().sizes);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 101;
  const auto one = [](std::int64_t columns) {
    return [columns](std::int64_t n) { return std::tuple{filled({n, columns})}; };
  };
  fmt::print("{:<28} {:>13} {:>13}   ratio\n", "", "symbols", "fixed");
  row(
      "gelu (n, 1024)", [](Tensor x) { return gelu(x); }, one(1024), 1000, rounds);
  row(
      "sum rows (n, 1024)", [](Tensor x) { return sum(x, 1); }, one(1024), 3000, rounds);
  row(
      "sum columns (n, 1024)", [](Tensor x) { return sum(x, 0); }, one(1024), 3000, rounds);
  row(
      "softmax (n, 1024)", [](Tensor x) { return softmax(x, 1); }, one(1024), 1000, rounds);
  row(
      "layer norm (n, 768)", [](Tensor x) { return layer_norm(x, 1); }, one(768), 1500, rounds);
  row(
      "transpose + 1 (n, 1024)", [](Tensor x) { return x.transpose().contiguous() + 1; }, one(1024), 1000, rounds);
  row(
      "stencil (n, n)",
      [](Tensor x) {
        const auto inner = oriel::Slice{1, -1};
        return x.slice({inner, inner}) * 0.5F +
               (x.slice({{0, -2}, inner}) + x.slice({{2}, inner}) + x.slice({inner, {0, -2}}) + x.slice({inner, {2}})) *
                   0.125F;
      },
      [](std::int64_t n) {
        return std::tuple{filled({n, n})};
      },
      1500, rounds);
  row(
      "products (n, 512)(512, 512)", [](Tensor x, Tensor w) { return relu(matmul(x, w) + 1); },
      [](std::int64_t n) {
        return std::tuple{filled({n, 512}), filled({512, 512})};
      },
      600, rounds);
  row(
      "product (n, n)(n, n)", [](Tensor x, Tensor w) { return matmul(x, w); },
      [](std::int64_t n) {
        return std::tuple{filled({n, n}), filled({n, n})};
      },
      500, rounds);
  row(
      "vector (n, n)(n)", [](Tensor x, Tensor w) { return matmul(x, w); },
      [](std::int64_t n) {
        return std::tuple{filled({n, n}), filled({n})};
      },
      2000, rounds);
  row(
      "mlp (n, 256)", [](Tensor x, Tensor v, Tensor w) { return softmax(matmul(relu(matmul(x, v)), w), 1); },
      [](std::int64_t n) {
        return std::tuple{filled({n, 256}), filled({256, 512}), filled({512, 16})};
      },
      300, rounds);
  row(
      "attention (4, 8, n, 32)",
      [](Tensor q, Tensor k, Tensor v) { return matmul(softmax(matmul(q, k.transpose()) / 8, -1), v); },
      [](std::int64_t n) {
        const Tensor heads = filled({4, 8, n, 32});
        return std::tuple{heads, heads, heads};
      },
      240, rounds);
  row(
      "encoder block (4, n, 128)",
      [](Tensor x, Tensor to_heads, Tensor to_out, Tensor up, Tensor down) {
        return oriel::bench::encoder_block(x, to_heads, to_out, up, down);
      },
      [](std::int64_t n) {
        const auto weights = [](const Shape& shape) { return (filled(shape) / 64).realize(); };
        return std::tuple{filled({4, n, 128}), weights({128, 384}), weights({128, 128}), weights({128, 512}),
                          weights({512, 128})};
      },
      192, rounds);
  return 0;
}
