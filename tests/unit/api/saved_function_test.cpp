// Captured functions in files: what is saved is served without a trace, and what was not saved, or not like this, is
// refused. damaged_file_test.cpp has files that are damaged.
#include <doctest/doctest.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/subprocess.hpp"
#include "oriel/oriel.hpp"
#include "saved_functions.hpp"

namespace saved_function_test {

using namespace oriel;
using oriel::test::counting;
using oriel::test::error_of;
using oriel::test::file_text;
using oriel::test::has;
using oriel::test::TemporaryFolder;
using oriel::test::write_file;

namespace {

std::atomic<int> traced{0};

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

}  // namespace

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
  has(why, "u0 <= 2 does not hold, which expect_true at saved_function_test.cpp");
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

TEST_CASE("every n-th element of a view and of a value is saved") {
  const TemporaryFolder folder;
  const auto f = oriel::function([](Tensor x) { return every(x * 2, {2}) + every(x, {2}); });
  const Tensor x = counting({12});
  const Tensor want = f(every(x, {3}));
  f.save(folder / "every");
  const auto g = load_function<Tensor(Tensor)>(folder / "every");
  CHECK(g(every(x, {3})).to_vector<float>() == want.to_vector<float>());
  CHECK(g.counts().traces == 0U);
}

}  // namespace saved_function_test
