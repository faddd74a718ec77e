// Random graphs of several products, windows and plain reductions that share operands (sums, gates, epilogues, expands,
// padding), large enough for blocks. Values that the engine computes together are compared with the oracle, and with
// the same values realised one by one. RC_PARAMS="max_success=1000 seed=7" sets number and seed.
#include <rapidcheck.h>

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <random>

#include "formula/call.hpp"
#include "graph/verify.hpp"
#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"

namespace oriel::testing {
namespace {

constexpr std::int64_t kSides[] = {16, 17, 24, 5, 33};
constexpr const char* kKinds[] = {"product", "transposed", "sum",    "gate",   "epilogue", "bias",
                                  "rows",    "softmax",    "expand", "pad",    "concat",   "window",
                                  "pooled",  "weighted",   "vector", "flipped"};

struct Step {
  int kind = 0;
  int first = 0, second = 0;  // operands, counted back from the last value
};
struct Graph {
  int side = 0;  // index into kSides
  int seed = 0;
  bool wide = false;  // float64
  std::vector<Step> steps;
  std::vector<int> wanted;  // requested values besides the last one
};

void showValue(const Graph& g, std::ostream& out) {
  out << fmt::format("side {}, {}, seed {}:", kSides[g.side], g.wide ? "float64" : "float32", g.seed);
  for (const Step& s : g.steps) out << fmt::format(" {}({}, {})", kKinds[s.kind], s.first, s.second);
  out << ", asked for:";
  for (const int w : g.wanted) out << ' ' << w;
  out << '\n';
}

/// Whole numbers, so that sums are exact in any order until a function is applied.
Tensor leaf(std::mt19937& random, const Shape& shape, DType dtype) {
  std::vector<float> v(static_cast<std::size_t>(numel(shape).value()));
  for (float& x : v) x = static_cast<float>(random() % 5) - 2;
  return Tensor::from(v, shape).to(dtype).realize();
}

/// Keeps values within -8 and 8, so that errors do not grow from step to step.
Tensor bounded(const Tensor& x) { return clamp(x * 0.125, -8.0, 8.0); }

class Builder {
 public:
  Builder(const Graph& graph, const std::function<Tensor(Tensor)>& each)
      : random_(static_cast<std::mt19937::result_type>(graph.seed)),
        n_(kSides[graph.side]),
        dtype_(graph.wide ? DType::float64 : DType::float32),
        each_(each) {
    for (int i = 0; i < 3; ++i) values_.push_back(leaf(random_, {n_, n_}, dtype_));
    for (const Step& s : graph.steps) values_.push_back(each_(step(s)));
    results_.push_back(values_.back());
    for (const int w : graph.wanted) results_.push_back(at(w));
  }
  const std::vector<Tensor>& results() const { return results_; }

 private:
  const Tensor& at(int back) const {
    return values_[values_.size() - 1 - static_cast<std::size_t>(back) % values_.size()];
  }
  Tensor fresh(const Shape& shape) { return leaf(random_, shape, dtype_); }

  // The 3 x 3 window around each element.
  Tensor windows(const Tensor& x) { return unfold(unfold(pad(x, Ranges{{1, 1}, {1, 1}}), 0, 3, 1), 1, 3, 1); }

  Tensor step(const Step& s) {
    const Tensor x = at(s.first), y = at(s.second);
    switch (s.kind) {
      case 0:
        return bounded(each_(matmul(x, y)));
      case 1:
        return bounded(each_(matmul(x.transpose(), y)));
      case 2:
        return x + y;
      case 3:
        return x * each_(sigmoid(y));
      case 4:
        return relu(x) - y * 0.5;
      case 5:
        return x + fresh({n_});
      case 6:
        return x + bounded(each_(sum(y, {1}, true)));
      case 7:
        return softmax(x, {1});
      case 8:
        return bounded(each_(sum(each_(relu(x)).reshape({n_, 1, n_}) * fresh({1, 3, 1}), {1})));
      case 9:
        return pad(x, Ranges{{0, 0}, {n_, 0}}).slice({{}, {.start = n_ / 2, .stop = n_ / 2 + n_}}) + y;
      case 10:
        return concat({x, y}, 1).slice({{}, {.start = 1, .step = 2}});
      case 11:
        return each_(max(windows(x), {2, 3})) - y;
      case 12:
        return bounded(each_(sum(windows(x), {2, 3})) - each_(min(windows(y), {2, 3})));
      case 13:
        return bounded(each_(sum(windows(x) * fresh({3, 3}), {2, 3})));
      case 14:
        return x + bounded(each_(matmul(y, fresh({n_, 1}))));
      default:
        return bounded(each_(matmul(x.flip(1), y.flip(0))));
    }
  }

  std::mt19937 random_;
  std::int64_t n_;
  DType dtype_;
  std::function<Tensor(Tensor)> each_;
  std::vector<Tensor> values_;
  std::vector<Tensor> results_;
};

void check(const Tensor& got, const std::vector<reference::Number>& want, const char* how) {
  const std::string fault = reference::difference(got, want, reference::elements(got));
  if (!fault.empty()) RC_FAIL(fmt::format("{}: {}", how, fault));
}

void agrees(const Graph& g) {
  const std::vector<Tensor> together = Builder(g, [](const Tensor& x) { return x; }).results();
  std::vector<std::vector<reference::Number>> wanted;
  for (const Tensor& t : together) {
    const graph::NodePtr node = detail::Access::node(t);
    graph::verify({&node, 1});
    wanted.push_back(reference::interpret(t));
  }
  realize(together);
  const std::vector<Tensor> apart = Builder(g, [](Tensor x) { return x.realize(); }).results();
  for (std::size_t r = 0; r < together.size(); ++r) {
    check(together[r], wanted[r], "together");
    check(apart[r], wanted[r], "one by one");
  }
}

}  // namespace
}  // namespace oriel::testing

namespace rc {
template <>
struct Arbitrary<oriel::testing::Step> {
  static Gen<oriel::testing::Step> arbitrary() {
    using oriel::testing::Step;
    // Products are the most frequent.
    return gen::build<Step>(
        gen::set(&Step::kind,
                 gen::weightedOneOf<int>({{2, gen::inRange(0, 2)},
                                          {3, gen::inRange(0, static_cast<int>(std::size(oriel::testing::kKinds)))}})),
        gen::set(&Step::first, gen::inRange(0, 6)), gen::set(&Step::second, gen::inRange(0, 6)));
  }
};
template <>
struct Arbitrary<oriel::testing::Graph> {
  static Gen<oriel::testing::Graph> arbitrary() {
    using oriel::testing::Graph;
    return gen::build<Graph>(
        gen::set(&Graph::side, gen::inRange(0, static_cast<int>(std::size(oriel::testing::kSides)))),
        gen::set(&Graph::seed, gen::inRange(0, 10000)),
        gen::set(&Graph::wide, gen::weightedElement<bool>({{3, false}, {1, true}})),
        gen::set(&Graph::steps, gen::resize(10, gen::container<std::vector<oriel::testing::Step>>(
                                                    gen::arbitrary<oriel::testing::Step>()))),
        gen::set(&Graph::wanted, gen::resize(3, gen::container<std::vector<int>>(gen::inRange(0, 8)))));
  }
};
}  // namespace rc

int main() {
  oriel::set_lazy_limits({.nodes = 0, .bytes = 0});
  oriel::set_default_bounds(oriel::Bounds::zero);  // some positions are outside
  return rc::check("graphs of several products agree with the oracle and with their values one by one",
                   &oriel::testing::agrees)
             ? 0
             : 1;
}
