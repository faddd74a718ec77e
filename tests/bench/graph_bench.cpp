// The overhead of laziness: building nodes, scheduling them, and running tiny work.
#include <benchmark/benchmark.h>

#include <vector>

#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"
#include "runtime/key.hpp"
#include "runtime/plan.hpp"

#include "graph/build.hpp"

namespace {

using namespace oriel;
using graph::NodePtr;
using graph::Op;

void unbounded() { set_lazy_limits({0, 0}); }

void build_node(benchmark::State& state) {
  unbounded();
  const Tensor x = Tensor::of<float>({1, 2, 3, 4}).realize();
  const Tensor y = Tensor::of<float>({5, 6, 7, 8}).realize();
  constexpr int kNodes = 1000;
  for (auto _ : state) {
    Tensor t = x;
    for (int i = 0; i < kNodes; ++i) t = t + y;
    benchmark::DoNotOptimize(t);
  }
  state.counters["ns_per_node"] =
      benchmark::Counter(kNodes, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(build_node);

// A graph of elementwise ops, movements, broadcasts and reductions, which gives many kernels.
NodePtr mixed_graph(int nodes) {
  static std::vector<float> data(64 * 64, 1.0F);
  auto buffer = std::make_shared<mem::Buffer>(Device::eigen(), data.data(), data.size() * 4, nullptr);
  NodePtr x = graph::leaf(buffer, DType::float32, {64, 64});
  const NodePtr leaf = x;
  int made = 0;
  for (int i = 0; made < nodes; ++i) {
    switch (i % 8) {
      case 0:
        x = graph::permute(x, {1, 0});
        made += 1;
        break;
      case 3:
        x = graph::flip(x, {i % 2});
        made += 1;
        break;
      case 6:
        x = graph::binary(Op::Add, leaf, graph::expand(graph::reduce(Op::Sum, x, {1}), {64, 64}));
        made += 3;
        break;
      default:
        x = graph::binary(Op::Mul, graph::unary(Op::Tanh, x), leaf);
        made += 2;
    }
  }
  return x;
}

// A graph with reshapes across permuted and shifted axes, so that views do not merge: stacks of up to five views
// between reductions.
NodePtr stacked_graph(int nodes) {
  static std::vector<float> data(64 * 64, 1.0F);
  auto buffer = std::make_shared<mem::Buffer>(Device::eigen(), data.data(), data.size() * 4, nullptr);
  NodePtr x = graph::leaf(buffer, DType::float32, {64, 64});
  const NodePtr leaf = x;
  int made = 0;
  for (int i = 0; made < nodes; ++i) {
    switch (i % 6) {
      case 0:
        x = graph::reshape(graph::permute(graph::reshape(x, {16, 256}), {1, 0}), {64, 64});
        made += 3;
        break;
      case 2:
        x = graph::reshape(graph::shrink(graph::pad(graph::reshape(x, {4096}), {{5, 0}}), {{0, 4096}}), {64, 64});
        made += 4;
        break;
      case 4:
        x = graph::reshape(graph::permute(graph::reshape(x, {8, 32, 16}), {1, 2, 0}), {64, 64});
        made += 3;
        break;
      case 5:
        x = graph::binary(Op::Add, leaf, graph::expand(graph::reduce(Op::Sum, x, {1}), {64, 64}));
        made += 3;
        break;
      default:
        x = graph::binary(Op::Mul, graph::unary(Op::Tanh, x), leaf);
        made += 2;
    }
  }
  return x;
}

template <NodePtr (*kGraph)(int)>
void schedule_graph(benchmark::State& state) {
  const NodePtr root = kGraph(static_cast<int>(state.range(0)));
  const NodePtr roots[] = {root};
  std::size_t kernels = 0;
  for (auto _ : state) {
    const base::Activity work;
    runtime::Key key;
    runtime::make_key(work, roots, 0, key);
    // As the executor does: each kernel is handed on when it is lowered.
    const runtime::Plan plan = runtime::make_plan(roots, key, {}, [](const runtime::PlannedKernel&) {});
    kernels = plan.graph.order.size();
    state.counters["merges"] = static_cast<double>(plan.view_merges.merges);
  }
  state.counters["kernels"] = static_cast<double>(kernels);
  state.counters["ns_per_node"] = benchmark::Counter(
      static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
void schedule_mixed(benchmark::State& state) { schedule_graph<mixed_graph>(state); }
BENCHMARK(schedule_mixed)->Arg(1000)->Arg(10000)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond);
void schedule_stacked(benchmark::State& state) { schedule_graph<stacked_graph>(state); }
BENCHMARK(schedule_stacked)->Arg(1000)->Arg(10000)->Unit(benchmark::kMillisecond);

void tiny_ops_one_by_one(benchmark::State& state) {
  unbounded();
  constexpr int kOps = 1000;
  const Tensor y = full({16}, 1.0F).realize();
  for (auto _ : state) {
    Tensor t = y;
    for (int i = 0; i < kOps; ++i) {
      t = t + y;
      t.realize();
    }
    benchmark::DoNotOptimize(t);
  }
  state.counters["ns_per_op"] =
      benchmark::Counter(kOps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(tiny_ops_one_by_one);

void tiny_ops_at_once_seen_before(benchmark::State& state) {
  unbounded();
  constexpr int kOps = 1000;
  const Tensor y = full({16}, 1.0F).realize();
  for (auto _ : state) {
    Tensor t = y;
    for (int i = 0; i < kOps; ++i) t = t + y;
    t.realize();
    benchmark::DoNotOptimize(t);
  }
  state.counters["ns_per_op"] =
      benchmark::Counter(kOps, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(tiny_ops_at_once_seen_before);

// The time from building the graph to reading the result, with empty caches.
void first_result_of_ten_ops(benchmark::State& state) {
  unbounded();
  const Tensor a = full({256}, 0.5F).realize(), b = full({256}, 0.25F).realize();
  for (auto _ : state) {
    runtime::clear_caches();
    Tensor t = maximum(a * b + 1.5F, 0.0F) * exp(-abs(a)) + tanh(b) * 0.5F - a;
    benchmark::DoNotOptimize(t.to_vector<float>());
  }
}
BENCHMARK(first_result_of_ten_ops)->Unit(benchmark::kMicrosecond);

// A training step of a small network, forward and backward. Its kernels are too small for a second thread. Run it with
// ORIEL_THREADS=1 and with 2: the times should be equal.
void mlp_step(benchmark::State& state) {
  const std::int64_t width = state.range(0);
  Tensor w[] = {full({width, width}, 0.01F).realize(), full({width, width}, 0.01F).realize(),
                full({width, 10}, 0.01F).realize()};
  const Tensor x = full({32, width}, 1.0F).realize(), y = full({32, 10}, 0.5F).realize();
  for (auto _ : state) {
    const Tensor h0 = relu(matmul(x, w[0]));
    const Tensor h1 = relu(matmul(h0, w[1]));
    const Tensor error = softmax(matmul(h1, w[2])) - y;
    const Tensor d1 = where(h1 > 0, matmul(error, w[2].transpose()), 0.0F);
    const Tensor d0 = where(h0 > 0, matmul(d1, w[1].transpose()), 0.0F);
    w[2] -= matmul(h1.transpose(), error) * 1e-4F;
    w[1] -= matmul(h0.transpose(), d1) * 1e-4F;
    w[0] -= matmul(x.transpose(), d0) * 1e-4F;
    realize({w[0], w[1], w[2]});
  }
}
BENCHMARK(mlp_step)->Arg(64)->Arg(256)->Arg(1024)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
