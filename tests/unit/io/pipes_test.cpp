// Pipes and devices: one whose other end comes late is waited for, one whose end never comes is not, and reading has an
// end.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/file.hpp"
#include "oriel/oriel.hpp"
#include "support/temporary_folder.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kShadows = true;  // a sanitizer maps more than any limit
#else
constexpr bool kShadows = false;
#endif

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

TEST_CASE("a pipe that states a forged shape fills no more memory than it sends") {
  // What read_npy says of a file that states this shape of bytes, and sends so many of them. With `more`, the process
  // may map so many bytes beyond those that it has.
  const auto says = [](const std::string& shape, std::size_t sent, rlim_t more = 0) {
    const std::string text = "{'descr': '|u1', 'fortran_order': False, 'shape': (" + shape + ",), }\n";
    std::string head("\x93NUMPY\x01\x00", 8);
    head += static_cast<char>(text.size());
    head += '\0';
    int data[2], said[2];
    REQUIRE(pipe(data) == 0);
    REQUIRE(pipe(said) == 0);
    const pid_t child = fork();
    if (child == 0) {
      close(data[1]);
      if (more != 0) {
        rlim_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
        const rlimit now{bytes, bytes};
        setrlimit(RLIMIT_AS, &now);
      }
      std::string message = "nothing";
      try {
        (void)read_npy("/dev/fd/" + std::to_string(data[0]));
      } catch (const MemoryError& error) {
        message = "MemoryError: " + std::string(error.message());
      } catch (const IoError& error) {
        message = "IoError: " + std::string(error.message());
      }
      _exit(write(said[1], message.data(), message.size()) > 0 ? 0 : 1);
    }
    close(data[0]);
    close(said[1]);
    const auto old = std::signal(SIGPIPE, SIG_IGN);
    put(data[1], head + text);
    const std::string piece(1 << 16, 'x');
    for (std::size_t k = 0; k < sent && write(data[1], piece.data(), std::min(piece.size(), sent - k)) > 0;)
      k += std::min(piece.size(), sent - k);
    close(data[1]);
    std::string out(1000, ' ');
    out.resize(static_cast<std::size_t>(std::max<ssize_t>(read(said[0], out.data(), out.size()), 0)));
    close(said[0]);
    std::signal(SIGPIPE, old);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return out;
  };
  CHECK(says("1000000000000000", 10).find("states 1000000000000000 bytes of elements; the machine has") !=
        std::string::npos);
  CHECK(says("4000000000", 10).ends_with("the file ends after 10 of 4000000000 bytes of elements"));
  if (kShadows) return;
  const auto mebi = [](std::size_t n) { return n << 20; };
  CHECK(says("4000000000", 10, mebi(100)).ends_with("the file ends after 10 of 4000000000 bytes of elements"));
  CHECK(says("4000000000", mebi(90), mebi(200))
            .ends_with("the file ends after " + std::to_string(mebi(90)) + " of 4000000000 bytes of elements"));
  const std::string full = says("4000000000", mebi(400), mebi(200));
  CAPTURE(full);
  CHECK(full.starts_with("MemoryError: read_npy: no memory to read"));
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
