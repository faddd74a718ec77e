// `oriel eval` and `oriel ranges` as users see them: output, files, exit statuses.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/command.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::cli::eval_command_test {
namespace {

using Answer = test::Outcome;

Answer oriel(const std::vector<std::string>& arguments, const std::string& in = {}) {
  return test::run_command(arguments, in);
}

const char* const kMatmul = "def mm(float(M, K) A, float(K, N) B) -> (C) { C(m, n) +=! A(m, k) * B(k, n) }";

}  // namespace

TEST_CASE("files in, files out") {
  const test::TemporaryFolder folder;
  const std::string a = folder / "a.npy";
  const std::string b = folder / "b.npy";
  const std::string c = folder / "c.npy";
  write_npy(a, Tensor::of<float>({{1, 2}, {3, 4}}));
  write_npy(b, Tensor::of<float>({{1, 1}, {0, 1}}));
  const Answer done = oriel({"eval", "-e", kMatmul, "--in", "A=" + a, "--in", "B=" + b, "--out", "C=" + c});
  CHECK(done.status == 0);
  CHECK(done.out + done.err == "");
  CHECK(read_npy(c).to_vector<float>() == std::vector<float>{1, 3, 3, 7});
  const Answer told =
      oriel({"eval", "-e", kMatmul, "--in", "A=" + a, "--in", "B=" + b, "--set", "N=2", "--explain", "--time"});
  CHECK(told.status == 0);
  CHECK(told.out.find("1 kernel on eigen") != std::string::npos);
  CHECK(told.out.find(", line -e:1\n") != std::string::npos);
  CHECK(told.out.find("C: float32 (2, 2): 1 3 3 7\n") != std::string::npos);
  CHECK(told.out.find("write") != std::string::npos);

  const std::string text = folder / "two.tc";
  std::ofstream(text) << "def one(float(N, M) A) -> (Y) { Y(i, j) = A(i, j) + 1 }\n"
                         "def two(float(N, M) A, float s) -> (uint8(M, N) Y) { Y(i, j) = uint8(s * A(j, i)) }\n";
  CHECK(oriel({"eval", text, "--def", "one", "--in", "A=" + a}).out == "Y: float32 (2, 2): 2 3 4 5\n");
  CHECK(oriel({"eval", text, "--in", "A=" + a, "--set", "s=2", "--explain"}).out.find(", line two.tc:2\n") !=
        std::string::npos);
  CHECK(oriel({"eval", text, "--in", "A=" + a, "--set", "s=2.5"}).out == "Y: uint8 (2, 2): 2 7 5 10\n");
  const std::string picture = folder / "y.png";
  CHECK(oriel({"eval", text, "--in", "A=" + a, "--set", "s=50", "--out", "Y=" + picture}).status == 0);
  CHECK(read_image(picture).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{50, 150, 100, 200});
  CHECK(oriel({"eval", "-e", "def f(uint8(H, W) P) -> (Y) { Y +=! P(i, j) }", "--in", "P=" + picture}).out ==
        "Y: uint8 (): 244\n");
}

TEST_CASE("errors of the program or the data are status 1, on standard error") {
  const test::TemporaryFolder folder;
  const std::string a = folder / "a.npy";
  write_npy(a, Tensor::of<float>({{1, 2}, {3, 4}}));
  const auto message = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"eval"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Answer answer = oriel(arguments);
    CHECK(answer.status == 1);
    CHECK(answer.out == "");
    return answer.err;
  };
  CHECK(
      message({"-e", "def f() -> (Y) { Y(i = 1 }"}).starts_with("-e:1:22: error: expected ',' or ')', but found '='"));
  CHECK(message({"-e", kMatmul, "--in", "A=" + a}) ==
        "oriel: eval: 'B' is missing; give --in B=FILE or --set B=NUMBER [missing_input]\n");
  CHECK(message({"-e", kMatmul, "--in", "A=" + a, "--in", "B=" + a, "--set", "N=3"}).find("[size_mismatch]") !=
        std::string::npos);
  CHECK(message({"-e", kMatmul, "--in", "X=" + a}).find("no such parameter") != std::string::npos);
  CHECK(message({"-e", kMatmul, "--in", "A=" + a, "--in", "B=" + a, "--out", "Z=z.npy"}).find("no such result") !=
        std::string::npos);
  CHECK(message({"-e", kMatmul, "--def", "nn"}).find("there are mm") != std::string::npos);
  CHECK(message({"-e", kMatmul, "--in", "A=" + a, "--in", "B=" + a, "--out", "C=c.png"}) ==
        "oriel: eval: --out C=c.png: a picture is uint8 or uint16, but C is float32; cast it in the definition, as in "
        "uint8(min(max(e, 0), 255)), or write .npy\n");
  CHECK(
      message({"-e", kMatmul, "--in", "A=" + a, "--in", "B=" + a, "--out", "C=c.gif"}).find("end the file's name on") !=
      std::string::npos);
  CHECK(message({"-e", "def f(int32 k) -> (Y) { Y = k }", "--set", "k=2.5"})
            .find("'k' is int32, but its argument is 2.5") != std::string::npos);
  CHECK(message({folder / "none.tc"}).find("cannot be opened") != std::string::npos);
  CHECK(message({"-e", "def f(float(N, M) A, int32 k) -> (Y) { Y(j) = A(k, j) }", "--in", "A=" + a, "--set", "k=2",
                 "--checked"})
            .find("index 2 is out of range for axis 0 of size 2; valid are 0 to 1") != std::string::npos);
}

TEST_CASE("wrong usage is status 2") {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"eval"},
                                             {"eval", "a.tc", "b.tc"},
                                             {"eval", "a.tc", "-e", kMatmul},
                                             {"eval", "a.tc", "--in"},
                                             {"eval", "a.tc", "--in", "A"},
                                             {"eval", "a.tc", "--in", "A=x", "--in", "A=y"},
                                             {"eval", "a.tc", "--frob"},
                                             {"ranges"},
                                             {"ranges", "-e", kMatmul, "A=3,2x"},
                                             {"ranges", "--jsonl", "-e", kMatmul}}) {
    const Answer answer = oriel(arguments);
    CHECK(answer.status == 2);
    CHECK(answer.out == "");
    CHECK(answer.err.find("usage: oriel") != std::string::npos);
  }
}

TEST_CASE("ranges as a table and as lines") {
  CHECK(oriel({"ranges", "-e", kMatmul, "A=3,4", "B=4,5"}).out ==
        "statement 0: C\n"
        "  0 <= m < 3  round 1, by A(m, k)\n"
        "  0 <= n < 5  round 1, by B(k, n)\n"
        "  0 <= k < 4  round 1, by A(m, k)\n"
        "  A(m, k) reads A as (3,5,4):(4,0,1)\n"
        "  B(k, n) reads B as (3,5,4):(0,1,5)\n"
        "result C: float32 (3, 5)\n");
  const std::string lines =
      "{\"def\":\"def f(float(N) X) -> (Y) { Y(i) = X(i - 2) }\",\"inputs\":{\"X\":[4]},\"scalars\":{}}\n"
      "nonsense\n";
  const Answer answer = oriel({"ranges", "--jsonl"}, lines);
  CHECK(answer.status == 0);
  CHECK(answer.out.starts_with(
      R"({"origin":{"Y":[2]},"outputs":{"Y":[4]},"preconditions":[],"ranges_by_stmt":[{"i":[2,6]}])"));
  CHECK(answer.out.find("\n{\"error\":\"bad_request\"") != std::string::npos);
}

}  // namespace oriel::cli::eval_command_test
