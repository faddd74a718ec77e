// From text to graph: a statement of five accesses parsed, checked, inferred and lowered; and its parts.
#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <vector>

#include "formula/call.hpp"
#include "lang/lower.hpp"
#include "lang/syntax/program.hpp"
#include "oriel/oriel.hpp"

namespace {

using namespace oriel;

const char* const kText =
    "def f(float(N, C, H, W) X, float(M, C, KH, KW) F, float(M) B, float(N, M) S, float(H, W) P) -> (Y) {\n"
    "  Y(n, m, h, w) +=! X(n, c, h + p, w + q) * F(m, c, p, q) * S(n, m) + B(m) + P(h + p, w + q)\n"
    "}\n";

const std::vector<std::optional<Shape>> kShapes{Shape{8, 16, 32, 32}, Shape{24, 16, 3, 3}, Shape{24}, Shape{8, 24},
                                                Shape{32, 32}};

std::vector<graph::NodePtr> arguments() {
  std::vector<graph::NodePtr> nodes;
  for (const auto& shape : kShapes) nodes.push_back(detail::Access::node(zeros(*shape).realize()));
  return nodes;
}

void parse_and_check(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(lang::check(kText));
}

void infer(benchmark::State& state) {
  const lang::ProgramPtr program = lang::check(kText).back();
  for (auto _ : state) benchmark::DoNotOptimize(lang::infer(*program, kShapes));
}

void text_to_graph(benchmark::State& state) {
  const std::vector<graph::NodePtr> nodes = arguments();
  for (auto _ : state) {
    const lang::ProgramPtr program = lang::check(kText).back();
    const lang::Inference inference = lang::infer(*program, kShapes);
    benchmark::DoNotOptimize(lang::lower(*program, inference, nodes, Device::eigen(), {}, Bounds::checked));
  }
}

void call_again(benchmark::State& state) {
  std::vector<Tensor> tensors;
  for (const auto& shape : kShapes) tensors.push_back(zeros(*shape).realize());
  const std::vector<Operand> operands(tensors.begin(), tensors.end());
  for (auto _ : state) benchmark::DoNotOptimize(comprehension(kText).call(operands));
}

}  // namespace

BENCHMARK(parse_and_check);
BENCHMARK(infer);
BENCHMARK(text_to_graph);
BENCHMARK(call_again);

BENCHMARK_MAIN();
