// Entries on disk are found again, are never wrong, and never cause an error.
#include "memory/disk_cache.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "../../support/temporary_folder.hpp"

namespace disk_cache_test {

using namespace oriel;
using mem::DiskCache;
using test::file_text;
using test::TemporaryFolder;

namespace {

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::size_t files(const std::string& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a blob is found under its key, by this object and the next") {
  const TemporaryFolder folder;
  const std::string blob("bytes\0with a zero", 17);
  {
    DiskCache cache(folder / "cache");
    CHECK(cache.usable());
    CHECK_FALSE(cache.find("key"));
    CHECK(cache.put("key", blob));
    CHECK(cache.find("key") == blob);
    CHECK(cache.put("key", "another"));
    CHECK(cache.find("key") == "another");
    CHECK(cache.put("", ""));
    CHECK(cache.find("") == "");
  }
  struct stat s {};
  REQUIRE(stat((folder / "cache").c_str(), &s) == 0);
  CHECK((s.st_mode & 0777) == 0700);
  DiskCache again(folder / "cache");
  CHECK(again.find("key") == "another");
  again.drop("key");
  CHECK_FALSE(again.find("key"));
  CHECK(files(folder / "cache") == 1);  // no temporary file is left
}

TEST_CASE("an entry that was cut, changed or put under another name is none") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  REQUIRE(cache.put("key", "some blob"));
  const std::string file = folder / "cache/" + DiskCache::file_name("key");
  const std::string good = file_text(file);
  for (std::size_t length = 0; length < good.size(); ++length) {
    write(file, good.substr(0, length));
    CHECK_FALSE(cache.find("key"));
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 4);
    write(file, bad);
    const auto found = cache.find("key");
    CAPTURE(i);
    CHECK((!found || (i >= 20 && i < 24 && *found == "some blob")));  // four bytes of the header are padding
  }
  write(file, good + "x");
  CHECK_FALSE(cache.find("key"));
  // Simulates two keys with the same hash.
  write(folder / "cache/" + DiskCache::file_name("other"), good);
  CHECK_FALSE(cache.find("other"));
  CHECK(cache.put("key", "made again"));
  CHECK(cache.find("key") == "made again");
}

TEST_CASE("an entry that others may change, and one that is a link, is none") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  REQUIRE(cache.put("key", "blob"));
  const std::string file = folder / "cache/" + DiskCache::file_name("key");
  chmod(file.c_str(), 0666);
  CHECK_FALSE(cache.find("key"));
  chmod(file.c_str(), 0600);
  CHECK(cache.find("key"));
  std::filesystem::rename(file, folder / "elsewhere");
  std::filesystem::create_symlink(folder / "elsewhere", file);
  CHECK_FALSE(cache.find("key"));
}

TEST_CASE("a folder that others may write to, or that cannot be had, is refused in words") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "open");
  chmod((folder / "open").c_str(), 0777);
  DiskCache open(folder / "open");
  CHECK_FALSE(open.usable());
  CHECK(open.state() == "off: others may write to " + (folder / "open") + "; chmod go-w makes it safe to use");
  CHECK_FALSE(open.put("key", "blob"));
  CHECK_FALSE(open.find("key"));
  write(folder / "file", "");
  DiskCache file(folder / "file");
  CHECK(file.state() == "off: cannot open " + (folder / "file") + ": Not a directory");
  DiskCache below(folder / "file/below");
  CHECK_FALSE(below.usable());
  DiskCache deep(folder / "a/b/c");
  CHECK(deep.usable());
  if (geteuid() == 0) {
    std::filesystem::create_directory(folder / "theirs");
    REQUIRE(chown((folder / "theirs").c_str(), 12345, 12345) == 0);
    DiskCache theirs(folder / "theirs");
    CHECK(theirs.state() == "off: " + (folder / "theirs") + " belongs to another user");
  } else {
    DiskCache theirs("/");
    CHECK_FALSE(theirs.usable());
  }
}

TEST_CASE("a folder that is a link: what it leads to counts, and whose the link is") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "real");
  chmod((folder / "real").c_str(), 0700);
  std::filesystem::create_symlink(folder / "real", folder / "link");
  CHECK(DiskCache(folder / "link").put("key", "blob"));
  CHECK(DiskCache(folder / "real").find("key") == "blob");
  std::filesystem::create_symlink(folder / "none", folder / "dangling");
  CHECK_FALSE(DiskCache(folder / "dangling").usable());
  if (geteuid() == 0) {
    REQUIRE(lchown((folder / "link").c_str(), 12345, 12345) == 0);
    CHECK(DiskCache(folder / "link").state() ==
          "off: " + (folder / "link") + " is a link that belongs to another user");
    std::filesystem::remove(folder / "link");
    std::filesystem::create_symlink(folder / "real", folder / "link");
    REQUIRE(chown((folder / "real").c_str(), 12345, 12345) == 0);
    CHECK(DiskCache(folder / "link").state() == "off: " + (folder / "link") + " belongs to another user");
    REQUIRE(chown((folder / "real").c_str(), 0, 0) == 0);
  }
  chmod((folder / "real").c_str(), 0777);
  CHECK(DiskCache(folder / "link").state() ==
        "off: others may write to " + (folder / "link") + "; chmod go-w makes it safe to use");
}

TEST_CASE("what killed writers left blocks nothing, and goes after an hour") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  const std::string entry = folder / "cache/" + DiskCache::file_name("key");
  // Temporary files as this version names them, and as versions that numbered them did.
  const std::vector<std::string> left{entry + ".0123456789abcdef.aside",
                                      entry + "." + std::to_string(getpid()) + ".0.aside"};
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  for (const std::string& file : left) {
    write(file, "half");
    REQUIRE(utimensat(AT_FDCWD, file.c_str(), old, 0) == 0);
  }
  write(entry + ".1111111111111111.aside", "at work");
  CHECK(cache.put("key", "blob"));
  CHECK(cache.find("key") == "blob");
  CHECK(files(folder / "cache") == 2);
}

TEST_CASE("a folder that goes away, or that takes no writing, costs the caching alone") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache");
  REQUIRE(cache.put("key", "blob"));
  std::filesystem::remove_all(folder / "cache");
  CHECK_FALSE(cache.find("key"));
  CHECK_FALSE(cache.put("key", "blob"));
  if (geteuid() != 0) {
    DiskCache fixed(folder / "fixed");
    REQUIRE(fixed.put("key", "blob"));
    chmod((folder / "fixed").c_str(), 0500);
    CHECK_FALSE(fixed.put("other", "blob"));
    CHECK(fixed.find("key") == "blob");
    chmod((folder / "fixed").c_str(), 0700);
  }
}

TEST_CASE("beyond the bound what was not used for longest goes first") {
  const TemporaryFolder folder;
  DiskCache cache(folder / "cache", 100'000);
  const std::string blob(10'000, 'x');
  for (int i = 0; i < 9; ++i) {
    const std::string key = std::to_string(i);
    REQUIRE(cache.put(key, blob));
    // Sets times that differ even on a disk with a coarse clock.
    const timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    REQUIRE(utimensat(AT_FDCWD, (folder / "cache/" + DiskCache::file_name(key)).c_str(), times, 0) == 0);
  }
  CHECK(cache.find("0"));  // marks it as used
  for (int i = 9; i < 12; ++i) REQUIRE(cache.put(std::to_string(i), blob));
  CHECK(cache.find("0"));
  CHECK_FALSE(cache.find("1"));
  CHECK(cache.find("11"));
  std::uintmax_t total = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "cache")) total += entry.file_size();
  CHECK(total <= 100'000);
}

TEST_CASE("the environment names the folder: ORIEL_CACHE, else XDG_CACHE_HOME, else HOME") {
  const TemporaryFolder folder;
  // A process opens the shared cache once, so each setting is tested in a process of its own.
  const auto state = [&](const std::vector<std::pair<const char*, std::string>>& settings) {
    const pid_t child = fork();
    if (child == 0) {
      for (const char* name : {"ORIEL_CACHE", "XDG_CACHE_HOME", "HOME"}) unsetenv(name);
      for (const auto& [name, value] : settings) setenv(name, value.c_str(), 1);
      write(folder / "state", DiskCache::shared().state());
      _exit(0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    return file_text(folder / "state");
  };
  const std::string own = folder / "own", xdg = folder / "xdg", home = folder / "home";
  CHECK(state({{"ORIEL_CACHE", own}, {"XDG_CACHE_HOME", xdg}, {"HOME", home}}) == own);
  CHECK(state({{"XDG_CACHE_HOME", xdg}, {"HOME", home}}) == xdg + "/oriel");
  CHECK(state({{"XDG_CACHE_HOME", "relative"}, {"HOME", home}}) == home + "/.cache/oriel");
  CHECK(state({{"ORIEL_CACHE", "off"}, {"HOME", home}}) == "off (ORIEL_CACHE)");
  CHECK(state({}) == "off: neither ORIEL_CACHE, XDG_CACHE_HOME nor HOME names a folder");
}

TEST_CASE("two processes of several threads write and read the same keys") {
  const TemporaryFolder folder;
  const auto work = [&] {
    DiskCache cache(folder / "cache", 400'000);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) {
          const std::string key = std::to_string((i * 7 + t) % 60);
          const std::string blob(10'000 + static_cast<std::size_t>((i * 7 + t) % 60), key[0]);
          cache.put(key, blob);
          if (const auto found = cache.find(key); found && *found != blob) ++wrong;
        }
      });
    }
    for (std::thread& t : threads) t.join();
    return wrong.load();
  };
  const pid_t child = fork();
  if (child == 0) _exit(work() == 0 ? 0 : 1);
  CHECK(work() == 0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

}  // namespace disk_cache_test
