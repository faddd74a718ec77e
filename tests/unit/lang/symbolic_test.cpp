// Range inference with sizes that are not numbers: the formulas, the preconditions, and errors.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lang/infer.hpp"
#include "oriel/oriel.hpp"
#include "sym/print.hpp"

namespace symbolic_test {

using namespace oriel;

namespace {

using Texts = std::vector<std::string>;

/// "i: 0 to (I + 1) // 2" for each variable of each statement, then "if I >= 2" for each precondition.
Texts ranges(const std::string& text, const std::vector<lang::ArgumentShape>& shapes = {}) {
  const lang::ProgramPtr program = lang::select(lang::check(text), {});
  const lang::Inference found = lang::infer_symbolic(*program, shapes);
  Texts out;
  for (std::size_t s = 0; s < found.statements.size(); ++s) {
    for (std::size_t v = 0; v < found.statements[s].ranges.size(); ++v) {
      const lang::IndexRange range = found.statements[s].ranges[v];
      out.push_back(std::string(program->statements[s].variables[v].name) + ": " + sym::to_string(range.lo) + " to " +
                    sym::to_string(range.end));
    }
  }
  for (const lang::SizePrecondition& precondition : found.preconditions)
    out.push_back("if " + sym::to_string(precondition.condition));
  return out;
}

std::string error(const std::string& text, const std::vector<lang::ArgumentShape>& shapes = {}) {
  try {
    ranges(text, shapes);
  } catch (const ComprehensionError& refused) {
    return refused.diagnostic().substr(0, refused.diagnostic().find('\n'));
  }
  return "no error";
}

lang::ArgumentSize size(std::int64_t n) { return {n, {}}; }
lang::ArgumentSize size(const char* name) { return {-1, name}; }

}  // namespace

TEST_CASE("the formulas of the worked examples") {
  CHECK(ranges("def matmul(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, r_k) * B(r_k, n) }") ==
        Texts{"m: 0 to M", "n: 0 to N", "r_k: 0 to K"});
  CHECK(ranges("def stencil(float(I) B, float(J) C) -> (A) { A(i) = B(i) + C(i - 2) }") ==
        Texts{"i: 2 to min(I, J + 2)", "if I >= 3"});
  CHECK(ranges("def conv(float(I) B, float(N) K) -> (A) { A(i) +=! B(i + k) * K(k) }") ==
        Texts{"i: 0 to I - N + 1", "k: 0 to N", "if N <= I"});
  // 9 - I in the text that the examples come from reads B(5) for I = 4: the lower end is 11 - I.
  CHECK(ranges("def reverted(float(I) B) -> A { A(i) = B(10 - i) }") == Texts{"i: 11 - I to 11"});
  CHECK(ranges("def subsample_2(float(I) B) -> A { A(i) = B(2*i) }") == Texts{"i: 0 to (I + 1) // 2"});
  CHECK(ranges("def average_pool_2(float(I) B) -> A { A(i) = B(2*i) + B(2*i + 1) }") ==
        Texts{"i: 0 to I // 2", "if I >= 2"});
  CHECK(ranges("def average_pool_2(float(I) B) -> A { A(i) +=! B(2*i + k) where k in 0:2 }") ==
        Texts{"i: 0 to I // 2", "k: 0 to 2", "if I >= 2"});
  CHECK(ranges("def constant_fill(float(N) A, float c) -> B { B(i) = c where exists A(i) }") == Texts{"i: 0 to N"});
  CHECK(ranges("def f(float(I) B, float(K) C, float(J) D) -> (A) { A(i, j) = B(i) * C(i + j) * D(j) }") ==
        Texts{"i: 0 to I", "j: 0 to J", "if I + J - 1 <= K"});
  CHECK(ranges("def lut(float(J) B, int32(I) C) -> A { A(i) = B(C(i)) }") == Texts{"i: 0 to I"});
  CHECK(ranges("def lut(float(J) B, int32(I) C) -> A { A(i) = B(max(min(C(i), J - 1), 0)) }") == Texts{"i: 0 to I"});
  CHECK(error("def subsample_2(float(I) B, int32(1) S) -> A { A(i) = B(S(0)*i) }") ==
        "comprehension:1:50: error: no access bounds 'i' on both sides; write where i in a:b [unresolved_variable]");
}

TEST_CASE("sizes as coefficients, divisors and ends") {
  CHECK(ranges("def f(float(N) X, float(S) Z) -> (Y) { Y(i) +=! X(S*i) * Z(k) }") ==
        Texts{"i: 0 to (N - 1) // S + 1", "k: 0 to S"});
  CHECK(ranges("def f(float(N) X) -> (Y) { Y(i) = X(i / 2) }") == Texts{"i: 0 to 2*N"});
  CHECK(ranges("def f(float(N) X) -> (Y) { Y(i) = X(i % N) where i in 0:3*N }") == Texts{"i: 0 to 3*N"});
  CHECK(ranges("def f(float(N) X) -> (Y) { Y(i) = X(i) where i in 0:N/2 }") == Texts{"i: 0 to N // 2", "if N >= 2"});
  CHECK(ranges("def f(float(N) X) -> (Y) { Y(i) = i < N ? X(i) : X(i - N) where i in 0:2*N }") == Texts{"i: 0 to 2*N"});
  // A later statement reads the first one's result in its coordinates.
  CHECK(ranges("def f(float(N) X) -> (Z) { Y(i) = X(i - 1)  Z(i) = Y(2*i) }") ==
        Texts{"i: 1 to N + 1", "i: 1 to N // 2 + 1", "if N >= 2"});
}

TEST_CASE("shapes that are given in part, or by names") {
  const std::string text = "def mm(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }";
  CHECK(ranges(text, {{{size(3), size("n")}}, {}}) == Texts{"m: 0 to 3", "n: 0 to N", "k: 0 to n"});
  CHECK(ranges(text, {{{size("a"), size("b")}}, {{size("c"), size("a")}}}) ==
        Texts{"m: 0 to a", "n: 0 to a", "k: 0 to b", "if c == b"});
  CHECK(ranges(text, {{{size(3), size(4)}}, {{size(4), size("n")}}}) == Texts{"m: 0 to 3", "n: 0 to n", "k: 0 to 4"});
}

TEST_CASE("definitions that no sizes, or no formulas, fit") {
  const std::string mm = "def mm(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }";
  CHECK(error(mm, {{{size(3)}}, {}}) ==
        "comprehension:1:8: error: 'A' has 2 dimensions, but its argument has 1: (3,) [rank_mismatch]");
  CHECK(error(mm, {{{size(3), size(4)}}, {{size(5), size("n")}}}) ==
        "comprehension:1:29: error: K is 4 by dimension 1 of 'A' and 5 by dimension 0 of 'B'; one name is one size "
        "[size_mismatch]");
  CHECK(error("def f(float(N) X) -> (Y) { Y(i) = X(i) * X(i + N) }") ==
        "comprehension:1:30: error: 'i' needs a value that keeps its accesses in bounds, which no sizes satisfy "
        "[empty_range]");
  CHECK(error("def f(float(N) X) -> (Y) { Y(i) = X(i*i) }") ==
        "comprehension:1:37: error: the range of 'i' by X(i * i) has no formula for all sizes; give the shapes, or "
        "write where i in a:b [open_sizes]");
  CHECK(error("def f(float(N) X, float(M) Z) -> (Y) { Y(i) = X(i) * Z((N - M)*i) }").find("has no formula") !=
        std::string::npos);
}

}  // namespace symbolic_test
