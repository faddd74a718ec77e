// Calls of a captured function that hit. On the null device, which computes nothing: the call alone, with 1, 11 and 101
// kernels, also at sizes that the entry has met or not. On the CPU: a small MLP with its kernels. Each is compared with
// the same program without capture, which builds its graph and finds its schedule by the graph's key; so is a layer
// whose weight is packed once. Then the parts of a hit: gathering facts and checking guards.
#include <benchmark/benchmark.h>

#include <vector>

#include "bench/encoder_block.hpp"
#include "capture/captured.hpp"
#include "formula/call.hpp"
#include "oriel/oriel.hpp"

namespace {

using oriel::Tensor;

// Sorting ends a kernel, so each round has two kernels: the sort and the addition. One more copies the source of the
// first sort.
template <int Rounds>
Tensor rounds(Tensor x) {
  if (Rounds == 0) return x * 2.5F;
  for (int k = 0; k < Rounds; ++k) x = oriel::sort(x, 0) + 1;
  return x;
}

// The same number of kernels, of which those between the sorts are all different: their operations are the digits of
// their number.
template <int Rounds>
Tensor different_rounds(Tensor x) {
  for (int k = 0; k < Rounds; ++k) {
    x = oriel::sort(x, 0);
    for (int digits = k + 1; digits > 0; digits /= 3)
      x = digits % 3 == 0 ? x + 1 : digits % 3 == 1 ? oriel::sin(x) : oriel::abs(x);
  }
  return x;
}

class OnNull {
 public:
  OnNull() { oriel::set_default_device(oriel::Device::null()); }
  ~OnNull() { oriel::set_default_device(oriel::Device::eigen()); }
};

template <int Rounds>
void hit(benchmark::State& state) {
  const OnNull device;
  const auto f = oriel::function([](Tensor x) { return rounds<Rounds>(x); });
  const Tensor x = Tensor::of<float>({{1, 2, 3}, {4, 5, 6}});
  f(x);
  for (auto _ : state) benchmark::DoNotOptimize(f(x));
  state.counters["kernels"] = static_cast<double>(f.entries()[0].kernels.size());
}

// The second length of an entry: the graph of the trace is scheduled for it, and then planned for symbolic sizes.
template <int Rounds>
void second_size(benchmark::State& state) {
  const OnNull device;
  const Tensor x = oriel::zeros({1000, 3}).realize(), y = oriel::zeros({1001, 3}).realize();
  for (auto _ : state) {
    state.PauseTiming();
    const auto f = oriel::function([](Tensor in) { return rounds<Rounds>(in); }, {.dynamic = oriel::Dynamic::yes});
    f(x);
    state.ResumeTiming();
    benchmark::DoNotOptimize(f(y));
  }
}

// The same with symbolic sizes: calls on one of 64 lengths, all met before.
template <int Rounds>
void hit_sizes(benchmark::State& state) {
  const OnNull device;
  const auto f = oriel::function([](Tensor x) { return rounds<Rounds>(x); }, {.dynamic = oriel::Dynamic::yes});
  std::vector<Tensor> inputs;
  for (std::int64_t n = 2; n < 66; ++n) inputs.push_back(oriel::zeros({n, 3}).realize());
  for (const Tensor& x : inputs) f(x);
  std::size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(f(inputs[next++ * 29 % inputs.size()]));
  state.counters["traces"] = static_cast<double>(f.counts().traces);
  state.counters["sizes"] = static_cast<double>(f.entries()[0].sizes);
}

// A length that was not met, in an entry that has met two: with the second one it was planned for symbolic sizes.
template <int Rounds, bool Different = false>
void new_size(benchmark::State& state) {
  const OnNull device;
  const auto f = oriel::function([](Tensor x) { return Different ? different_rounds<Rounds>(x) : rounds<Rounds>(x); },
                                 {.dynamic = oriel::Dynamic::yes});
  for (const std::int64_t n : {1000, 1001}) f(oriel::zeros({n, 3}).realize());
  std::int64_t n = 1002;
  for (auto _ : state) {
    state.PauseTiming();
    const Tensor x = oriel::zeros({n++, 3}).realize();
    state.ResumeTiming();
    benchmark::DoNotOptimize(f(x));
  }
  state.counters["traces"] = static_cast<double>(f.counts().traces);
}

// The same of a block of an encoder, whose length is new.
void new_size_encoder(benchmark::State& state) {
  const OnNull device;
  const auto f = oriel::function([](Tensor x, Tensor to_heads, Tensor to_out, Tensor up, Tensor down) {
    return oriel::bench::encoder_block(x, to_heads, to_out, up, down);
  });
  const auto made = [](const oriel::Shape& shape) { return oriel::zeros(shape).realize(); };
  const Tensor to_heads = made({128, 384}), to_out = made({128, 128}), up = made({128, 512}), down = made({512, 128});
  const auto call = [&](const Tensor& x) { return f(x, to_heads, to_out, up, down); };
  std::int64_t n = 200;
  for (int k = 0; k < 3; ++k) call(made({4, n++, 128}));
  for (auto _ : state) {
    state.PauseTiming();
    const Tensor x = made({4, n++, 128});
    state.ResumeTiming();
    benchmark::DoNotOptimize(call(x));
  }
  state.counters["traces"] = static_cast<double>(f.counts().traces);
  state.counters["scheduled"] = static_cast<double>(f.entries().back().scheduled);
  state.counters["kernels"] = static_cast<double>(f.entries().back().kernels.size());
}

template <int Rounds>
void by_key(benchmark::State& state) {
  const OnNull device;
  const Tensor x = Tensor::of<float>({{1, 2, 3}, {4, 5, 6}});
  for (auto _ : state) benchmark::DoNotOptimize(rounds<Rounds>(x).realize());
}

// Checks 20 guards on two inputs of rank 2; all hold.
void guards(benchmark::State& state) {
  const Tensor x = Tensor::of<float>({{1, 2, 3}, {4, 5, 6}}), y = x + 1;
  y.realize();
  oriel::detail::CapturedArguments arguments{&state};
  arguments.tensors.push_back(&x);
  arguments.tensors.push_back(&y);
  oriel::api::CallKey facts;
  oriel::api::CapturedInputs inputs;
  oriel::api::gather(arguments, inputs, facts);
  oriel::api::CapturedEntry entry(oriel::api::SizeSymbols({}, {}, facts, {}));
  entry.size_guards.emplace(entry.symbols, entry.names);
  entry.facts = facts.size();
  for (std::size_t k = 0; k < 20 && k < facts.size(); ++k)
    entry.guards.push_back({static_cast<std::int32_t>(k), facts[k]});
  for (auto _ : state) {
    benchmark::DoNotOptimize(facts.data());
    benchmark::DoNotOptimize(entry.holds(facts));
    benchmark::ClobberMemory();
  }
  state.counters["guards"] = static_cast<double>(entry.guards.size());
}

// Gathers the facts that the guards check from the arguments.
void facts(benchmark::State& state) {
  const Tensor x = Tensor::of<float>({{1, 2, 3}, {4, 5, 6}}), y = x + 1;
  y.realize();
  oriel::detail::CapturedArguments arguments{&state};
  arguments.tensors.push_back(&x);
  arguments.tensors.push_back(&y);
  for (auto _ : state) {
    oriel::api::CallKey facts;
    oriel::api::CapturedInputs inputs;
    oriel::api::gather(arguments, inputs, facts);
    benchmark::DoNotOptimize(facts.data());
  }
}

struct Layers {
  Tensor w0 = filled({16, 32}), b0 = filled({32}), w1 = filled({32, 8}), b1 = filled({8});
  static Tensor filled(const oriel::Shape& shape) {
    float next = 0;
    return Tensor::generate(shape, [&](auto) {
      next = next + 0.37F;
      return next - static_cast<float>(static_cast<int>(next));
    });
  }
};

Tensor mlp(const Tensor& x, const Tensor& w0, const Tensor& b0, const Tensor& w1, const Tensor& b1) {
  return softmax(matmul(relu(matmul(x, w0) + b0), w1) + b1);
}

void mlp_hit(benchmark::State& state) {
  const Layers layers;
  const Tensor x = Layers::filled({4, 16});
  const auto f =
      oriel::bind([](Tensor in, Tensor w0, Tensor b0, Tensor w1, Tensor b1) { return mlp(in, w0, b0, w1, b1); },
                  layers.w0, layers.b0, layers.w1, layers.b1);
  f(x);
  for (auto _ : state) benchmark::DoNotOptimize(f(x));
  state.counters["kernels"] = static_cast<double>(f.entries()[0].kernels.size());
}

void mlp_by_key(benchmark::State& state) {
  const Layers layers;
  const Tensor x = Layers::filled({4, 16});
  for (auto _ : state) benchmark::DoNotOptimize(mlp(x, layers.w0, layers.b0, layers.w1, layers.b1).realize());
}

// A layer with a weight of 1024 outputs by 1024 inputs, as files have it. Captured, its panels are packed once; the
// plain engine packs them in each call.
Tensor layer(const Tensor& x, const Tensor& w) { return matmul(x, w.permute({1, 0})); }

void weights_kept(benchmark::State& state) {
  const Tensor x = Layers::filled({state.range(0), 1024}), w = Layers::filled({1024, 1024});
  const auto f = oriel::bind([](Tensor in, Tensor weight) { return layer(in, weight); }, w);
  for (int warm = 0; warm < 3; ++warm) f(x);
  for (auto _ : state) benchmark::DoNotOptimize(f(x));
  state.counters["packed"] = static_cast<double>(f.entries()[0].packed);
}

void weights_by_key(benchmark::State& state) {
  const Tensor x = Layers::filled({state.range(0), 1024}), w = Layers::filled({1024, 1024});
  for (auto _ : state) benchmark::DoNotOptimize(layer(x, w).realize());
}

}  // namespace

BENCHMARK_TEMPLATE(hit, 0)->Name("function/hit/null/1");
BENCHMARK_TEMPLATE(hit, 5)->Name("function/hit/null/11");
BENCHMARK_TEMPLATE(hit, 50)->Name("function/hit/null/101");
BENCHMARK_TEMPLATE(hit_sizes, 0)->Name("function/hit_sizes/null/1");
BENCHMARK_TEMPLATE(hit_sizes, 5)->Name("function/hit_sizes/null/11");
BENCHMARK_TEMPLATE(second_size, 0)->Name("function/second_size/null/1")->Iterations(200);
BENCHMARK_TEMPLATE(second_size, 5)->Name("function/second_size/null/11")->Iterations(50);
BENCHMARK_TEMPLATE(second_size, 50)->Name("function/second_size/null/101")->Iterations(20);
BENCHMARK_TEMPLATE(new_size, 0)->Name("function/new_size/null/1")->Iterations(2000);
BENCHMARK_TEMPLATE(new_size, 5)->Name("function/new_size/null/11")->Iterations(500);
BENCHMARK_TEMPLATE(new_size, 50)->Name("function/new_size/null/101")->Iterations(100);
BENCHMARK_TEMPLATE(new_size, 5, true)->Name("function/new_size/null/11_different")->Iterations(500);
BENCHMARK_TEMPLATE(new_size, 50, true)->Name("function/new_size/null/101_different")->Iterations(100);
BENCHMARK(new_size_encoder)->Name("function/new_size/null/encoder")->Iterations(200);
BENCHMARK_TEMPLATE(by_key, 0)->Name("function/by_key/null/1");
BENCHMARK_TEMPLATE(by_key, 5)->Name("function/by_key/null/11");
BENCHMARK_TEMPLATE(by_key, 50)->Name("function/by_key/null/101");
BENCHMARK(guards)->Name("function/guards/20");
BENCHMARK(facts)->Name("function/facts/2_inputs");
BENCHMARK(mlp_hit)->Name("function/hit/mlp");
BENCHMARK(mlp_by_key)->Name("function/by_key/mlp");
BENCHMARK(weights_kept)->Name("function/weights/kept")->Arg(2)->Arg(8)->Arg(32)->Arg(128)->Arg(512)->UseRealTime();
BENCHMARK(weights_by_key)->Name("function/weights/by_key")->Arg(2)->Arg(8)->Arg(32)->Arg(128)->Arg(512)->UseRealTime();

BENCHMARK_MAIN();
