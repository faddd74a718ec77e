// The time to compute the joint iteration of three rank-5 operands: on the general path and on a fast path.
#include <benchmark/benchmark.h>

#include "view/layouts/iterate.hpp"
#include "view/layouts/strided_reshape.hpp"

namespace {

using oriel::Layout;
using oriel::MemoryFormat;

void iterate(benchmark::State& state, const Layout& a, const Layout& b, const Layout& c) {
  const Layout* operands[] = {&a, &b, &c};
  for (auto _ : state) benchmark::DoNotOptimize(oriel::detail::iterate(operands));
}

const oriel::Shape kShape{8, 16, 4, 6, 10};
const Layout kContiguous = Layout::contiguous(kShape);
const Layout kChannelsLast = Layout::of(kShape, MemoryFormat::channels_last_3d);
const Layout kRow = Layout::contiguous({16, 1, 6, 10});
const Layout kShuffled{kShape, {6, 48, 7680, 1, 768}};

void view(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(oriel::detail::strided_reshape(kContiguous, {64, 2, -1, 5}));
}

}  // namespace

BENCHMARK_CAPTURE(iterate, mixed, kChannelsLast, kContiguous, kRow);
BENCHMARK_CAPTURE(iterate, shuffled, kShuffled, kChannelsLast, kRow);
BENCHMARK_CAPTURE(iterate, contiguous, kContiguous, kContiguous, kContiguous);
BENCHMARK_CAPTURE(iterate, equal_strides, kShuffled, kShuffled, kShuffled);
BENCHMARK(view);

BENCHMARK_MAIN();
