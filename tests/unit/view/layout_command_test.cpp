// `oriel layout`: translations, operations, costs, the JSON lines.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "support/command.hpp"

namespace layout_command_test {

namespace {

using oriel::test::Outcome;

Outcome run(std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), "layout");
  return oriel::test::run_command(arguments, input);
}

}  // namespace

TEST_CASE("a layout is printed in each notation that can say it") {
  const Outcome all = run({"(2,4):(4,1)"});
  CHECK(all.status == 0);
  CHECK(all.out ==
        "cute      (2,4):(4,1)\n"
        "torch     size=(2, 4), stride=(4, 1), storage_offset=0\n"
        "numpy     {'shape': (2, 4), 'typestr': '<f4', 'strides': (16, 4), 'offset': 0, 'version': 3}\n"
        "tinygrad  View(shape=(2, 4), strides=(4, 1), offset=0, mask=None, contiguous=True)\n"
        "oriel     (2,4):(4,1)\n"
        "linear    linear<{dim0 = [[4]], dim1 = [[1], [2]]}>\n"
        "isl       { [i0, i1] -> [i0*4 + i1] : 0 <= i0 < 2 and 0 <= i1 < 4 }\n");
  CHECK(run({"(2,3):(3,1)"}).out.find("linear    - (linear cannot say this layout: 3 is no power of two)\n") !=
        std::string::npos);
  CHECK(run({"size=(2, 3), stride=(1, 2)", "--as", "cute"}).out == "(2,3):(1,2)\n");
  CHECK(run({"(2,3):(3,1)", "--as", "numpy", "--element-bytes", "8"}).out.find("(24, 8)") != std::string::npos);
  CHECK(run({"(2,3):(3,1)", "--from", "oriel", "--as", "cute", "--table"}).out == "(2,3):(3,1)\ntable: 0 1 2 3 4 5\n");
}

TEST_CASE("operations print their result") {
  CHECK(run({"compose", "(6,2):(8,2)", "(4,3):(3,1)"}).out == "((2,2),3):((24,2),8)\n");
  CHECK(run({"complement", "4:2", "16"}).out == "(2,2):(1,8)\n");
  CHECK(run({"logical_divide", "(8,6):(1,8)", "<2:1, 3:2>"}).out == "((2,4),(3,2)):((1,2),(16,8))\n");
  CHECK(run({"zipped_divide", "(8,6):(1,8)", "(2:1, 3:2)"}).out == "((2,3),(4,2)):((1,16),(2,8))\n");
  CHECK(run({"raked_product", "2:1", "4:1", "--table"}).out == "((4,2)):((2,1))\ntable: 0 2 4 6 1 3 5 7\n");
  const Outcome same = run({"equal", "(2,3):(3,1)", "size=(2, 3), stride=(3, 1)"});
  CHECK(same.out == "equal\n");
  CHECK(same.status == 0);
  const Outcome other = run({"equal", "(2,3):(3,1)", "(2,3):(1,2)"});
  CHECK(other.out == "index (1, 0): 3 and 1\n");
  CHECK(other.status == 1);
  const std::string info = run({"info", "32:32"}).out;
  CHECK(info.find("positions: 993 from 0 on, 32 of them used, 961 in gaps\n") != std::string::npos);
  CHECK(info.find("32 words of one bank in a group\n") != std::string::npos);
  CHECK(run({"info", "32:33"}).out.find("bank conflicts (32 banks of 4 bytes): none\n") != std::string::npos);
  CHECK(run({"info", "(2,3):(3,1)"}).out.find("permutation: 3 cycles, the longest of 4, 2 fixed points\n") !=
        std::string::npos);
}

TEST_CASE("wrong command lines and layouts are errors") {
  CHECK(run({}).status == 2);
  CHECK(run({"compose", "4:1"}).err.find("compose takes 2 layouts, got 1") != std::string::npos);
  CHECK(run({"4:1", "4:1"}).status == 2);
  CHECK(run({"4:1", "--as"}).err.find("--as needs a value") != std::string::npos);
  CHECK(run({"4:1", "--as", "mlir"}).status == 1);
  CHECK(run({"4:1", "--lanes", "0"}).status == 2);
  CHECK(run({"4:1", "--lane", "1"}).status == 2);
  CHECK(run({"(2,3):(3)"}).err.starts_with("oriel: layout: the strides (3) have another form"));
  CHECK(run({"coalesce", "(2,3):(3,1)+1"}).status == 1);
  CHECK(run({"--json", "4:1"}).status == 2);
  CHECK(run({"--help"}).out.starts_with("usage: oriel layout"));
}

TEST_CASE("JSON lines") {
  const auto answer = [](const std::string& line) {
    const Outcome outcome = run({"--json"}, line + "\n");
    CHECK(outcome.status == 0);
    return nlohmann::json::parse(outcome.out);
  };
  const auto composed = answer(R"j({"op":"compose","a":"((6,2),6):((1,36),6)","b":"4:1","table":true})j");
  CHECK(composed["table"] == nlohmann::json{0, 1, 2, 3});
  CHECK(composed["size"] == 4);
  CHECK(composed["rank"] == 1);
  CHECK(composed["layout"] == "4:1");
  CHECK_FALSE(answer(R"j({"op":"print","a":"4:1"})j").contains("table"));
  CHECK(answer(R"j({"op":"complement","a":"2:1","n":2,"table":true})j")["table"] == nlohmann::json{0});
  CHECK(answer(R"j({"op":"equal","a":"12:1","b":"2:0"})j")["first"] == 1);
  CHECK(answer(R"j({"op":"equal","a":"(12):(16)","b":"12:16"})j")["first"].is_null());
  CHECK(answer(R"j({"op":"info","a":"32:2","element_bytes":8,"lanes":16})j")["bank_conflicts"] == 2);
  CHECK(answer(R"j({"op":"print","a":"(2,3):(3,1)","as":"torch"})j")["layout"] ==
        "size=(2, 3), stride=(3, 1), storage_offset=0");
  CHECK(answer(R"j({"op":"transpose","a":"4:1"})j")["error"].get<std::string>().find(
            "no operation is named 'transpose'") != std::string::npos);
  CHECK(answer(R"j({"op":"compose","a":"4:1"})j")["error"].get<std::string>().find("compose needs \"b\"") !=
        std::string::npos);
  CHECK(answer(R"j({"op":"complement","a":"4:1","n":"x"})j").contains("error"));
  CHECK(answer("nonsense").contains("error"));
}

}  // namespace layout_command_test
