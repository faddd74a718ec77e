// .npy files: headers of each version and order, a round trip of every dtype, and all errors.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::npy_test {
namespace {

std::string header(const std::string& dictionary, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  const std::size_t length = dictionary.size() + 1;
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) out += static_cast<char>(length >> (8 * k));
  return out + dictionary + "\n";
}

void write(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

std::string floats(const std::vector<float>& values) {
  std::string out(values.size() * 4, '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::string refusal(const std::string& path) {
  try {
    read_npy(path);
    return "nothing";
  } catch (const IoError& error) {
    return std::string(error.message());
  }
}

}  // namespace

TEST_CASE("every dtype goes there and back, to the bit") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (dtype == DType::bfloat16) continue;
    CAPTURE(std::string(name(dtype)));
    const Tensor x = (arange(24) * 5 % 7).to(dtype).reshape({2, 3, 4});
    write_npy(path, x);
    const Tensor y = read_npy(path);
    CHECK(y.dtype() == dtype);
    CHECK(y.shape() == x.shape());
    CHECK(all(y == x).item<bool>());
  }
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{0, 3}}) {
    write_npy(path, zeros(shape));
    CHECK(read_npy(path).shape() == shape);
  }
  CHECK_THROWS_AS(write_npy(path, zeros({2}, DType::bfloat16)), DTypeError);
}

TEST_CASE("versions 1 to 3 and both orders") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  for (const int version : {1, 2, 3}) {
    write(path, header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", version) + floats({1, 2, 3, 4}));
    CHECK(read_npy(path).to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  }
  write(path, header("{\"shape\": (2L, 3L), 'fortran_order': True, 'descr': '<f4'}") + floats({1, 2, 3, 4, 5, 6}));
  CHECK(read_npy(path).to_vector<float>() == std::vector<float>{1, 3, 5, 2, 4, 6});
}

TEST_CASE("headers that NumPy reads although it does not write them") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  const auto of = [&](const std::string& dictionary, const std::string& elements) {
    write(path, header(dictionary) + elements);
    return read_npy(path);
  };
  const std::string rest = ", 'fortran_order': False, 'shape': (2,)}";
  for (const char* code : {"f4", "|f4", "=f4"}) {
    CAPTURE(code);
    CHECK(of("{'descr': '" + std::string(code) + "'" + rest, floats({1, 2})).to_vector<float>() ==
          std::vector<float>{1, 2});
  }
  for (const char* code : {"i1", ">i1", "<i1", "|i1"}) {
    CAPTURE(code);
    CHECK(of("{'descr': '" + std::string(code) + "'" + rest, "\x01\xff").to_vector<std::int8_t>() ==
          std::vector<std::int8_t>{1, -1});
  }
  CHECK(of("{'descr': # single\n '<f4'" + rest + " # made by hand", floats({1, 2})).to_vector<float>() ==
        std::vector<float>{1, 2});
}

TEST_CASE("what is no such file is refused, and why") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "x.npy";
  const auto of = [&](const std::string& bytes) {
    write(path, bytes);
    const std::string text = refusal(path);
    return text.substr(text.find("\": ") == std::string::npos ? 0 : text.find("\": ") + 3);
  };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  CHECK(of("P5 1 1 255\nx    ") == "no .npy file by its first bytes; numpy.save writes one");
  CHECK(of("PK\x03\x04 an archive").starts_with("an archive of arrays (.npz), not one array; unpack it"));
  CHECK(of(header("{'de\x1b[31m': 1}")) == "the header's key 'de\\x1b[31m' is unknown or comes twice");
  CHECK(of(header("{'descr': '<\x9b', 'fortran_order': False, 'shape': (2,), }"))
            .starts_with("elements of '<\\x9b' have no dtype"));
  CHECK(of(header("{'" + std::string(1000, 'k') + "': 1}")) ==
        "the header's key '" + std::string(40, 'k') + "...' is unknown or comes twice");
  CHECK(of(header(good, 4)) == "version 4.0 of the format; 1.0, 2.0 and 3.0 are read");
  CHECK(of(header(good) + "1234") == "the file ends after 4 of 8 bytes of elements");
  CHECK(of(header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }") + "1234") ==
        "the file ends after 4 of 4000000000000 bytes of elements");
  CHECK(of(header(good).substr(0, 20)) == "the file ends inside its header");
  CHECK(of(header("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }")) ==
        "elements are big-endian ('>f4'); save x.astype('<f4')");
  CHECK(
      of(header("{'descr': '<U8', 'fortran_order': False, 'shape': (2,), }")).starts_with("elements of '<U8' have no"));
  CHECK(of(header("{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }")) ==
        "elements are complex; read_npy_complex reads them");
  CHECK(of(header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }"))
            .starts_with("the elements are rec"));
  CHECK(of(header("{'descr': '<f4', 'fortran_order': False}")) == "the header lacks descr, fortran_order or shape");
  CHECK(of(header("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }")) ==
        "fortran_order is neither True nor False");
  CHECK(of(header("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }")).starts_with("an extent of the shape"));
  CHECK(of(header("{'descr': '<f8', 'fortran_order': False, 'shape': (9000000000000000000, 9), }")).ends_with("bytes"));
  CHECK(refusal(folder / "none.npy").find("cannot be opened") != std::string::npos);
}

TEST_CASE("links, pipes and modes stay what they are") {
  const test::TemporaryFolder folder;
  const Tensor x = Tensor::of<float>({1, 2});
  write_npy(folder / "plain.npy", x);
  const std::string bytes = test::file_text(folder / "plain.npy");

  SUBCASE("a link to nothing yet") {
    std::filesystem::create_symlink("made.npy", folder / "link.npy");
    write_npy(folder / "link.npy", x);
    CHECK(std::filesystem::is_symlink(folder / "link.npy"));
    CHECK(test::file_text(folder / "made.npy") == bytes);
  }
  SUBCASE("links in a circle") {
    std::filesystem::create_symlink("b.npy", folder / "a.npy");
    std::filesystem::create_symlink("a.npy", folder / "b.npy");
    CHECK_THROWS_AS(write_npy(folder / "a.npy", x), IoError);
    CHECK(std::filesystem::is_symlink(folder / "a.npy"));
  }
  SUBCASE("a pipe") {
    const std::string path = folder / "pipe.npy";
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
    const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    REQUIRE(reader >= 0);
    write_npy(path, x);
    std::string got(bytes.size() + 1, '\0');
    got.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(reader, got.data(), got.size()))));
    close(reader);
    CHECK(std::filesystem::is_fifo(path));
    CHECK(got == bytes);
  }
  SUBCASE("a device that is full") {
    try {
      write_npy("/dev/full", x);
      FAIL("nothing was thrown");
    } catch (const IoError& error) {
      CHECK(std::string(error.what()).find("\"/dev/full\", which is no regular file, cannot be written to the end") !=
            std::string::npos);
    }
  }
  SUBCASE("a mode") {
    const auto mode = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
    std::filesystem::permissions(folder / "plain.npy", mode);
    write_npy(folder / "plain.npy", x + 1);
    CHECK(std::filesystem::status(folder / "plain.npy").permissions() == mode);
    CHECK(read_npy(folder / "plain.npy").to_vector<float>() == std::vector<float>{2, 3});
  }
  CHECK(test::file_text(folder / "plain.npy").size() == bytes.size());
}

}  // namespace oriel::npy_test
