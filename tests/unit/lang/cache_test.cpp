// Definitions with the same canonical text share what was inferred. Names, places and messages belong to each text.
#include "lang/cache.hpp"

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::lang::cache_test {
namespace {

const std::vector<std::optional<Shape>> kShapes{Shape{10}, Shape{3}};
const char* const kPlain = "def f(float(N) X, float(L) W) -> (Y) { Y(i) +=! t * W(k) where t = X(i + k) }";
const char* const kRenamed =
    "# the same\ndef f(float(N) X,\n      float(L) W) -> Y {\n"
    "  Y(out)+=!product*W(tap)   # a window\n    where product = X(out+tap)\n}";

std::string diagnostic(const Comprehension& f, const std::vector<Shape>& shapes) {
  try {
    f.ranges(shapes);
    return "none";
  } catch (const ComprehensionError& error) {
    return error.diagnostic();
  }
}

}  // namespace

TEST_CASE("a text is compiled once, and shares its inference with those that differ in names of indices alone") {
  const CompiledDefinitionPtr plain = compile(kPlain, "a.tc").back();
  CHECK(compile(kPlain, "a.tc").back() == plain);
  const CompiledDefinitionPtr renamed = compile(kRenamed, "b.tc").back();
  CHECK(renamed->program != plain->program);
  CHECK(renamed->inferences == plain->inferences);
  const auto first = plain->inferences->get(*plain->program, kShapes);
  CHECK(renamed->inferences->get(*renamed->program, kShapes) == first);
  CHECK(plain->inferences->get(*plain->program, std::vector<std::optional<Shape>>{Shape{11}, Shape{3}}) != first);
}

TEST_CASE("texts that differ in more than that share nothing") {
  const auto inferences = [](const char* text) { return compile(text, "c.tc").back()->inferences; };
  const auto plain = inferences(kPlain);
  for (const char* other : {
           "def g(float(N) X, float(L) W) -> (Y) { Y(i) +=! t * W(k) where t = X(i + k) }",    // its name
           "def f(float(N) X, float(L) W) -> (Y) { Y(i) +=! t * W(k) where t = X(k + i) }",    // the order of first use
           "def f(float(N) X, float(L) W) -> (Y) { Y(i) max=! t * W(k) where t = X(i + k) }",  // the operator
           "def f(double(N) X, float(L) W) -> (Y) { Y(i) +=! t * W(k) where t = X(i + k) }",   // a dtype
           "def f(float(N) X, float(N) W) -> (Y) { Y(i) +=! t * W(k) where t = X(i + k) }",    // a size
           "def f(float(N) X, float(L) W) -> (Z) { Z(i) +=! t * W(k) where t = X(i + k) }",    // a tensor
       }) {
    CAPTURE(std::string(other));
    CHECK(inferences(other) != plain);
  }
}

TEST_CASE("each text has its own names and places") {
  const Comprehension plain = comprehension(kPlain, {}, "a.tc");
  const Comprehension renamed = comprehension(kRenamed, {}, "b.tc");
  CHECK(plain.canonical_text() == renamed.canonical_text());
  CHECK(plain.ranges({{10}, {3}}).statements[0].variables[0].name == "i");
  const ComprehensionRanges ranges = renamed.ranges({{10}, {3}});
  CHECK(ranges.statements[0].variables[0].name == "out");
  CHECK(ranges.statements[0].variables[0].hi == 8);
  CHECK(ranges.views[0].access == "X(out + tap)");
  for (int turn = 0; turn < 2; ++turn) {
    CHECK(diagnostic(plain, {{2}, {3}}).starts_with("a.tc:1:42: error: no value of 'i' keeps"));
    CHECK(diagnostic(renamed, {{2}, {3}}).starts_with("b.tc:4:5: error: no value of 'out' keeps"));
  }
  const Tensor x = Tensor::of<float>({1, 2, 3, 4});
  const Tensor w = Tensor::of<float>({1, 10});
  CHECK(Tensor(plain(x, w)).to_vector<float>() == std::vector<float>{21, 32, 43});
  CHECK(Tensor(renamed(x, w)).to_vector<float>() == std::vector<float>{21, 32, 43});
}

TEST_CASE("more texts and shapes than are kept, from several threads") {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&wrong, t] {
      for (int k = 0; k < 300; ++k) {
        const std::string text = "def f(float(N) X) -> (Y) { Y(i" + std::to_string(t) + ") = X(i" + std::to_string(t) +
                                 " + " + std::to_string(k) + ") }";
        const ComprehensionRanges ranges = comprehension(text).ranges({{400 + k % 40}});
        wrong[t] += ranges.statements[0].variables[0].hi == 400 + k % 40 - k ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4, 0));
}

}  // namespace oriel::lang::cache_test
