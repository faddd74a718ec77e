// PBM, PGM and PPM: what is read, how samples are scaled, and all errors.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/image.hpp"
#include "unit/io/folder.hpp"

namespace pnm_test {

using namespace oriel;
using namespace std::string_literals;
using testing::Folder;
using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::uint16_t>;

namespace {

std::string refusal(const Folder& folder, std::string_view bytes) {
  const std::string path = folder.put("x.pgm", bytes);
  return testing::message_of<IoError>(path, [&] { read_image(path); });
}

}  // namespace

TEST_CASE("plain and raw, grey and colour") {
  const Folder folder;
  const Tensor grey = read_image(folder.put("a", "P2 3 2 255 0 1 2\n253 254\t255\n"));
  CHECK(grey.shape() == Shape{2, 3});
  CHECK(grey.dtype() == DType::uint8);
  CHECK(grey.to_vector<std::uint8_t>() == Bytes{0, 1, 2, 253, 254, 255});

  const Tensor raw = read_image(folder.put("b", "P5\n2 2\n255\nabcd"));
  CHECK(raw.to_vector<std::uint8_t>() == Bytes{'a', 'b', 'c', 'd'});

  const Tensor color = read_image(folder.put("c", "P3 1 2 255 1 2 3 4 5 6"));
  CHECK(color.shape() == Shape{2, 1, 3});
  CHECK(color.to_vector<std::uint8_t>() == Bytes{1, 2, 3, 4, 5, 6});

  const Tensor raw_color = read_image(folder.put("d", "P6 2 1 255\nABCDEF"));
  CHECK(raw_color.shape() == Shape{1, 2, 3});
  CHECK(raw_color.to_vector<std::uint8_t>() == Bytes{'A', 'B', 'C', 'D', 'E', 'F'});
}

TEST_CASE("comments and any white space in the header; the first byte after it belongs to the pixels") {
  const Folder folder;
  const Tensor x = read_image(folder.put("a", "P5 # a comment\n#another 9 9\r\n 2\v1\f#\n255\n\n#"));
  CHECK(x.to_vector<std::uint8_t>() == Bytes{'\n', '#'});
  const Tensor y = read_image(folder.put("b", "P2 2 1 255 7 # seven\n8 # the end"));
  CHECK(y.to_vector<std::uint8_t>() == Bytes{7, 8});
}

TEST_CASE("other maxima are scaled to full light, wider samples are uint16") {
  const Folder folder;
  const Tensor low = read_image(folder.put("a", "P2 4 1 15 0 1 8 15"));
  CHECK(low.to_vector<std::uint8_t>() == Bytes{0, 17, 136, 255});
  const Tensor one = read_image(folder.put("b", "P5 2 1 1\n\1\0"s));
  CHECK(one.to_vector<std::uint8_t>() == Bytes{255, 0});
  const Tensor wide = read_image(folder.put("c", "P5 3 1 65535\n\0\1\x12\x34\xff\xff"s));
  CHECK(wide.dtype() == DType::uint16);
  CHECK(wide.to_vector<std::uint16_t>() == Words{1, 0x1234, 65535});
  const Tensor ten_bits = read_image(folder.put("d", "P2 3 1 1023 0 512 1023"));
  CHECK(ten_bits.to_vector<std::uint16_t>() == Words{0, 32800, 65535});
}

TEST_CASE("bitmaps: 1 is black, rows of raw ones are packed to bytes") {
  const Folder folder;
  const Tensor raw = read_image(folder.put("a", "P4 # ten wide\n10 2\n\xa5\x40\x00\xbf"s));
  CHECK(raw.shape() == Shape{2, 10});
  CHECK(raw.dtype() == DType::uint8);
  CHECK(raw.to_vector<std::uint8_t>() ==
        Bytes{0, 255, 0, 255, 255, 0, 255, 0, 255, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 255});
  const Tensor plain = read_image(folder.put("b", "P1 3 2\n10 1\n# a comment\n0 01\n"));
  CHECK(plain.to_vector<std::uint8_t>() == Bytes{0, 255, 0, 255, 255, 0});
  const Tensor first = read_image(folder.put("c", "P4 1 1\n\x80P4 1 1\n\x00"s));
  CHECK(first.to_vector<std::uint8_t>() == Bytes{0});

  CHECK(refusal(folder, "P4 9 2\nabc") ==
        "read_image: \"<path>\": cut short: 9 x 2 pixels need 4 bytes after the header and 3 are there; get the whole "
        "file");
  CHECK(refusal(folder, "P4 1 1x") ==
        "read_image: \"<path>\": one white-space byte must follow the height in the header");
  CHECK(refusal(folder, "P1 2 2 0 1 1") ==
        "read_image: \"<path>\": cut short: the header promises 4 samples and 3 are there; get the whole file");
  CHECK(refusal(folder, "P1 2 1 02") ==
        "read_image: \"<path>\": byte 8 is no pixel of a bitmap; these are the digits 0 and 1");
  CHECK(refusal(folder, "P4 2147483647 2147483647\n") != "");
}

TEST_CASE("a raw file may hold further images; the first is read") {
  const Folder folder;
  const Tensor x = read_image(folder.put("a", "P5 1 1 255\nAP5 1 1 255\nB"));
  CHECK(x.to_vector<std::uint8_t>() == Bytes{'A'});
}

TEST_CASE("malformed headers") {
  const Folder folder;
  const auto header = [](const char* what, const char* is, const char* limit) {
    return "read_image: \"<path>\": the header's "s + what + " is " + is + "; a whole number from 1 to " + limit +
           " must stand there";
  };
  CHECK(refusal(folder, "P5") == header("width", "missing", "2147483647"));
  CHECK(refusal(folder, "P5 # 3 3 255") == header("width", "missing", "2147483647"));
  CHECK(refusal(folder, "P5 -3 3 255\n") == header("width", "missing", "2147483647"));
  CHECK(refusal(folder, "P5 0 3 255\n") == header("width", "0", "2147483647"));
  CHECK(refusal(folder, "P5 3 99999999999999999999999 255\n") == header("height", "out of range", "2147483647"));
  CHECK(refusal(folder, "P5 3 3 65536\n") == header("maximum", "out of range", "65535"));
  CHECK(refusal(folder, "P5 3 3 0\n") == header("maximum", "0", "65535"));
  CHECK(refusal(folder, "P5 3 x\n") == header("height", "missing", "2147483647"));
  CHECK(refusal(folder, "P5 1 1 255x") ==
        "read_image: \"<path>\": one white-space byte must follow the maximum in the header");
}

TEST_CASE("pixels that are missing, too many, or not numbers") {
  const Folder folder;
  CHECK(refusal(folder, "P5 3 3 255\n12345678") ==
        "read_image: \"<path>\": cut short: 3 x 3 pixels need 9 bytes after the header and 8 are there; get the whole "
        "file");
  CHECK(refusal(folder, "P2 3 3 255 1 2") ==
        "read_image: \"<path>\": cut short: 3 x 3 pixels need at least 17 bytes after the header and 4 are there; get "
        "the whole file");
  CHECK(refusal(folder, "P2 2 2 255 100 200 30") ==
        "read_image: \"<path>\": cut short: the header promises 4 samples and 3 are there; get the whole file");
  CHECK(refusal(folder, "P2 2 1 255 7 x8") ==
        "read_image: \"<path>\": byte 13 is not part of a number; samples are decimal numbers between white space");
  CHECK(refusal(folder, "P2 2 1 255 7 256") ==
        "read_image: \"<path>\": sample 1 is 256, above the maximum 255 of the header");
  CHECK(refusal(folder, "P5 2 1 9\n\1\12") ==
        "read_image: \"<path>\": sample 1 is 10, above the maximum 9 of the header");
  CHECK(
      refusal(folder, "P2 2 1 255 7 8 9") ==
      "read_image: \"<path>\": more stands after the 2 samples that the header promises; correct its width and height");
}

TEST_CASE("a header that asks for too much is refused before memory is taken") {
  const Folder folder;
  CHECK(refusal(folder, "P6 2147483647 2147483647 65535\n") ==
        "read_image: \"<path>\": 2147483647 x 2147483647 pixels of 6 bytes are more than the 1073741824 bytes that are "
        "read; cut it "
        "into parts");
  CHECK(refusal(folder, "P5 32768 32768 255\nx") ==
        "read_image: \"<path>\": cut short: 32768 x 32768 pixels need 1073741824 bytes after the header and 1 are "
        "there; get the "
        "whole file");
}

TEST_CASE("a file cut anywhere or changed anywhere gives an image or an IoError") {
  const Folder folder;
  const std::string whole = "P6 # x\n2 2\n255\nabcdefghijkl";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(refusal(folder, whole.substr(0, length)) != "");
  }
  std::mt19937 random(5);
  const std::string plain = "P3 2 2 300 1 20 300 4 5 66 7 8 9 10 11 12\n";
  for (int round = 0; round < 500; ++round) {
    std::string bytes = round % 2 == 0 ? whole : plain;
    for (auto k = random() % 3; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random() % 128);
    CHECK_NOTHROW(refusal(folder, bytes));
  }
}

TEST_CASE("what is written reads back the same") {
  const Folder folder;
  const Tensor grey = Tensor::from(Bytes{0, 10, 13, 26, 128, 255}, {2, 3});
  write_image(folder / "g.pgm", grey);
  CHECK(folder.get("g.pgm") == "P5\n3 2\n255\n\x00\x0a\x0d\x1a\x80\xff"s);
  CHECK(read_image(folder / "g.pgm").to_vector<std::uint8_t>() == grey.to_vector<std::uint8_t>());

  const Tensor wide = Tensor::from(Words{0, 1, 256, 0x1234, 65534, 65535}, {1, 2, 3});
  write_image(folder / "w.PPM", wide);
  CHECK(folder.get("w.PPM") == "P6\n2 1\n65535\n\0\0\0\1\1\0\x12\x34\xff\xfe\xff\xff"s);
  const Tensor back = read_image(folder / "w.PPM");
  CHECK(back.shape() == wide.shape());
  CHECK(back.to_vector<std::uint16_t>() == wide.to_vector<std::uint16_t>());
}

}  // namespace pnm_test
