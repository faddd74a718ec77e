// Gathers read their keys as they are, whatever arithmetic makes positions of them; where positions grow by one along
// the last loop, whole rows of memory are copied.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "backend/eigen/tile/plan.hpp"
#include "programs.hpp"
#include "reference/loops.hpp"
#include "support/isa_levels.hpp"

namespace lookups_test {

using namespace oriel;
using namespace oriel::test;
using backend::eigen::StepKind;
using backend::eigen::TileStep;

namespace {

constexpr std::int64_t kElements = 5000;

/// out[i, j] = x[first[i] + j], for rows of `columns` elements. With `doubled` the result is x + x, and with `told` the
/// first positions are stored as well.
LoopProgram rows_at(DType dtype, std::int64_t rows, std::int64_t columns, bool doubled = false, bool told = false) {
  const Ints all{rows, columns};
  Builder k(all);
  const auto x = k.argument(dtype, kElements);
  const auto first = k.argument(DType::int64, rows);
  const auto out = k.argument(dtype, rows * columns, true);
  k.stage();
  const ValueId start = k.load(false, first, ShapeTracker(View{all, {1, 0}, 0, {}}));
  const ValueId column = k.position(false, Code::Index, ShapeTracker(View{all, {0, 1}, 0, {}}));
  Instr in;
  in.code = Code::Gather;
  in.dtype = in.from = register_dtype(dtype);
  in.a = k.op(false, Op::Add, DType::int64, start, column);
  in.result = k.value(in.dtype);
  in.aux = k.access(x, dtype, ShapeTracker(Shape{1, 1}).expand(all));
  ValueId v = k.add(false, in);
  if (doubled) v = k.op(false, Op::Add, in.dtype, v, v);
  if (doubled && is_half(dtype)) v = k.round(false, dtype, v);
  k.store(false, v, out, ShapeTracker(all));
  if (told) k.store(false, start, k.argument(DType::int64, rows * columns, true), ShapeTracker(all));
  return k.p;
}

/// Rows inside of the memory, some that leave it at either end, and some far outside.
Bytes starts(std::int64_t rows, std::int64_t columns) {
  Bytes b(DType::int64, rows);
  std::mt19937_64 random(3);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t& at = b.as<std::int64_t>()[i];
    at = static_cast<std::int64_t>(random() % kElements) - columns / 3;
    if (i % 7 == 3) at = i % 2 == 0 ? -(std::int64_t{1} << 54) : std::numeric_limits<std::int64_t>::min();
    if (i % 7 == 5) at = std::numeric_limits<std::int64_t>::max() - i % 3;
    if (i % 7 == 6) at = kElements - columns;
  }
  return b;
}

std::vector<backend::eigen::Gather> gathers(const LoopProgram& p) {
  return backend::eigen::make_tile_plan(p, backend::isa::table(), 0)->gathers;
}

/// A random position made of a key: a few sums, products, comparisons and choices of it with random numbers.
class RandomPosition {
 public:
  RandomPosition(Builder& k, ValueId key, ValueId condition, unsigned seed, std::vector<graph::Scalar>& parameters)
      : k_(k), random_(seed), parameters_(parameters), numbers_{key}, truths_{condition} {}

  ValueId make(int operations) {
    for (int i = 0; i < operations; ++i) add();
    return numbers_.back();
  }

 private:
  ValueId number() {
    if (random_() % 3 != 0) return numbers_[random_() % numbers_.size()];
    static constexpr std::int64_t kSome[] = {0,
                                             1,
                                             -1,
                                             2,
                                             3,
                                             7,
                                             -5,
                                             100,
                                             -100,
                                             kElements,
                                             -kElements,
                                             5 * kElements,
                                             64,
                                             4999,
                                             -2500,
                                             -(std::int64_t{1} << 54),
                                             std::int64_t{1} << 40,
                                             std::numeric_limits<std::int64_t>::max(),
                                             std::numeric_limits<std::int64_t>::min()};
    const graph::Scalar scalar = graph::Scalar::of_int(DType::int64, kSome[random_() % std::size(kSome)]);
    if (random_() % 2 == 0) return k_.constant(false, scalar);
    parameters_.push_back(scalar);
    return k_.constant(false, graph::Scalar::of_int(DType::int64, 0),
                       static_cast<std::int32_t>(parameters_.size()) - 1);
  }
  ValueId truth() { return truths_[random_() % truths_.size()]; }

  void add() {
    static constexpr Op kNumbers[] = {Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max};
    static constexpr Op kTruths[] = {Op::Lt, Op::Le, Op::Eq, Op::Ne};
    const auto kind = random_() % 8;
    if (kind < 3) {
      numbers_.push_back(k_.op(false, kNumbers[random_() % std::size(kNumbers)], DType::int64, number(), number()));
    } else if (kind < 5) {
      truths_.push_back(k_.op(false, kTruths[random_() % std::size(kTruths)], DType::bool_, number(), number()));
    } else if (kind == 5) {
      truths_.push_back(k_.op(false, random_() % 2 == 0 ? Op::And : Op::Or, DType::bool_, truth(), truth()));
    } else {
      const ValueId c = truth(), a = number(), b = number();
      numbers_.push_back(k_.op(false, Op::Where, DType::int64, c, a, b));
    }
  }

  Builder& k_;
  std::mt19937 random_;
  std::vector<graph::Scalar>& parameters_;
  std::vector<ValueId> numbers_, truths_;
};

/// Keys near the ends of the memory on both sides, in runs and alone, and the ends of their dtype.
Bytes random_keys(DType dtype, std::int64_t count, unsigned seed) {
  Bytes b(dtype, count);
  std::mt19937_64 random(seed);
  std::int64_t kind = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (random() % 40 == 0) kind = static_cast<std::int64_t>(random() % 5);
    std::int64_t key = static_cast<std::int64_t>(random() % kElements);
    if (kind == 1) key -= kElements;
    if (kind == 2) key = static_cast<std::int64_t>(random() % 7) - 3;
    if (kind == 3) key = static_cast<std::int64_t>(random() % (3 * kElements)) - kElements;
    if (kind == 4)
      key = random() % 2 == 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    if (dtype == DType::int64)
      b.as<std::int64_t>()[i] = key;
    else
      b.as<std::int32_t>()[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(
          key, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
  }
  return b;
}

}  // namespace

TEST_CASE("rows of memory are gathered whole, and what lies outside is 0") {
  for (const DType dtype : {DType::float32, DType::float16, DType::int8, DType::float64}) {
    for (const std::int64_t columns : {2, 3, 16, 100, 1024, 4999}) {
      const std::int64_t rows = columns < 100 ? 700 : 23;
      for (const bool doubled : {false, true}) {
        const LoopProgram p = rows_at(dtype, rows, columns, doubled);
        CHECK((gathers(p).size() == 1 && gathers(p)[0].rows));
        const Bytes x = random_bytes(dtype, kElements, 5), first = starts(rows, columns);
        const Bytes want(dtype, rows * columns);
        interpret(p, {&x, &first, &want});
        for (const std::string& level : isa_levels()) {
          for (const int threads : {1, 3}) {
            INFO(name(dtype), " ", columns, " ", doubled, " ", level, " ", threads);
            backend::eigen::EigenBackend device({.threads = threads, .isa = level, .tier = EigenTier::tile});
            const Bytes got(dtype, rows * columns);
            run(device, p, {&x, &first, &got});
            CHECK(got.same_bits(want));
          }
        }
      }
    }
  }
}

TEST_CASE("random positions of keys, with and without what is added to them") {
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    static constexpr std::int64_t kWidths[] = {1, 2, 3, 4, 9, 40, 300};
    const std::int64_t columns = kWidths[random() % std::size(kWidths)],
                       rows = 1 + static_cast<std::int64_t>(random() % 300);
    static constexpr DType kElementsOf[] = {DType::float32, DType::float64, DType::int8, DType::float16, DType::int16};
    const DType dtype = kElementsOf[random() % std::size(kElementsOf)];
    const DType key_dtype = random() % 2 == 0 ? DType::int32 : DType::int64;
    const bool each = random() % 3 == 0;  // a key for each element
    const Ints all{rows, columns};
    Builder k(all);
    const auto x = k.argument(dtype, kElements);
    const auto keys = k.argument(key_dtype, each ? rows * columns : rows);
    const auto truth = k.argument(DType::bool_, 1);
    const auto out = k.argument(dtype, rows * columns, true), told = k.argument(DType::int64, rows * columns, true);
    k.stage();
    ValueId key = k.load(false, keys, each ? ShapeTracker(all) : ShapeTracker(View{all, {1, 0}, 0, {}}));
    if (key_dtype == DType::int32) key = k.op(false, Op::Cast, DType::int64, key);
    const ValueId condition = k.load(false, truth, ShapeTracker(Shape{1, 1}).expand(all));
    std::vector<graph::Scalar> parameters;
    ValueId position = RandomPosition(k, key, condition, seed, parameters).make(static_cast<int>(random() % 14));
    ValueId shared = position;
    if (random() % 4 == 0) {
      const ValueId row = k.position(false, Code::Index, ShapeTracker(View{all, {1 + seed % 5, 0}, 3, {}}));
      position = k.op(false, Op::Add, DType::int64, position, k.op(false, Op::Mul, DType::int64, row, row));
      if (random() % 2 == 0) shared = row;
    }
    if (random() % 3 == 0) k.store(false, shared, told, ShapeTracker(all));
    if (random() % 3 != 0) {
      const ValueId column = k.position(false, Code::Index, ShapeTracker(View{all, {0, 1}, 0, {}}));
      position = k.op(false, Op::Add, DType::int64, column, position);
    }
    Instr in;
    in.code = Code::Gather;
    in.dtype = in.from = register_dtype(dtype);
    in.a = position;
    in.result = k.value(in.dtype);
    in.aux = k.access(x, dtype, ShapeTracker(Shape{1, 1}).expand(all));
    ValueId v = k.add(false, in);
    if (random() % 3 == 0) v = k.op(false, Op::Max, in.dtype, v, v);
    k.store(false, v, out, ShapeTracker(all));
    const Bytes from = random_bytes(dtype, kElements, 5),
                given = random_keys(key_dtype, each ? rows * columns : rows, seed);
    const Bytes is(DType::bool_, 1), want(dtype, rows * columns), positions(DType::int64, rows * columns);
    const Bytes given_positions(DType::int64, rows * columns);
    *is.as<std::uint8_t>() = random() % 4 == 0 ? 0 : 1;
    interpret(k.p, {&from, &given, &is, &want, &positions}, parameters);
    for (const int threads : {1, 2}) {
      INFO(seed, " ", name(dtype), " ", columns, " ", threads, " ", to_string(k.p));
      backend::eigen::EigenBackend device({.threads = threads, .isa = "", .tier = EigenTier::tile});
      const Bytes got(dtype, rows * columns);
      run(device, k.p, {&from, &given, &is, &got, &given_positions}, parameters);
      CHECK(got.same_bits(want));
      CHECK(given_positions.same_bits(positions));
    }
  }
}

TEST_CASE("one row that begins at a number") {
  const LoopProgram p = rows_at(DType::float32, 1, 3000);
  backend::eigen::EigenBackend device({.threads = 1, .isa = "", .tier = EigenTier::tile});
  const Bytes x = random_bytes(DType::float32, kElements, 5), first(DType::int64, 1);
  *first.as<std::int64_t>() = 1717;
  const Bytes got(DType::float32, 3000), want(DType::float32, 3000);
  interpret(p, {&x, &first, &want});
  run(device, p, {&x, &first, &got});
  CHECK(got.same_bits(want));
}

TEST_CASE("positions that something else needs too are stored as well") {
  const LoopProgram p = rows_at(DType::float32, 40, 50, false, true);
  CHECK((gathers(p)[0].rows && !gathers(p)[0].key_starts));
  backend::eigen::EigenBackend device({.threads = 1, .isa = "", .tier = EigenTier::tile});
  const Bytes x = random_bytes(DType::float32, kElements, 5), first = starts(40, 50);
  const Bytes got(DType::float32, 2000), want(DType::float32, 2000), at(DType::int64, 2000), told(DType::int64, 2000);
  interpret(p, {&x, &first, &want, &told});
  run(device, p, {&x, &first, &got, &at});
  CHECK(got.same_bits(want));
  CHECK(at.same_bits(told));
}

}  // namespace lookups_test
