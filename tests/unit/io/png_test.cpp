// PNG: round trips, kinds that Oriel can read but never writes, and broken files.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <random>
#include <string>
#include <vector>

#include "oriel/error.hpp"
#include "oriel/image.hpp"
#include "unit/io/folder.hpp"
#include "unit/io/png_bytes.hpp"

namespace png_test {

using namespace oriel;
using namespace std::string_literals;
using testing::chunk;
using testing::Folder;
using testing::png_bytes;
using Bytes = std::vector<std::uint8_t>;
using Words = std::vector<std::uint16_t>;

namespace {

std::string refusal(const Folder& folder, std::string_view bytes) {
  const std::string path = folder.put("x.png", bytes);
  return testing::message_of<IoError>(path, [&] { read_image(path); });
}

std::string broken(const std::string& what) {
  return "read_image: \"<path>\": not a whole, sound PNG: " + what + "; get the file again from its source";
}

template <class T>
void check_round_trip(const Shape& shape) {
  const Folder folder;
  std::vector<T> data(static_cast<std::size_t>(numel(shape).value()));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<T>(i * 4099 + 77);
  write_image(folder / "x.png", Tensor::from(data, shape));
  const Tensor back = read_image(folder / "x.png");
  CHECK(back.shape() == shape);
  CHECK(back.to_vector<T>() == data);
}

}  // namespace

TEST_CASE("what is written reads back the same") {
  for (const Shape& shape :
       {Shape{5, 7}, Shape{5, 7, 2}, Shape{5, 7, 3}, Shape{5, 7, 4}, Shape{1, 1}, Shape{300, 211, 3}}) {
    CAPTURE(to_string(shape));
    check_round_trip<std::uint8_t>(shape);
    check_round_trip<std::uint16_t>(shape);
  }
}

TEST_CASE("one channel with its axis is grey") {
  const Folder folder;
  write_image(folder / "x.png", Tensor::from(Bytes{1, 2}, {2, 1, 1}));
  CHECK(read_image(folder / "x.png").shape() == Shape{2, 1});
}

TEST_CASE("the same image gives the same bytes") {
  const Folder folder;
  const Tensor x = Tensor::from(Bytes{1, 2, 3, 4}, {2, 2});
  write_image(folder / "a.png", x);
  write_image(folder / "b.png", x);
  CHECK(folder.get("a.png") == folder.get("b.png"));
}

TEST_CASE("grey of few bits is scaled") {
  const Folder folder;
  const Tensor bits = read_image(folder.put("a", png_bytes({9, 1, 1, 0}, "\0\xa5\x80"s)));
  CHECK(bits.to_vector<std::uint8_t>() == Bytes{255, 0, 255, 0, 0, 255, 0, 255, 255});
  const Tensor pairs = read_image(folder.put("b", png_bytes({4, 1, 2, 0}, "\0\x1b"s)));
  CHECK(pairs.to_vector<std::uint8_t>() == Bytes{0, 85, 170, 255});
}

TEST_CASE("palettes are looked up, transparency becomes a channel") {
  const Folder folder;
  const std::string palette = chunk("PLTE", "abcdef");
  const Tensor color = read_image(folder.put("a", png_bytes({2, 1, 8, 3, palette}, "\0\1\0"s)));
  CHECK(color.shape() == Shape{1, 2, 3});
  CHECK(color.to_vector<std::uint8_t>() == Bytes{'d', 'e', 'f', 'a', 'b', 'c'});
  const Tensor alpha = read_image(folder.put("b", png_bytes({2, 1, 8, 3, palette + chunk("tRNS", "\7")}, "\0\1\0"s)));
  CHECK(alpha.shape() == Shape{1, 2, 4});
  CHECK(alpha.to_vector<std::uint8_t>() == Bytes{'d', 'e', 'f', 255, 'a', 'b', 'c', 7});
  const Tensor grey = read_image(folder.put("c", png_bytes({2, 1, 8, 0, chunk("tRNS", "\0\5"s)}, "\0\4\5"s)));
  CHECK(grey.shape() == Shape{1, 2, 2});
  CHECK(grey.to_vector<std::uint8_t>() == Bytes{4, 255, 5, 0});
}

TEST_CASE("interlaced rows come back in order") {
  const Folder folder;
  // A 2 x 2 image: pass 1 has pixel (0,0), pass 6 has pixel (0,1), pass 7 has the second row.
  const Tensor x = read_image(folder.put("a", png_bytes({2, 2, 8, 0, "", 1}, "\0\1\0\2\0\3\4"s)));
  CHECK(x.to_vector<std::uint8_t>() == Bytes{1, 2, 3, 4});
}

TEST_CASE("16 bits a sample are uint16") {
  const Folder folder;
  const Tensor x = read_image(folder.put("a", png_bytes({2, 1, 16, 0}, "\0\x12\x34\xff\0"s)));
  CHECK(x.to_vector<std::uint16_t>() == Words{0x1234, 0xff00});
}

TEST_CASE("broken files") {
  const Folder folder;
  const std::string whole = png_bytes({2, 2, 8, 0}, "\0ab\0cd"s);
  CHECK(refusal(folder, whole) == "");
  for (std::size_t length = 8; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK(refusal(folder, whole.substr(0, length)) == broken("the file is cut short"));
  }
  std::string flipped = whole;
  flipped[whole.find("IEND") - 5] ^= 1;  // the last byte of the checksum before IEND
  CHECK(refusal(folder, flipped) == broken("IDAT: CRC error"));
  CHECK(refusal(folder, png_bytes({2, 2, 8, 7}, "")) == broken("Invalid IHDR data"));
  CHECK(refusal(folder, png_bytes({2, 2, 8, 3}, "\0ab\0cd"s)) == broken("IDAT: Missing PLTE before IDAT"));
  CHECK(refusal(folder, png_bytes({2, 2, 8, 0}, "\0ab"s)) == broken("Not enough image data"));
}

TEST_CASE("a header that asks for too much is refused before memory is taken") {
  const Folder folder;
  CHECK(refusal(folder, png_bytes({0x7fffffff, 0x7fffffff, 16, 6}, "")) ==
        "read_image: \"<path>\": 2147483647 x 2147483647 pixels of 8 bytes are more than the 1073741824 bytes that are "
        "read; cut it "
        "into parts");
}

TEST_CASE("a forged height takes no memory for its rows") {
  const Folder folder;
  const auto most_resident = [] {  // kilobytes
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = most_resident();
  CHECK(refusal(folder, png_bytes({1, 1U << 27, 8, 0}, "\0a"s)) == broken("Not enough image data"));
  CHECK(most_resident() - before < 512 * 1024);
}

TEST_CASE("a file changed anywhere gives an image or an IoError") {
  const Folder folder;
  std::mt19937 random(6);
  const std::string whole =
      png_bytes({3, 2, 8, 2, chunk("tRNS", "\0a\0b\0c"s) + chunk("tEXt", "Title\0x"s)}, "\0abcdefghi\1abcdefghi"s);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = whole;
    const std::size_t at = 8 + random() % (bytes.size() - 8);
    bytes[at] = static_cast<char>(random() % 256);
    CHECK_NOTHROW(refusal(folder, bytes));
  }
}

}  // namespace png_test
