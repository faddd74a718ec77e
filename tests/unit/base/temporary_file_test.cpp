// Temporary files: their names, and the removal of files that killed writers left behind.
#include "base/temporary_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "support/temporary_folder.hpp"

namespace temporary_file_test {

using namespace oriel;

namespace {

void make(const std::string& path, time_t when) {
  std::ofstream(path) << "half";
  const timespec times[2] = {{when, 0}, {when, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

}  // namespace

TEST_CASE("names do not repeat") {
  std::set<std::string> seen;
  for (int k = 0; k < 100; ++k) seen.insert(base::random_digits());
  CHECK(seen.size() == 100);
  CHECK(seen.begin()->find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(seen.begin()->size() == 16);
}

TEST_CASE("old temporary files that nobody holds are removed, and no file with another name") {
  const test::TemporaryFolder folder;
  const std::string digits = "0123456789abcdef";
  make(folder / "a.npy.oriel-" + digits, 1000);
  make(folder / "a.npy.oriel-1111111111111111", time(nullptr));  // too young
  make(folder / "a.npy.oriel-2222222222222222", 1000);           // locked
  make(folder / "a.npy.oriel-2024", 1000);                       // the user's own file
  make(folder / "a.npy.new-1-0", 1000);
  make(folder / "b.npy.oriel-" + digits, 1000);
  REQUIRE(mkfifo((folder / "a.npy.oriel-3333333333333333").c_str(), 0600) == 0);
  std::filesystem::create_symlink("a.npy.new-1-0", folder / "a.npy.oriel-4444444444444444");
  const int held = open((folder / "a.npy.oriel-2222222222222222").c_str(), O_RDONLY);
  REQUIRE(flock(held, LOCK_EX) == 0);
  base::remove_stale_files(folder.path(), "a.npy.oriel-");
  CHECK_FALSE(std::filesystem::exists(folder / "a.npy.oriel-" + digits));
  const auto left = std::filesystem::directory_iterator(folder.path());
  CHECK(std::distance(begin(left), end(left)) == 7);
  close(held);
  base::remove_stale_files(folder.path(), "a.npy.oriel-");
  CHECK_FALSE(std::filesystem::exists(folder / "a.npy.oriel-2222222222222222"));
  base::remove_stale_files(folder / "none", "a");
}

}  // namespace temporary_file_test
