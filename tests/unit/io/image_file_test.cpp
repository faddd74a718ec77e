// Files that cannot be read or written, images that no file can hold, and files that are never half written.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/image.hpp"
#include "unit/io/folder.hpp"

namespace image_file_test {

using namespace oriel;
using testing::Folder;
using testing::message_of;

namespace {

// Limits the size of files that this process can write to `bytes`. This comes close to a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

std::string cannot_write(const std::string& why) {
  return "write_image: \"<path>\" cannot be written: " + why +
         "; the old file is unchanged. Give a path in a folder that exists, has room, and that this program may "
         "write to";
}

const Tensor& pixel() {
  static const Tensor x = Tensor::from(std::vector<std::uint8_t>{7}, {1, 1});
  return x;
}

}  // namespace

TEST_CASE("files that cannot be read") {
  const Folder folder;
  const auto refusal = [](const std::string& path) { return message_of<IoError>(path, [&] { read_image(path); }); };
  CHECK(refusal(folder / "none.pgm") ==
        "read_image: \"<path>\" cannot be opened: No such file or directory; give the path of a file that this program "
        "may read");
  CHECK(refusal(folder / "") ==
        "read_image: \"<path>\" cannot be read: Is a directory; give the path of a file that this program may read");
  CHECK(refusal(folder.put("empty.png", "")) ==
        "read_image: \"<path>\": the file is empty; PBM, PGM, PPM (P1 to P6) and PNG files are read");
  const std::string other =
      "read_image: \"<path>\": neither PBM, PGM nor PPM (P1 to P6) nor PNG by its first bytes; convert it to one of "
      "these";
  CHECK(refusal(folder.put("arbitrary.pam", "P7 1 1\nx")) == other);
  CHECK(refusal(folder.put("photo.png", "\xff\xd8\xff\xe0 a JPEG")) == other);
  CHECK(refusal("/dev/zero").find("neither PBM, PGM nor PPM") != std::string::npos);
}

TEST_CASE("a file beyond the limit is refused without being read") {
  const Folder folder;
  const std::string path = folder.put("huge.pgm", "P5 9 9 255\n");
  std::filesystem::resize_file(path, 5'000'000'000);  // a sparse file: takes no space on the disk
  CHECK(message_of<IoError>(path, [&] { read_image(path); }) ==
        "read_image: \"<path>\" is longer than the 2147483648 bytes that are read; cut it into parts");
}

TEST_CASE("endings that name no format") {
  const Folder folder;
  for (const char* name : {"x.jpg", "x", "png", "x.png.gz"}) {
    const std::string path = folder / name;
    CHECK(message_of<ArgumentError>(path, [&] { write_image(path, pixel()); }) ==
          "write_image: \"<path>\" names no format; end the name on .png, .pgm or .ppm");
  }
  CHECK(folder.count() == 0);
}

TEST_CASE("images that no file holds") {
  const Folder folder;
  const auto refusal = [&](const char* name, const Tensor& x) {
    const std::string path = folder / name;
    return message_of<UserError>(path, [&] { write_image(path, x); });
  };
  CHECK(refusal("x.png", zeros({2, 2})) ==
        "write_image: an image of float32 has no pixels; give uint8 or uint16, for example round(clamp(x, 0, 1) * "
        "255).to(DType::uint8)");
  const auto bytes = [](const Shape& shape) { return zeros(shape, DType::uint8); };
  CHECK(refusal("x.pgm", bytes({2, 2, 3})) == "write_image: shape (2, 2, 3); a .pgm holds (height, width)");
  CHECK(refusal("x.ppm", bytes({2, 2})) == "write_image: shape (2, 2); a .ppm holds (height, width, 3)");
  const std::string png = "; a .png holds (height, width) or (height, width, 1 to 4 channels)";
  CHECK(refusal("x.png", bytes({2})) == "write_image: shape (2)" + png);
  CHECK(refusal("x.png", bytes({2, 2, 5})) == "write_image: shape (2, 2, 5)" + png);
  CHECK(refusal("x.png", bytes({2, 0})) ==
        "write_image: shape (2, 0); an image is 1 to 2147483647 pixels high and wide");
  CHECK(refusal("x.png", bytes({32769, 32768})) ==
        "write_image: shape (32769, 32768); an image holds up to 1073741824 bytes; cut it into parts");
  CHECK(folder.count() == 0);
}

TEST_CASE("places that cannot be written") {
  const Folder folder;
  const auto refusal = [](const std::string& path) {
    return message_of<IoError>(path, [&] { write_image(path, pixel()); });
  };
  CHECK(refusal(folder / "none/x.png") == cannot_write("No such file or directory"));
  std::filesystem::create_directory(folder / "folder.png");
  CHECK(refusal(folder / "folder.png") == cannot_write("Is a directory"));
  CHECK(folder.count() == 1);
}

TEST_CASE("a write that fails midway leaves the old file and nothing else") {
  const Folder folder;
  const std::string path = folder.put("x.pgm", "the old bytes");
  {
    const FullDisk full(4096);
    CHECK(message_of<IoError>(path, [&] {
            write_image(path, zeros({200, 200}, DType::uint8));
          }) == cannot_write("File too large"));
  }
  CHECK(folder.get("x.pgm") == "the old bytes");
  CHECK(folder.count() == 1);
  write_image(path, pixel());
  CHECK(folder.get("x.pgm") == "P5\n1 1\n255\n\7");
  CHECK(folder.count() == 1);
}

TEST_CASE("files that killed writers left block nothing, whatever their names") {
  const Folder folder;
  const std::string path = folder / "x.pgm";
  // A name as older versions would choose it. In containers all processes have the same number, so such files may
  // exist.
  for (int k = 0; k < 100; ++k) {
    folder.put("x.pgm.new-" + std::to_string(::getpid()) + "-" + std::to_string(k), "half");
  }
  const std::string stale = folder.put("x.pgm.oriel-0123456789abcdef", "half");
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, stale.c_str(), old, 0) == 0);
  write_image(path, pixel());
  CHECK(folder.get("x.pgm") == "P5\n1 1\n255\n\7");
  CHECK_FALSE(std::filesystem::exists(stale));
  CHECK(folder.count() == 101);  // the files may belong to the user
}

TEST_CASE("a writer that is killed leaves a file that the next one takes away") {
  const Folder folder;
  const std::string path = folder / "x.pgm";
  const Tensor large = zeros({1000, 1000}, DType::uint8);
  large.realize();
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::signal(SIGXFSZ, SIG_DFL);  // lets the signal end the process in the middle of its write
    write_image(path, large);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  REQUIRE(folder.count() == 1);
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  for (const auto& left : std::filesystem::directory_iterator(folder / "")) {
    REQUIRE(::utimensat(AT_FDCWD, left.path().c_str(), old, 0) == 0);
  }
  write_image(path, pixel());
  CHECK(folder.count() == 1);
}

TEST_CASE("a file that is read-only is not replaced") {
  const Folder folder;
  const std::string path = folder.put("x.pgm", "the old bytes");
  REQUIRE(::chmod(path.c_str(), 0444) == 0);
  CHECK(message_of<IoError>(path, [&] { write_image(path, pixel()); }) ==
        "write_image: \"<path>\" cannot be written: it is read-only; the old file is unchanged. Allow writing (chmod "
        "u+w), or give another path");
  CHECK(folder.get("x.pgm") == "the old bytes");
  CHECK(folder.count() == 1);
}

TEST_CASE("a name of 255 bytes") {
  const Folder folder;
  const std::string name = std::string(251, 'x') + ".pgm";
  write_image(folder / name, pixel());
  write_image(folder / name, pixel());
  CHECK(folder.count() == 1);
}

TEST_CASE("names with control characters are written out in messages") {
  try {
    read_image("none\x1b[31m.pgm");
    FAIL("nothing was thrown");
  } catch (const IoError& error) {
    CHECK(std::string(error.what()).find("\"none\\x1b[31m.pgm\"") != std::string::npos);
  }
}

TEST_CASE("a pipe is read as far as its header says") {
  const Folder folder;
  const std::string path = folder / "pipe.pgm";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  // Writes `start` and then zeros without end to a pipe. Returns how many bytes were read.
  const auto taken = [&](const std::string& start, auto&& read) {
    std::size_t count = 0;
    std::thread writer([&] {
      const int to = ::open(path.c_str(), O_WRONLY);
      std::string bytes = start;
      bytes.resize(std::size_t{1} << 16, '0');
      for (ssize_t put = 0; count < (std::size_t{80} << 20); count += static_cast<std::size_t>(put)) {
        put = ::write(to, bytes.data(), bytes.size());
        if (put <= 0) break;
        bytes.assign(std::size_t{1} << 16, '0');
      }
      ::close(to);
    });
    read();
    writer.join();
    return count;
  };
  auto* const before = std::signal(SIGPIPE, SIG_IGN);
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  CHECK(taken("P5 4 2 255\n", [&] { CHECK(read_image(path).numel() == 8); }) < kMegabyte);
  CHECK(taken("P5 junk", [&] { CHECK_THROWS_AS(read_image(path), IoError); }) < kMegabyte);
  CHECK(taken("P5 #", [&] { CHECK_THROWS_AS(read_image(path), IoError); }) < 4 * kMegabyte);
  CHECK(taken("P2 1 1 255 ", [&] { CHECK_THROWS_AS(read_image(path), IoError); }) < 4 * kMegabyte);
  write_image(folder / "small.png", pixel());
  const std::string png = folder.get("small.png").substr(0, 60);
  CHECK(taken(png, [&] { CHECK_THROWS_AS(read_image(path), IoError); }) < 70 * kMegabyte);
  // A forged header allocates no more memory than the pipe fills: it announces 900 MB, of which 80 MiB come.
  CHECK(taken("P5 30000 30000 255\n", [&] { CHECK_THROWS_AS(read_image(path), IoError); }) >= 64 * kMegabyte);
  std::signal(SIGPIPE, before);
}

TEST_CASE("a symbolic link stays one") {
  const Folder folder;
  folder.put("real.pgm", "");
  std::filesystem::create_symlink("real.pgm", folder / "link.pgm");
  write_image(folder / "link.pgm", pixel());
  CHECK(std::filesystem::is_symlink(folder / "link.pgm"));
  CHECK(folder.get("real.pgm") == "P5\n1 1\n255\n\7");
}

TEST_CASE("a photograph") {
  const Tensor photo = read_image(ORIEL_TEST_DATA "/ascent.pgm");
  CHECK(photo.shape() == Shape{512, 512});
  CHECK(photo.dtype() == DType::uint8);
  const Folder folder;
  write_image(folder / "photo.png", photo);
  CHECK(read_image(folder / "photo.png").to_vector<std::uint8_t>() == photo.to_vector<std::uint8_t>());
}

}  // namespace image_file_test
