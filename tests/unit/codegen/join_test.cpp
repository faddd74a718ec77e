// Kernels that share their rows are one program of several parts, and what one leaves for the next is a row.
#include <doctest/doctest.h>

#include "api/call.hpp"
#include "codegen/chains.hpp"
#include "oriel/error.hpp"
#include "oriel/oriel.hpp"
#include "schedule/rules.hpp"
#include "support/planning.hpp"

using namespace oriel;
using namespace oriel::test;
using codegen::LoopProgram;

namespace {

graph::NodePtr node(const Tensor& x) { return detail::Access::node(x); }
Tensor leaf(const Shape& shape) { return detail::Access::tensor(counting(shape)); }

Tensor scores(std::int64_t batch, std::int64_t n, std::int64_t m, std::int64_t depth) {
  return matmul(leaf({batch, n, depth}), leaf({batch, m, depth}).transpose());
}

graph::NodePtr attention(std::int64_t batch, std::int64_t n, std::int64_t m, std::int64_t depth) {
  return node(matmul(softmax(scores(batch, n, m, depth)), leaf({batch, m, depth})));
}

schedule::FusionLimits with_parts() {
  schedule::FusionLimits limits;
  limits.parts = true;
  return limits;
}

bool mentions(const std::vector<std::string>& list, const std::string& what) {
  for (const std::string& s : list)
    if (s.find(what) != std::string::npos) return true;
  return false;
}

}  // namespace

TEST_CASE("a product, its softmax and a product of that are one kernel of three parts") {
  const graph::NodePtr root = attention(2, 40, 24, 20);
  CHECK(kernel_count({root}) == 3);
  const runtime::Plan p = plan({root}, with_parts());
  REQUIRE(p.kernels.size() == 1);
  const LoopProgram& program = p.kernels[0].lowered.program;
  CHECK(codegen::parts_of(program) == 3);
  CHECK(program.outer == Ints{2, 40});
  CHECK(program.stages.front().columns == Ints{24});
  CHECK(program.stages.back().columns == Ints{20});
  CHECK(p.kernels[0].arguments.size() == 4);
  CHECK(p.memory.peak_bytes == 0);
  CHECK(codegen::shared_batches(program) == 1);
  CHECK(codegen::local_row_bytes(program) == 2 * 24 * 4);
  for (int part = 0; part < 3; ++part) {
    codegen::verify(codegen::part_program(program, part, false));
    const LoopProgram row = codegen::part_program(program, part, true);
    codegen::verify(row);
    for (const codegen::Argument& a : row.arguments)
      if (a.local) CHECK(a.elements == 24);
  }
  schedule::set_rule_enabled("join rows", false);
  CHECK(kernel_count({root}, with_parts()) == 3);
  schedule::set_rule_enabled("join rows", true);
}

TEST_CASE("a joined program is another one than its parts, and a local argument another than an output") {
  const runtime::Plan p = plan({attention(2, 40, 24, 20)}, with_parts());
  LoopProgram program = p.kernels[0].lowered.program;
  const LoopProgram same = program;
  CHECK(same_program(same, program));
  program.stages.back().part = 1;
  CHECK(!same_program(same, program));
  program = same;
  program.arguments.back().local = false;
  CHECK(!same_program(same, program));
  CHECK(to_string(same).find("row0: float32[1920], a row at a time") != std::string::npos);
  CHECK(to_string(same).find("stage 0 for each c0 < 24") != std::string::npos);
}

TEST_CASE("what a part knows of a point ends with it") {
  const runtime::Plan p = plan({attention(2, 40, 24, 20)}, with_parts());
  LoopProgram program = p.kernels[0].lowered.program;
  // The first part's sum, read by the second part.
  codegen::Instr* reader = nullptr;
  for (codegen::Stage& s : program.stages)
    for (codegen::Instr& in : s.body)
      if (s.part == 1 && in.code == codegen::Code::Elementwise && reader == nullptr) reader = &in;
  REQUIRE(reader != nullptr);
  reader->a = program.stages.front().reductions.at(0).result;
  CHECK_THROWS_AS(codegen::verify(program), InternalError);
}

TEST_CASE("rows that are asked for, read twice, too long or too few are stored") {
  SUBCASE("asked for") {
    const Tensor x = scores(2, 40, 24, 20);
    CHECK(kernel_count({node(x), node(softmax(x))}, with_parts()) == 2);
  }
  SUBCASE("weights that are asked for end the chain") {
    const Tensor weights = softmax(scores(2, 40, 24, 20));
    CHECK(kernel_count({node(weights), node(matmul(weights, leaf({2, 24, 8})))}, with_parts()) == 2);
  }
  SUBCASE("too long") {
    schedule::FusionLimits limits = with_parts();
    limits.row_bytes = 50;
    const runtime::Plan p = plan({attention(2, 40, 24, 20)}, limits);
    CHECK(p.kernels.size() > 1);
    CHECK(mentions(reasons(p), "a row takes"));
  }
  SUBCASE("too few") {
    const runtime::Plan p = plan({attention(8, 8, 24, 20)}, with_parts());
    CHECK(p.kernels.size() == 3);
    CHECK(mentions(reasons(p), "8 rows share a factor (at least 16)"));
  }
  SUBCASE("two small products pay nothing") {
    const Tensor out = matmul(matmul(leaf({64, 8}), leaf({8, 24})), leaf({24, 8}));
    const runtime::Plan p = plan({node(out)}, with_parts());
    CHECK(p.kernels.size() == 2);
    CHECK(mentions(reasons(p), "between two products stay near"));
  }
}

TEST_CASE("rows whose loops are cut otherwise in each kernel meet in the finest cut") {
  // Heads behind the sequence in memory, as projections leave them, and put back there.
  const auto heads = [](std::int64_t d) { return leaf({2, 20, 3, d}).permute({0, 2, 1, 3}); };
  const Tensor out = matmul(softmax(matmul(heads(5), heads(5).transpose())), heads(17));
  const graph::NodePtr root = node(out.permute({0, 2, 1, 3}));
  const runtime::Plan p = plan({root}, with_parts());
  REQUIRE(p.kernels.size() == 1);
  CHECK(p.kernels[0].lowered.program.outer == Ints{2, 3, 20});
}
