// Programs that are accepted but may read less than intended: ranges, calls, the sink and `oriel eval` warn about them.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::warnings_test {
namespace {

using Kinds = std::vector<std::string>;

Kinds kinds(const std::vector<ComprehensionWarning>& warnings) {
  Kinds out;
  for (const ComprehensionWarning& warning : warnings) out.push_back(warning.kind + ":" + warning.tensor);
  return out;
}

Kinds kinds_of(const std::string& text, const std::vector<Shape>& shapes) {
  return kinds(comprehension(text).ranges(shapes).diagnostics);
}

struct Case {
  const char* text;
  std::vector<Shape> shapes;
};

// Two of the three weights are never read.
const char* const kPadded =
    "def f(float(N) X, float(K) F) -> (Y) {\n"
    "  Y(i) +=! (i + k - 1 >= 0 && i + k - 1 < N ? X(i + k - 1) : 0.0) * F(k) where i in 0:N\n"
    "}";

}  // namespace

TEST_CASE("an operand that is read in part because another access bounds an index") {
  const std::vector<ComprehensionWarning> warnings = comprehension(kPadded, {}, "a.tc").ranges({{5}, {3}}).diagnostics;
  REQUIRE(warnings.size() == 1);
  const ComprehensionWarning& warning = warnings[0];
  CHECK(warning.kind == "partial_read");
  CHECK(warning.tensor == "F");
  CHECK(warning.statement == 0);
  CHECK(warning.line == 2);
  CHECK(warning.column == 69);
  CHECK(warning.length == 4);
  CHECK(
      warning.message ==
      "of positions 0 to 2 in dimension 0 of 'F', only 1 to 1 are read: X(i + k - 1), whatever the conditional around "
      "it says, bounds 'k' to 1 <= k < 2. If that is meant, write where k in a:b; else give 'k' the range it should "
      "have");
  CHECK(warning.diagnostic.starts_with("a.tc:2:69: warning: of positions 0 to 2"));
  CHECK(warning.diagnostic.find("[partial_read]\n  2 |   Y(i) +=!") != std::string::npos);
  CHECK(warning.diagnostic.find("a.tc:2:49: note: this bounds it\n") != std::string::npos);

  CHECK(kinds_of("def f(float(N) A, float(M) B) -> (Y) { Y(i) = A(i) + B(i) }", {{5}, {7}}) == Kinds{"partial_read:B"});
  CHECK(kinds_of("def f(float(N) A, float(M) B) -> (Y) { Y(i) = A(i) + B(i) }", {{5}, {5}}).empty());
  CHECK(kinds_of("def f(float(N) A, float(M) B) -> (Y) { Y(i) = A(i)  Y(i) += B(i) }", {{3}, {5}}) ==
        Kinds{"partial_read:B"});
  CHECK(kinds_of("def f(float(N) X, float(N) B) -> (Y) { Y(i) = X(i - 1) + X(i + 1) + B(i) }", {{9}, {9}}) ==
        Kinds{"partial_read:B"});
}

TEST_CASE("programs that read what they seem to read cause no warning") {
  const std::vector<Case> cases{
      {"def f(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }", {{3, 4}, {4, 5}}},
      {"def f(float(N) X, float(K) W) -> (Y) { Y(i) +=! X(i + k) * W(k) }", {{10}, {3}}},
      {"def f(float(N) X, float(K) W) -> (Y) { Y(i) +=! X(2*i + k) * W(k) }", {{10}, {3}}},
      {"def f(float(N) X, float(K) W) -> (Y) { Y(i) +=! W(k) * X(3*i + 2*k) }", {{12}, {3}}},
      {"def f(float(N) X, float(K) W) -> (Y) { Y(i) +=! X(i + K - 1 - k) * W(k) }", {{12}, {3}}},
      {"def f(float(H, W) X) -> (Y) { Y(h, w) max=! X(2*h + p, 2*w + q) where p in 0:2, q in 0:2 }", {{5, 7}}},
      {"def f(float(N) X) -> (Y) { Y(i) = X(i - 1) - 2*X(i) + X(i + 1) }", {{9}}},
      {"def f(float(N) X) -> (Y) { Y(i) = X(i - 1) where i in 1:N - 1 }", {{9}}},
      {"def f(float(N) X, float(M) Z) -> (Y) { Y(i) = X(i) where exists Z(i) }", {{9}, {5}}},
      {"def f(float(N) X) -> (Y) { Y(i) = X(2*i) + X(2*i + 1) }", {{9}}},
      {"def f(float(N, M) X) -> (s) { s +=! X(i, i) }", {{9, 5}}},
      {"def f(float(N, M) X) -> (Y) { Y(i, j) = i >= j ? X(i, j) : 0.0 }", {{4, 4}}},
      {"def f(float(N) X) -> (Y) { Y(i) = X(i) > 0 ? X(i) : 0.0 }", {{4}}},
      {"def f(float(N) X, float c) -> (Y) { Y(i) = c > 0 ? X(i) : 0.0 }", {{4}, {}}},
      {"def f(float(N) X, float(K) F) -> (Y) { Y(i) +=! (i + k - 1 >= 0 && i + k - 1 < N ? X(i + k - 1) : 0.0) * F(k) "
       "where i in 0:N, k in 0:K }",
       {{5}, {3}}},
      {"def f(float(N) A, float(M) B) -> (Y) { Y(i) = i < N ? A(i) : B(i - N) where i in 0:N + M }", {{5}, {3}}},
      {"def f(float(N) B, int32(L) C) -> (Y) { Y(i) = B(max(min(C(i), N - 1), 0)) }", {{5}, {3}}},
      {"def f(float(N) X) -> (Y) { Y(i) = X(i) }", {{0}}},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(one.text));
    CHECK(kinds_of(one.text, one.shapes).empty());
  }
}

TEST_CASE("a conditional that inference makes pointless") {
  CHECK(kinds_of("def f(float(N) X) -> (Y) { Y(i) = i > 0 ? X(i - 1) : 0.0 }", {{5}}) == Kinds{"narrowing_guard:X"});
  CHECK(kinds_of("def f(float(N) X) -> (Y) { Y(i) = i < 0 ? 0.0 : X(i) }", {{5}}) == Kinds{"narrowing_guard:X"});
  CHECK(kinds_of("def f(float(N) X) -> (Y) { Y(i) = i > 0 ? X(i - 1) : 0.0 where i in 0:N }", {{5}}).empty());
}

TEST_CASE("+= on a tensor that no statement assigned is reported without shapes") {
  const Comprehension f = comprehension("def f(float(N) X) -> (s) { s += X(i) }", {}, "a.tc");
  REQUIRE(f.warnings().size() == 1);
  CHECK(f.warnings()[0].diagnostic.starts_with(
      "a.tc:1:30: warning: no statement before assigns 's', so '+=' starts from its identity; write '+=!' to say so "
      "[uninitialized_reduction]"));
  CHECK(comprehension("def f(float(N) X) -> (s) { s +=! X(i)  s += X(i) }").warnings().empty());
}

TEST_CASE("a call hands out its warnings, and the sink hears of the first with each shapes") {
  std::vector<std::string> heard;
  set_comprehension_warning_sink([&](const ComprehensionWarning& warning) { heard.push_back(warning.kind); });
  const Comprehension f = comprehension(kPadded);
  const Tensor x = ones({5});
  const Tensor w = ones({3});
  CHECK(kinds(f(x, w).warnings()) == Kinds{"partial_read:F"});
  CHECK(kinds(f(x, w).warnings()) == Kinds{"partial_read:F"});
  CHECK(heard == Kinds{"partial_read"});
  f(ones({6}), w);
  CHECK(heard.size() == 2);
  set_comprehension_warning_sink({});
  f(ones({7}), w);
  CHECK(heard.size() == 2);
}

TEST_CASE("positions that are read and may lie outside") {
  const test::TemporaryFolder folder;
  const std::string text = "def f(float(J) B, int32(I) C) -> (A) { A(i) = B(C(i)) }";
  const Tensor b = ones({10});
  const Tensor inside = Tensor::of<std::int32_t>({1, 9});
  const Tensor outside = Tensor::of<std::int32_t>({12, -4});
  const Comprehension f = comprehension(text);
  CHECK(f(b, inside).warnings().empty());
  CHECK_THROWS_AS((void)f(b, outside)->to_vector<float>(), IndexError);
  const std::vector<Operand> arguments{b, outside};
  const ComprehensionResults unchecked = f.call(arguments, {.bounds = Bounds::zero});
  CHECK(kinds(unchecked.warnings()) == Kinds{"unchecked_gather:B"});
  CHECK(Tensor(unchecked).to_vector<float>() == std::vector<float>{0, 0});

  write_npy(folder / "b.npy", b);
  write_npy(folder / "c.npy", outside);
  const auto eval = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command{
        "eval", "-e", text, "--in", "B=" + (folder / "b.npy"), "--in", "C=" + (folder / "c.npy")};
    command.insert(command.end(), more.begin(), more.end());
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const int status = cli::run(command, in, out, err);
    return std::to_string(status) + out.str() + err.str();
  };
  CHECK(eval({}).starts_with("1oriel: f: B(C(i)): index -4 is out of range for axis 0 of size 10; valid are 0 to 9"));
  CHECK(eval({"--unchecked"}).starts_with("0A: float32 (2): 0 0\n-e:1:49: warning: this index is known once tensors"));
}

TEST_CASE("indices that no shapes could resolve are refused with the definition") {
  const auto kind = [](const char* text) -> std::string {
    try {
      comprehension(text);
      return "none";
    } catch (const ComprehensionError& error) {
      return error.kind();
    }
  };
  CHECK(kind("def f(float(N) B, int32(M) S) -> (A) { A(i) = B(S(0)*i) }") == "unresolved_variable");
  CHECK(kind("def f(float(N) X) -> (Y) { Y(i, j) = X(i + j) }") == "unresolved_variable");
  CHECK(kind("def f(float(N) X) -> (Y) { Y(i, j) = X(i) }") == "unconstrained_output_index");
  CHECK(kind("def f(float(N) X, float(M) Z) -> (Y) { Y(i) +=! X(i + j) * Z(j + k) }") == "unresolved_variable");
  // Whether an index is resolved may depend on a size (the first one is if N = 0). Then nothing is reported yet.
  CHECK(kind("def f(float(N) X, float(M) Z) -> (Y) { Y(i, j) = X(N*i + j) * Z(M*i + j) }") == "none");
  CHECK(kind("def f(float(N) X) -> (Y) { Y(j) +=! X(i - i + j) * X(i) }") == "none");
  CHECK(kind("def f(float(N) B, int32(M) S) -> (A) { A(i) = B(S(0)*i) where i in 0:4 }") == "none");
  CHECK(kind("def f(float(N) X) -> (Y) { Y(i, j) = X(i) * X(i + j) }") == "none");
}

TEST_CASE("true and false are conditions, and numbers where they are counted") {
  const Tensor x = Tensor::of<float>({1, 2});
  const auto value = [&](const char* expression) {
    return Tensor(comprehension(std::string("def f(float(N) X) -> (Y) { Y(i) = ") + expression + " }")(x))
        .to_vector<float>();
  };
  CHECK(value("true ? X(i) : 0.0") == std::vector<float>{1, 2});
  CHECK(value("X(i) > 1 || false ? 5.0 : X(i)") == std::vector<float>{1, 5});
  CHECK(value("X(i) + true") == std::vector<float>{2, 3});
  CHECK(value("X(i) * -true") == std::vector<float>{-1, -2});
  CHECK(comprehension("def f(float(N) X) -> (Y) { Y(i) = !false && X(i) > 1 }")(x)[0].dtype() == DType::bool_);
  CHECK(comprehension("def f(float(N) X) -> (Y) { Y(i) = true ? X(i) : 0.0 }").canonical_text() !=
        comprehension("def f(float(N) X) -> (Y) { Y(i) = 1 ? X(i) : 0.0 }").canonical_text());
}

}  // namespace oriel::warnings_test
