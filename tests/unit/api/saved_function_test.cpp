// Captured functions in files: what is saved is served without a trace, and what was not saved, or not like this, is
// refused.
#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/subprocess.hpp"
#include "oriel/oriel.hpp"
#include "support/saved_file.hpp"
#include "support/temporary_folder.hpp"

using namespace oriel;
using oriel::test::crc64;
using oriel::test::file_text;
using oriel::test::kBodyAt;
using oriel::test::sealed;
using oriel::test::TemporaryFolder;

namespace {

std::atomic<int> traced{0};

Tensor counting(const Shape& shape, float from = 0) {
  float next = from;
  return Tensor::generate(shape, [next](auto) mutable { return next += 0.25F; });
}

const auto layer = [](Tensor x, Tensor w, Tensor k) {
  ++traced;
  return relu(matmul(x, w) * k + Tensor::of({1.0F, -2.0F}));
};

const auto branching = [](Tensor x, Tensor y) {
  ++traced;
  const Tensor z = concat({x, y}, 0);
  return z.size(0) > 7 ? z * 2 : z + static_cast<double>(2);
};

struct State {
  Tensor total;
  int steps = 0;
  std::vector<Tensor> parts;
  std::optional<float> rate;
};
auto oriel_members(State& s) { return std::tie(s.total, s.steps, s.parts, s.rate); }
auto oriel_members(const State& s) { return std::tie(s.total, s.steps, s.parts, s.rate); }

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace

TEST_CASE("the checksum is CRC-64 of the xz format") {
  // "123456789" has the check value of the catalogue of parametrised CRC algorithms (reveng.sourceforge.io).
  CHECK(crc64("123456789") == 0x995dc9bbdf1939fa);
}

TEST_CASE("a saved function is called without its callable, and nothing is traced") {
  const TemporaryFolder folder;
  const std::string path = folder / "layer.oriel";
  const Tensor x = counting({3, 4});
  const Tensor w = counting({4, 2}, -1);
  const auto f = oriel::function(layer, {.names = {"x", "w", "k"}});
  const Tensor want = f(x, w, 0.5F);
  f.save(path);
  const int before = traced;
  const auto g = load_function<Tensor(Tensor, Tensor, float)>(path);
  CHECK(g(x, w, 0.5F).to_vector<float>() == want.to_vector<float>());
  CHECK(g(x, w, 0.25F).to_vector<float>() == f(x, w, 0.25F).to_vector<float>());
  CHECK(traced == before);
  CHECK(g.counts().hits == 2U);
  CHECK(g.counts().traces == 0U);
  REQUIRE(g.entries().size() == 1);
  CHECK(g.entries()[0].inputs == f.entries()[0].inputs);
  CHECK(g.entries()[0].kernels == f.entries()[0].kernels);

  SUBCASE("other arguments are refused with the guard") {
    const std::string why = error_of([&] { g(counting({5, 4}), w, 1.0F); });
    has(why, "entry 0 needs x.size(0) == 3; the call has 5");
    has(why, "no callable to trace");
  }
  SUBCASE("a function that has the callable traces what the file does not serve") {
    const auto h = oriel::function(layer, {.names = {"x", "w", "k"}});
    CHECK(h.load<Tensor, Tensor, float>(path) == 1);
    CHECK(h(x, w, 0.5F).to_vector<float>() == want.to_vector<float>());
    CHECK(h.counts().traces == 0U);
    CHECK(h(counting({5, 4}), w, 0.5F).to_vector<float>() == f(counting({5, 4}), w, 0.5F).to_vector<float>());
    CHECK(h.counts().traces == 1U);
    // The size that differs from the file's became a symbol.
    CHECK(h.entries()[1].symbols.size() == 1);
  }
  SUBCASE("a loaded function is saved again") {
    g.save(folder / "again.oriel");
    CHECK(file_text(folder / "again.oriel") == file_text(path));
  }
  SUBCASE("other types") {
    has(error_of([&] { load_function<Tensor(Tensor, Tensor)>(path); }),
        "was asked for Tensor(Tensor, Tensor) and holds Tensor(Tensor, Tensor, float)");
    has(error_of([&] { load_function<std::pair<Tensor, Tensor>(Tensor, Tensor, float)>(path); }),
        "was asked for (Tensor, Tensor)(Tensor, Tensor, float)");
  }
  SUBCASE("on another device") {
    const auto n = load_function<Tensor(Tensor, Tensor, float)>(path, {.device = Device::null()});
    CHECK(n(x.to(Device::null()), w.to(Device::null()), 1.0F).device() == Device::null());
    has(error_of([&] { n(x, w, 1.0F); }), "x.device == null; the call has eigen");
  }
  SUBCASE("while another function is traced") {
    static const LoadedFunction<Tensor(Tensor, Tensor, float)>* inner = nullptr;
    inner = &g;
    const auto outer = oriel::function([](Tensor a, Tensor b) { return (*inner)(a, b, 1.0F); });
    has(error_of([&] { outer(x, w); }), "was called while another captured function was traced");
  }
  SUBCASE("no room") {
    const auto h = oriel::function(layer, {.limit = 0});
    has(error_of([&] { h.load<Tensor, Tensor, float>(path); }), "holds 1 entry");
  }
}

TEST_CASE("symbols and guards of a saved function") {
  const TemporaryFolder folder;
  const std::string path = folder / "branching.oriel";
  const auto f = oriel::function(branching, {.dynamic = Dynamic::yes, .names = {"x", "y"}});
  f(counting({2}), counting({3}));
  f(counting({6}), counting({3}));
  f(counting({2}), counting({4}));
  f.save(path);
  const auto g = load_function<Tensor(Tensor, Tensor)>(path);
  REQUIRE(g.entries().size() == 2);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(g.entries()[k].guards.size() + 2 == f.entries()[k].guards.size());  // no default device, no rules
    CHECK(g.entries()[k].symbols == f.entries()[k].symbols);
    CHECK(g.entries()[k].sizes == f.entries()[k].sizes);
    CHECK(g.entries()[k].inputs == f.entries()[k].inputs);
    CHECK(g.entries()[k].guards.back() == f.entries()[k].guards.back());
  }
  const int before = traced;
  for (int n = 2; n < 12; ++n)
    for (int m = 2; m < 12; ++m)
      CHECK(g(counting({n}), counting({m})).to_vector<float>() == f(counting({n}), counting({m})).to_vector<float>());
  CHECK(traced == before);
  has(error_of([&] { g(counting({1}), counting({2})); }), "x.size(0) >= 2; the call has 1");
}

TEST_CASE("the guard that strides are dense goes along") {
  const TemporaryFolder folder;
  const auto f = oriel::function(
      [](Tensor x) {
        const Tensor part = x.slice({{0, x.size(0)}, {0, x.size(1) / 2}}).transpose();
        return part.layout().is_non_overlapping_and_dense() ? part + 1 : part + 2;
      },
      {.dynamic = Dynamic::yes, .names = {"x"}});
  f(counting({6, 9}));
  f(counting({7, 9}));
  bool opaque = false;
  const std::vector<FunctionEntry> entries = f.entries();
  for (const std::string& guard : entries[0].guards) opaque = opaque || guard.find("dense(") != std::string::npos;
  CHECK(opaque);
  f.save(folder / "f");
  const auto g = load_function<Tensor(Tensor)>(folder / "f");
  for (const int n : {6, 7, 10})
    for (const int m : {9, 12, 13}) {
      const Tensor want = f(counting({n, m}));
      const Tensor got = g(counting({n, m}));
      CHECK(got.strides() == want.strides());
      CHECK(got.to_vector<float>() == want.to_vector<float>());
    }
}

TEST_CASE("marks of sizes go along") {
  const TemporaryFolder folder;
  const auto f = oriel::function([](Tensor x, Tensor y) { return sum(x, 0) + sum(y, 0); }, {.names = {"x", "y"}});
  Tensor x = counting({8, 3});
  Tensor y = counting({8, 3});
  mark_dynamic(x, 0, {.name = "batch", .hi = 64, .multiple_of = 4});
  mark_dynamic(y, 0, {.name = "batch"});
  f(x, y);
  f.save(folder / "f");
  const auto g = load_function<Tensor(Tensor, Tensor)>(folder / "f");
  CHECK(g.entries()[0].guards.size() + 2 == f.entries()[0].guards.size());
  CHECK(g(counting({64, 3}), counting({64, 3})).to_vector<float>() ==
        f(counting({64, 3}), counting({64, 3})).to_vector<float>());
  has(error_of([&] { g(counting({68, 3}), counting({68, 3})); }), "x.size(0) <= 64; the call has 68");
  has(error_of([&] { g(counting({8, 3}), counting({12, 3})); }), "x.size(0) == y.size(0)");
  has(error_of([&] { g(counting({10, 3}), counting({10, 3})); }), "x.size(0) % 4 == 0");
}

TEST_CASE("functions that find counts during the call") {
  const TemporaryFolder folder;
  const std::string path = folder / "counts.oriel";
  const auto same = [&](const auto& program, Dynamic dynamic, const std::vector<Shape>& shapes) {
    const auto f = oriel::function(program, {.dynamic = dynamic});
    for (const Shape& shape : shapes) f(counting(shape, -1));
    f.save(path);
    const auto g = load_function<Tensor(Tensor)>(path);
    for (const Shape& shape : shapes) {
      for (const float from : {-1.0F, -3.0F, -100.0F}) {
        const Tensor want = program(counting(shape, from)), got = g(counting(shape, from));
        CHECK(got.shape() == want.shape());
        CHECK(got.to(DType::float64).to_vector<double>() == want.to(DType::float64).to_vector<double>());
      }
    }
    CHECK(g.counts().traces == 0U);
    g.save(folder / "again.oriel");
    CHECK(file_text(folder / "again.oriel") == file_text(path));
  };
  for (const Dynamic dynamic : {Dynamic::no, Dynamic::yes}) {
    same([](Tensor x) { return nonzero(x > 0); }, dynamic, {{4, 3}});
    same([](Tensor x) { return masked_select(x, x > 0) * 2; }, dynamic, {{4, 3}});
    // Only the number of positions is read.
    same([](Tensor x) { return ones({nonzero(x > 0).size(0), 2}) * 3; }, dynamic, {{4, 3}});
    // The positions that one count chooses hold another one.
    same([](Tensor x) { return nonzero(masked_select(x, x > 0) > 2); }, dynamic, {{4, 5}});
    // An element that sizes another tensor.
    same([](Tensor x) { return ones({item(sum(x > 0)), 2}) * 3; }, dynamic, {{4, 3}});
    same([](Tensor x) { return take(softmax(x, 1), nonzero(sum(x, 1) > 0).reshape({-1}), 0); }, dynamic, {{6, 5}});
  }
  same([](Tensor x) { return masked_select(x, x > 0) * x.size(0); }, Dynamic::yes, {{4, 3}, {5, 3}, {9, 7}});
  if (default_device().kind == DeviceKind::eigen)
    same([](Tensor x) { return unique(x) * 2; }, Dynamic::yes, {{4, 3}, {5, 3}, {9, 7}});
}

TEST_CASE("statements on counts go along") {
  const TemporaryFolder folder;
  const auto f = oriel::function([](Tensor x) {
    const Tensor found = masked_select(x, x > 0);
    expect_true(found.size(0) <= 2);
    return found.size(0) < 3 ? found + 1 : found;
  });
  f(Tensor::of<float>({1, 0, 2}));
  f.save(folder / "stated");
  const auto g = load_function<Tensor(Tensor)>(folder / "stated");
  CHECK(g(Tensor::of<float>({0, 0, 2})).to_vector<float>() == std::vector<float>{3});
  const std::string why = error_of([&] { g(Tensor::of<float>({1, 1, 2})); });
  has(why, "was stated and does not hold");
  has(why, "saved_function_test.cpp");
}

TEST_CASE("structures, writes, views, constants and several results") {
  const TemporaryFolder folder;
  const auto f = oriel::function([](State s, Tensor x, int steps) {
    s.total += x;
    State out;
    out.total = s.total;
    out.steps = s.steps + steps;
    out.parts = {x.flip(0), x, Tensor::of({1.0F, 2.0F}) * 3};
    out.rate = 0.5F;
    return out;
  });
  const auto call = [](const auto& function) {
    State s{counting({2, 3}), 4, {counting({5})}, {}};
    const Tensor base = counting({4, 3});
    const State out = function(s, base.transpose().slice({{0, 2}, {1, 4}}), 3);
    CHECK(out.steps == 7);
    CHECK(out.rate == 0.5F);
    REQUIRE(out.parts.size() == 3);
    std::vector<float> all = s.total.to_vector<float>();
    for (const Tensor& t : {out.total, out.parts[0], out.parts[1], out.parts[2]})
      for (const float v : t.to_vector<float>()) all.push_back(v);
    return all;
  };
  const std::vector<float> want = call(f);
  f.save(folder / "f");
  const auto g = load_function<State(State, Tensor, int)>(folder / "f");
  CHECK(call(g) == want);
  CHECK(g.counts().hits == 1U);
  // A tuple of the same parts stands for the struct.
  using Parts = std::tuple<Tensor, int, std::vector<Tensor>, std::optional<float>>;
  const auto t = load_function<Parts(Parts, Tensor, int)>(folder / "f");
  const Parts out =
      t(Parts{counting({2, 3}), 4, {counting({5})}, {}}, counting({4, 3}).transpose().slice({{0, 2}, {1, 4}}), 3);
  CHECK(std::get<1>(out) == 7);
}

TEST_CASE("nothing is saved without an entry, and files that cannot be written leave the old one") {
  const TemporaryFolder folder;
  const auto f = oriel::function([](Tensor x) { return x + 1; });
  has(error_of([&] { f.save(folder / "f"); }), "has no entry; call it first");
  CHECK(!std::filesystem::exists(folder / "f"));
  f(counting({3}));
  f.save(folder / "f");
  const std::string old = file_text(folder / "f");
  has(error_of([&] { f.save(folder / "missing/f"); }), "save: ");
  has(error_of([&] { f.save(folder.path()); }), "save: ");
  SUBCASE("no room on the disk") {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &small);
    const std::string why = error_of([&] { f.save(folder / "f"); });
    setrlimit(RLIMIT_FSIZE, &before);
    has(why, "save: ");
    CHECK(file_text(folder / "f") == old);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator()) ==
          1);
  }
  SUBCASE("no permission") {
    if (geteuid() == 0) return;  // root may write anywhere
    chmod(folder.path().c_str(), 0500);
    has(error_of([&] { f.save(folder / "f"); }), "save: ");
    chmod(folder.path().c_str(), 0700);
    CHECK(file_text(folder / "f") == old);
  }
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
  has(load(), "is of version 4 of the format, and this library reads version 3");
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

TEST_CASE("sizes among the results are saved") {
  const TemporaryFolder folder;
  const std::string path = folder / "sizes";
  using Sizes = std::tuple<Tensor, SymInt, SymBool, Shape>;
  const auto f = oriel::function(
      [](Tensor x) {
        return Sizes(x * 2, x.size(0) * 3 + 1, x.size(0) % 3 == 0, {x.size(0) / 2, 7});
      },
      {.dynamic = Dynamic::yes});
  f(counting({5}));
  f.save(path);
  const auto g = load_function<Sizes(Tensor)>(path);
  for (const int n : {5, 6, 9}) {
    const auto [x, count, divides, shape] = g(counting({n}));
    CHECK(x.size(0) == n);
    CHECK(to_string(count) == std::to_string(3 * n + 1));
    CHECK(to_string(divides) == (n % 3 == 0 ? "true" : "false"));
    CHECK(to_string(shape) == to_string(Shape{n / 2, 7}));
  }
  has(error_of([&] { load_function<std::tuple<Tensor, int, bool, Shape>(Tensor)>(path); }),
      "the file's result has other parts than its type states");
}

namespace {
ShapeEnv other_sizes;
const SymInt other_size = other_sizes.symbol("other", 5);
}  // namespace

TEST_CASE("a size of another environment is no number of a call, and is not saved") {
  const TemporaryFolder folder;
  const auto f = oriel::function([](Tensor x) { return std::pair(x, other_size + 1); }, {.dynamic = Dynamic::yes});
  CHECK(to_string(f(counting({3})).second) == "other + 1");
  has(error_of([&] { f.save(folder / "f"); }), "save: a result is a size of another environment");
}

TEST_CASE("names of a file do not act on a terminal") {
  const TemporaryFolder folder;
  const std::string path = folder / "names";
  const auto f =
      oriel::function([](Tensor xyz, int) { return xyz + 1; }, {.dynamic = Dynamic::yes, .names = {"xyz", "abc"}});
  f(counting({5}), 3);
  f.save(path);
  std::string bytes = file_text(path);
  for (const std::string name : {"xyz", "abc", "saved_function_test.cpp"}) {
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
    has(error_of([&] { load_function<Tensor(Tensor)>(path); }), "a graph that was loaded from a file is damaged");
  }
}

TEST_CASE("a pipe without end is refused") {
  const TemporaryFolder folder;
  const auto f = oriel::function([](Tensor x) { return x + 1; });
  f(counting({3}));
  f.save(folder / "f");
  std::string header = file_text(folder / "f").substr(0, kBodyAt);
  const std::uint64_t endless = std::uint64_t{1} << 62;
  std::memcpy(header.data() + 19, &endless, sizeof endless);
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  REQUIRE(write(ends[1], header.data(), header.size()) == static_cast<ssize_t>(header.size()));
  has(error_of([&] { load_function<Tensor(Tensor)>("/proc/self/fd/" + std::to_string(ends[0])); }),
      "states 4611686018427387904 bytes of entries, and there can be no more than");
  close(ends[0]);
  close(ends[1]);
}
