// Files of captured functions that are none, are damaged or were forged: refused, or harmless.
#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>

#include "saved_functions.hpp"

namespace damaged_file_test {

using namespace oriel;
using oriel::test::counting;
using oriel::test::crc64;
using oriel::test::error_of;
using oriel::test::file_text;
using oriel::test::has;
using oriel::test::kBodyAt;
using oriel::test::sealed;
using oriel::test::TemporaryFolder;
using oriel::test::write_file;

TEST_CASE("the checksum is CRC-64 of the xz format") {
  // "123456789" has the check value of the catalogue of parametrised CRC algorithms (reveng.sourceforge.io).
  CHECK(crc64("123456789") == 0x995dc9bbdf1939fa);
}

TEST_CASE("files that are none, or of another version") {
  const TemporaryFolder folder;
  const std::string path = folder / "f";
  const auto load = [&] { return error_of([&] { load_function<Tensor(Tensor)>(path); }); };
  has(load(), "load_function: ");
  write_file(path, "");
  has(load(), "is no saved function by its first bytes");
  write_file(path, std::string(300, 'x'));
  has(load(), "is no saved function by its first bytes");
  has(error_of([&] { load_function<Tensor(Tensor)>(folder.path()); }), "load_function: ");
  const auto f = oriel::function([](Tensor x) { return x + 1; });
  f(counting({3}));
  f.save(path);
  const std::string bytes = file_text(path);
  std::string newer = bytes;
  ++newer[15];
  write_file(path, sealed(newer));
  has(load(), "is of version 6 of the format, and this library reads version 5");
  write_file(path, bytes + "x");
  has(load(), "goes on behind its end");
  std::string altered = bytes;
  altered.back() ^= 1;
  write_file(path, altered);
  has(load(), "was altered, or damaged");
  write_file(path, sealed(bytes));
  CHECK(load() == "no error");
}

namespace {

/// A file with symbols, guards, a constant, a write, views, a count and a statement on it, several results.
std::string rich_file(const TemporaryFolder& folder) {
  const auto f = oriel::function(
      [](Tensor x, Tensor w) {
        const Tensor scaled = x * Tensor::of({0.5F, 2.0F}) + mean(x, 0, true);
        const Tensor y = scaled.size(0) > 3 ? scaled.flip(0) : scaled;
        w.slice({{0, 2}}).assign(sum(y, 1).slice({{0, 2}}) + w.slice({{1, 3}}));
        const Tensor some = masked_select(x, x > 0.5F);
        expect_true(some.size(0) <= 20);
        return std::pair{softmax(matmul(y, y.transpose()), -1) + sum(some) / some.size(0), y.transpose()};
      },
      {.dynamic = Dynamic::yes, .names = {"x", "w"}});
  f(counting({5, 2}), counting({3}));
  f(counting({6, 2}), counting({3}));
  f.save(folder / "rich");
  return file_text(folder / "rich");
}

using Rich = std::pair<Tensor, Tensor>(Tensor, Tensor);

/// Loads and, if that succeeds, runs at several sizes: this must end in results or errors.
void try_file(const std::string& path) {
  try {
    const auto g = load_function<Rich>(path);
    for (const int n : {5, 6, 9}) {
      const auto [a, b] = g(counting({n, 2}), counting({3}));
      CHECK(!a.to_vector<float>().empty());
      CHECK(!b.to_vector<float>().empty());
    }
  } catch (const Error& error) {
    CHECK(std::string(error.what()) != "");
  }
}

}  // namespace

TEST_CASE("a file that is cut anywhere is refused") {
  const TemporaryFolder folder;
  const std::string bytes = rich_file(folder);
  const std::string path = folder / "cut";
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    write_file(path, bytes.substr(0, n));
    CHECK_THROWS_AS(load_function<Rich>(path), IoError);
    if (n < kBodyAt) continue;
    // The same with a length and a checksum that are right.
    std::string cut = bytes.substr(0, n);
    const std::uint64_t length = n - kBodyAt;
    std::memcpy(cut.data() + 19, &length, sizeof length);
    write_file(path, sealed(cut));
    CHECK_THROWS_AS(load_function<Rich>(path), Error);
  }
}

TEST_CASE("a file in which bits are changed is refused, or its checksum is right and it is harmless") {
  const TemporaryFolder folder;
  const std::string bytes = rich_file(folder);
  const std::string path = folder / "flipped";
  std::mt19937 random(7);
  const std::size_t rounds = std::getenv("ORIEL_TEST_FEW") != nullptr ? 200 : 3000;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::string flipped = bytes;
    const int flips = 1 + static_cast<int>(random() % 3);
    for (int k = 0; k < flips; ++k) flipped[random() % flipped.size()] ^= static_cast<char>(1 << random() % 8);
    if (flipped == bytes) continue;
    if (round < 300) {
      write_file(path, flipped);
      CHECK_THROWS_AS(load_function<Rich>(path), IoError);
    }
    for (std::size_t k = 0; k < kBodyAt; ++k) flipped[k] = bytes[k];
    write_file(path, sealed(flipped));
    try_file(path);
  }
}

TEST_CASE("names of a file do not act on a terminal") {
  const TemporaryFolder folder;
  const std::string path = folder / "names";
  const auto f =
      oriel::function([](Tensor xyz, int) { return xyz + 1; }, {.dynamic = Dynamic::yes, .names = {"xyz", "abc"}});
  f(counting({5}), 3);
  f.save(path);
  std::string bytes = file_text(path);
  for (const std::string name : {"xyz", "abc", "damaged_file_test.cpp"}) {
    for (std::size_t at = 0; (at = bytes.find(name, at)) != std::string::npos; ++at) {
      bytes[at] = '\x1b';
      bytes[at + 1] = '\n';
    }
  }
  write_file(path, sealed(bytes));
  const auto g = load_function<Tensor(Tensor, int)>(path);
  CHECK(g(counting({6}), 3).size(0) == 6);
  std::string all = g.explain();
  for (char& c : all)
    if (c == '\n') c = ' ';
  for (const FunctionEntry& entry : g.entries())
    for (const auto* list : {&entry.inputs, &entry.guards, &entry.symbols, &entry.origins, &entry.decisions})
      for (const std::string& line : *list) all += line;
  has(all, "\\x1b\\x0az");
  for (const char c : all) CHECK(static_cast<unsigned char>(c) >= 0x20);
  const std::string refused = error_of([&] { g(counting({6}), 4); });
  has(refused, "\\x1b\\x0ac");
  CHECK(refused.find('\x1b') == std::string::npos);
}

TEST_CASE("each movement of a forged view is checked") {
  const TemporaryFolder folder;
  const std::string path = folder / "views";
  const auto f = oriel::function([](Tensor x) { return x + 1; }, {.dynamic = Dynamic::no});
  const Tensor base = counting({6, 5});
  f(base.slice({{1, 4}}).transpose().slice({{2, 5}}));
  f.save(path);
  const std::string bytes = file_text(path);
  const auto range = [](std::int64_t lo, std::int64_t hi) {
    std::string text(18, '\0');
    std::memcpy(text.data() + 1, &lo, sizeof lo);
    std::memcpy(text.data() + 10, &hi, sizeof hi);
    return text;
  };
  const std::size_t at = bytes.find(range(1, 4));  // of the first movement
  REQUIRE(at != std::string::npos);
  for (const std::int64_t lo : {std::int64_t{-4000000}, std::int64_t{-1}, std::int64_t{4}, std::int64_t{1} << 40}) {
    std::string forged = bytes;
    forged.replace(at, 18, range(lo, lo + 3));
    write_file(path, sealed(forged));
    const std::string why = error_of([&] { load_function<Tensor(Tensor)>(path); });
    has(why, "a graph that was loaded from a file is damaged");
    CHECK(why.find("(at ") == why.rfind("(at "));  // the line of the call stands once
  }
}

#ifndef ORIEL_NO_LINALG
TEST_CASE("a call of the host whose batches, ranks or sizes are forged is refused, or harmless") {
  const TemporaryFolder folder;
  const std::string path = folder / "host";
  const auto calls = [&](const auto& body, std::initializer_list<std::int64_t> sizes) {
    const auto f = oriel::function(body);
    const Tensor x = counting({2, 5, 5}) + eye(5) * 9;
    f(x);
    f.save(path);
    const std::string bytes = file_text(path);
    std::size_t tried = 0, loaded = 0, other_batches = 0;
    for (std::size_t at = kBodyAt; at + 8 <= bytes.size(); ++at) {
      std::int64_t number = 0;
      std::memcpy(&number, bytes.data() + at, sizeof number);
      if (std::find(sizes.begin(), sizes.end(), number) == sizes.end()) continue;
      for (const std::int64_t other : {std::int64_t{0}, std::int64_t{1}, number + 1, std::int64_t{4096},
                                       std::int64_t{1} << 32, std::int64_t{1} << 40}) {
        std::string forged = bytes;
        std::memcpy(forged.data() + at, &other, sizeof other);
        write_file(path, sealed(forged));
        ++tried;
        try {
          const auto g = load_function<Tensor(Tensor)>(path);
          ++loaded;
          static_cast<void>(g(x).template to_vector<float>());
        } catch (const Error& error) {
          const std::string why(error.message());
          other_batches += why.find("have an axis 0 of one extent") != std::string::npos ? 1 : 0;
        }
      }
    }
    CHECK(tried > 20);
    CHECK(loaded < tried);
    CHECK(other_batches > 0);
  };
  calls([](Tensor x) { return inverse(x); }, {2, 3, 5, 25});
  calls([](Tensor x) { return svd(x, true).u; }, {2, 3, 5, 25, 55});
  calls([](Tensor x) { return solve(x, x); }, {2, 3, 5, 25});
  calls([](Tensor x) { return real(fft(x)); }, {2, 3, 5, 10});
}
#endif

TEST_CASE("pipes and devices are refused without waiting for them") {
  const TemporaryFolder folder;
  const std::string path = folder / "f";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);  // without a writer
  const auto refused = [](const std::string& file) {
    has(error_of([&] { load_function<Tensor(Tensor)>(file); }),
        "is no regular file: a pipe may wait or go on for ever; write what it gives to a file first");
  };
  refused(path);
  refused("/dev/zero");
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  refused("/proc/self/fd/" + std::to_string(ends[0]));
  close(ends[0]);
  close(ends[1]);
  has(error_of([&] { load_function<Tensor(Tensor)>(folder / "none"); }), "cannot be opened: No such file");
}

}  // namespace damaged_file_test
