// What a program names is computed once, or twice if it was not stored at first: launches of loops that ask for
// numbers.
#include <doctest/doctest.h>

#include <algorithm>

#include "formula/call.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

namespace keep_test {

using namespace oriel;

namespace {

// Launches of `work`.
template <class Work>
std::uint64_t launches(const Work& work) {
  const std::uint64_t before = runtime::counters().kernels_launched;
  work();
  return runtime::counters().kernels_launched - before;
}

Tensor numbers(const Shape& shape, int seed = 1) {
  return normal(Key(static_cast<std::uint64_t>(seed)), shape).realize();
}

std::string reasons(const Explanation& e) {
  std::string text;
  for (const ExplainedKernel& kernel : e.kernels)
    for (const ExplainedOutput& output : kernel.outputs) text += output.reason + "\n";
  return text;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Restored {
  LazyLimits before = lazy_limits();
  ~Restored() { set_lazy_limits(before); }
};

}  // namespace

TEST_CASE("a fixed point that asks for the change of each round launches at most twice as often as one that realises") {
  for (const std::int64_t n : {4, 40, 300}) {
    CAPTURE(n);
    const Tensor A = (numbers({n, n}) / (2 * static_cast<double>(n))).realize(), b = numbers({n}, 2);
    const auto loop = [&](bool realizes) {
      Tensor x = zeros({n});
      for (int k = 0; k < 30; ++k) {
        Tensor next = tanh(matmul(A, x) + b);
        if (realizes) next.realize();
        if (max(abs(next - x)).item<float>() < 0) break;
        x = next;
      }
    };
    CHECK(launches([&] { loop(false); }) <= 2 * launches([&] { loop(true); }));
  }
}

TEST_CASE("a loop that forgets its former states computes each at most twice") {
  const Tensor A = (numbers({50, 50}) / 100.0).realize();
  Tensor x = numbers({50}, 2);
  CHECK(launches([&] {
          for (int k = 0; k < 40; ++k) {
            x = sin(matmul(A, x)) + x;
            x = x - mean(x);
            const std::string text = reasons(explain(sum(x)));
            CHECK(has(text, "is still needed by a named value and was computed before") == (k > 0));
            (void)sum(x).item<float>();
          }
        }) <= 40 * 6);
}

TEST_CASE("numbers asked of one named product compute it at most twice") {
  const Tensor a = numbers({70, 70}), b = numbers({70, 70}, 2);
  const Tensor product = matmul(a, b);
  const std::uint64_t count = launches([&] {
    for (int k = 1; k <= 10; ++k) (void)sum(product * k).item<float>();
  });
  CHECK(count <= 12);
}

TEST_CASE("names that are asked about once stay fused, in one kernel with one store") {
  const Tensor x = numbers({1000});
  Tensor a = x * 2, b = a + 1, c = b * 3;
  CHECK(launches([&] { c.realize(); }) == 1);
  CHECK_FALSE(a.realized());
  CHECK_FALSE(b.realized());
  // Temporaries of an expression, too.
  CHECK(launches([&] { (void)max(abs(x * 2 - exp(x))).item<float>(); }) == 1);
}

TEST_CASE("a named value that was computed before is stored when it is computed again") {
  const Tensor x = numbers({1000});
  const Tensor a = exp(x) * 2;
  (void)sum(a).item<float>();
  CHECK_FALSE(a.realized());
  const Tensor largest = max(a);
  CHECK(has(reasons(explain(largest)), "it is kept: mul (keep_test.cpp:"));
  CHECK(has(reasons(explain(largest)), "is still named and was computed before"));
  (void)largest.item<float>();
  CHECK(a.realized());
  CHECK(launches([&] { (void)min(a).item<float>(); }) == 1);
}

TEST_CASE("what a kernel stores anyway is kept while it is named") {
  const Tensor x = numbers({300, 7});
  const Tensor ordered = sort(x, 0);
  const Tensor twice = ordered * 2;
  const Tensor total = sum(twice);
  CHECK(has(reasons(explain(total)), "a sort is a kernel of its own; kept because sort (keep_test.cpp:"));
  CHECK(has(reasons(explain(total)), "is still named"));
  (void)total.item<float>();
  CHECK_FALSE(twice.realized());
  CHECK(launches([&] { (void)sum(ordered).item<float>(); }) == 1);
  CHECK(launches([&] { (void)max(twice).item<float>(); }) == 2);  // stores it, too
  CHECK(twice.realized());
}

TEST_CASE("a value that is cheap to compute again is kept where a kernel stores it anyway") {
  const Tensor one = exp(iota({1, 1}));
  const Tensor padded = pad(pad(one, {{0, 1}, {1, 1}}, 0), {{2, 1}, {0, 1}}, 0);
  CHECK(launches([&] { (void)sum(padded).item<float>(); }) == 2);
  CHECK(launches([&] { (void)sum(padded).item<float>(); }) == 1);
}

TEST_CASE("what only a named value needs is kept as well") {
  const Tensor x = numbers({300});
  const Tensor y = [&] { return sqrt(abs(cumsum(x, 0))); }();
  (void)sum(y).item<float>();
  CHECK_FALSE(y.realized());
  CHECK(has(reasons(explain(max(y))), "it is kept: sqrt (keep_test.cpp:"));
  CHECK(launches([&] { (void)max(y).item<float>(); }) == 2);
  CHECK(launches([&] { (void)min(y).item<float>(); }) == 1);
}

TEST_CASE("an expensive product is kept by the work that first computes it") {
  const Tensor A = numbers({400, 400}), v = numbers({400}, 2);
  const Tensor next = tanh(matmul(A, v) / 400.0);
  const Tensor change = max(abs(next - v));
  CHECK(has(reasons(explain(change)), "and computing it again would take longer"));
  (void)change.item<float>();
  CHECK(next.realized());
}

TEST_CASE("what costs nothing to compute again is not stored: views, and masks of positions") {
  const Tensor x = numbers({64, 64});
  const Tensor turned = x.transpose(), row = arange(64).reshape({64, 1}), mask = arange(64) <= row;
  for (int k = 0; k < 4; ++k) (void)sum(where(mask, turned, 0) * k).item<float>();
  CHECK_FALSE(detail::Access::node(mask)->realized());
  CHECK_FALSE(detail::Access::node(turned)->realized());
}

TEST_CASE("a value is stored after a few of its parts were asked for, and a named part at its second question") {
  const Tensor x = numbers({100, 100});
  const Tensor table = exp(x);
  float total = 0;
  for (std::int64_t k = 0; k < 4; ++k) total += sum(table.select(0, k)).item<float>();
  CHECK_FALSE(table.realized());
  const Tensor row = table.select(0, 3);
  for (int k = 0; k < 3; ++k) total += sum(row * k).item<float>();
  CHECK(launches([&] { total += max(row).item<float>(); }) == 1);
  CHECK_FALSE(table.realized());
  for (std::int64_t k = 0; k < 10; ++k) total += sum(table.select(0, k)).item<float>();
  CHECK(table.realized());
}

TEST_CASE("loops that ask for a part of their state launch at most twice as often as those that realise it") {
  const Tensor A = (numbers({48, 48}) / 100.0).realize(), b = numbers({48}, 2);
  using Question = Tensor (*)(const Tensor&);
  for (const Question question :
       {Question([](const Tensor& x) { return x.select(0, 0); }), Question([](const Tensor& x) {
          return sum(x.slice({{0, 10}}));
        }),
        Question([](const Tensor& x) {
          return max(abs(x.slice({{1}}) - x.slice({{0, -1}})));
        })}) {
    const auto loop = [&](bool realizes) {
      Tensor x = zeros({48});
      for (int k = 0; k < 30; ++k) {
        Tensor next = tanh(matmul(A, cumsum(x, 0)) * 0.1F + b);
        if (realizes) next.realize();
        (void)question(next).item<float>();
        x = next;
      }
    };
    CHECK(launches([&] { loop(false); }) <= 2 * launches([&] { loop(true); }));
  }
}

TEST_CASE("a result that is read element by element is computed once") {
  const Tensor ordered = sort(numbers({200}), 0);
  CHECK(launches([&] {
          for (std::int64_t k = 0; k < 20; ++k) (void)ordered.select(0, k).item<float>();
        }) <= 21);
}

TEST_CASE("what nothing names is not kept if the value that needs it is") {
  Tensor h = numbers({50, 8});
  for (int k = 0; k < 10; ++k) h = sort(h * -1, 1);
  const std::string text = reasons(explain(sum(h)));
  std::size_t kept = 0;
  for (std::size_t at = text.find("kept because"); at != std::string::npos; at = text.find("kept because", at + 1))
    ++kept;
  CHECK(kept == 1);
}

TEST_CASE("the bound on bytes holds for what is kept, and explain says so") {
  const Restored restored;
  set_lazy_limits({.nodes = 0, .bytes = 1000});
  const Tensor x = numbers({300, 7});
  const Tensor ordered = sort(x, 0);
  const Tensor total = sum(ordered * 2);
  CHECK(has(reasons(explain(total)), "not kept, though sort (keep_test.cpp:"));
  CHECK(has(reasons(explain(total)), "its 8400 bytes and what else is kept exceed 1000 (ORIEL_LAZY_BYTES)"));
  (void)total.item<float>();
  CHECK_FALSE(ordered.realized());
  const Tensor a = exp(x);
  for (int k = 0; k < 3; ++k) (void)sum(a * k).item<float>();
  CHECK_FALSE(a.realized());
}

TEST_CASE("what is kept below a running total counts among the bytes that the total holds") {
  const Restored restored;
  set_lazy_limits({.bytes = 1 << 20});
  Tensor total = zeros({10'000});
  reset_peak_memory();
  const std::size_t before = memory().peak;
  for (int k = 0; k < 300; ++k) {
    const Tensor x = cumsum(numbers({10'000}) * k, 0);  // 40 kB
    total = total + x;
    (void)max(x).item<float>();
  }
  CHECK(memory().peak - before < 3 << 20);
}

TEST_CASE("a write whose target is forgotten is done once") {
  const Tensor x = numbers({24});
  Tensor y;
  const std::uint64_t count = launches([&] {
    Tensor state = x;
    for (int k = 0; k < 30; ++k) {
      y = sin(state);
      state = y * 0.9F;
      state[k % 24] = 0.5F;
      (void)y.select(0, 3).item<float>();
    }
  });
  CHECK(count <= 4 * 30);
}

TEST_CASE("chains beyond the bound on nodes keep what they store") {
  Tensor p = numbers({200});
  Tensor w = cumsum(p, 0);
  const std::uint64_t count = launches([&] {
    for (int k = 0; k < 60; ++k) {
      w = cumsum(p, 0);
      p = searchsorted(w, p) * 0.5F + w;
    }
    p.realize();
  });
  CHECK(count <= 2 * 121);
  const std::uint64_t gathered = launches([&] {
    for (int k = 0; k < 60; ++k) {
      w = cumsum(p, 0);
      p = take(p, minimum(searchsorted(w, p), 199)) * 0.5F + w;
    }
    p.realize();
  });
  CHECK(gathered <= 2 * 181);
}

TEST_CASE("a decoder's cache that grows is copied once a round") {
  Tensor cache = zeros({0, 16});
  const Tensor weights = numbers({16, 16});
  const std::uint64_t count = launches([&] {
    for (int k = 0; k < 30; ++k) {
      cache = concat({cache, matmul(full({1, 16}, k * 0.1), weights)}, 0);
      (void)argmax(sum(cache, 1)).item<std::int64_t>();
    }
  });
  CHECK(count <= 30 * 6);
}

TEST_CASE("kept values hold the right elements, whatever is asked first") {
  const Tensor x = numbers({33, 20});
  const Tensor a = softmax(x), b = sort(a, 1), c = b.transpose() + 1, d = matmul(a, c);
  const std::vector<float> first = d.to_vector<float>();
  const Tensor a2 = softmax(x).realize(), b2 = sort(a2, 1).realize(), c2 = (b2.transpose() + 1).realize();
  CHECK(allclose(d, matmul(a2, c2)));
  CHECK(allclose(c, c2));
  CHECK(allclose(b, b2));
  CHECK(allclose(a, a2));
  CHECK(first == d.to_vector<float>());
}

TEST_CASE("what was kept is not overwritten by a write to what it was computed from") {
  Tensor x = numbers({500});
  const Tensor y = cumsum(x, 0), z = y * 2;
  const float before = sum(z).item<float>();
  x += 1;
  CHECK(sum(z).item<float>() == doctest::Approx(before));
  CHECK(sum(y).item<float>() * 2 == doctest::Approx(before));
}

TEST_CASE("a profile counts the launches that compute again what was computed from the same operands") {
  Tensor a = numbers({40, 40});
  const Tensor b = numbers({40, 40}, 2);
  const auto repeated = [&](bool changes) {
    ProfileScope scope;
    for (int k = 0; k < 4; ++k) {
      (void)sum(relu(matmul(a, b))).item<float>();  // a new product in each round
      if (changes) a.assign(a + 1).realize();
    }
    std::int64_t most = 0;
    for (const KernelProfile& kernel : scope.take().kernels) most = std::max(most, kernel.repeated);
    return most;
  };
  CHECK(repeated(false) == 3);
  CHECK(repeated(true) == 0);
}

}  // namespace keep_test
