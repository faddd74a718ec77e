// The texts of rendered sources, here compiled and compared with the definition of their order. What the tile machine
// computes in loops of its own gives the same bits.
#include "ops/level.hpp"  // first

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/eigen/isa/table.hpp"
#include "ops/functions/element.hpp"
#include "ops/functions/elementary.hpp"
#include "ops/functions/reduce.hpp"
#include "source/cpp/text/memory_check.hpp"
#include "source/cpp/text/packets.hpp"
#include "source/cpp/text/reductions.hpp"
#include "source/cpp/text/register_blocks.hpp"
#include "source/cpp/text/tile.hpp"

namespace texts_test {

namespace isa = oriel::backend::isa;
namespace text = oriel::source::cpp::text;
namespace product = oriel::source::cpp::text::product;
using oriel::DType;
using text::Int;

namespace {

using Sum = oriel::ops::Reduce<oriel::ops::Add, oriel::ops::Zero>;

std::vector<float> numbers(std::size_t n) {
  std::vector<float> x(n);
  std::uint32_t state = 1;
  for (float& v : x) v = static_cast<float>((state = state * 1664525U + 1013904223U) >> 8) * 0x1p-20F - 7.0F;
  return x;
}

/// The sum of one block, in 32 lanes that are halved.
float block_sum(const float* x, std::size_t n) {
  float lane[32] = {};
  for (std::size_t r = 0; r < n; ++r) lane[r % 32] += x[r];
  for (std::size_t half = 16; half > 0; half /= 2)
    for (std::size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
  return lane[0];
}

/// Whole subtrees from the left, the largest first; their sums are added from the right.
float ordered_sum(const float* x, std::size_t n) {
  if (n <= 1024) return block_sum(x, n);
  std::size_t left = 1024;
  while (left * 2 < n) left *= 2;
  return ordered_sum(x, left) + ordered_sum(x + left, n - left);
}

/// a * b + c as the register blocks of this target compute it.
float multiply_add(float a, float b, float c) {
#if defined(__FMA__) || (defined(__aarch64__) && defined(__ARM_FEATURE_FMA))
  return std::fma(a, b, c);
#else
  return a * b + c;
#endif
}

}  // namespace

TEST_CASE("rows are reduced in blocks of 1024 values, in 32 lanes each") {
  for (const std::size_t n : {1, 31, 32, 33, 1000, 1024, 1025, 3000, 4096, 9999}) {
    const std::vector<float> x = numbers(n);
    text::RowReduction<Sum, float> row;
    row.reset();
    text::Values<float, 64> tile{};
    // Tiles of a length at which blocks and lanes begin inside of tiles.
    for (std::size_t at = 0; at < n; at += 50) {
      const std::size_t some = std::min<std::size_t>(50, n - at);
      for (std::size_t k = 0; k < some; ++k) tile[static_cast<Int>(k)] = x[at + k];
      row.add(tile, static_cast<Int>(some));
    }
    const float sum = row.result();
    CHECK(sum == ordered_sum(x.data(), n));
    float of_tile_machine = 0;
    const auto length = static_cast<std::int64_t>(n);
    isa::table("baseline")
        .reduce[isa::reduce_index(oriel::graph::Op::Sum)][static_cast<int>(DType::float32)]
        .rows(x.data(), length, 1, length, &of_tile_machine);
    CHECK(sum == of_tile_machine);
  }
}

TEST_CASE("columns are reduced in the order of rows") {
  for (const std::size_t n : {1, 5, 33, 1024, 2500}) {
    const std::vector<float> x = numbers(3 * n);
    text::ColumnReduction<Sum, float, 4, 8> columns;
    columns.reset();
    std::vector<float> column[3];
    for (std::size_t r = 0; r < n; ++r) {
      text::Values<float, 4> row{};
      for (std::size_t c = 0; c < 3; ++c) {
        row[static_cast<Int>(c)] = x[3 * r + c];
        column[c].push_back(x[3 * r + c]);
      }
      columns.add(row, 3);
    }
    text::Values<float, 4> sums{};
    columns.result(sums, 3);
    for (std::size_t c = 0; c < 3; ++c) CHECK(sums[static_cast<Int>(c)] == ordered_sum(column[c].data(), n));
  }
}

namespace {

/// The columns of b that fill no register.
std::vector<float> last_columns(const std::vector<float>& b, product::Int depth) {
  using namespace product;
  std::vector<float> tail(static_cast<std::size_t>(depth * kLanes));
  for (Int p = 0; p < depth; ++p)
    for (Int j = 0; j < kTail; ++j)
      tail[static_cast<std::size_t>(p * kLanes + j)] =
          b[static_cast<std::size_t>(p * kRightStep + kColumns - kTail + j)];
  return tail;
}

}  // namespace

TEST_CASE("register blocks add one product after the other, for fixed and for symbolic sizes") {
  using namespace product;
  constexpr Int depth = 30;
  const std::vector<float> a = numbers(kRows * kLeftRow);
  const std::vector<float> b = numbers((depth + 40) * kRightStep);
  const std::vector<float> tail = last_columns(b, depth);
  const std::vector<float> from = numbers(kRows * kPitch);
  const std::vector<float> add = numbers(kRows * kPitch + 1);
  std::vector<float> fixed(from.size()), symbolic(from.size());
  for (Int i = 0; i < kRows; i += kHeight) {
    const Int rows = least(kHeight, kRows - i);
    const auto at = static_cast<std::size_t>(i * kPitch);
    const float* const left = a.data() + i * kLeftRow;
    product::fixed::sum_rows(left, b.data(), tail.data(), depth, &from[at], &add[at], &fixed[at], rows, kColumns);
    product::symbolic::sum_rows(left, Int(kLeftRow), b.data(), tail.data(), depth, &from[at], &add[at], &symbolic[at],
                                rows, kColumns);
  }
  int wrong = 0;
  for (Int i = 0; i < kRows; ++i) {
    for (Int j = 0; j < kColumns; ++j) {
      const auto at = static_cast<std::size_t>(i * kPitch + j);
      float sum = from[at];
      for (Int p = 0; p < depth; ++p)
        sum = multiply_add(a[static_cast<std::size_t>(i * kLeftRow + p * kLeftStep)],
                           b[static_cast<std::size_t>(p * kRightStep + j)], sum);
      sum = add[at] + sum;
      if (fixed[at] != sum || symbolic[at] != sum) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("register blocks give the bits of the tile machine's") {
  using namespace product;
  constexpr Int depth = 30;
  const isa::ProductFns& fns = isa::table("baseline").product[static_cast<int>(DType::float32)];
  const std::vector<float> a = numbers(kRows * kLeftRow);
  const std::vector<float> b = numbers((depth + 40) * kRightStep);
  const std::vector<float> add = numbers(kRows * kPitch), tail = last_columns(b, depth);
  std::vector<float> sums(add.size()), of_tile_machine(add.size());
  for (Int i = 0; i < kRows; i += kHeight) {
    const auto at = static_cast<std::size_t>(i * kPitch);
    product::symbolic::sum_rows(a.data() + i * kLeftRow, kLeftRow, b.data(), tail.data(), depth, nullptr, &add[at],
                                &sums[at], least(kHeight, kRows - i), kColumns);
  }
  const Int width = static_cast<Int>(fns.packet) * fns.packets;
  for (Int i = 0; i < kRows; i += fns.rows) {
    for (Int j = 0; j < kColumns; j += width) {
      isa::ProductBlock q;
      q.a = a.data() + i * kLeftRow;
      q.a_row = kLeftRow;
      q.a_step = kLeftStep;
      q.b = b.data() + j;
      q.b_row = kRightStep;
      q.c = of_tile_machine.data() + i * kPitch + j;
      q.from = add.data() + i * kPitch + j;
      q.c_row = q.from_row = kPitch;
      q.depth = depth;
      q.rows = static_cast<int>(least(fns.rows, kRows - i));
      q.cols = static_cast<int>(least(width, kColumns - j));
      fns.block(q);
    }
  }
  int wrong = 0;
  for (Int i = 0; i < kRows; ++i)
    for (Int j = 0; j < kColumns; ++j)
      if (const auto at = static_cast<std::size_t>(i * kPitch + j); sums[at] != of_tile_machine[at]) ++wrong;
  CHECK(wrong == 0);
}

TEST_CASE("squares of registers transpose, with rows and columns that fill none") {
  using namespace product;
  for (const Int columns : {1, 4, 13}) {
    for (const Int depth : {1, 8, 21}) {
      const std::vector<float> from = numbers(static_cast<std::size_t>(columns * kTransposedRow));
      std::vector<float> to(static_cast<std::size_t>(depth * kRightStep), -1.0F);
      turn(from.data(), to.data(), columns, depth);
      int wrong = 0;
      for (Int p = 0; p < depth; ++p)
        for (Int j = 0; j < columns; ++j)
          if (to[static_cast<std::size_t>(p * kRightStep + j)] !=
              from[static_cast<std::size_t>(j * kTransposedRow + p)])
            ++wrong;
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("division by one number is rounded correctly") {
  const std::vector<float> x = numbers(4096);
  for (const float y : {3.0F, -0.1F, 1.0e30F, 1.0e-39F, 7.0F}) {
    int wrong = 0;
    for (std::size_t k = 0; k < x.size(); k += text::kLanes) {
      const text::Packet quotient = oriel::ops::ORIEL_ISA_LEVEL::divided(text::load(x.data() + k, text::All()), y);
      for (std::size_t l = 0; l < text::kLanes; ++l)
        if (quotient[static_cast<int>(l)] != x[k + l] / y) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("memory that is missing, misaligned or written where it overlaps is refused") {
  alignas(64) unsigned char block[128] = {};
  const auto checked = [&](text::Memory a, text::Memory b) {
    const text::Memory all[] = {a, b};
    return text::check(all, 2);
  };
  CHECK(checked({block, 64, 64, true}, {block + 64, 64, 64, false}) == text::Status::ok);
  CHECK(checked({block, 65, 64, true}, {block + 64, 64, 64, false}) == text::Status::overlapping);
  CHECK(checked({block, 65, 64, false}, {block + 64, 64, 64, false}) == text::Status::ok);
  CHECK(checked({block, 64, 64, true}, {block + 66, 8, 4, false}) == text::Status::misaligned);
  CHECK(checked({block, 64, 64, true}, {nullptr, 8, 4, false}) == text::Status::null_pointer);
  CHECK(checked({block, 64, 64, true}, {nullptr, 0, 4, false}) == text::Status::ok);
}

}  // namespace texts_test
