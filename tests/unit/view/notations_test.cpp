// Layouts in other people's notations: reading, printing, comparing, CuTe's algebra, costs. Answers of other libraries:
// tests/data/cute_layouts.jsonl and layout_notations.jsonl.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "oriel/error.hpp"
#include "oriel/layouts.hpp"

namespace notations_test {

namespace {

using oriel::SymInt;
using oriel::layouts::AccessModel;
using oriel::layouts::Analysis;
using oriel::layouts::Comparison;
using oriel::layouts::Map;
using oriel::layouts::Notation;
using Json = nlohmann::json;

constexpr Notation kAll[] = {Notation::cute,  Notation::torch,  Notation::numpy, Notation::tinygrad,
                             Notation::oriel, Notation::linear, Notation::isl};

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const oriel::UserError& error) {
    return std::string(error.message());
  }
  return "no error";
}

std::string refusal(const std::string& text) {
  return error_of([&] { Map::read(text); });
}

Map combined(const Json& row) {
  const Map a = Map::read(row["a"].get<std::string>());
  const std::string op = row["op"];
  if (op == "coalesce") return a.coalesce();
  if (op == "flatten") return a.flatten();
  if (op == "complement") return a.complement(row["n"].get<std::int64_t>());
  if (op == "right_inverse") return a.right_inverse();
  if (op == "left_inverse") return a.left_inverse();
  const Map b = Map::read(row["b"].get<std::string>());
  if (op == "compose") return a.compose(b);
  if (op == "logical_divide" || op == "zipped_divide") return a.logical_divide(b);
  if (op == "logical_product") return a.logical_product(b);
  if (op == "blocked_product") return a.blocked_product(b);
  REQUIRE(op == "raked_product");
  return a.raked_product(b);
}

/// The positions in row-major order of the outermost axes.
std::vector<std::int64_t> row_major(const Map& map) {
  std::vector<std::int64_t> table = map.axes().table();
  if (map.swizzle()) {
    for (std::int64_t& position : table) position = (*map.swizzle())(position);
  }
  return table;
}

std::vector<Json> lines_of(const std::string& name) {
  std::ifstream in(std::string(ORIEL_TEST_DATA) + "/" + name);
  REQUIRE(in);
  std::vector<Json> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(Json::parse(line));
  return rows;
}

}  // namespace

TEST_CASE("CuTe's operations give the maps that tensor-layouts gives") {
  const std::vector<Json> rows = lines_of("cute_layouts.jsonl");
  CHECK(rows.size() == 1500);
  for (const Json& row : rows) {
    CAPTURE(row.dump());
    if (row["op"] == "equal") {
      const Comparison found = Map::read(row["a"].get<std::string>()).compare(Map::read(row["b"].get<std::string>()));
      CHECK(found.equal == row["first"].is_null());
      CHECK((found.first ? Json(found.first->value()) : Json(nullptr)) == row["first"]);
      continue;
    }
    if (row.contains("refused")) {
      CHECK(error_of([&] { (void)combined(row); }).find(" is not defined: faster modes reach position ") !=
            std::string::npos);
      continue;
    }
    const Map found = combined(row);
    if (row.contains("table")) {
      CHECK(found.table() == row["table"].get<std::vector<std::int64_t>>());
      continue;
    }
    const Map wanted = Map::read(row["is"].get<std::string>());
    CHECK(found.table() == wanted.table());
    CHECK(found.compare(wanted).equal);
    if (row.contains("rank")) CHECK(found.rank() == row["rank"].get<std::size_t>());
  }
}

TEST_CASE("texts of NumPy, PyTorch, tinygrad and ISL are the maps that these libraries say") {
  std::map<std::string, int> seen;
  for (const Json& row : lines_of("layout_notations.jsonl")) {
    CAPTURE(row.dump());
    const Map map = Map::read(row["text"].get<std::string>());
    ++seen[row["notation"]];
    CHECK(name(map.notation()) == row["notation"]);
    CHECK(row_major(map) == row["table"].get<std::vector<std::int64_t>>());
    // Every notation that can say it says the same map.
    for (const Notation notation : kAll) {
      std::string text;
      try {
        text = map.str(notation);
      } catch (const oriel::ArgumentError&) {
        continue;
      }
      CAPTURE(text);
      // Oriel reads what is affine on a box, and a mask is all that remains of an extent in such a text.
      if (notation == Notation::isl &&
          (text.find('%') != std::string::npos || text.find("floor") != std::string::npos ||
           map.axes().simplify().views()[0].masked()))
        continue;
      const Map again = Map::read(text, notation);
      CHECK(row_major(again) == row_major(map));
    }
  }
  CHECK(seen == std::map<std::string, int>{{"isl", 150}, {"numpy", 150}, {"tinygrad", 150}, {"torch", 150}});
}

TEST_CASE("a layout is printed as it was read") {
  for (const char* const text :
       {"4:1", "(2,3):(3,1)", "((2,2),4):((1,8),2)", "Sw<2,0,3> o 0 o (8,8):(8,1)",
        "Sw<3,4,-3> o 5 o (8,(2,4)):(8,(1,2))", "size=(2, 3), stride=(3, 1), storage_offset=5",
        "size=(), stride=(), storage_offset=2",
        "{'shape': (2, 3), 'typestr': '<f4', 'strides': (12, 4), 'offset': 8, 'version': 3}",
        "View(shape=(2, 3), strides=(0, -1), offset=2, mask=((0, 1), (1, 3)), contiguous=False)",
        "(2,3):(3,1)+5[0:2,0:2)", "(6):(1) over (2,3):(1,4)", "linear<{dim0 = [[1], [2]], dim1 = [[8], [4]]}>",
        "linear<{dim0 = [[9], [18], [32]], dim1 = [[1], [2], [4]]}>",
        "{ [i0, i1] -> [i0*3 + i1 + 5] : 0 <= i0 < 2 and 0 <= i1 < 3 and i1 >= 1 }", "{ [i0] -> [0] : 0 <= i0 < 0 }",
        "{ [i0, i1] -> [0] : 0 <= i0 < 2 and 0 <= i1 < 3 and i0 >= 2 }"}) {
    CAPTURE(text);
    CHECK(Map::read(text).str() == text);
  }
  // No position depends on the stride of an axis of one index.
  CHECK(Map::read("size=(1, 3), stride=(9, 1), storage_offset=0").str() ==
        "size=(1, 3), stride=(0, 1), storage_offset=0");
  CHECK(Map::read("(4,2)").str() == "(4,2):(1,4)");
  CHECK(Map::read(" ( _4 , ( 2 , 2 ) ) : ( _1 , ( 8 , 4 ) ) ").str() == "(4,(2,2)):(1,(8,4))");
  CHECK(Map::read("(Swizzle(2, 0, 3)) o {5} o ((8, 8) : (8, 1))").str() == "Sw<2,0,3> o 5 o (8,8):(8,1)");
}

TEST_CASE("one map in every notation that can say it") {
  const Map map = Map::read("((2,2),4):((1,8),2)");
  CHECK(map.str(Notation::linear) == "linear<{dim0 = [[1], [8]], dim1 = [[2], [4]]}>");
  CHECK(map.str(Notation::oriel) == "(4,4):(4,1) over (2,2,4):(8,1,2)");
  CHECK(map.flatten().str(Notation::torch) == "size=(2, 2, 4), stride=(1, 8, 2), storage_offset=0");
  CHECK(map.as(Notation::linear).notation() == Notation::linear);
  CHECK(map.as(Notation::linear).as(Notation::cute).str() == "((2,2),4):((1,8),2)");
  CHECK(Map::read("(4,3):(3,1)").str(Notation::isl) == "{ [i0, i1] -> [i0*3 + i1] : 0 <= i0 < 4 and 0 <= i1 < 3 }");
  CHECK(Map::read("(0,3):(3,1)").str(Notation::isl) == "{ [i0, i1] -> [0] : 0 <= i0 < 0 and 0 <= i1 < 3 }");
  CHECK(Map::read("{ [i0] -> [i0] : 0 <= i0 < 0 }").str() == "{ [i0] -> [0] : 0 <= i0 < 0 }");
  CHECK(Map::read("(4,3):(3,1)").str(Notation::numpy, 8) ==
        "{'shape': (4, 3), 'typestr': '<f8', 'strides': (24, 8), 'offset': 0, 'version': 3}");
  CHECK(Map::of(oriel::ShapeTracker({2, 3}).permute({1, 0})).str(Notation::cute) == "(3,2):(1,3)");
}

TEST_CASE("what a notation cannot say is an error that says why") {
  const auto why = [](const char* text, Notation notation) {
    return error_of([&] { (void)Map::read(text).str(notation); });
  };
  CHECK(why("(2,3):(3,1)+0[0:2,1:3)", Notation::cute) ==
        "layout: cute cannot say this layout: it has a mask, (2,3):(3,1)[0:2,1:3)");
  CHECK(why("(2,3):(3,1)+4", Notation::cute) ==
        "layout: cute cannot say this layout: it does not begin at position 0, (2,3):(3,1)+4");
  CHECK(why("Sw<2,0,3> o 0 o (8,8):(8,1)", Notation::torch) ==
        "layout: torch cannot say this layout: it has a swizzle, Sw<2,0,3>");
  CHECK(why("((2,2),4):((1,8),2)", Notation::torch) ==
        "layout: torch cannot say this layout: an axis has no single stride; `flatten` makes axes of its modes, "
        "(2,2,4):(8,1,2)");
  CHECK(why("(2,3):(3,1)", Notation::linear) == "layout: linear cannot say this layout: 3 is no power of two");
  CHECK(why("4:3", Notation::linear) ==
        "layout: linear cannot say this layout: positions are sums with carries: 6 shares bits with smaller steps");
  CHECK(why("4:-1", Notation::oriel) == "no error");
  CHECK(why("(4):(-1)+3", Notation::torch) == "layout: torch cannot say this layout: its stride -1 is negative");
}

TEST_CASE("texts that are no layouts are refused") {
  CHECK(error_of([] { (void)Map::read("4:1").complement(-5); }) ==
        "layout: the complement of 4:1 is wanted up to -5; give a number >= 0");
  CHECK(refusal("(2,3):(3)") ==
        "layout: the strides (3) have another form than the shape (2,3); each number of the shape has a stride");
  CHECK(refusal("(2,3:(3,1)").starts_with("layout: expected ',' or ')' at ':(3,1)' of '(2,3:(3,1)'"));
  CHECK(refusal("").starts_with("layout: expected an integer at the end of ''"));
  CHECK(refusal("4:99999999999999999999") ==
        "layout: a number of '4:99999999999999999999' does not fit a signed 64-bit integer");
  CHECK(refusal("Sw<3,0,2> o 0 o (8,8):(8,1)").starts_with("layout: a swizzle <bits, base, shift> has"));
  CHECK(refusal("{'shape': (2,), 'typestr': '<f4', 'strides': (6,)}") ==
        "layout: a stride of (6) bytes is no multiple of the element's (4) bytes; such an array is no view of whole "
        "elements");
  CHECK(refusal("linear<{a = [[0, 1]]}>").ends_with("has 2 coordinates; a layout of one buffer has one, the position"));
  CHECK(refusal("linear<{a = [[1], [1]]}>").ends_with("no strides have this map"));
  CHECK(refusal("{ [i] -> [i] : i < 4 }").ends_with("has no bounds on both sides; a layout has finite extents"));
  CHECK(refusal("{ [i] -> [i*i] : 0 <= i < 4 }").starts_with("layout: expected a sum of multiples of the indices"));
  CHECK(refusal("{ [i, j] -> [i] : 0 <= i < 4 and 0 <= j < i }")
            .starts_with("layout: expected bounds of one index each"));
  CHECK(refusal("View(shape=(2,), strides=(1, 1), offset=0)") != "no error");
  CHECK(error_of([] { (void)oriel::layouts::notation_named("mlir"); }) ==
        "layout: no notation is named 'mlir'; there are cute, torch, numpy, tinygrad, oriel, linear and isl");
  // No text may do worse than an error.
  std::mt19937 draw(1);
  const std::string letters = "()[]{}<>:,+-=0123456789 oSwVieshaptr'\"_|";
  for (int k = 0; k < 20'000; ++k) {
    std::string text = k % 2 == 0 ? "Sw<2,0,3> o 0 o ((2,2),4):((1,8),2)" : "{ [i0] -> [3*i0 + 1] : 0 <= i0 < 4 }";
    for (int changes = static_cast<int>(draw() % 4); changes >= 0; --changes)
      text[draw() % text.size()] = letters[draw() % letters.size()];
    try {
      (void)Map::read(text).size();
    } catch (const oriel::UserError&) {
    }
  }
}

TEST_CASE("compose finds a layout where CuTe refuses, else a stack of views") {
  // 6 does not divide 4, but the positions are those of strides.
  CHECK(Map::read("(4,6):(1,4)").compose(Map::read("(6,2):(2,12)")).str() == "(6,2):(2,12)");
  CHECK(Map::read("(6,2):(1,12)").compose(Map::read("4:3")).str() == "(2,2):(3,12)");
  const Map stack = Map::read("(4,3):(1,10)").compose(Map::read("3:3"));
  CHECK(stack.table() == std::vector<std::int64_t>{0, 3, 12});
  CHECK(stack.str().find(" over ") != std::string::npos);
  CHECK(error_of([] {
          (void)Map::read("4:1").compose(Map::read("size=(2,), stride=(1,)"));
        }).find("counts its indices in another order") != std::string::npos);
  // In row-major notations the index is row-major.
  CHECK(Map::read("(2,3):(1,2)+0").compose(Map::read("(6):(1)+0")).table() ==
        std::vector<std::int64_t>{0, 2, 4, 1, 3, 5});
  // A swizzle stays outside.
  CHECK(Map::read("Sw<2,0,3> o 0 o (8,8):(8,1)").compose(Map::read("(8,4):(1,16)")).str() ==
        "Sw<2,0,3> o 0 o (8,4):(8,2)");
}

TEST_CASE("tilers are applied mode by mode") {
  using namespace oriel::layouts;
  const Map layout = Map::read("(8,6):(1,8)");
  const std::vector<Map> tiler = read_tiler("<2:1, 3:2>");
  CHECK(logical_divide(layout, tiler).str() == "((2,4),(3,2)):((1,2),(16,8))");
  CHECK(zipped_divide(layout, tiler).str() == "((2,3),(4,2)):((1,16),(2,8))");
  CHECK(compose(layout, tiler).str() == "(2,3):(1,16)");
  CHECK(compose(layout, read_tiler("<2:1>")).str() == "(2,6):(1,8)");
  CHECK(error_of([&] { (void)compose(layout, read_tiler("<2:1,2:1,2:1>")); }).find("the tiler has 3 modes") !=
        std::string::npos);
}

TEST_CASE("large layouts are compared by their strides") {
  const Map a = Map::read("(1048576,1048576):(1048576,1)");
  CHECK(a.compare(Map::read("((1024,1024),1048576):((1048576,1073741824),1)")).equal);
  const Comparison found = a.compare(Map::read("((1024,1024),1048576):((1048576,1073741823),1)"));
  CHECK_FALSE(found.equal);
  CHECK(*found.first == 1024);
  CHECK(found.reason == "index (1024, 0): 1073741824 and 1073741823");
  CHECK(Map::read("size=(2, 3), stride=(3, 1)").compare(Map::read("(2,3):(3,1)")).equal);
  CHECK(Map::read("size=(2, 3), stride=(3, 1)").compare(Map::read("size=(3, 2), stride=(2, 1)")).reason ==
        "the shapes differ: (2, 3) and (3, 2)");
  CHECK(Map::read("4:1").compare(Map::read("8:1")).reason == "the sizes differ: 4 and 8");
  CHECK(Map::read("(2,3):(3,1)+0[0:2,1:3)").compare(Map::read("(2,3):(3,1)")).reason == "index (0, 0): none and 0");
  CHECK(Map::read("Sw<2,0,3> o 0 o (8,8):(8,1)").compare(Map::read("(8,8):(8,1)")).reason == "index (1, 0): 9 and 8");
}

TEST_CASE("costs are those of brute force") {
  const auto of = [](const char* text, AccessModel model = {}) { return Map::read(text).analyze(model); };
  const Analysis dense = of("(8,4):(1,8)");
  CHECK(dense.injective);
  CHECK(dense.dense());
  CHECK(dense.longest_run == 32);
  CHECK(dense.vector == 32);
  CHECK(dense.transactions == 1);
  CHECK(dense.coalescing == 1.0);
  CHECK(dense.bank_conflicts == 1);
  CHECK(dense.cycles == std::vector<std::int64_t>(32, 1));
  const Analysis columns = of("32:32");
  CHECK(columns.transactions == 32);
  CHECK(columns.bank_conflicts == 32);
  CHECK(columns.longest_run == 1);
  CHECK(columns.footprint == 993);
  CHECK(of("32:33").bank_conflicts == 1);
  CHECK(of("32:0").injective == false);
  CHECK(of("32:0").bank_conflicts == 1);
  CHECK(of("Sw<3,0,3> o 0 o (8,8):(8,1)", {.element_bytes = 16, .lanes = 8}).bank_conflicts ==
        1);  // a column of 16-byte rows: swizzled into 8 places
  CHECK(of("(8,8):(8,1)", {.element_bytes = 16, .lanes = 8}).bank_conflicts == 8);
  const Analysis turned = of("(2,3):(3,1)");  // 0 3 1 4 2 5: 1 -> 3 -> 4 -> 2 -> 1
  CHECK(turned.cycles == std::vector<std::int64_t>{4, 1, 1});
  CHECK(of("(4,4):(1,6)").vector == 4);
  CHECK(of("(6,4):(1,8)").vector == 6);
  CHECK(of("(6,3):(1,6)+0[0:4,0:3)").vector == 1);
  CHECK(of("(2,3):(3,1)+0[0:2,1:3)").valid == 4);
  CHECK(error_of([&] { of("4:1", {.lanes = 0}); }) == "layout: the model's lanes is 0; it has to be positive");
  CHECK(error_of([&] { of("(10000,10000):(1,10000)"); }).find("at most 10000000 are listed") != std::string::npos);
}

}  // namespace notations_test
