// `oriel ranges` with symbolic sizes: the text, the JSON lines and errors.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cli/lines.hpp"
#include "support/command.hpp"

namespace ranges_command_test {

using namespace oriel;
using Json = nlohmann::json;

namespace {

test::Outcome ranges(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "ranges");
  return test::run_command(arguments);
}

Json ask(const Json& request) { return Json::parse(cli::answer_ranges(request.dump(), {})); }

constexpr const char* kSum = "def f(float(I) B, float(K) C, float(J) D) -> (A) { A(i, j) = B(i) * C(i + j) * D(j) }";
constexpr const char* kShifted = "def f(float(I) B) -> (A) { A(i) = B(10 - i) }";

}  // namespace

TEST_CASE("shapes that are left out, or given in part, give formulas") {
  CHECK(ranges({"-e", kSum}).out ==
        "sizes: I >= 1, K >= 1, J >= 1\n"
        "statement 0: A\n"
        "  0 <= i < I  round 1, by B(i)\n"
        "  0 <= j < J  round 1, by D(j)\n"
        "  requires I + J - 1 <= K: C(i + j) must stay in dimension 0 of 'C'\n"
        "result A: float32 (I, J)\n");
  CHECK(ranges({"-e", kSum, "B=4", "C=n", "D=?"}).out ==
        "sizes: n >= 1, J >= 1\n"
        "statement 0: A\n"
        "  0 <= i < 4  round 1, by B(i)\n"
        "  0 <= j < J  round 1, by D(j)\n"
        "  requires J + 3 <= n: C(i + j) must stay in dimension 0 of 'C'\n"
        "result A: float32 (4, J)\n");
  CHECK(ranges({"-e", kShifted}).out ==
        "sizes: I >= 1\n"
        "statement 0: A\n"
        "  11 - I <= i < 11  round 1, by B(10 - i)\n"
        "result A: float32 (I,), its first element at index (11 - I)\n");
  CHECK(ranges({"-e", "def f(float(J) B, int32(I) C) -> (A) { A(i) = B(C(i)) }"}).out ==
        "sizes: J >= 1, I >= 1\n"
        "statement 0: A\n"
        "  0 <= i < I  round 1, by C(i)\n"
        "  B(C(i)): dimension 0 of B is known only once its indices are read\n"
        "result A: float32 (I,)\n");
}

TEST_CASE("wrong shapes and results that do not begin at 0 are errors") {
  const test::Outcome shape = ranges({"-e", kSum, "B=4,"});
  CHECK(shape.status == 2);
  CHECK(shape.err.find("'B=4,' is no NAME=SHAPE, as in A=3,4 or A=n,?") != std::string::npos);
  CHECK(ranges({"-e", kSum, "B=-4"}).status == 2);
  const test::Outcome origin = ranges({"-e", kShifted, "--zero-origin"});
  CHECK(origin.status == 1);
  CHECK(origin.err.find("the result 'A' begins at index 11 - I, not at 0 [non_zero_origin]") != std::string::npos);
}

TEST_CASE("sizes that contradict each other name both, and loops are told from sizes") {
  constexpr const char* kProduct = "def mm(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }";
  const test::Outcome wrong = ranges({"-e", kProduct, "A=n,4", "B=5,n"});
  CHECK(wrong.status == 1);
  CHECK(wrong.err.find("K is 4 by dimension 1 of 'A' and 5 by dimension 0 of 'B'; one name is one size") !=
        std::string::npos);
  CHECK(ranges({"-e", kProduct, "B=?,n"}).out.find("  0 <= n' < n  round 1, by B(k, n)\n") != std::string::npos);
  const test::Outcome literal = ranges({"-e", "def f(float(3, N) A) -> (C) { C(n) +=! A(m, n) }", "A=4,?"});
  CHECK(literal.err.find("dimension 0 of 'A' is 3, and the argument's is 4") != std::string::npos);
}

TEST_CASE("JSON lines with symbolic sizes") {
  CHECK(ask({{"def", kSum}, {"open", true}}) == Json::parse(R"json({"sizes":{"I":{"lo":1},"K":{"lo":1},"J":{"lo":1}},
          "ranges_by_stmt":[{"i":[0,"I"],"j":[0,"J"]}],"outputs":{"A":["I","J"]},"origin":{},
          "preconditions":[{"statement":0,"condition":"I + J - 1 <= K","status":"required","exact":true,
            "reason":"C(i + j) must stay in dimension 0 of 'C'","access":"C(i + j)","tensor":"C","dim":0}],
          "warnings":[]})json"));
  const Json part = ask({{"def", kSum}, {"inputs", {{"B", {4}}, {"C", {"n"}}, {"D", {nullptr}}}}});
  CHECK(part["ranges_by_stmt"] == Json::parse(R"([{"i":[0,4],"j":[0,"J"]}])"));
  CHECK(part["preconditions"][0]["condition"] == "J + 3 <= n");
  CHECK(ask({{"def", kShifted}, {"open", true}})["origin"] == Json::parse(R"({"A":["11 - I"]})"));
  const Json guarded =
      ask({{"def", "def f(float(N) X) -> (Y) { Y(i) = i < N ? X(i) : 0.0 where i in 0:2*N }"}, {"open", true}});
  CHECK(guarded["preconditions"] ==
        Json::parse(R"json([{"statement":0,"access":"X(i)","tensor":"X","dim":0,"status":"guarded"}])json"));
}

TEST_CASE("bad JSON lines with symbolic sizes") {
  const auto message = [](const Json& request) { return ask(request)["message"].get<std::string>(); };
  CHECK(message({{"def", kSum}, {"open", 1}}) == R"(ranges: "open" must be true or false)");
  CHECK(message({{"def", kSum}, {"inputs", {{"B", {"2*n"}}}}}) ==
        "ranges: '2*n' in the shape of B is neither a number >= 0 nor a name nor null");
  CHECK(message({{"def", kSum}, {"inputs", {{"B", 3}}}, {"open", true}}) == "ranges: B must be a list of sizes");
  CHECK(ask({{"def", kSum}, {"inputs", {{"B", {3}}}}})["error"] == "missing_input");
  CHECK(ask({{"def", "def f(float(N) X) -> (Y) { Y(i) = X(i*i) }"}, {"open", true}})["error"] == "open_sizes");
}

}  // namespace ranges_command_test
