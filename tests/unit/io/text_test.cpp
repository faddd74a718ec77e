// Matrices as text: delimiters, comments, missing numbers, a round trip of every dtype, and all errors.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "folder.hpp"
#include "oriel/oriel.hpp"

namespace text_test {

using namespace oriel;
using testing::Folder;
using testing::message_of;

namespace {

const Folder& folder() {
  static const Folder one;
  return one;
}

std::vector<double> numbers(const std::string& text, const TextFormat& format = {}) {
  return load_text(folder().put("in.txt", text), DType::float64, format).to_vector<double>();
}

std::string refused(const std::string& text, const TextFormat& format = {}, DType dtype = DType::float64) {
  const std::string path = folder().put("bad.txt", text);
  const std::string message = message_of<IoError>(path, [&] { (void)load_text(path, dtype, format); });
  const std::string operation = "load_text: ";
  return message.starts_with(operation) ? message.substr(operation.size()) : message;
}

}  // namespace

TEST_CASE("numbers between spaces, in every form") {
  const std::string path = folder().put("a.txt", "1 2.5\t-3e2\r\n\n  +4   .5 0x\n");
  const std::string good = folder().put("b.txt", "1 2.5\t-3e2\r\n\n  +4   .5 -0\nnan inf -infinity");
  CHECK_THROWS_AS((void)load_text(path), IoError);
  const Tensor x = load_text(good);
  CHECK(x.shape() == Shape{3, 3});
  CHECK(x.dtype() == DType::float64);
  const auto elements = x.to_vector<double>();
  CHECK(std::vector<double>(elements.begin(), elements.begin() + 6) == std::vector<double>{1, 2.5, -300, 4, 0.5, 0});
  CHECK(std::signbit(elements[5]));
  CHECK(std::isnan(elements[6]));
  CHECK(elements[7] == HUGE_VAL);
  CHECK(elements[8] == -HUGE_VAL);
}

TEST_CASE("a table with a header, comments and missing numbers") {
  const std::string table = "time,height,width\n1, 2,3 # first\n# none\n4,,6\n";
  const Tensor x = load_text(folder().put("c.csv", table), DType::float32,
                             {.delimiter = ',', .skip = 1, .fill = true, .missing = -1});
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 4, -1, 6});
  CHECK(std::isnan(numbers("1,,3", {.delimiter = ',', .fill = true})[1]));
  const TextFormat fill{.delimiter = ',', .fill = true};
  CHECK(load_text(folder().put("d.csv", "1,2,3,4,5\n6, , ,7,8\n , ,9,10,11\n"), DType::int32, fill).to_vector<int>() ==
        std::vector<int>{1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0, 9, 10, 11});
  CHECK(numbers("1 2 ; note\n", {.comment = ';'}) == std::vector<double>{1, 2});
}

TEST_CASE("lines end in LF, CR LF or CR") {
  for (const std::string text : {"1 2\n3 4\n", "1 2\r\n3 4\r\n", "1 2\r3 4\r", "1 2\r3 4", "1 2\r\r\n\n3 4\n\r"}) {
    CAPTURE(text);
    const Tensor x = load_text(folder().put("k.txt", text));
    CHECK(x.shape() == Shape{2, 2});
    CHECK(x.to_vector<double>() == std::vector<double>{1, 2, 3, 4});
  }
  CHECK(numbers("a\rb\r5\r", {.skip = 2}) == std::vector<double>{5});
  CHECK(refused("1\r2\rx\r").find("line 3, column 1: \"x\"") != std::string::npos);
}

TEST_CASE("a line of delimiters is a row, an empty one is none") {
  const TextFormat tabs{.delimiter = '\t', .fill = true, .missing = -1};
  const Tensor x = load_text(folder().put("l.txt", "1\t2\t3\n\t\t\n\n \n4\t\t6\n\t# none\n"), DType::int32, tabs);
  CHECK(x.shape() == Shape{3, 3});
  CHECK(x.to_vector<int>() == std::vector<int>{1, 2, 3, -1, -1, -1, 4, -1, 6});
  CHECK(refused("1\t2\n\t\n", {.delimiter = '\t'}).find("line 2, column 1: nothing stands between") !=
        std::string::npos);
}

TEST_CASE("a byte order mark is no part of the first number") {
  CHECK(numbers("\xEF\xBB\xBF"
                "1 2\n") == std::vector<double>{1, 2});
  CHECK(refused(std::string("\xFF\xFE"
                            "1\0",
                            4)) == "\"<path>\" begins with the byte order mark of UTF-16; give UTF-8");
}

TEST_CASE("texts of missing numbers, and columns to use") {
  const std::string table = "ann,1,NA\nbob,-,4\n";
  const TextFormat format{.delimiter = ',', .missing = -9, .missing_texts = {"NA", "-"}, .columns = {2, 1}};
  const Tensor x = load_text(folder().put("m.csv", table), DType::int16, format);
  CHECK(x.shape() == Shape{2, 2});
  CHECK(x.to_vector<std::int16_t>() == std::vector<std::int16_t>{-9, 1, 4, -9});
  CHECK(std::isnan(numbers("1 NA 3", {.missing_texts = {"NA"}})[1]));
  CHECK(numbers("1 2 3\n4 5 6", {.columns = {-1}}) == std::vector<double>{3, 6});
  CHECK(refused("1,NA\n", {.delimiter = ','}).find("\"NA\" is no float64") != std::string::npos);
  CHECK_THROWS_WITH_AS((void)numbers("1 2\n", {.columns = {0, 2}}),
                       doctest::Contains("load_text: column 2 is wanted of rows of 2; valid are -2 to 1"),
                       ArgumentError);
}

TEST_CASE("what stands for a missing number is one of the dtype") {
  const auto read = [](DType dtype, double missing) {
    return load_text(folder().put("c.txt", "1,,2\n"), dtype, {.delimiter = ',', .fill = true, .missing = missing});
  };
  CHECK(read(DType::int8, -128).to_vector<std::int8_t>() == std::vector<std::int8_t>{1, -128, 2});
  CHECK(read(DType::uint64, 0x1p63).to_vector<std::uint64_t>()[1] == std::uint64_t{1} << 63);
  CHECK(read(DType::int32, NAN).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 0, 2});
  CHECK_THROWS_WITH_AS((void)read(DType::int8, 300),
                       "load_text: missing is 300, which is no int8; give a number that it holds, or NaN for 0",
                       ArgumentError);
  CHECK_THROWS_AS((void)read(DType::int64, 0x1p63), ArgumentError);
  CHECK_THROWS_AS((void)read(DType::uint8, -1), ArgumentError);
  CHECK_THROWS_AS((void)read(DType::int32, 1.5), ArgumentError);
  CHECK_THROWS_AS((void)read(DType::int32, HUGE_VAL), ArgumentError);
}

TEST_CASE("files without rows") {
  CHECK(load_text(folder().put("e.txt", "")).shape() == Shape{0, 0});
  CHECK(load_text(folder().put("e.txt", "# nothing\n\n")).shape() == Shape{0, 0});
  CHECK(load_text(folder().put("e.txt", "1 2\n"), DType::float64, {.skip = 5}).count() == 0);
}

TEST_CASE("numbers beyond the range of floats are rounded") {
  CHECK(numbers("1e400 -1e400 1e-400 4.9e-324") ==
        std::vector<double>{HUGE_VAL, -HUGE_VAL, 0, std::numeric_limits<double>::denorm_min()});
  const Tensor x = load_text(folder().put("f.txt", "1e39 1e-46 0.1"), DType::float32);
  CHECK(x.to_vector<float>() == std::vector<float>{HUGE_VALF, 0, 0.1F});
  // Also far beyond it.
  const std::string zeros(5000, '0'), far = std::string(100, '9');
  const std::vector<double> y = numbers("1e5000 -1E+5000 1e-99999 -1e-99999 1" + zeros + " 0." + zeros + "1 -0." +
                                        zeros + "1e9999 1" + zeros + "e-9999 1e" + far + " -1e-" + far);
  CHECK(y == std::vector<double>{HUGE_VAL, -HUGE_VAL, 0, 0, HUGE_VAL, 0, -HUGE_VAL, 0, HUGE_VAL, 0});
  CHECK(!std::signbit(y[2]));
  CHECK(std::signbit(y[3]));
  CHECK(refused("1e5000x\n").find("\"1e5000x\" is no float64") != std::string::npos);
}

TEST_CASE("every dtype is read as it was written") {
  for (int k = 0; k < kDTypeCount; ++k) {
    const DType dtype = static_cast<DType>(k);
    CAPTURE(name(dtype));
    Tensor x = (iota({3, 4}) % 5).to(dtype);
    if (is_floating(dtype)) x = x / 3;
    if (dtype == DType::int64) x = x + std::numeric_limits<std::int64_t>::min();
    if (dtype == DType::uint64) x = scalar(std::numeric_limits<std::uint64_t>::max(), dtype) - x;
    for (const char delimiter : {' ', ',', '\t'}) {
      save_text(folder() / "g.txt", x, {.delimiter = delimiter});
      const Tensor y = load_text(folder() / "g.txt", dtype, {.delimiter = delimiter});
      CHECK(y.dtype() == dtype);
      CHECK(y.shape() == x.shape());
      CHECK(bool(all(x == y)));
    }
  }
}

TEST_CASE("what is written") {
  save_text(folder() / "h.csv", Tensor::of<float>({{1, 0.1F}, {-2.5F, 1e30F}}), {.delimiter = ',', .header = "a,b\nc"});
  CHECK(folder().get("h.csv") == "# a,b\n# c\n1,0.1\n-2.5,1e+30\n");
  save_text(folder() / "h.csv", Tensor::of<float>({1}), {.header = "a\rb\r\nc\n"});
  CHECK(folder().get("h.csv") == "# a\n# b\n# c\n1\n");
  save_text(folder() / "h.csv", Tensor::of<bool>({true, false}));
  CHECK(folder().get("h.csv") == "1\n0\n");
}

TEST_CASE("errors name line and column") {
  CHECK(
      refused("1 2\n3 x\n") ==
      "\"<path>\", line 2, column 2: \"x\" is no float64; name another delimiter, or skip lines that hold no numbers");
  CHECK(refused("1,2\n").find("line 1, column 1: \"1,2\" is no float64") != std::string::npos);
  CHECK(refused("# c\n1 2\n\n3\n") ==
        "\"<path>\", line 4, column 2: the row ends, and the first one has 2 columns; give each row as many");
  CHECK(refused("1 2\n3 4 5\n") == "\"<path>\", line 2, column 3: the first row has 2 columns; give each row as many");
  CHECK(refused("1,,3\n", {.delimiter = ','}) ==
        "\"<path>\", line 1, column 2: nothing stands between the delimiters; .fill = true takes a number for it");
  CHECK(refused("1\n300\n", {}, DType::uint8) == "\"<path>\", line 2, column 1: 300 is beyond the range of uint8");
  CHECK(refused("1.5\n", {}, DType::int32).find("\"1.5\" is no int32") != std::string::npos);
  CHECK(refused("-1\n", {}, DType::uint16).find("\"-1\" is no uint16") != std::string::npos);
  CHECK(refused("+-1\n").find("\"+-1\" is no float64") != std::string::npos);
  CHECK(refused(std::string(100, 'y')).find("\"" + std::string(40, 'y') + "...\"") != std::string::npos);
}

TEST_CASE("formats and tensors that are refused") {
  const std::string path = folder().put("i.txt", "1");
  for (const TextFormat& format : {TextFormat{.delimiter = '5'}, TextFormat{.delimiter = '\0'},
                                   TextFormat{.delimiter = '#'}, TextFormat{.comment = 'e'}}) {
    CHECK_THROWS_WITH_AS((void)load_text(path, DType::float64, format),
                         doctest::Contains("that are no part of a number"), ArgumentError);
  }
  CHECK_THROWS_WITH_AS((void)load_text(path, DType::float64, {.skip = -1}), doctest::Contains("skip is -1"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(save_text(path, ones(1), {.comment = 0, .header = "a"}), doctest::Contains("no comment"),
                       ArgumentError);
  CHECK_THROWS_WITH_AS(save_text(path, ones({1, 1, 1})), doctest::Contains("(1, 1, 1) has 3 axes"), ShapeError);
  CHECK_THROWS_AS((void)load_text(folder() / "none.txt"), IoError);
  CHECK(folder().get("i.txt") == "1");
}

}  // namespace text_test
