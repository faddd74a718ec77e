// OpenCL: the engine compared with hand-written OpenCL programs on the same device, in turns within one process, and
// with OpenBLAS for products. The row is the time of the engine. If this machine has no OpenCL device, the rows say so.
//
// Counters: ms and other_ms, medians; ratio, the other's time over the engine's: 1 is as fast, more is faster.
// Exceptions are described at the rows.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "codegen/loop_program.hpp"
#include "in_turns.hpp"
#include "opencl_by_hand.hpp"

namespace {

using namespace oriel;
using namespace oriel::bench;

/// Times the engine's work, with waiting for its end, and the other's in turns. `scale` is the factor by which the
/// other does more work.
void in_turn(benchmark::State& state, double bytes, const std::function<Tensor()>& build,
             const std::function<void()>& other, double scale = 1) {
  const auto run = [&] {
    Tensor r = build();
    r.realize();
    device().synchronize();
  };
  for (int turn = 0; turn < 2; ++turn) {
    run();
    other();
  }
  const auto [ours, theirs] = take_turns(state, run, other);
  const double mine = Times::median(ours.wall), others = Times::median(theirs.wall);
  state.counters["ms"] = 1e3 * mine;
  state.counters["other_ms"] = 1e3 * others;
  state.counters["ratio"] = others / scale / mine;
  state.counters["cpu_ratio"] = Times::median(theirs.cpu) / scale / Times::median(ours.cpu);
  if (bytes > 0) state.counters["GB/s"] = 1e-9 * bytes / mine;
}

constexpr std::size_t kMany = std::size_t{1} << 24;

const char* const kHandSource = R"(
__kernel void triad(__global const float* b, __global const float* c, __global float* a) {
  const size_t i = get_global_id(0);
  vstore16(vload16(i, b) + 3.0f * vload16(i, c), i, a);
}
__kernel void copy(__global const float* b, __global float* a) {
  const size_t i = get_global_id(0);
  vstore16(vload16(i, b), i, a);
}
__kernel void chain(__global const float* a, __global const float* b, __global const float* c, __global float* out) {
  const size_t i = get_global_id(0);
  const float16 x = vload16(i, a), y = vload16(i, b), z = vload16(i, c);
  const float16 t = x * y + z;
  vstore16(fmax(t, 0.0f) * exp(-fabs(x)) + 0.5f * tanh(y), i, out);
}
// 64 work items, each with a contiguous run of its own.
__kernel void reading(__global const float* b, __global float* a) {
  const size_t n = (1 << 24) / 64;
  __global const float* p = b + get_global_id(0) * n;
  float16 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (size_t i = 0; i < n / 16; i += 4) {
    s0 += vload16(i, p);
    s1 += vload16(i + 1, p);
    s2 += vload16(i + 2, p);
    s3 += vload16(i + 3, p);
  }
  vstore16(s0 + s1 + s2 + s3, get_global_id(0), a);
}
)";

struct Kernels {
  Program program = hand()->program(kHandSource);
  Memory a = hand()->buffer(4 * kMany), b = hand()->buffer(4 * kMany), c = hand()->buffer(4 * kMany),
         d = hand()->buffer(4 * kMany);
};
Kernels& kernels() {
  static auto& k = *new Kernels();
  return k;
}

/// A hand-written kernel over all 2^24 elements, 16 per work item.
std::function<void()> by_hand(const char* name, const std::vector<const Memory*>& buffers, std::size_t items,
                              std::size_t group) {
  auto k = std::make_shared<KernelHandle>(hand()->kernel(kernels().program, name));
  hand()->set(*k, buffers);
  return [k, items, group] {
    hand()->launch(*k, items, group);
    hand()->finish();
  };
}
std::function<void()> triad() { return by_hand("triad", {&kernels().b, &kernels().c, &kernels().a}, kMany / 16, 32); }
std::function<void()> copy() { return by_hand("copy", {&kernels().b, &kernels().a}, kMany / 16, 32); }
std::function<void()> reading() { return by_hand("reading", {&kernels().b, &kernels().a}, 64, 1); }

// --- bandwidth -------------------------------------------------------------------------------------------------------

/// (a*b + c)*2 - a with 4 arrays, compared with the triad's 3.
void chain_triad(benchmark::State& state) {
  if (missing(state)) return;
  const Tensor a = numbers({static_cast<std::int64_t>(kMany)}), b = numbers({static_cast<std::int64_t>(kMany)}),
               c = numbers({static_cast<std::int64_t>(kMany)});
  in_turn(
      state, 16.0 * kMany, [&] { return (a * b + c) * 2.0F - a; }, triad(), 3.0 / 4.0);
}

void chain_exp_tanh(benchmark::State& state) {
  if (missing(state)) return;
  const Tensor a = numbers({static_cast<std::int64_t>(kMany)}), b = numbers({static_cast<std::int64_t>(kMany)}),
               c = numbers({static_cast<std::int64_t>(kMany)});
  Kernels& k = kernels();
  in_turn(
      state, 16.0 * kMany, [&] { return relu(a * b + c) * exp(-abs(a)) + 0.5F * tanh(b); },
      by_hand("chain", {&k.a, &k.b, &k.c, &k.d}, kMany / 16, 32));
}

/// Reductions, compared with a kernel that reads as many bytes. Argument: 0 all, 1 rows, 2 columns, 3 maximum of
/// columns.
void reduction(benchmark::State& state) {
  if (missing(state)) return;
  const Tensor x = numbers({4096, 4096});
  const auto what = state.range(0);
  in_turn(
      state, 4.0 * kMany,
      [&] { return what == 0   ? sum(x)
                   : what == 1 ? sum(x, 1)
                   : what == 2 ? sum(x, 0)
                               : max(x, 0); }, reading());
}

/// A permuting copy, compared with a plain copy. Argument: 0 transposed, 1 with the last of three axes first.
void turned_copy(benchmark::State& state) {
  if (missing(state)) return;
  const Tensor x = state.range(0) == 0 ? numbers({4096, 4096}) : numbers({64, 512, 512});
  in_turn(
      state, 8.0 * kMany,
      [&] {
        return (state.range(0) == 0 ? x.transpose() : x.permute({2, 0, 1})).contiguous();
      },
      copy());
}

BENCHMARK(chain_triad)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(chain_exp_tanh)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(reduction)->DenseRange(0, 3)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(turned_copy)->DenseRange(0, 1)->Unit(benchmark::kMillisecond)->UseRealTime();

// --- products --------------------------------------------------------------------------------------------------------

using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                       const float* b, int ldb, float beta, float* c, int ldc);
constexpr int kRowMajor = 101, kPlain = 111;

/// OpenBLAS's sgemm, or null if it is not installed.
Sgemm blas() {
  static const Sgemm sgemm = []() -> Sgemm {
    setenv("OPENBLAS_NUM_THREADS", std::to_string(std::thread::hardware_concurrency()).c_str(), 1);
    // Version 0.3.21 treats processors that it does not know as the oldest ones.
    if (__builtin_cpu_supports("avx512bw")) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    void* library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library == nullptr) return nullptr;
    Sgemm f = nullptr;
    *reinterpret_cast<void**>(&f) = dlsym(library, "cblas_sgemm");
    return f;
  }();
  return sgemm;
}

/// A matrix product, compared with OpenBLAS on as many threads as the machine has.
void product(benchmark::State& state) {
  if (missing(state)) return;
  if (blas() == nullptr) return state.SkipWithError("no libopenblas.so.0");
  const std::int64_t n = state.range(0);
  const Tensor a = numbers({n, n}), b = numbers({n, n});
  const std::vector<float> x(static_cast<std::size_t>(n * n), 0.5F);
  std::vector<float> y(x.size());
  const int m = static_cast<int>(n);
  in_turn(
      state, 0, [&] { return matmul(a, b); },
      [&] { blas()(kRowMajor, kPlain, kPlain, m, m, m, 1.0F, x.data(), m, x.data(), m, 0.0F, y.data(), m); });
}
BENCHMARK(product)->Arg(512)->Arg(1024)->Arg(2048)->Unit(benchmark::kMillisecond)->UseRealTime();

// --- launches ------------------------------------------------------------------------------------------------------

constexpr int kLaunches = 2000;

/// out = in + in over 16 elements.
codegen::LoopProgram tiny() {
  using codegen::Instr;
  codegen::LoopProgram p;
  p.name = "tiny";
  p.outer = {16};
  p.arguments = {{DType::float32, 16, false, "in0"}, {DType::float32, 16, true, "out0"}};
  p.accesses = {{0, DType::float32, ShapeTracker(Shape{16})}, {1, DType::float32, ShapeTracker(Shape{16})}};
  p.values = {DType::float32, DType::float32};
  Instr load, add, store;
  load.code = codegen::Code::Load;
  load.result = 0;
  load.aux = 0;
  add.op = graph::Op::Add;
  add.result = 1;
  add.a = add.b = 0;
  store.code = codegen::Code::Store;
  store.a = 1;
  store.aux = 1;
  codegen::Stage stage;
  stage.outer = {load, add, store};
  p.stages = {stage};
  return p;
}

/// Cached launches that are enqueued together and waited for once, compared with a loop of clSetKernelArg and
/// clEnqueueNDRangeKernel. own_us is the additional cost of a launch. Argument: 0 the backend's launch, 1 an expression
/// built and realised each time.
void launches(benchmark::State& state) {
  if (missing(state)) return;
  const Program program = hand()->program(
      "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void tiny(__global const float* a, __global float* b) {"
      " vstore16(vload16(0, a) + vload16(0, a), 0, b); }");
  const KernelHandle kernel = hand()->kernel(program, "tiny");
  const Memory a = hand()->buffer(64), b = hand()->buffer(64);
  const auto other = [&] {
    for (int k = 0; k < kLaunches; ++k) {
      hand()->set(kernel, {&a, &b});
      hand()->launch(kernel, 1, 1);
    }
    hand()->flush();
    hand()->finish();
  };
  const Tensor x = numbers({16});
  const auto made = device().compile(tiny());
  device().prepare({&made, 1});
  const mem::Buffer in(device().allocator(), 64), out(device().allocator(), 64);
  void* const arguments[] = {const_cast<void*>(in.data()), const_cast<void*>(out.data())};
  const auto ours = [&] {
    for (int k = 0; k < kLaunches; ++k) {
      if (state.range(0) == 0) {
        device().launch(*made, arguments, {});
      } else {
        (x + 1.0F).realize();
      }
    }
    device().submit();
    device().synchronize();
  };
  ours();
  other();
  const auto [mine, theirs] = take_turns(state, ours, other);
  const double us = 1e6 / kLaunches;
  state.counters["us"] = us * Times::median(mine.wall);
  state.counters["other_us"] = us * Times::median(theirs.wall);
  state.counters["own_us"] = us * (Times::median(mine.wall) - Times::median(theirs.wall));
  state.counters["own_cpu_us"] = us * (Times::median(mine.cpu) - Times::median(theirs.cpu));
}
BENCHMARK(launches)->DenseRange(0, 1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

int main(int argc, char** argv) {
  set_default_device(hand() != nullptr ? Device::opencl(0) : Device::eigen());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
