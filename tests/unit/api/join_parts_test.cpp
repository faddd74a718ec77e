// Values that are put together of parts of memory: each part copies its elements to their places.
#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "oriel/oriel.hpp"

namespace join_parts_test {

using namespace oriel;

namespace {

/// Numbers that differ from piece to piece.
Tensor piece(const Shape& shape, std::int64_t k, DType dtype = DType::float32) {
  return (iota(shape) % 97 + k * 100).to(dtype).realize();
}

/// What joins by one write after the other; there is nothing to choose.
Tensor written(const std::vector<Tensor>& pieces, std::size_t axis) {
  Shape shape = pieces[0].shape();
  shape[axis] = 0;
  for (const Tensor& p : pieces) shape[axis] += p.size(static_cast<std::int64_t>(axis));
  Tensor out = zeros(shape, pieces[0].dtype());
  out.realize();
  SymInt before = 0;
  for (const Tensor& p : pieces) {
    const SymInt behind = before + p.size(static_cast<std::int64_t>(axis));
    out.shrink({{before, behind}}, {static_cast<std::int64_t>(axis)}).assign(p);
    out.realize();
    before = behind;
  }
  return out;
}

bool same(const Tensor& a, const Tensor& b) { return a.shape() == b.shape() && all(a == b).item<bool>(); }

void check(const std::vector<Tensor>& pieces, std::size_t axis) {
  const auto at = static_cast<std::int64_t>(axis);
  const Tensor wanted = written(pieces, axis), got = concat(pieces, at);
  CHECK(same(got, wanted));
  if (!is_floating(wanted.dtype())) return;
  // As an operand: in a chain, beside a reduction in its loops, and as a factor.
  CHECK(same(concat(pieces, at) * 2 + 1, wanted * 2 + 1));
  CHECK(same(max(concat(pieces, at) - 3, {-1}), max(wanted - 3, {-1})));
  if (wanted.rank() == 2) {
    const Tensor other = piece({wanted.size(1), 5}, 3);
    CHECK(allclose(matmul(concat(pieces, at).to(DType::float32), other), matmul(wanted.to(DType::float32), other)));
  }
}

}  // namespace

TEST_CASE("pieces beside each other, in rows, and in the middle") {
  for (const DType dtype :
       {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int64, DType::uint8, DType::bool_}) {
    for (const std::int64_t count : {2, 3, 5, 17}) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        std::vector<Tensor> pieces;
        for (std::int64_t k = 0; k < count; ++k) {
          Shape shape{19, 6, 7};
          shape[axis] = 1 + k % 4;
          pieces.push_back(piece(shape, k, dtype));
        }
        check(pieces, axis);
      }
    }
  }
}

TEST_CASE("tiles that one piece has, and tiles of many") {
  for (const std::int64_t rows : {1, 40, 1500, 5000}) {
    check({piece({rows, 3}, 0), piece({rows + 7, 3}, 1), piece({2, 3}, 2)}, 0);
    check({piece({rows, 1}, 0), piece({rows, 1}, 1), piece({rows, 1}, 2), piece({rows, 2}, 3)}, 1);
  }
  std::vector<Tensor> many;
  for (std::int64_t k = 0; k < 150; ++k) many.push_back(piece({300, 1 + k % 2}, k));
  check(many, 1);
}

TEST_CASE("narrow pieces of rows that are longer than a tile") {
  std::vector<Tensor> many;
  for (std::int64_t k = 0; k < 90; ++k) many.push_back(piece({50, 30 + k % 3}, k));
  check(many, 1);
  check({piece({3, 2000}, 0), piece({3, 1}, 1), piece({3, 900}, 2)}, 1);
}

TEST_CASE("pieces that are reversed, turned, repeated, windows, or computed") {
  const Tensor x = piece({40, 40}, 1), row = piece({40}, 2);
  check({x.flip(0), x.flip(1), x}, 0);
  check({x.flip(0), x.flip(1), x}, 1);
  check({x.transpose(), x, x.transpose().flip(1)}, 1);
  check({row.reshape({1, 40}).expand({40, 40}), x, row.reshape({40, 1}).expand({40, 40})}, 0);
  check({x.shrink({{0, 40}, {3, 9}}), x.shrink({{0, 40}, {9, 10}}), pad(x, Ranges{{0, 0}, {2, 2}})}, 1);
  check({x * 2, x, x + row, x.flip(0)}, 1);
  check({x, exp(x * 0.01)}, 0);
}

TEST_CASE("edges by reflection, and rows that are rolled") {
  for (const std::int64_t n : {5, 68, 700}) {
    const Tensor x = piece({n, 9}, 1);
    const Tensor p = pad(x, {{3, 2}, {1, 4}}, PadMode::reflect);
    const std::vector<float> from = x.to_vector<float>(), got = p.to_vector<float>();
    const auto mirrored = [](std::int64_t i, std::int64_t extent) {
      return i < 0 ? -i : i >= extent ? 2 * (extent - 1) - i : i;
    };
    bool equal = true;
    for (std::int64_t i = 0; i < n + 5; ++i)
      for (std::int64_t j = 0; j < 14; ++j)
        equal = equal && got[static_cast<std::size_t>(i * 14 + j)] ==
                             from[static_cast<std::size_t>(mirrored(i - 3, n) * 9 + mirrored(j - 1, 9))];
    CHECK(equal);
  }
}

TEST_CASE("a piece whose memory the result takes") {
  Tensor x = piece({64, 8}, 1);
  const std::vector<float> before = x.to_vector<float>();
  for (int round = 0; round < 3; ++round) {
    x = concat({x.shrink({{0, 64}, {0, 3}}), x.shrink({{0, 64}, {3, 8}}) + 1}, 1);
    x.realize();
  }
  const std::vector<float> after = x.to_vector<float>();
  for (std::size_t i = 0; i < after.size(); ++i) CHECK(after[i] == before[i] + (i % 8 < 3 ? 0 : 3));
}

TEST_CASE("short pieces side by side are one kernel, and long ones are written where they go") {
  std::vector<Tensor> columns, blocks;
  for (std::int64_t k = 0; k < 8; ++k) {
    columns.push_back(piece({40'000}, k));
    blocks.push_back(piece({400, 100}, k));
  }
  CHECK(explain(stack(columns, 1)).kernels.size() == 1);
  CHECK(explain(concat(blocks, 0)).kernels.size() > 8);
}

}  // namespace join_parts_test
