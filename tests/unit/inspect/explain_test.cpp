// What explain reports about a graph, as a struct and as text.
#include "oriel/explain.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "programs.hpp"

namespace explain_test {

using namespace oriel;
using namespace oriel::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string joined(const std::vector<std::string>& steps) {
  std::string text;
  for (const std::string& s : steps) text += s + "; ";
  return text;
}

const ExplainedOperand& first(const ExplainedKernel& k, ExplainedOperand::Kind kind) {
  for (const ExplainedOperand& o : k.operands)
    if (o.kind == kind) return o;
  FAIL("no such operand");
  return k.operands.front();
}

}  // namespace

TEST_CASE("one kernel, with its views from the program's to the loops'") {
  const NullDevice null;
  const Tensor y = moved_sum();
  const Explanation e = explain(y);
  CHECK_FALSE(y.realized());
  CHECK(e.device == Device::null());
  CHECK(e.nodes > 6);
  REQUIRE(e.kernels.size() == 1);
  const ExplainedKernel& k = e.kernels[0];
  REQUIRE(k.outputs.size() == 1);
  CHECK(k.outputs[0].reason == "its value was asked for");
  CHECK(has(k.outputs[0].site, "programs.hpp:"));
  CHECK(std::any_of(k.values.begin(), k.values.end(), [](const std::string& v) { return has(v, "= Exp of"); }));
  CHECK(
      std::any_of(k.values.begin(), k.values.end(), [](const std::string& v) { return has(v, "= Sum over (2) of"); }));

  const ExplainedOperand& load = first(k, ExplainedOperand::Kind::load);
  CHECK(load.name == "in0");
  CHECK(load.memory == "leaf 0");
  CHECK(joined(load.steps) ==
        "pad ((0, 0), (1, 1)); flip (1); permute (1, 0); reshape (2, 4, 4); sum over (2); reshape (2, 4); ");
  REQUIRE(load.written.size() == 5);
  CHECK(load.written[0].str() == "(4,6):(6,1)");
  CHECK(load.written[1].str() == "(4,8):(6,1)-1[0:4,1:7)");
  CHECK(load.written[2].str() == "(4,8):(8,-1)+7");
  CHECK(load.written[3].str() == "(8,4):(1,8)");
  CHECK(load.written[4].str() == "(2,4,4):(16,4,1)");
  CHECK(load.merged.size() == 2);  // the mask is not a box of (2, 4, 4)
  REQUIRE(load.normalised.size() == 1);
  CHECK(load.normalised[0].str() == "(8,4):(-1,6)+6[1:7,0:4)");
  CHECK(load.index == "6 - o0 + r0*6");
  CHECK(load.valid == "o0 >= 1 && o0 < 7");
  CHECK(k.domain_before == "(2, 4) | (4)");
  CHECK(k.domain_after == "(8) | (4)");
  CHECK(k.coalesced);
  CHECK_FALSE(k.refined);
  CHECK(std::string(k.name).starts_with("sum_f32_8_by_4_"));
  CHECK(first(k, ExplainedOperand::Kind::valid).name.empty());
  CHECK(first(k, ExplainedOperand::Kind::store).memory == "output 0");
  CHECK(k.flops > 0);
  CHECK(k.bytes == 4 * (24 + 8));
  CHECK(has(k.program, "in0[" + load.index + "] if " + load.valid));
  CHECK_FALSE(k.source.empty());
}

TEST_CASE("merging and normalising keep every access's value") {
  const NullDevice null;
  for (const Tensor& t : {moved_sum(), several_kernels(), layer_norm(data({8, 3, 5}), {1, 2})}) {
    for (const ExplainedKernel& k : explain(t).kernels) {
      for (const ExplainedOperand& o : k.operands) {
        auto before = ShapeTracker::from_views(o.merged).table(),
             after = ShapeTracker::from_views(o.normalised).table();
        // The loops may run in another order, but over the same positions and equally often.
        std::sort(before.begin(), before.end());
        std::sort(after.begin(), after.end());
        CHECK(before == after);
      }
    }
  }
}

TEST_CASE("every stored value has a reason, and a place in memory") {
  const NullDevice null;
  const Explanation e = explain(several_kernels());
  CHECK(e.kernels.size() > 1);
  std::size_t stored = 0, between = 0;
  for (const ExplainedKernel& k : e.kernels) {
    REQUIRE_FALSE(k.outputs.empty());
    for (const ExplainedOutput& o : k.outputs) {
      INFO(o.text);
      CHECK_FALSE(o.reason.empty());
      ++stored;
    }
    for (const ExplainedOperand& o : k.operands) {
      if (o.kind != ExplainedOperand::Kind::store) continue;
      between += has(o.memory, "block ");
      CHECK((has(o.memory, "block ") || has(o.memory, "output ")));
    }
  }
  CHECK(stored > 1);
  CHECK(between == stored - 1);
  CHECK(e.memory.peak_bytes > 0);
  CHECK(e.memory.peak_bytes <= e.memory.bytes_without_reuse);
  CHECK(e.memory.output_bytes == 64 * 96 * 4);
}

TEST_CASE("the text names what the struct holds, more at each level") {
  const NullDevice null;
  const Explanation e = explain(moved_sum());
  const ExplainedKernel& k = e.kernels[0];
  const ExplainedOperand& load = first(k, ExplainedOperand::Kind::load);
  const std::string brief = e.str(), views = e.str(Detail::views), full = e.str(Detail::full);
  CHECK(has(brief, "1 kernel on null"));
  CHECK(has(brief, k.name));
  CHECK(has(brief, "because its value was asked for"));
  CHECK(has(brief, "5 views -> 1: " + load.normalised[0].str()));
  CHECK(has(brief, "memory: 0 bytes at the peak in 0 blocks"));
  CHECK_FALSE(has(brief, "written"));
  CHECK(has(views, "written    (2,4,4):(16,4,1) over (8,4):(1,8) over "));
  CHECK(has(views, "merged     " + load.merged.back().str()));
  CHECK(has(views, "index      " + load.index));
  CHECK(has(views, "valid      " + load.valid));
  CHECK(has(views, "= Mul of"));
  CHECK_FALSE(has(views, "loop program"));
  CHECK(has(full, "loop program"));
  CHECK(brief.size() < views.size());
  CHECK(views.size() < full.size());
}

TEST_CASE("rules that fired are told") {
  const NullDevice null;
  const Tensor x = data({3, 3});
  const Explanation e = explain((x * 1.0f).transpose() + x);
  const auto fired =
      std::find_if(e.rules.begin(), e.rules.end(), [](const FiredRule& r) { return r.name == "x*1 -> x"; });
  REQUIRE(fired != e.rules.end());
  CHECK(fired->times == 1);
  CHECK(has(e.str(), "rules: x*1 -> x (once)"));
  CHECK(has(explain(x + x).str(), "rules: none fired"));
}

TEST_CASE("the merges of one plan are told") {
  const NullDevice null;
  const Tensor x = data({3, 3});
  CHECK(explain(x + x).view_merges.merges == 0);
  CHECK(has(explain(x + x).str(), "views: 0 merges, 0 by search, 0 undecided\n"));
  Explanation e = explain(moved_sum());
  CHECK(e.view_merges.merges > 4);
  CHECK(e.view_merges.undecided == 0);
  CHECK(has(e.str(), "views: " + std::to_string(e.view_merges.merges) + " merges, "));
  CHECK(explain(moved_sum()).view_merges.merges == e.view_merges.merges);
  e.view_merges = {1, 1, 1};
  CHECK(has(e.str(), "views: 1 merge, 1 by search, 1 undecided\n"));
}

TEST_CASE("several tensors are explained together") {
  const NullDevice null;
  const Tensor x = data({5, 7});
  const Explanation both = explain({sum(x, 1, true), max(x, 1, true)});
  REQUIRE(both.kernels.size() == 1);
  CHECK(both.kernels[0].outputs.size() == 2);
  for (const ExplainedOutput& o : both.kernels[0].outputs) CHECK(o.reason == "its value was asked for");
  CHECK(has(both.str(), "output 1"));
}

TEST_CASE("nothing pending, nothing to run") {
  const NullDevice null;
  const Tensor x = data({2});
  CHECK(explain(x).kernels.empty());
  CHECK(explain(x).str() ==
        "nothing to run on null: every value asked for is in memory. Explain before the work runs, or call "
        "keep_explanations(true) before it (ORIEL_EXPLAIN=1): then this shows what ran last\n");
  const Tensor y = (x + 1).realize();
  CHECK(explain(y).kernels.empty());
  CHECK(explain(std::span<const Tensor>{}).kernels.empty());
}

TEST_CASE("a value without elements is told, and not run") {
  const NullDevice null;
  const Explanation e = explain(data({0, 4}) * 2);
  REQUIRE(e.kernels.size() == 1);
  CHECK_FALSE(e.kernels[0].runs);
  CHECK(has(e.str(), "k00 nothing: its values have no elements"));
  CHECK(has(e.str(), "because its value was asked for"));
}

TEST_CASE("explaining changes nothing and says the same again") {
  const NullDevice null;
  const Tensor y = several_kernels();
  const std::string once = explain(y).str(Detail::full);
  CHECK(once == explain(y).str(Detail::full));
  CHECK(once == explain(several_kernels()).str(Detail::full));
  y.realize();
  CHECK(y.realized());
}

TEST_CASE("tensors of two devices are one schedule, and each kernel says where it runs") {
  const NullDevice null;
  const Tensor x = data({2}) + 1;
  set_default_device(Device::eigen());
  const Tensor y = data({2}) + 1;
  const Explanation e = explain({x, y, (y * 2).to(Device::null())});
  REQUIRE(e.kernels.size() == 3);
  CHECK(e.device == Device::null());
  const std::string text = e.str(Detail::full);
  CAPTURE(text);
  CHECK(text.find("2 kernels and 1 copy on null and eigen: ") == 0);
  CHECK(text.find("_1ops on null: ") != std::string::npos);
  CHECK(text.find("_2ops on eigen: ") != std::string::npos);
  CHECK(text.find("= Copy to null of %") != std::string::npos);
  CHECK(text.find("8 bytes from eigen to null\n") != std::string::npos);
}

TEST_CASE("a contraction says how it runs") {
  const Tensor a = iota({64, 96}).to(DType::float32).realize();
  const Tensor b = iota({96, 80}).to(DType::float32).realize();
  Explanation e = explain(relu(matmul(a, b)));
  REQUIRE(e.kernels.size() == 1);
  CHECK(has(e.kernels[0].method, "contraction: batch 1, 64 x 80 x 96 (rows, columns, depth); blocked, rows from in"));
  CHECK(has(e.kernels[0].method, "read as they lie"));
  CHECK(has(e.str(), e.kernels[0].method));
  // A padded factor is packed; a matrix that is multiplied by a vector is streamed; a few products stay with the tile
  // machine.
  e = explain(matmul(pad(a, {{1, 0}, {0, 0}}), pad(b, {{0, 0}, {0, 1}})));
  CHECK(has(e.kernels[0].method, "packed, columns from"));
  e = explain(matmul(select(a, 0, 0), b));
  CHECK(has(e.kernels[0].method, "streamed"));
  e = explain(matmul(a, select(b, 1, 0)));
  CHECK(has(e.kernels[0].method, "dot products"));
  e = explain(matmul(a.shrink({{0, 4}, {0, 5}}), b.shrink({{0, 5}, {0, 6}})));
  CHECK(has(e.kernels[0].method, "tile by tile"));
  CHECK(explain(a + 1.0F).kernels[0].method.empty());
}

TEST_CASE("a stencil is named, on every device") {
  const auto second = [] {
    const Tensor x = (arange(40) * 1.5f).contiguous().realize();
    return x.shrink({{0, 38}}) - x.shrink({{1, 39}}) * 2.0f + x.shrink({{2, 40}});
  };
  const Explanation here = explain(second());
  REQUIRE(here.kernels.size() == 1);
  CHECK(has(here.kernels[0].method, "stencil: 3 reads of in0 in 3"));
  CHECK(has(here.str(), here.kernels[0].method));
  const NullDevice null;
  CHECK(explain(second()).kernels[0].method == here.kernels[0].method);
}

#ifndef ORIEL_NO_COMPILED
TEST_CASE("a kernel's tier is told: what it runs on by now, or why a compiler has no part in it") {
  const EigenTier before = eigen_tier();
  set_eigen_tier(EigenTier::automatic);
  const Tensor a = iota({64, 96}).to(DType::float32).realize();
  const std::string watched = "tile machine; compiled once its total run time reaches the time that compiling takes";
  CHECK(explain(a + 1.25F).kernels[0].tier == watched);
  CHECK(has(explain(a + 1.25F).str(Detail::views), "\n  tier: " + watched + "\n"));
  CHECK_FALSE(has(explain(a + 1.25F).str(), "tier: "));
  CHECK(explain(matmul(a, a.transpose())).kernels[0].tier == watched);
  set_eigen_tier(EigenTier::tile);
  CHECK(explain(a + 1.25F).kernels[0].tier == "tile machine, as set");
  set_eigen_tier(EigenTier::compile);
  CHECK(explain(a + 7.25F * exp(a)).kernels[0].tier == "compiled before its first launch");
  CHECK(explain(matmul(a, a.transpose())).kernels[0].tier == "compiled before its first launch");
  // A kernel that stays with the tile machine says so and why, whichever tier was requested.
  const Tensor wide = (iota({64, 96}) % 7).to(DType::float32).realize();
  CHECK(explain(matmul(softmax(matmul(wide, wide.transpose())), wide)).kernels[0].tier ==
        "tile machine only: its parts share rows in cache, which the tile machine keeps there");
  const Tensor images = iota({600, 7, 7}).to(DType::float32).realize();
  const Tensor weights = iota({600, 1, 1, 3, 3}).to(DType::float32).realize();
  const Tensor read = unfold(unfold(pad(images, {{0, 0}, {1, 1}, {1, 1}}), 1, 3, 1), 2, 3, 1);
  CHECK(explain(sum(read * weights, Axes{3, 4})).kernels[0].tier ==
        "tile machine only: this convolution is too small for blocked products; the tile machine reads its windows in "
        "place");
  CHECK(explain(sum(read, Axes{3, 4})).kernels[0].tier == "compiled before its first launch");
  set_eigen_tier(before);
  const NullDevice null;
  CHECK(explain(data({2}) + 1).kernels[0].tier.empty());
}
#endif

TEST_CASE("the source of a product or of several parts begins with its loops, not with what they call") {
  const auto leaf = [](const Shape& shape) {
    return Tensor::generate(shape, [](const auto& i) { return static_cast<float>(i[0] + 1); });
  };
  const auto loops_come_first = [](const ExplainedKernel& k) {
    const std::size_t loops = k.source.find("extern \"C\" ");
    const std::size_t called = k.source.find("// Kernel " + k.name + "_");  // the heading of another program's source
    REQUIRE(loops != std::string::npos);
    REQUIRE(called != std::string::npos);
    return loops < called;
  };
  const Tensor a = leaf({70, 100}), b = leaf({100, 50});
  const Explanation product = explain(matmul(exp(a) * 2, b));
  CHECK(loops_come_first(product.kernels.back()));
  const Explanation parts = explain(matmul(softmax(matmul(leaf({64, 16}), leaf({16, 80}))), leaf({80, 20})));
  REQUIRE(parts.kernels.size() == 1);
  CHECK(loops_come_first(parts.kernels[0]));
}

}  // namespace explain_test
