// Pipes and devices: one whose other end comes late is waited for, one whose end never comes is not, and reading has an
// end.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/file.hpp"
#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

namespace pipes_test {

using namespace oriel;

namespace {

const std::vector<float> kElements{1, 2};

std::string npy_bytes(const test::TemporaryFolder& folder) {
  write_npy(folder / "plain.npy", Tensor::from(kElements, {2}));
  return test::file_text(folder / "plain.npy");
}

void put(int end, const std::string& bytes) {
  REQUIRE(write(end, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
}

template <class F>
std::thread later(F act) {
  return std::thread([act] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    act();
  });
}

}  // namespace

TEST_CASE("the other end of a pipe may come late") {
  const test::TemporaryFolder folder;
  const std::string bytes = npy_bytes(folder), path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::thread other = later([&] { write_npy(path, Tensor::from(kElements, {2})); });
  CHECK(read_npy(path).to_vector<float>() == kElements);
  other.join();
  std::string got;
  other = later([&] {
    const int end = open(path.c_str(), O_RDONLY);
    got.resize(bytes.size() + 1);
    got.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(end, got.data(), got.size()))));
    close(end);
  });
  write_npy(path, Tensor::from(kElements, {2}));
  other.join();
  CHECK(got == bytes);
  // A writer that is there, and writes later.
  const int end = open(path.c_str(), O_RDWR | O_NONBLOCK);
  REQUIRE(end >= 0);
  other = later([&] { put(end, bytes); });
  CHECK(read_npy(path).to_vector<float>() == kElements);
  other.join();
  close(end);
}

TEST_CASE("a pipe without a name, as of a shell, ends with its writer") {
  const test::TemporaryFolder folder;
  const std::string bytes = npy_bytes(folder);
  for (const std::string& written : {bytes, std::string()}) {
    int ends[2] = {};
    REQUIRE(pipe(ends) == 0);
    put(ends[1], written);
    close(ends[1]);
    const std::string name = "/proc/self/fd/" + std::to_string(ends[0]);
    if (written.empty())
      CHECK_THROWS_WITH_AS((void)read_npy(name), doctest::Contains("no .npy file by its first bytes"), IoError);
    else
      CHECK(read_npy(name).to_vector<float>() == kElements);
    close(ends[0]);
  }
}

TEST_CASE("a pipe whose other end never comes is not waited for") {
  const test::TemporaryFolder folder;
  const std::string path = folder / "pipe";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const double seconds = std::exchange(io::seconds_for_other_end, 0.1);
  const auto unwritten = doctest::Contains(
      "pipe\" is a pipe that no program has opened to write for 0.1 s; start its writer, or write to a file");
  CHECK_THROWS_WITH_AS((void)read_npy(path), unwritten, IoError);
  CHECK_THROWS_WITH_AS((void)read_npy_complex(path), unwritten, IoError);
  CHECK_THROWS_WITH_AS((void)read_image(path), unwritten, IoError);
  CHECK_THROWS_WITH_AS((void)load_text(path), unwritten, IoError);
  const auto unread = doctest::Contains(
      "pipe\" is a pipe that no program has opened to read for 0.1 s; start its reader, or give the path of a file");
  CHECK_THROWS_WITH_AS(write_npy(path, ones({2})), unread, IoError);
  CHECK_THROWS_WITH_AS(save_text(path, ones({2})), unread, IoError);
  io::seconds_for_other_end = seconds;
}

TEST_CASE("a device that has no end is read as far as makes sense") {
  const std::size_t most = std::exchange(io::most_piped_bytes, std::size_t{1} << 20);
  CHECK_THROWS_WITH_AS((void)load_text("/dev/zero"),
                       doctest::Contains("\"/dev/zero\" is longer than the 1048576 bytes that are read"), IoError);
  io::most_piped_bytes = most;
  CHECK_THROWS_AS((void)read_npy("/dev/zero"), IoError);
  CHECK_THROWS_AS((void)read_image("/dev/zero"), IoError);
  CHECK(load_text("/dev/null").shape() == Shape{0, 0});
}

}  // namespace pipes_test
