// Kernels that share rows become one program of several parts. What one part leaves for the next is a row.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "codegen/bounds.hpp"
#include "codegen/join.hpp"
#include "codegen/keep.hpp"
#include "formula/call.hpp"
#include "oriel/error.hpp"
#include "oriel/oriel.hpp"
#include "schedule/rules.hpp"
#include "support/planning.hpp"

namespace join_test {

using namespace oriel;
using namespace oriel::test;
using codegen::LoopProgram;

namespace {

graph::NodePtr node(const Tensor& x) { return detail::Access::node(x); }
Tensor scores(std::int64_t batch, std::int64_t n, std::int64_t m, std::int64_t depth) {
  return matmul(leaf({batch, n, depth}), leaf({batch, m, depth}).transpose());
}

graph::NodePtr attention(std::int64_t batch, std::int64_t n, std::int64_t m, std::int64_t depth) {
  return node(matmul(softmax(scores(batch, n, m, depth)), leaf({batch, m, depth})));
}

schedule::FusionLimits with_parts() {
  schedule::FusionLimits limits;
  limits.parts = 16;
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
  const codegen::SharedRows* rows = codegen::shared_rows_in(program.form);
  REQUIRE(rows != nullptr);
  CHECK(rows->batches == 1);
  CHECK(rows->products[0].has_value());
  CHECK(!rows->products[1].has_value());
  CHECK(codegen::local_row_bytes(program) == 2 * 24 * 4);
  for (int part = 0; part < 3; ++part) {
    codegen::verify(codegen::part_program(program, part, false));
    const LoopProgram row = codegen::part_program(program, part, true);
    codegen::verify(row);
    for (const codegen::Argument& a : row.arguments)
      if (a.local) CHECK(a.elements == 24);
  }
  schedule::set_rule_enabled("fuse rows", false);
  CHECK(kernel_count({root}, with_parts()) == 3);
  schedule::set_rule_enabled("fuse rows", true);
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
  // The second part reads the first part's sum.
  codegen::Instr* reader = nullptr;
  for (codegen::Stage& s : program.stages)
    for (codegen::Instr& in : s.body)
      if (s.part == 1 && in.code == codegen::Code::Elementwise && reader == nullptr) reader = &in;
  REQUIRE(reader != nullptr);
  reader->a = program.stages.front().reductions.at(0).result;
  CHECK_THROWS_AS(codegen::verify(program), InternalError);
}

TEST_CASE("what a part gathers is read through an access of its own, in the joined program and in the part's") {
  std::vector<std::int64_t> away(64 * 64);
  for (std::int64_t i = 0; i < 64; ++i)
    for (std::int64_t j = 0; j < 64; ++j) away[static_cast<std::size_t>(i * 64 + j)] = i - j + 63;
  const Tensor bias = take(leaf({127}), Tensor::from(away, {64, 64}));
  const Tensor x = matmul(leaf({64, 16}), leaf({64, 16}).transpose());
  const Tensor v = leaf({64, 20});
  const auto tables_only = [](const LoopProgram& part) {
    int gathers = 0;
    for (const codegen::Stage& s : part.stages) {
      for (const auto* list : {&s.body, &s.outer}) {
        for (const codegen::Instr& in : *list) {
          if (in.code != codegen::Code::Gather) continue;
          ++gathers;
          const codegen::Access& access = part.accesses.at(static_cast<std::size_t>(in.aux));
          CHECK(part.arguments.at(static_cast<std::size_t>(access.buffer)).elements == 127);
        }
      }
    }
    return gathers;
  };
  // The bias is added in the first part, or in the last part.
  for (const Tensor& out : {matmul(softmax(x + bias), v), matmul(softmax(x), v) + bias.shrink({{0, 64}, {0, 20}})}) {
    const runtime::Plan p = plan({node(out)}, with_parts());
    const LoopProgram* joined = nullptr;
    for (const runtime::PlannedKernel& k : p.kernels)
      if (codegen::parts_of(k.lowered.program) > 1) joined = &k.lowered.program;
    REQUIRE(joined != nullptr);
    const LoopProgram& program = *joined;
    const int parts = codegen::parts_of(program);
    CHECK(tables_only(program) > 0);
    for (const bool one_row : {false, true}) {
      int gathers = 0;
      for (int part = 0; part < parts; ++part) gathers += tables_only(codegen::part_program(program, part, one_row));
      CHECK(gathers == tables_only(program));
    }
  }
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
  SUBCASE("a deep right factor beyond a core's caches is not read again for every few rows") {
    const auto rows = [&](std::int64_t n, std::int64_t depth) {
      return plan({node(softmax(matmul(leaf({n, depth}), leaf({depth, 1024}))))}, with_parts());
    };
    CHECK(rows(512, 512).kernels.size() == 2);
    CHECK(mentions(reasons(rows(512, 512)), "would be read again for every few rows (limit 1048576)"));
    CHECK(rows(64, 300).kernels.size() == 2);
    CHECK(rows(512, 256).kernels.size() == 1);
    CHECK(rows(512, 300).kernels.size() == 1);
  }
  SUBCASE("two small products pay nothing") {
    const Tensor out = matmul(matmul(leaf({64, 8}), leaf({8, 24})), leaf({24, 8}));
    const runtime::Plan p = plan({node(out)}, with_parts());
    CHECK(p.kernels.size() == 2);
    CHECK(mentions(reasons(p), "bytes between the two products fit the caches"));
  }
}

TEST_CASE("rows are not joined over a sum of columns of memory") {
  // One-hot rows times points, divided by the sum of each column. These sums read the matrix down its columns.
  const Tensor hot = leaf({1024, 64}), x = leaf({1024, 16});
  const Tensor means = matmul(hot.transpose(), x) / sum(hot, 0).unsqueeze(1);
  CHECK(plan({node(means)}, with_parts()).graph.fused.empty());
  // Rows in memory may be summed row by row.
  const Tensor rows = leaf({64, 1024});
  CHECK(plan({node(matmul(rows, x) / sum(rows, 1, true))}, with_parts()).graph.fused.size() == 1);
}

TEST_CASE("rows are not joined to a product with a vector, which has a form of its own") {
  const Tensor squares = matmul(leaf({128, 16}), leaf({128, 16}).transpose());
  CHECK(plan({node(matmul(squares, leaf({128, 1})))}, with_parts()).graph.fused.empty());
  CHECK(plan({node(softmax(squares, 1))}, with_parts()).graph.fused.size() == 1);
}

TEST_CASE("a chain of more parts than a kernel may have is cut, and goes on behind the cut") {
  Tensor x = leaf({64, 32});
  for (int layer = 0; layer < 5; ++layer) x = softmax(matmul(x, leaf({32, 32})));
  schedule::FusionLimits limits = with_parts();
  limits.parts = 4;
  const runtime::Plan p = plan({node(x)}, limits);
  REQUIRE(p.kernels.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) CHECK(codegen::parts_of(p.kernels[k].lowered.program) == (k < 2 ? 4 : 2));
  CHECK(mentions(reasons(p), "a kernel of 5 parts (limit 4)"));
}

TEST_CASE("rows whose loops are cut otherwise in each kernel meet in the finest cut") {
  // The axis of heads comes after the sequence in memory, as projections leave it, and is put back there.
  const auto heads = [](std::int64_t d) { return leaf({2, 20, 3, d}).permute({0, 2, 1, 3}); };
  const Tensor out = matmul(softmax(matmul(heads(5), heads(5).transpose())), heads(17));
  const graph::NodePtr root = node(out.permute({0, 2, 1, 3}));
  const runtime::Plan p = plan({root}, with_parts());
  REQUIRE(p.kernels.size() == 1);
  CHECK(p.kernels[0].lowered.program.outer == Ints{2, 3, 20});
}

namespace {

struct Masked {
  LoopProgram program;
  codegen::OnlineSoftmax softmax;
  codegen::OnlineParts parts;
};

/// Attention over 60 queries and 80 keys, with masked scores.
Masked masked(const std::function<Tensor(const Tensor& scores, const Tensor& row, const Tensor& column)>& mask) {
  const Tensor x = mask(scores(2, 60, 80, 20), arange(60).reshape({60, 1}), arange(80).reshape({1, 80}));
  schedule::FusionLimits limits = with_parts();
  limits.online = true;
  const runtime::Plan p = plan({node(matmul(softmax(x), leaf({2, 80, 20})))}, limits);
  REQUIRE(p.kernels.size() == 1);
  Masked m{p.kernels[0].lowered.program, {}, {}};
  REQUIRE(m.program.online);
  const codegen::OnlineSoftmax* softmax = codegen::online_softmax_in(m.program.form);
  REQUIRE(softmax != nullptr);
  m.softmax = *softmax;
  m.parts = codegen::online_parts(m.program, 1);
  return m;
}

// The launch parameters of programs in this test.
const std::vector<graph::Scalar> kNumbers{graph::Scalar::of_float(DType::float32, -INFINITY),
                                          graph::Scalar::of_float(DType::float32, -INFINITY),
                                          graph::Scalar::of_float(DType::float32, -INFINITY)};

bool hides(const Masked& m, codegen::IndexRange rows, codegen::IndexRange columns) {
  codegen::Bounder bounds(m.parts.weights, kNumbers);
  bounds.look_at(std::vector<codegen::IndexRange>{{0, 2}, rows, columns});
  return bounds.hidden(m.softmax.shifted);
}

}  // namespace

TEST_CASE("softmax between products is found, whatever is done to the scores before it") {
  for (const auto& m : {masked([](const Tensor&x, const Tensor&, const Tensor&) { return x; }),
                        masked([](const Tensor&x, const Tensor&row, const Tensor&column) {
                          return where(column <= row, x, -INFINITY);
                        }),
                        masked([](const Tensor&x, const Tensor&, const Tensor&) { return tanh(x * 0.1F) + 1; })}) {
    CHECK(m.softmax.columns == 80);
    CHECK(m.parts.weights.stages.size() == m.softmax.sum_stage + 1);
    CHECK(m.softmax.scores_argument != m.softmax.weights_argument);
    codegen::verify(codegen::online_parts(m.program, 80).weights);
  }
}

namespace {

/// Counts the Where instructions of a program.
std::size_t count_choices(const LoopProgram& program) {
  std::size_t n = 0;
  for (const codegen::Stage& stage : program.stages)
    for (const codegen::Instr& in : stage.body) n += in.code == codegen::Code::Elementwise && in.op == graph::Op::Where;
  return n;
}

bool settled(const Masked& m, const codegen::SettledChoices& s, codegen::IndexRange rows, codegen::IndexRange columns) {
  codegen::Bounder bounds(m.parts.weights, kNumbers);
  bounds.look_at(std::vector<codegen::IndexRange>{{0, 2}, rows, columns});
  return std::all_of(s.choices.begin(), s.choices.end(),
                     [&](const auto& c) { return bounds.always(c.condition, c.truth); });
}

}  // namespace

TEST_CASE("choices by positions are settled for the blocks where they fall one way") {
  const Masked causal = masked(
      [](const Tensor& x, const Tensor& row, const Tensor& column) { return where(column <= row, x, -INFINITY); });
  REQUIRE(count_choices(causal.parts.weights) > 0);
  const auto found = codegen::settle_choices(causal.parts.weights);
  REQUIRE(found.size() == 1);
  CHECK(count_choices(found[0].program) == 0);
  CHECK(settled(causal, found[0], {40, 60}, {0, 41}));
  CHECK(!settled(causal, found[0], {40, 60}, {0, 42}));
  CHECK(!settled(causal, found[0], {0, 20}, {30, 40}));
  codegen::verify(found[0].program);

  // The row would have to keep the scores themselves, because each stage reads them.
  const Masked dear = masked([](const Tensor& x, const Tensor& row, const Tensor& column) {
    return where((column <= row) && (column > row - 30) && (column > row - 40), x, -INFINITY);
  });
  CHECK(codegen::kept_values(dear.parts.weights).size() == 1);
  const auto plain = codegen::settle_choices(dear.parts.weights);
  REQUIRE(plain.size() == 1);
  CHECK(codegen::kept_values(plain[0].program).empty());
  codegen::verify(plain[0].program);

  // Either of the two constants may be the one that hides scores.
  const Masked added = masked([](const Tensor& x, const Tensor& row, const Tensor& column) {
    return x + where(column > row, -INFINITY, 0.0F);
  });
  const auto two = codegen::settle_choices(added.parts.weights);
  REQUIRE(two.size() == 2);
  CHECK(!settled(added, two[0], {40, 60}, {0, 41}));
  CHECK(settled(added, two[1], {40, 60}, {0, 41}));
  CHECK(count_choices(two[1].program) == 0);

  // A padded mask: whether an element is valid is known from its position too.
  const Masked framed = masked([](const Tensor& x, const Tensor&, const Tensor&) {
    const Tensor inside = pad(ones({40, 80}, DType::bool_), {{20, 0}, {0, 0}});
    return where(inside, x, -INFINITY);
  });
  for (const auto& s : codegen::settle_choices(framed.parts.weights)) {
    CHECK(settled(framed, s, {20, 60}, {0, 80}));
    CHECK(!settled(framed, s, {19, 60}, {0, 80}));
  }
  CHECK(hides(framed, {0, 20}, {0, 80}));
  CHECK(!hides(framed, {0, 21}, {0, 80}));

  // A mask in memory: nothing is known beforehand.
  const Tensor chosen = leaf({60, 80}) > 0.5F;
  const Masked read =
      masked([&](const Tensor& x, const Tensor&, const Tensor&) { return where(chosen, x, -INFINITY); });
  CHECK(codegen::settle_choices(read.parts.weights).empty());
}

TEST_CASE("programs that are not a softmax are not mistaken for one") {
  const auto in_parts = [](const Tensor& weights) {
    schedule::FusionLimits limits = with_parts();
    limits.online = true;
    const runtime::Plan p = plan({node(matmul(weights, leaf({2, 80, 20})))}, limits);
    REQUIRE(p.kernels.size() == 1);
    LoopProgram program = p.kernels[0].lowered.program;
    if (program.online) return false;
    program.online = true;  // what a schedule with a mistake would say
    CHECK_THROWS_AS(codegen::verify(program), InternalError);
    return true;
  };
  const Tensor x = scores(2, 60, 80, 20);
  const Tensor e = exp(x - max(x, -1, true));
  CHECK(!in_parts(e / sum(e, -1, true)));
  CHECK(in_parts((e + 1) / sum(e, -1, true)));
  CHECK(in_parts(e / sum(e * 2, -1, true)));
  CHECK(in_parts(e / max(e, -1, true)));
  const Tensor least = exp(x - min(x, -1, true));
  CHECK(in_parts(least / sum(least, -1, true)));
  const Tensor twice = exp((x + max(x, -1, true)) - max(x, -1, true));  // the maximum is read by more than the shift
  CHECK(in_parts(twice / sum(twice, -1, true)));
}

TEST_CASE("columns that positions hide are known before they are computed") {
  const Masked causal = masked(
      [](const Tensor& x, const Tensor& row, const Tensor& column) { return where(column <= row, x, -INFINITY); });
  CHECK(hides(causal, {0, 10}, {10, 80}));
  CHECK(!hides(causal, {0, 11}, {10, 80}));
  CHECK(!hides(causal, {0, 10}, {9, 80}));
  const Masked lower = masked([](const Tensor& x, const Tensor&, const Tensor&) {
    return where(tril(ones({x.size(-2), x.size(-1)}, DType::bool_)), x, -INFINITY);
  });
  CHECK(hides(lower, {0, 10}, {10, 80}));
  CHECK(!hides(lower, {0, 11}, {10, 80}));
  const Masked window = masked([](const Tensor& x, const Tensor& row, const Tensor& column) {
    return where((column > row) && (column == column), x, -INFINITY);
  });
  CHECK(hides(window, {20, 30}, {0, 21}));
  CHECK(!hides(window, {20, 30}, {0, 22}));
  const Masked other = masked([](const Tensor& x, const Tensor& row, const Tensor& column) {
    return where(!(column < row), -INFINITY, where(row != column, x, 0.0F));
  });
  CHECK(!hides(other, {20, 30}, {0, 20}));
  CHECK(hides(other, {20, 30}, {30, 80}));
  // A sum may hide NaN or inf, so the result is not known.
  const Masked added = masked([](const Tensor& x, const Tensor& row, const Tensor& column) {
    return x + where(column <= row, 0.0F, -INFINITY);
  });
  CHECK(!hides(added, {0, 10}, {10, 80}));
  const Masked chosen =
      masked([](const Tensor& x, const Tensor&, const Tensor&) { return where(x > 0, x, -INFINITY); });
  CHECK(!hides(chosen, {0, 10}, {10, 80}));
}

}  // namespace join_test
