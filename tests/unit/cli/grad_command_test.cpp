// `oriel grad` as users see it: the definition that it prints runs; errors and statuses.
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/command.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::cli::grad_command_test {
namespace {

const char* const kLookup = "def lookup(float(V) T, int32(N) I) -> (Y) { Y(i) = T(I(i)) * T(I(i)) }";

test::Outcome grad(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "grad");
  return test::run_command(arguments, {});
}

}  // namespace

TEST_CASE("what is printed runs") {
  const test::TemporaryFolder folder;
  const test::Outcome printed = grad({"-e", kLookup, "--by", "T"});
  CHECK(printed.status == 0);
  CHECK(printed.err.empty());
  CHECK(printed.out ==
        "def lookup_grad(float(V) T, int32(N) I, float(N) d_Y) -> (float(V) d_T) {\n"
        "  d_T(I(i)) +=! d_Y(i) * T(I(i))\n"
        "  d_T(I(i)) += d_Y(i) * T(I(i))\n"
        "}\n");
  const std::string text = folder / "lookup_grad.tc", t = folder / "t.npy", i = folder / "i.npy", d = folder / "d.npy";
  std::ofstream(text) << printed.out;
  write_npy(t, Tensor::of<float>({1, 2, 3}));
  write_npy(i, Tensor::of<std::int32_t>({2, 0, 2}));
  write_npy(d, Tensor::of<float>({1, 10, 100}));
  const test::Outcome ran =
      test::run_command({"eval", text, "--in", "T=" + t, "--in", "I=" + i, "--in", "d_Y=" + d}, {});
  CHECK(ran.err.empty());
  CHECK(ran.out.find("20 0 606") != std::string::npos);
}

TEST_CASE("errors of the program are status 1, wrong command lines 2") {
  CHECK(grad({"-e", kLookup, "--by", "I"}).status == 1);
  CHECK(grad({"-e", kLookup, "--by", "X"}).err == "oriel: grad: 'X' is no parameter of lookup\n");
  CHECK(grad({"-e", "def f(float(N) X) -> (Y) { Y(i) = nextafter(X(i), 1.0) }"}).err.find("[not_differentiable]") !=
        std::string::npos);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{}, {"a.tc", "-e", kLookup}, {"-e", kLookup, "--by"}, {"--wrong"}}) {
    const test::Outcome refused = grad(arguments);
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
    CHECK(refused.err.find("usage: oriel grad") != std::string::npos);
  }
}

}  // namespace oriel::cli::grad_command_test
