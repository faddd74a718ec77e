// `oriel iterate` on symbolic sizes: the notebook on symbolic contiguity followed from a shell, formulas and guards of
// joint iterations, sizes that depend on data.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/lines.hpp"
#include "support/command.hpp"

namespace iterate_symbols_test {

using nlohmann::json;

namespace {

json answer(const std::string& line) { return json::parse(oriel::cli::answer_iterate_line(line)); }

/// The answer to op none on a layout; `strides` is empty for a contiguous one. Symbols have no bounds, as in the
/// notebook.
json asked(const std::string& symbols, const std::string& shape, const std::string& strides, bool trace = false) {
  return answer(R"({"op":"none","symbols":{)" + symbols + R"(},"operands":[{"shape":)" + shape +
                (strides.empty() ? "" : R"(,"strides":)" + strides) + "}]" + (trace ? R"(,"trace":true})" : "}"));
}

std::string text(std::vector<std::string> arguments, int status = 0) {
  arguments.insert(arguments.begin(), "iterate");
  const oriel::test::Outcome outcome = oriel::test::run_command(arguments);
  CHECK(outcome.status == status);
  return status == 0 ? outcome.out : outcome.err;
}

const std::string kX = R"("x":{"hint":3})";
const std::string kSix =
    R"("x1":{"hint":3},"x2":{"hint":1},"x3":{"hint":5},"y1":{"hint":5},"y2":{"hint":99999},"y3":{"hint":1})";

}  // namespace

TEST_CASE("the notebook: strides of contiguous tensors") {
  CHECK(asked(kX, "[2,3,5]", "")["strides"] == json::parse("[15,5,1]"));
  CHECK(asked(kX, R"(["x",3,5])", "", true)["strides"] == json::parse("[15,5,1]"));
  CHECK(asked(kX, R"([2,"x",5])", "", true)["strides"] == json::parse(R"_(["5*max(1, x)",5,1])_"));
  CHECK(asked(kX, "[3,1,5]", "")["strides"] == json::parse("[5,5,1]"));
  CHECK(asked(kX, "[3,0,5]", "")["strides"] == json::parse("[5,5,1]"));
}

TEST_CASE("the notebook: contiguity by branches, with the trace of its guards") {
  for (const char* strides : {"[5,5,1]", "[5,999999,1]"}) CHECK(asked(kX, "[3,1,5]", strides)["contiguous"] == true);
  CHECK(asked(kX, "[3,0,5]", "[123456,999999,424242]")["contiguous"] == true);
  const json traced = asked(kSix, R"(["x1","x2","x3"])", R"(["y1","y2","y3"])", true);
  CHECK(traced["contiguous"] == true);
  CHECK(traced["guards"] == json::parse(R"(["x1*x2*x3 != 0","x3 != 1","y3 == 1","x2 == 1","x1 != 1","y1 == x3"])"));
}

TEST_CASE("the notebook: contiguity without branches") {
  CHECK(asked(kX, "[3,1,5]", R"([5,"x",1])")["contiguous_if"] == true);
  const json general = asked(kSix, R"(["x1","x2","x3"])", R"(["y1","y2","y3"])", true);
  CHECK(general["contiguous_if"] ==
        "x1*x2*x3 == 0 or (x1 == 1 or y1 == x2*x3) and (x2 == 1 or y2 == x3) and (x3 == 1 or y3 == 1)");
  CHECK(asked(kX, R"([2,"x",5])", "")["contiguous_if"] == true);
}

TEST_CASE("the fewest guards that fix the answer") {
  const std::string sizes =
      R"("x1":{"hint":3,"lo":2},"x2":{"hint":1,"lo":0},"x3":{"hint":5,"lo":2},"y1":{"hint":5},"y2":{"hint":9},"y3":{"hint":1})";
  const json got = asked(sizes, R"(["x1","x2","x3"])", R"(["y1","y2","y3"])");
  CHECK(got["contiguous"] == true);
  CHECK(got["guards"] == json::parse(R"(["y3 == 1","x2 == 1","y1 == x3"])"));
  const json fixed = asked(R"("x":{"hint":3,"lo":0})", R"([2,"x",5])", "");
  CHECK(fixed["contiguous_if"] == true);
  CHECK(fixed["non_overlapping_and_dense_if"] == true);
}

TEST_CASE("joint iteration of symbolic operands") {
  const std::string symbols = R"({"op":"add","symbols":{"n":{"hint":4,"lo":2},"c":{"hint":8,"lo":2}},"operands":)";
  json got = answer(symbols + R"([{"shape":["n","c",5]},{"shape":["c",1]}]})");
  CHECK(got["shape"] == json::parse(R"(["n","c",5])"));
  CHECK(got["path"] == "none");
  CHECK(got["perm"] == json::parse("[2,1,0]"));
  CHECK(got["effective_strides"] == json::parse(R"([["5*c",5,1],[0,1,0]])"));
  CHECK(got["loop_shape"] == json::parse(R"([5,"c","n"])"));
  CHECK(got["guards"] == json::array());
  got = answer(symbols + R"([{"shape":["n","c"]},{"shape":["n","c"]}]})");
  CHECK(got["path"] == "contiguous");
  CHECK(got["loop_shape"] == json::parse(R"(["c*n"])"));
  CHECK(got["guards"] == json::array());
  // Equal hints of two symbols: one guard says that they are equal.
  got = answer(
      R"({"op":"add","symbols":{"a":{"hint":4,"lo":2},"b":{"hint":4,"lo":2}},"operands":[{"shape":["a",3]},{"shape":["b",3]}]})");
  CHECK(got["guards"] == json::parse(R"(["b == a"])"));
  got = answer(
      R"({"op":"add","symbols":{"a":{"hint":4,"lo":2},"b":{"hint":5,"lo":2}},"operands":[{"shape":["a",3]},{"shape":["b",3]}]})");
  CHECK(got["mismatch_dim"] == 0);
  // A transposed operand: its strides decide the order.
  got = answer(symbols + R"([{"shape":["n","c"],"strides":[1,"n"]}]})");
  CHECK(got["error"] == "iterate: add takes 2 operands, but 1 came");
  got = answer(symbols + R"([{"shape":["n","c"],"strides":[1,"n"]},{"shape":["c"],"strides":[1]}]})");
  CHECK(got["perm"] == json::parse("[0,1]"));
  CHECK(got["strides"] == json::parse(R"([1,"n"])"));
  CHECK(got["guards"] == json::array());
  got = answer(R"({"op":"reduce","axes":[0],"symbols":{"n":{"hint":4,"lo":2}},"operands":[{"shape":["n",3]}]})");
  CHECK(got["shape"] == json::parse("[3]"));
  CHECK(got["loop_shape"] == json::parse(R"(["n",3])"));
  CHECK(got["guards"] == json::array());
}

TEST_CASE("sizes that depend on data") {
  json got = answer(R"({"op":"none","unbacked":["u0"],"operands":[{"shape":["u0",3]}]})");
  CHECK(got["contiguous_if"] == true);
  CHECK(got["guards"] == json::array());
  got = answer(R"({"op":"add","unbacked":["u0"],"operands":[{"shape":["u0",3]},{"shape":["u0",3]}]})");
  CHECK(got["path"] == "contiguous");
  got = answer(R"({"op":"add","unbacked":["u0"],"operands":[{"shape":["u0",3]},{"shape":[1,3]}]})");
  CHECK(got["shape"] == json::parse(R"(["u0",3])"));
  got = answer(R"({"op":"add","unbacked":["u0"],"operands":[{"shape":["u0"]},{"shape":[3]}]})");
  CHECK(got["error"].get<std::string>().find("depends on u0") != std::string::npos);
}

TEST_CASE("the text form prints formulas and guards") {
  CHECK(text({"n=4,s=5:0.. | n,5:s,1 + 5"}) ==
        "operand 0  (n,5):(s,1)  contiguous if s == 5\n"
        "operand 1  (5):(1)      contiguous\n"
        "shape      (n,5)\n"
        "strides 0  (s,1)\n"
        "strides 1  (0,1)\n"
        "order      1 0  (fastest first)\n"
        "loops      (5,n) by (1,5) <- (1,s) (1,0)\n"
        "result     (n,5):(5,1)  contiguous\n"
        "guards     1 < s\n");
  CHECK(text({"n=4 | (n+1),3"}).ends_with("guards     none\n"));
  CHECK(text({"--reduce", "0", "n=4 | n,3"}).ends_with("guards     none\n"));
  CHECK(text({"n=1 | n,3"}, 1).starts_with("oriel: "));
  CHECK(text({"n,3"}, 1) ==
        "oriel: iterate: 'n' in 'n,3' is not a 64-bit integer; write shape:strides, such as "
        "2,3:3,1\n");
}

TEST_CASE("errors of symbolic lines") {
  CHECK(answer(R"({"op":"none","trace":1,"operands":[]})")["error"] == "iterate: \"trace\" is true or false");
  CHECK(answer(R"({"op":"none","trace":true,"operands":[{"shape":[2],"strides":[1]}]})")["error"] ==
        "iterate: \"trace\" lists guards; give \"symbols\"");
  CHECK(asked(kX, R"(["x"])", "[1,1]")["error"] == "layout: got 2 strides for shape (x); give one for each axis");
  CHECK(asked(kX, R"(["z"])", "").contains("error"));
  CHECK(asked(R"("x":{"hint":-1})", R"(["x"])", "").contains("error"));
}

}  // namespace iterate_symbols_test
