// What the functions of linear algebra share: batches of matrices in host memory, and how a function is made of a loop.
#pragma once

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/host_function.hpp"
#include "oriel/error.hpp"

namespace oriel::api::linalg {

namespace ei = Eigen;

template <class T, int kRows, int kColumns = kRows>
using RowMajor = ei::Matrix<T, kRows, kColumns, kColumns == 1 && kRows != 1 ? ei::ColMajor : ei::RowMajor>;
template <class T, int kRows, int kColumns = kRows>
using In = ei::Map<const RowMajor<T, kRows, kColumns>>;
template <class T, int kRows, int kColumns = kRows>
using Out = ei::Map<RowMajor<T, kRows, kColumns>>;
template <class T>
using Any = ei::Matrix<T, ei::Dynamic, ei::Dynamic>;

inline constexpr int kAny = ei::Dynamic;

/// The matrices of an operand: (batches, rows, columns).
template <class T>
struct Batch {
  explicit Batch(const HostArray& a)
      : data(static_cast<T*>(a.data)),
        count(a.shape[0]),
        rows(a.shape[1]),
        columns(a.shape.size() > 2 ? a.shape[2] : 1),
        size(rows * columns) {}
  T* at(std::int64_t k) const { return data + k * size; }
  T* data;
  std::int64_t count, rows, columns, size;
};

/// The result, as so many numbers for each batch.
template <class T>
struct Packed {
  explicit Packed(const HostArray& a)
      : data(static_cast<T*>(a.data)), size(a.shape[0] == 0 ? 0 : a.size() / a.shape[0]) {}
  T* at(std::int64_t k) const { return data + k * size; }
  T* data;
  std::int64_t size;
};

/// Of the matrices m x n, and of the second operand, whose matrices are m x k.
struct MatrixExtents {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t least() const { return std::min(m, n); }
};

/// Throws unless the arrays are what f expects: a graph that comes from a file may say anything.
template <class F>
void check(const char* name, const F& f, const HostCall& c) {
  const auto& x = c.operands[0];
  const auto fits = [&](const HostArray& a) {
    return a.dtype == x.dtype && !a.shape.empty() && a.shape[0] == x.shape[0];
  };
  bool good = (x.dtype == DType::float32 || x.dtype == DType::float64) && x.shape.size() == 3 &&
              c.operands.size() == (F::kTwo ? 2U : 1U) && fits(c.result) && fits(c.operands.back());
  if (good && F::kSquare) good = x.shape[1] == x.shape[2];
  if (good && F::kTwo) good = c.operands[1].shape.size() == 3 && c.operands[1].shape[1] == x.shape[1];
  if (good) {
    const MatrixExtents sizes{x.shape[1], x.shape[2], F::kTwo ? c.operands[1].shape[2] : 0};
    good = c.result.size() == x.shape[0] * f.size(sizes);
  }
  if (!good) throw ArgumentError(name, "a file has operands for it that do not fit");
}

[[noreturn]] inline void refuse(const char* operation, const HostCall& c, std::int64_t k, const std::string& why) {
  throw ArgumentError(operation, fmt::format("matrix {} of the batch {}", c.first + k, why));
}

/// Throws if an element is a NaN or an infinity.
template <class T>
void need_finite(const char* operation, const HostCall& c, const Batch<T>& x, std::int64_t k) {
  for (std::int64_t e = 0; e < x.size; ++e)
    if (!std::isfinite(x.at(k)[e])) refuse(operation, c, k, "holds a NaN or an infinity");
}

/// A rough estimate of what a matrix costs, by its operations.
template <int kFactor>
double nanoseconds(std::span<const std::vector<std::int64_t>> shapes) {
  const std::vector<std::int64_t>& x = shapes[0];
  if (x.size() < 3) return 0;  // a file may say anything
  const double m = static_cast<double>(x[1]), n = static_cast<double>(x[2]);
  return kFactor * (10 + 0.3 * m * n * std::min(m, n) + 2 * (m + n));
}

/// The function `name` (as graphs and files call it) that runs `f` on batches of float32 or float64. What a variant
/// changes is a value of F, so that Eigen's code stands once for each dtype.
template <int kFactor, class F>
graph::HostFunctionPtr made(const char* name, F f = {}) {
  const auto run = [name, f](const HostCall& c) {
    check(name, f, c);
    if (c.operands[0].dtype == DType::float64) return f.template run<double>(c);
    f.template run<float>(c);
  };
  auto function = std::make_shared<graph::HostFunction>(name, run, HostOptions{.batched = true}, name);
  function->batch_nanoseconds = nanoseconds<kFactor>;
  return function;
}

using Functions = std::vector<graph::HostFunctionPtr>;
/// Triangles, products of triangles, determinants.
Functions solvers();
/// Orthogonal factors, singular values, eigenvalues.
Functions factors();

}  // namespace oriel::api::linalg
