// Which programs are recognised as contractions, however they were written, and which are not.
#include "codegen/contraction.hpp"

#include <doctest/doctest.h>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "support/planning.hpp"

namespace contraction_test {

using namespace oriel;
using codegen::Contraction;
using test::leaf;

namespace {

/// Each kernel of a result: its contraction as text, or "none".
std::string contractions(const Tensor& x) {
  std::string text;
  const runtime::Plan plan = test::plan({detail::Access::node(x)});
  for (const runtime::PlannedKernel& k : plan.kernels) {
    const Contraction* c = codegen::contraction_in(k.lowered.program.form);
    text += (text.empty() ? "" : "; ") + (c ? codegen::to_string(*c) : "none");
  }
  return text;
}

Tensor windows(const Tensor& x, std::int64_t size, std::int64_t stride, std::int64_t dilation) {
  const std::int64_t reach = (size - 1) * dilation + 1;
  Tensor w = unfold(unfold(x, 2, reach, stride), 3, reach, stride);
  if (dilation > 1) w = slice(w, {{}, {}, {}, {}, {.step = dilation}, {.step = dilation}});
  return w;
}

}  // namespace

TEST_CASE("matmul with every broadcast") {
  const Tensor a = leaf({7, 5});
  const Tensor b = leaf({5, 9});
  CHECK(contractions(matmul(a, b)) == "batch 1, 7 x 9 x 5");
  CHECK(contractions(matmul(leaf({5, 7}).transpose(), b)) == "batch 1, 7 x 9 x 5");
  CHECK(contractions(matmul(a, leaf({9, 5}).transpose())) == "batch 1, 7 x 9 x 5");
  CHECK(contractions(matmul(leaf({5}), b)) == "batch 1, 1 x 9 x 5");
  CHECK(contractions(matmul(a, leaf({5}))) == "batch 1, 1 x 7 x 5");
  // With one row the epilogue becomes a stage of its own, without loops.
  CHECK(contractions(relu(matmul(leaf({1, 5}), b) + leaf({9}))) == "batch 1, 1 x 9 x 5");
  CHECK(contractions(matmul(leaf({3, 7, 5}), leaf({3, 5, 9}))) == "batch 3, 7 x 9 x 5");
  // If a factor is the same for all batches, the batches count as rows of the other factor.
  CHECK(contractions(matmul(leaf({3, 7, 5}), b)) == "batch 1, 21 x 9 x 5");
  CHECK(contractions(matmul(a, leaf({3, 5, 9}))) == "batch 1, 7 x 27 x 5");
  CHECK(contractions(matmul(leaf({2, 1, 7, 5}), leaf({3, 5, 9}))) == "batch 1, 14 x 27 x 5");
}

TEST_CASE("halves are summed as float32, integers in their own width") {
  CHECK(contractions(matmul(leaf({7, 5}, DType::float16), leaf({5, 9}, DType::float16))) == "batch 1, 7 x 9 x 5");
  CHECK(contractions(matmul(leaf({7, 5}, DType::int64), leaf({5, 9}, DType::int64))) == "batch 1, 7 x 9 x 5");
}

TEST_CASE("sums of products written by hand") {
  const Tensor a = leaf({4, 6, 5});
  const Tensor b = leaf({4, 5, 3});
  // The einsum bik,bkj->ijb; a sum over two axes; a product with swapped operands.
  CHECK(contractions(sum(unsqueeze(a, 3) * unsqueeze(b, 1), 2)) == "batch 4, 6 x 3 x 5");
  CHECK(contractions(sum(unsqueeze(b, 1) * unsqueeze(a, 3), 2).permute({1, 2, 0})) == "batch 4, 6 x 3 x 5");
  CHECK(contractions(sum(unsqueeze(a, 3) * unsqueeze(b, 1), {0, 2})) == "batch 1, 6 x 3 x 20");
  // With prologues and an epilogue.
  const Tensor x = leaf({7, 5});
  const Tensor y = leaf({5, 9});
  CHECK(contractions(relu(matmul(relu(x) * 2.0F, pad(y, {{0, 0}, {1, 1}})) + leaf({11}))) == "batch 1, 7 x 11 x 5");
}

TEST_CASE("convolution by windows") {
  const Tensor x = leaf({2, 3, 8, 8});
  const auto conv = [](const Tensor& w, const Tensor& k) {
    // w: n c oh ow kh kw; k: o c kh kw
    return sum(unsqueeze(w, 1) * unsqueeze(unsqueeze(unsqueeze(k, 0), 3), 4), {2, 5, 6});
  };
  const Tensor padded = pad(x, {{0, 0}, {0, 0}, {1, 1}, {1, 1}});
  CHECK(contractions(conv(windows(x, 3, 1, 1), leaf({4, 3, 3, 3}))) == "batch 1, 4 x 72 x 27");
  CHECK(contractions(relu(conv(windows(padded, 3, 1, 1), leaf({4, 3, 3, 3})) + leaf({4, 1, 1}))) ==
        "batch 1, 4 x 128 x 27");
  CHECK(contractions(conv(windows(padded, 3, 2, 1), leaf({4, 3, 3, 3}))) == "batch 1, 4 x 32 x 27");
  CHECK(contractions(conv(windows(padded, 3, 1, 2), leaf({4, 3, 3, 3}))) == "batch 1, 4 x 72 x 27");
  // Groups are batches. With one channel in each group, only the windows are reduced.
  const Tensor grouped = windows(pad(leaf({2, 4, 8, 8}), {{0, 0}, {0, 0}, {1, 1}, {1, 1}}), 3, 1, 1);
  const Tensor g = unsqueeze(grouped.reshape({2, 2, 2, 8, 8, 3, 3}), 2);
  const Tensor k = unsqueeze(unsqueeze(leaf({2, 3, 2, 3, 3}), 3), 4);
  CHECK(contractions(sum(g * k, {3, 6, 7})) == "batch 2, 3 x 128 x 18");
}

TEST_CASE("near misses") {
  const Tensor a = leaf({7, 5});
  const Tensor b = leaf({5, 9});
  const Tensor x = unsqueeze(a, 2);
  const Tensor y = unsqueeze(b, 0);
  CHECK(contractions(sum(x + y, 1)) == "none");
  CHECK(contractions(max(x * y, 1)) == "none");
  CHECK(contractions(prod(x * y, 1)) == "none");
  // If a factor varies along both rows and columns, these become batches.
  CHECK(contractions(sum((x + y) * y, 1)) == "batch 9, 1 x 7 x 5");
  CHECK(contractions(sum((x + y) * (x - y), 1)) == "none");
  CHECK(contractions(sum(a * a, 1)) == "none");
  // The product is changed before it is summed, by a mask, rounding or a cast: not a contraction.
  CHECK(contractions(sum(abs(x * y), 1)) == "none");
  CHECK(contractions(sum(unsqueeze(leaf({7, 5}, DType::float16), 2) * unsqueeze(leaf({5, 9}, DType::float16), 0), 1)) ==
        "none");
  // An operand with a reduction of its own is stored first, because otherwise it would be computed again for each
  // column. Two sums in one kernel are not a contraction.
  CHECK(contractions(matmul(softmax(a), b)) == "none; batch 1, 7 x 9 x 5");
  CHECK(contractions(sum(x * y, 1) / sum(unsqueeze(a, 2) + y, 1)) == "none");
  CHECK(contractions(sum(a, 1)) == "none");
}

TEST_CASE("what is done to the sums reads what they need, not what the factors need once a row") {
  // The left factor is computed where it is read, from rows and one value for each row.
  const Tensor x = leaf({64, 24}), least = min(x, -1, true);
  const Tensor out = matmul((x - least) * least, leaf({24, 16}));
  const runtime::Plan plan = test::plan({detail::Access::node(out)});
  const codegen::LoopProgram& program = plan.kernels.back().lowered.program;
  const Contraction* c = codegen::contraction_in(program.form);
  REQUIRE(c != nullptr);
  const codegen::LoopProgram results = codegen::epilogue_program(program, *c);
  REQUIRE(results.stages[0].outer.size() == 1);
  CHECK(results.stages[0].outer[0].code == codegen::Code::Store);
  CHECK(results.accesses.size() == 1);
}

}  // namespace contraction_test
