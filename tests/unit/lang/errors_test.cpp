// Every kind of error, each from its smallest text; and the form of the messages.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lang/syntax/diagnostic.hpp"
#include "oriel/comprehension.hpp"

namespace oriel::errors_test {
namespace {

std::string kind_of(const std::string& text, const std::vector<Shape>& shapes = {},
                    const ComprehensionOptions& options = {}) {
  try {
    comprehension(text).ranges(shapes, options);
    return "none";
  } catch (const ComprehensionError& error) {
    return error.kind();
  }
}

std::string diagnostic_of(const std::string& text, const std::vector<Shape>& shapes = {}) {
  try {
    comprehension(text, {}, "a.tc").ranges(shapes);
    return "none";
  } catch (const ComprehensionError& error) {
    return error.diagnostic();
  }
}

struct Case {
  const char* kind;
  const char* text;
  std::vector<Shape> shapes = {};
};

}  // namespace

TEST_CASE("each fault has its kind") {
  const std::vector<Case> cases{
      {"parse_error", "def f(float(N) X) (Y) { Y(i) = X(i) }"},
      {"parse_error", "def f(float(N) X) -> (Y) { Y(i) = X(i)"},
      {"parse_error", "def f(float(N) X) -> (Y) { Y(i) = X(i); }"},
      {"parse_error", "def f(X) -> (Y) { Y(i) = X(i) }"},
      {"parse_error", "def f(half(N) X) -> (Y) { Y(i) = X(i) }"},
      {"parse_error", "def f(float(N) X) -> (Y) { Y(i + 1) = X(i) }"},
      {"parse_error", "def f(float(N) X) -> (Y) { Y(i) -= X(i) }"},
      {"parse_error", "def f(float(N) X) -> (Y) { Y(i) += ! X(i) + }"},
      {"parse_error", "def f(float(N) X) -> (Y) { Y(i) = X(i) where i in 0..2 }"},
      {"parse_error", "def f(float(N) X) -> (Y) { Y(i) = X(0x10) }"},
      {"parse_error", "def f(float(N) X) -> (Y) { Y(i) = X(i) * 99999999999999999999 }"},
      {"parse_error", ""},
      {"rank_mismatch", "def f(float(N) X) -> (Y) { Y(i) = X(i, i) }", {{3}}},
      {"rank_mismatch", "def f(float(N) X) -> (Y) { Y(i) = X }", {{3}}},
      {"rank_mismatch", "def f(float(N) X) -> (Y) { Y(i) = X(i) }", {{3, 2}}},
      {"rank_mismatch", "def f(float(N) X) -> (float(N, N) Y) { Y(i) = X(i) }", {{3}}},
      {"size_mismatch", "def f(float(N, N) X) -> (Y) { Y(i) = X(i, i) }", {{3, 2}}},
      {"size_mismatch", "def f(float(4) X) -> (Y) { Y(i) = X(i) }", {{3}}},
      {"size_mismatch", "def f(float(N) X) -> (float(N) Y) { Y(i) = X(2*i) }", {{3}}},
      {"undefined_name", "def f(float(N) X) -> (Y) { Y(i) = Z(i) }", {{3}}},
      {"undefined_name", "def f(float(N) X) -> (Y) { Y(i) = Y(i) + X(i) }", {{3}}},
      {"undefined_name", "def f(float(N) X) -> (Y) { Y(i) = X(i) where N in 0:2 }", {{3}}},
      {"undefined_name", "def f(float(N) X) -> (Y) { Y(i) = X(i) where X in 0:2 }", {{3}}},
      {"undefined_output", "def f(float(N) X) -> (Y, Z) { Y(i) = X(i) }", {{3}}},
      {"redefinition", "def f(float(N) X, float(N) X) -> (Y) { Y(i) = X(i) }", {{3}, {3}}},
      {"redefinition", "def f(float(N) N) -> (Y) { Y(i) = N(i) }", {{3}}},
      {"redefinition", "def f(float(N) X) -> (Y) { Y(i) = t where t = X(i), t = 2 }", {{3}}},
      {"redefinition", "def f(float(N) X) -> (Y, Y) { Y(i) = X(i) }", {{3}}},
      {"duplicate_index", "def f(float(N) X) -> (Y) { Y(i, i) = X(i) }", {{3}}},
      {"shadowed_name", "def f(float(N) X) -> (Y) { Y(N) = X(N) }", {{3}}},
      {"shadowed_name", "def f(float(N) X) -> (Y) { Y(Y) = X(Y) }", {{3}}},
      {"shadowed_name", "def f(float(N) X) -> (Y) { Y(i) = X(i) where X = 2 }", {{3}}},
      {"reserved_name", "def f(float(N) exp) -> (Y) { Y(i) = exp(i) }", {{3}}},
      {"reserved_name", "def f(float(N) X) -> (Y) { Y(exp) = X(exp) }", {{3}}},
      {"not_a_tensor", "def f(float(N) X) -> (Y) { Y(i) = X(i) * i(0) }", {{3}}},
      {"not_a_tensor", "def f(float(N) X) -> (Y) { Y(i) = X(i) * N(0) }", {{3}}},
      {"arity_mismatch", "def f(float(N) X) -> (Y) { Y(i) = exp(X(i), 2) }", {{3}}},
      {"arity_mismatch", "def f(float(N) X) -> (Y) { Y(i) = max(X(i), 2, 3) }", {{3}}},
      {"assign_to_input", "def f(float(N) X) -> (Y) { X(i) = 1 Y(i) = X(i) }", {{3}}},
      {"reduction_without_operator", "def f(float(N) X) -> (Y) { Y(i) = 1 where i in 0:3, exists X(k) }", {{3}}},
      {"none", "def f(float(N) X, float c) -> (Y) { Y(i) = true ? c : X(i) }", {{3}, {}}},
      {"parse_error", "def f(float(N) X) -> (true) { true(i) = X(i) }"},
      {"index_not_integral", "def f(float(N) X) -> (Y) { Y(i) = X(i) + X(true) }"},
      {"range_not_size_expr", "def f(float(N) X) -> (Y) { Y(i) = X(i) where i in false:true }"},
      {"index_not_integral", "def f(float(N) X) -> (Y) { Y(i) = X(exp(i)) }", {{3}}},
      {"index_not_integral", "def f(float(N) X) -> (Y) { Y(i) = X(1e0) where i in 0:2 }", {{3}}},
      {"range_not_size_expr", "def f(float(N) X, int32 n) -> (Y) { Y(i) = X(i) where i in 0:n }", {{3}, {}}},
      {"range_not_size_expr", "def f(float(N) X) -> (Y) { Y(i) = X(i) where i in 0:2.5 }", {{3}}},
      {"range_not_size_expr", "def f(float(N) X) -> (Y) { Y(i, j) = X(i) where j in 0:i }", {{3}}},
      {"duplicate_range", "def f(float(N) X) -> (Y) { Y(i) = X(i) where i in 0:1, i in 0:1 }", {{3}}},
      {"unused_variable", "def f(float(N) X) -> (Y) { Y(i) = X(i) where k in 0:1 }", {{3}}},
      {"unresolved_variable", "def f(float(N) X) -> (Y) { Y(i) +=! X(i) * k }", {{3}}},
      {"unresolved_variable", "def f(float(N) X) -> (Y) { Y(i) = X(max(i, 0)) }", {{3}}},
      {"unresolved_variable", "def f(float(N) X) -> (Y) { Y(i) = X((i / 2) % 2) }", {{1}}},
      {"unconstrained_output_index", "def f(float(N) X) -> (Y) { Y(i, j) = X(i) + j }", {{3}}},
      {"empty_range", "def f(float(N) X) -> (Y) { Y(i) = X(i) * X(i + 3) }", {{3}}},
      {"empty_range", "def f(float(N) X) -> (Y) { Y(i) = X(i) where i in 2:1 }", {{3}}},
      {"empty_range", "def f(float(N) X) -> (Y) { Y(i) = X(i) * X(i - 2) }", {{0}}},
      {"empty_range",
       "def f(float(N) X) -> (Y) { Y(j) +=! X(((i + j + 3*k) / 2) % 2) where i in 0:4, k in 0:9 }",
       {{1}}},
      {"non_interval", "def f(float(N) X) -> (Y) { Y(i) = X(i*i - 5) }", {{16}}},
      {"precondition_violated", "def f(float(N) X) -> (Y) { Y(i) = X(i) where i in 0:4 }", {{3}}},
      {"precondition_violated", "def f(float(N) X) -> (Y) { Y(i) = i < 9 ? X(i) : 0 where i in 0:4 }", {{3}}},
      {"shape_conflict", "def f(float(N) X) -> (Y) { Y(i) = X(i) Y(i) = X(i + 1) }", {{3}}},
      {"narrowing_assignment", "def f(double(N) X) -> (float(N) Y) { Y(i) = X(i) }", {{3}}},
      {"narrowing_assignment", "def f(float(N) X) -> (int32(N) Y) { Y(i) = X(i) }", {{3}}},
      {"missing_input", "def f(float(N) X, float(N) Z) -> (Y) { Y(i) = X(i) + Z(i) }", {{3}}},
      {"none",  // a transposed convolution of an image
       "def f(float(H, W) X, float(K, K) F) -> (Y) { Y(h, w) +=! (h - p) % 2 == 0 && (w - q) % 2 == 0 && h - p >= 0"
       " && (h - p) / 2 < H && w - q >= 0 && (w - q) / 2 < W ? X((h - p) / 2, (w - q) / 2) * F(p, q) : 0"
       " where h in 0:2*H + K, w in 0:2*W + K, p in 0:K, q in 0:K }",
       {{1000, 1000}, {5, 5}}},
      {"none",
       "def f(float(N) X, float(M) C) -> (Y) { Y(i) = C(i) > 0 && i / 2 < N ? X(i / 2) : 0 where i in 0:M }",
       {{5}, {20}}},
      {"overflow", "def f(float(N) X) -> (Y) { Y(i) = X(i * 9223372036854775807 * 3) where i in 0:2 }", {{3}}},
      {"overflow", "def f(float(N) X) -> (Y) { Y(i) = X(i / 0) where i in 0:2 }", {{3}}},
      {"none", "def f(float(N) X) -> Y { t(i) = X(i) Y(i) = t(i) <=> \"copy\" }", {{3}}},
      {"none", "def f(float(N) X) -> (Y) { s +=! X(i) Y() = s + .5E-1 }", {{3}}},
      {"none", "def f(float(N) X) -> (Y) { Y(i) = X(i*i) }", {{16}}},
      {"none", "def f(float(N) X, float(M) Z) -> (Y) { Y(i) = X((i / 2) % 2) * Z(i - 200000) }", {{1}, {2}}},
      {"none", "def f(float(N) X, float(M) Z) -> (Y) { Y(i) = X(i*i - 40000000000) * Z(i - 200000) }", {{1}, {1}}},
      {"none", "def f(float(N) X) -> (Y) { t(i) = X(i) where i in 0:N - 3  Y(i) = t(i) * 2 }", {{3}}},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(one.text));
    CHECK(kind_of(one.text, one.shapes) == std::string(one.kind));
  }
}

TEST_CASE("strict options refuse temporaries and origins") {
  CHECK(kind_of("def f(float(N) X) -> (Y) { t(i) = X(i) Y(i) = t(i) }", {{3}}, {.only_results = true}) ==
        "temporary_not_listed");
  const char* shifted = "def f(float(N) X) -> (Y) { Y(i) = X(i - 1) }";
  CHECK(kind_of(shifted, {{3}}, {.zero_origin = true}) == "non_zero_origin");
  CHECK(kind_of(shifted, {{3}}) == "none");
}

TEST_CASE("a message names file, line and column, and marks the place") {
  CHECK(diagnostic_of("def f(float(N) X) -> (Y) {\n  Y(i) = X(i) +\n}") ==
        "a.tc:3:1: error: expected an expression, but found '}' [parse_error]\n  3 | }\n    | ^");
  CHECK(diagnostic_of("def f(float(N) X,\n      float(M) Z) -> (Y) {\n  Y(i) = X(i) * Z(2*i + 7)\n}", {{9}, {5}}) ==
        "a.tc:3:5: error: no value of 'i' keeps its accesses in bounds: 0 <= i < -1 [empty_range]\n"
        "  3 |   Y(i) = X(i) * Z(2*i + 7)\n    |     ^\n"
        "a.tc:3:12: note: this bounds it below\n"
        "  3 |   Y(i) = X(i) * Z(2*i + 7)\n    |            ^\n"
        "a.tc:3:19: note: this bounds it above\n"
        "  3 |   Y(i) = X(i) * Z(2*i + 7)\n    |                   ^~~~~~~");
  CHECK(diagnostic_of("def f(float(N) X) -> (Y) { Y(i) = X(i) where i in 0:4 }", {{3}}) ==
        "a.tc:1:37: error: dimension 0 of 'X' has positions 0 to 2, but this index is 3 for i = 3 "
        "[precondition_violated]\n"
        "  1 | def f(float(N) X) -> (Y) { Y(i) = X(i) where i in 0:4 }\n"
        "    |                                     ^");
}

TEST_CASE("conditionals do not count for ranges, and the message says so") {
  CHECK(
      diagnostic_of(
          "def f(float(N) X) -> (Y) {\n  Y(i) +=! i - k >= 0 && i - k < N ? X(i - k) : 0 where i in 0:N + 2\n}", {{1}})
          .ends_with("a.tc:2:40: note: this bounds it on both sides, whatever the conditional around it says; where "
                     "clauses give ranges apart from it\n"
                     "  2 |   Y(i) +=! i - k >= 0 && i - k < N ? X(i - k) : 0 where i in 0:N + 2\n"
                     "    |                                        ^~~~~"));
}

TEST_CASE("what other notations write is told apart") {
  CHECK(diagnostic_of("def f(float(N) X) -> (Y) { Y(i + 1) = X(i) }")
            .starts_with("a.tc:1:30: error: this is a position that is written, not an index of 'Y'"));
  CHECK(diagnostic_of("def f(float(N) X) -> (Y) { Y(i) = X[i] }")
            .starts_with("a.tc:1:36: error: indices stand in ( ): write X(i) for X[i] [parse_error]"));
  CHECK(diagnostic_of("def f(float(N) X) -> (Y) { Y[i] = X(i) }")
            .starts_with("a.tc:1:29: error: indices stand in ( ): write Y(i) for Y[i] [parse_error]"));
}

TEST_CASE("a byte outside of the notation is named") {
  CHECK(diagnostic_of("def f(float(N) X) -> (Y) { Y(i) = X(i) \xc3\xa4 }")
            .starts_with("a.tc:1:40: error: no token of the notation begins with byte 0xc3"));
}

TEST_CASE("nesting and the names of where clauses cannot exhaust anything") {
  CHECK(kind_of("def f(float(N) X) -> (Y) { Y(i) = " + std::string(100000, '(') + " }") == "parse_error");
  CHECK(kind_of("def f(float(N) X) -> (Y) { Y(i) = " + std::string(100000, '-') + "1 }") == "parse_error");
  std::string doubling = "def f(float(N) X) -> (Y) { Y(i) = a40 where a0 = X(i)";
  for (int k = 0; k < 40; ++k) {
    doubling += ", a" + std::to_string(k + 1) + " = a" + std::to_string(k) + " + a" + std::to_string(k);
  }
  CHECK(kind_of(doubling + " }", {{3}}) == "none");
}

}  // namespace oriel::errors_test
