// Chains of movements, compared with an eager model: a list of positions that each movement copies. A failing chain is
// shrunk and printed as an `oriel view` program.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "oriel/view.hpp"
#include "support/fixed_seed.hpp"
#include "support/sized.hpp"

namespace {

[[maybe_unused]] const bool fixed = oriel::test::fix_seed();

using oriel::Ints;
using oriel::Ranges;
using oriel::ShapeTracker;

/// The table of a tensor (-1 where invalid), and movements that compute a new table element by element.
struct Model {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> table;

  std::vector<std::int64_t> index(std::size_t n) const {
    std::vector<std::int64_t> i(shape.size());
    for (std::size_t d = shape.size(); d-- > 0;) {
      i[d] = static_cast<std::int64_t>(n) % shape[d];
      n /= static_cast<std::size_t>(shape[d]);
    }
    return i;
  }

  /// Makes a new table. New index i reads old index source(i); if that lies outside, i is invalid.
  template <class Source>
  Model moved(std::vector<std::int64_t> new_shape, Source source) const {
    Model result{std::move(new_shape), {}};
    std::size_t count = 1;
    for (const std::int64_t extent : result.shape) count *= static_cast<std::size_t>(extent);
    for (std::size_t n = 0; n < count; ++n) {
      const std::vector<std::int64_t> j = source(result.index(n));
      std::int64_t flat = 0;
      bool inside = true;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        inside = inside && j[d] >= 0 && j[d] < shape[d];
        flat = flat * shape[d] + j[d];
      }
      result.table.push_back(inside ? table[static_cast<std::size_t>(flat)] : -1);
    }
    return result;
  }
};

/// The plain numbers from which one movement is made. Their meaning depends on the current shape, so a chain stays
/// legal while it is shrunk.
struct Draw {
  int kind = 0;
  std::vector<int> numbers;
  int number(std::size_t k, int below) const { return below <= 0 ? 0 : numbers[k % numbers.size()] % below; }
};

struct Chain {
  std::vector<int> base;
  std::vector<Draw> draws;
};

/// A tracker, its model, and the program that made both.
struct Pair {
  ShapeTracker tracker;
  Model model;
  std::string program;
};

std::string joined(const std::vector<std::int64_t>& ints) {
  std::string text;
  for (std::size_t d = 0; d < ints.size(); ++d) text += (d > 0 ? "," : "") + std::to_string(ints[d]);
  return text.empty() ? "()" : text;
}

Ints to_ints(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

constexpr std::size_t kMostElements = 400;

void reshape(Pair& pair, const Draw& draw) {
  std::vector<std::int64_t> shape;
  auto left = static_cast<std::int64_t>(pair.model.table.size());
  if (left == 0) return;
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= left; ++d) {
      if (left % d == 0) divisors.push_back(d);
    }
    shape.push_back(divisors[static_cast<std::size_t>(draw.number(k, static_cast<int>(divisors.size())))]);
    left /= shape.back();
  }
  shape.push_back(left);
  if (draw.number(3, 2) == 0) shape.erase(std::remove(shape.begin(), shape.end(), 1), shape.end());
  pair.tracker = pair.tracker.reshape(to_ints(shape));
  pair.model.shape = shape;
  pair.program += " | reshape " + joined(shape);
}

void permute(Pair& pair, const Draw& draw) {
  std::vector<std::int64_t> order(pair.model.shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t d = order.size(); d-- > 1;) {
    std::swap(order[d], order[d - static_cast<std::size_t>(draw.number(d, static_cast<int>(d) + 1))]);
  }
  std::vector<std::int64_t> shape;
  for (const std::int64_t d : order) shape.push_back(pair.model.shape[static_cast<std::size_t>(d)]);
  pair.model = pair.model.moved(shape, [&](const std::vector<std::int64_t>& i) {
    std::vector<std::int64_t> j(i.size());
    for (std::size_t d = 0; d < i.size(); ++d) j[static_cast<std::size_t>(order[d])] = i[d];
    return j;
  });
  pair.tracker = pair.tracker.permute(to_ints(order));
  pair.program += " | permute " + joined(order);
}

void expand(Pair& pair, const Draw& draw) {
  std::vector<std::int64_t> shape = pair.model.shape;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) shape[d] = 1 + draw.number(d, 3);
  }
  const std::vector<std::int64_t> before = pair.model.shape;
  pair.model = pair.model.moved(shape, [&](std::vector<std::int64_t> i) {
    for (std::size_t d = 0; d < i.size(); ++d) i[d] = before[d] == 1 ? 0 : i[d];
    return i;
  });
  pair.tracker = pair.tracker.expand(to_ints(shape));
  pair.program += " | expand " + joined(shape);
}

void resize(Pair& pair, const Draw& draw, bool pad) {
  Ranges ranges;
  std::vector<std::int64_t> shape;
  std::string text;
  for (std::size_t d = 0; d < pair.model.shape.size(); ++d) {
    const std::int64_t extent = pair.model.shape[d];
    // Small numbers pad little and leave most of an axis. Sometimes a shrink leaves nothing.
    std::int64_t first = draw.number(2 * d, pad ? 3 : static_cast<int>(extent));
    std::int64_t second = draw.number(2 * d + 1, pad ? 3 : static_cast<int>(extent - first));
    if (!pad) second = draw.number(7, 60) == 59 ? first : extent - second;
    ranges.push_back({first, second});
    shape.push_back(pad ? extent + first + second : second - first);
    text += (d == 0 || pad ? " " : ",") + std::to_string(first) + (pad ? "," : ":") + std::to_string(second);
  }
  pair.model = pair.model.moved(shape, [&](std::vector<std::int64_t> i) {
    for (std::size_t d = 0; d < i.size(); ++d) i[d] += (pad ? -1 : 1) * ranges[d].lo.value();
    return i;
  });
  pair.tracker = pad ? pair.tracker.pad(ranges) : pair.tracker.shrink(ranges);
  pair.program += (pad ? " | pad" : " | shrink") + text;
}

void flip(Pair& pair, const Draw& draw) {
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < pair.model.shape.size(); ++d) {
    if (draw.number(d, 2) == 1) axes.push_back(static_cast<std::int64_t>(d));
  }
  pair.model = pair.model.moved(pair.model.shape, [&](std::vector<std::int64_t> i) {
    for (const std::int64_t d : axes) {
      i[static_cast<std::size_t>(d)] =
          pair.model.shape[static_cast<std::size_t>(d)] - 1 - i[static_cast<std::size_t>(d)];
    }
    return i;
  });
  pair.tracker = pair.tracker.flip(to_ints(axes));
  pair.program += " | flip " + joined(axes);
}

Pair run(const Chain& chain) {
  std::vector<std::int64_t> shape;
  for (const int n : chain.base) shape.push_back(1 + n % 5);
  Pair pair{ShapeTracker(to_ints(shape)), {shape, {}}, joined(shape)};
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  pair.model.table.resize(count);
  std::iota(pair.model.table.begin(), pair.model.table.end(), 0);
  for (const Draw& draw : chain.draws) {
    const Pair before = pair;
    switch (draw.kind) {
      case 0:
      case 1:
        reshape(pair, draw);
        break;
      case 2:
        permute(pair, draw);
        break;
      case 3:
        expand(pair, draw);
        break;
      case 4:
      case 5:
        resize(pair, draw, draw.kind == 4);
        break;
      default:
        flip(pair, draw);
    }
    if (pair.model.table.size() > kMostElements) pair = before;
  }
  return pair;
}

std::ostream& operator<<(std::ostream& out, const Chain& chain) { return out << run(chain).program; }

}  // namespace

namespace rc {

/// A number below `end`, with the same distribution at every test size. The size only bounds the length of a chain.
inline Gen<int> number_below(int end) { return oriel::test::any_of(0, end); }

template <>
struct Arbitrary<Draw> {
  static Gen<Draw> arbitrary() {
    return gen::build<Draw>(gen::set(&Draw::kind, number_below(7)),
                            gen::set(&Draw::numbers, gen::container<std::vector<int>>(8, number_below(60))));
  }
};

template <>
struct Arbitrary<Chain> {
  static Gen<Chain> arbitrary() {
    return gen::build<Chain>(
        gen::set(&Chain::base, gen::resize(4, gen::container<std::vector<int>>(number_below(60)))),
        gen::set(&Chain::draws, gen::resize(9, gen::container<std::vector<Draw>>(gen::arbitrary<Draw>()))));
  }
};

}  // namespace rc

TEST_CASE("a chain of movements reads what the eager model reads") {
  CHECK(rc::check([](const Chain& chain) {
    const Pair pair = run(chain);
    RC_ASSERT(to_string(pair.tracker.shape()) == to_string(to_ints(pair.model.shape)));
    RC_ASSERT(pair.tracker.table() == pair.model.table);
  }));
}

TEST_CASE("simplifying keeps the table and is idempotent") {
  CHECK(rc::check([](const Chain& chain) {
    const Pair pair = run(chain);
    const ShapeTracker simple = pair.tracker.simplify();
    RC_ASSERT(simple.table() == pair.model.table);
    RC_ASSERT(simple.simplify() == simple);
    RC_ASSERT(simple.views().size() <= pair.tracker.views().size());
  }));
}

TEST_CASE("contiguity is that of the model") {
  CHECK(rc::check([](const Chain& chain) {
    const Pair pair = run(chain);
    std::vector<std::int64_t> identity(pair.model.table.size());
    std::iota(identity.begin(), identity.end(), 0);
    RC_ASSERT(pair.tracker.is_contiguous() == (pair.model.table == identity));
  }));
}

TEST_CASE("inverse movements cancel") {
  CHECK(rc::check([](const Chain& chain, const Draw& draw) {
    Pair pair = run(chain);
    const ShapeTracker simple = pair.tracker.simplify();
    const std::size_t rank = pair.model.shape.size();
    Ints axes;
    Ranges pads;
    Ranges back;
    for (std::size_t d = 0; d < rank; ++d) {
      if (draw.number(d, 2) == 1) axes.push_back(d);
      pads.push_back({draw.number(d, 3), draw.number(d + 1, 3)});
      back.push_back({pads[d].lo, pads[d].lo + pair.model.shape[d]});
    }
    RC_ASSERT(simple.flip(axes).flip(axes) == simple);
    RC_ASSERT(simple.pad(pads).shrink(back) == simple);
    const auto flat = simple.reshape({static_cast<std::int64_t>(pair.model.table.size())});
    RC_ASSERT(flat.reshape(simple.shape()).simplify() == simple);
  }));
}
