// Linear algebra by Eigen on batches of matrices in host memory.
#include "api/linalg_functions.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "oriel/error.hpp"

namespace oriel::api {
namespace {

namespace ei = Eigen;

template <class T, int kRows, int kColumns = kRows>
using RowMajor = ei::Matrix<T, kRows, kColumns, kColumns == 1 && kRows != 1 ? ei::ColMajor : ei::RowMajor>;
template <class T, int kRows, int kColumns = kRows>
using In = ei::Map<const RowMajor<T, kRows, kColumns>>;
template <class T, int kRows, int kColumns = kRows>
using Out = ei::Map<RowMajor<T, kRows, kColumns>>;
template <class T>
using Any = ei::Matrix<T, ei::Dynamic, ei::Dynamic>;

constexpr int kAny = ei::Dynamic;

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
struct Sizes {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t least() const { return std::min(m, n); }
};

/// Throws unless the arrays are what F expects: a graph that comes from a file may say anything.
template <class F>
void check(const char* name, const HostCall& c) {
  const auto& x = c.operands[0];
  const auto fits = [&](const HostArray& a) {
    return a.dtype == x.dtype && !a.shape.empty() && a.shape[0] == x.shape[0];
  };
  bool good = (x.dtype == DType::float32 || x.dtype == DType::float64) && x.shape.size() == 3 &&
              c.operands.size() == (F::kTwo ? 2U : 1U) && fits(c.result) && fits(c.operands.back());
  if (good && F::kSquare) good = x.shape[1] == x.shape[2];
  if (good && F::kTwo) good = c.operands[1].shape.size() == 3 && c.operands[1].shape[1] == x.shape[1];
  if (good) {
    const Sizes sizes{x.shape[1], x.shape[2], F::kTwo ? c.operands[1].shape[2] : 0};
    good = c.result.size() == x.shape[0] * F::size(sizes);
  }
  if (!good) throw ArgumentError(name, "a file has operands for it that do not fit");
}

[[noreturn]] void refuse(const char* operation, const HostCall& c, std::int64_t k, const std::string& why) {
  throw ArgumentError(operation, fmt::format("matrix {} of the batch {}", c.first + k, why));
}

/// Calls f(size) with the size as a constant if matrices of that size have code of their own.
template <class F>
void with_size(std::int64_t n, F&& f) {
  switch (n) {
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 8:
      return f(std::integral_constant<int, 8>());
    default:
      return f(std::integral_constant<int, kAny>());
  }
}

/// Throws if an element is a NaN or an infinity.
template <class T>
void need_finite(const char* operation, const HostCall& c, const Batch<T>& x, std::int64_t k) {
  for (std::int64_t e = 0; e < x.size; ++e)
    if (!std::isfinite(x.at(k)[e])) refuse(operation, c, k, "holds a NaN or an infinity");
}

template <class Factors>
void need_pivots(const char* operation, const HostCall& c, std::int64_t k, const Factors& factors) {
  for (ei::Index p = 0; p < factors.rows(); ++p)
    if (factors(p, p) == 0) refuse(operation, c, k, fmt::format("is singular: pivot {} is 0", p));
}

struct Solve {
  static constexpr bool kSquare = true, kTwo = true;
  static std::int64_t size(const Sizes& s) { return s.n * s.k; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), b(c.operands[1]), y(c.result);
    const auto loop = [&](auto size, auto columns) {
      constexpr int n = decltype(size)::value, m = decltype(columns)::value;
      for (std::int64_t k = 0; k < x.count; ++k) {
        const ei::PartialPivLU<ei::Matrix<T, n, n>> lu(In<T, n>(x.at(k), x.rows, x.rows));
        need_pivots("solve", c, k, lu.matrixLU());
        Out<T, n, m>(y.at(k), b.rows, b.columns) = lu.solve(In<T, n, m>(b.at(k), b.rows, b.columns));
      }
    };
    with_size(x.rows, [&](auto size) {
      if (b.columns == 1) return loop(size, std::integral_constant<int, 1>());
      loop(size, std::integral_constant<int, kAny>());
    });
  }
};

struct Inverse {
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const Sizes& s) { return s.n * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), y(c.result);
    with_size(x.rows, [&](auto size) {
      constexpr int n = decltype(size)::value;
      for (std::int64_t k = 0; k < x.count; ++k) {
        const ei::PartialPivLU<ei::Matrix<T, n, n>> lu(In<T, n>(x.at(k), x.rows, x.rows));
        need_pivots("inverse", c, k, lu.matrixLU());
        Out<T, n>(y.at(k), x.rows, x.rows) = lu.inverse();
      }
    });
  }
};

template <bool kUpper>
struct Cholesky {
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const Sizes& s) { return s.n * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), y(c.result);
    with_size(x.rows, [&](auto size) {
      constexpr int n = decltype(size)::value;
      for (std::int64_t k = 0; k < x.count; ++k) {
        const ei::LLT<ei::Matrix<T, n, n>> llt(In<T, n>(x.at(k), x.rows, x.rows));
        if (llt.info() != ei::Success) refuse("cholesky", c, k, "is not positive definite");
        if constexpr (kUpper)
          Out<T, n>(y.at(k), x.rows, x.rows) = llt.matrixU().toDenseMatrix();
        else
          Out<T, n>(y.at(k), x.rows, x.rows) = llt.matrixL().toDenseMatrix();
      }
    });
  }
};

template <int kTriangle>
struct Triangular {
  static constexpr bool kSquare = true, kTwo = true;
  static std::int64_t size(const Sizes& s) { return s.n * s.k; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), b(c.operands[1]), y(c.result);
    for (std::int64_t k = 0; k < x.count; ++k) {
      const In<T, kAny> matrix(x.at(k), x.rows, x.rows);
      Out<T, kAny>(y.at(k), b.rows, b.columns) =
          matrix.template triangularView<kTriangle>().solve(In<T, kAny>(b.at(k), b.rows, b.columns));
    }
  }
};

/// The sign of the determinant and the logarithm of its magnitude, or the determinant.
template <bool kLogarithm>
struct Determinant {
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const Sizes&) { return kLogarithm ? 2 : 1; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    with_size(x.rows, [&](auto size) {
      constexpr int n = decltype(size)::value;
      for (std::int64_t k = 0; k < x.count; ++k) {
        if (x.rows == 0) {
          y.at(k)[0] = 1;
          if (kLogarithm) y.at(k)[1] = 0;
          continue;
        }
        const ei::PartialPivLU<ei::Matrix<T, n, n>> lu(In<T, n>(x.at(k), x.rows, x.rows));
        if constexpr (kLogarithm) {
          T sign = static_cast<T>(lu.permutationP().determinant()), logarithm = 0;
          for (ei::Index p = 0; p < x.rows; ++p) {
            const T pivot = lu.matrixLU()(p, p);
            sign = pivot != pivot ? pivot : pivot < 0 ? -sign : pivot > 0 ? sign : T(0);
            logarithm += std::log(std::abs(pivot));
          }
          y.at(k)[0] = sign;
          y.at(k)[1] = logarithm;
        } else {
          y.at(k)[0] = lu.determinant();
        }
      }
    });
  }
};

/// q, then r.
template <bool kComplete>
struct HouseholderQr {
  static constexpr bool kSquare = false, kTwo = false;
  static std::int64_t size(const Sizes& s) { return (s.m + s.n) * (kComplete ? s.m : s.least()); }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    const ei::Index inner = kComplete ? x.rows : std::min(x.rows, x.columns);
    for (std::int64_t k = 0; k < x.count; ++k) {
      const ei::HouseholderQR<Any<T>> qr(In<T, kAny>(x.at(k), x.rows, x.columns));
      Out<T, kAny>(y.at(k), x.rows, inner) = qr.householderQ() * Any<T>::Identity(x.rows, inner);
      Out<T, kAny>(y.at(k) + x.rows * inner, inner, x.columns) =
          qr.matrixQR().topRows(inner).template triangularView<ei::Upper>();
    }
  }
};

/// The row of x that each row of l u is, then l and u in one matrix.
struct PivotedLu {
  static constexpr bool kSquare = false, kTwo = false;
  static std::int64_t size(const Sizes& s) { return s.m + s.m * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    std::vector<std::int64_t> order(static_cast<std::size_t>(x.rows));
    for (std::int64_t k = 0; k < x.count; ++k) {
      Out<T, kAny> a(y.at(k) + x.rows, x.rows, x.columns);
      a = In<T, kAny>(x.at(k), x.rows, x.columns);
      for (std::int64_t i = 0; i < x.rows; ++i) order[static_cast<std::size_t>(i)] = i;
      for (std::int64_t p = 0; p < std::min(x.rows, x.columns); ++p) {
        ei::Index best = 0;
        a.col(p).tail(x.rows - p).cwiseAbs().maxCoeff(&best);
        if (best != 0) {
          a.row(p).swap(a.row(p + best));
          std::swap(order[static_cast<std::size_t>(p)], order[static_cast<std::size_t>(p + best)]);
        }
        if (a(p, p) == 0) continue;
        const ei::Index below = x.rows - p - 1, right = x.columns - p - 1;
        a.col(p).tail(below) /= a(p, p);
        a.bottomRightCorner(below, right).noalias() -= a.col(p).tail(below) * a.row(p).tail(right);
      }
      for (std::int64_t i = 0; i < x.rows; ++i) y.at(k)[i] = static_cast<T>(order[static_cast<std::size_t>(i)]);
    }
  }
};

enum class Parts { Values, Thin, Full };

/// u, s, vh; or s alone.
template <Parts kParts>
struct SingularValues {
  static constexpr bool kSquare = false, kTwo = false;
  static std::int64_t size(const Sizes& s) {
    if (kParts == Parts::Values) return s.least();
    return s.least() + (kParts == Parts::Thin ? (s.m + s.n) * s.least() : s.m * s.m + s.n * s.n);
  }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    const ei::Index least = std::min(x.rows, x.columns);
    const ei::Index left = kParts == Parts::Full ? x.rows : least, right = kParts == Parts::Full ? x.columns : least;
    constexpr unsigned wanted = kParts == Parts::Values ? 0U
                                : kParts == Parts::Thin ? unsigned{ei::ComputeThinU} | unsigned{ei::ComputeThinV}
                                                        : unsigned{ei::ComputeFullU} | unsigned{ei::ComputeFullV};
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("svd", c, x, k);
      const ei::BDCSVD<Any<T>> svd(In<T, kAny>(x.at(k), x.rows, x.columns), wanted);
      T* to = y.at(k);
      if constexpr (kParts != Parts::Values) {
        Out<T, kAny>(to, x.rows, left) = svd.matrixU();
        to += x.rows * left;
      }
      ei::Map<ei::Matrix<T, kAny, 1>>(to, least) = svd.singularValues();
      if constexpr (kParts != Parts::Values) Out<T, kAny>(to + least, right, x.columns) = svd.matrixV().transpose();
    }
  }
};

/// Ascending values, then vectors as columns.
template <bool kVectors>
struct SymmetricEigen {
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const Sizes& s) { return s.n + (kVectors ? s.n * s.n : 0); }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("eigh", c, x, k);
      const ei::SelfAdjointEigenSolver<Any<T>> solver(In<T, kAny>(x.at(k), x.rows, x.rows),
                                                      kVectors ? ei::ComputeEigenvectors : ei::EigenvaluesOnly);
      if (solver.info() != ei::Success) refuse("eigh", c, k, "has eigenvalues that were not found");
      ei::Map<ei::Matrix<T, kAny, 1>>(y.at(k), x.rows) = solver.eigenvalues();
      if constexpr (kVectors) Out<T, kAny>(y.at(k) + x.rows, x.rows, x.rows) = solver.eigenvectors();
    }
  }
};

/// Real and imaginary parts of the values, then those of the vectors.
struct GeneralEigen {
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const Sizes& s) { return 2 * s.n + 2 * s.n * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    const ei::Index n = x.rows;
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("eig", c, x, k);
      const ei::EigenSolver<Any<T>> solver(In<T, kAny>(x.at(k), n, n));
      if (solver.info() != ei::Success) refuse("eig", c, k, "has eigenvalues that were not found");
      T* to = y.at(k);
      ei::Map<ei::Matrix<T, kAny, 1>>(to, n) = solver.eigenvalues().real();
      ei::Map<ei::Matrix<T, kAny, 1>>(to + n, n) = solver.eigenvalues().imag();
      const auto vectors = solver.eigenvectors();
      Out<T, kAny>(to + 2 * n, n, n) = vectors.real();
      Out<T, kAny>(to + 2 * n + n * n, n, n) = vectors.imag();
    }
  }
};

struct LeastSquares {
  static constexpr bool kSquare = false, kTwo = true;
  static std::int64_t size(const Sizes& s) { return s.n * s.k; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), b(c.operands[1]), y(c.result);
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("lstsq", c, x, k);
      const ei::CompleteOrthogonalDecomposition<Any<T>> found(In<T, kAny>(x.at(k), x.rows, x.columns));
      Out<T, kAny>(y.at(k), x.columns, b.columns) = found.solve(In<T, kAny>(b.at(k), b.rows, b.columns));
    }
  }
};

/// A rough estimate of what a matrix costs, by its operations.
template <int kFactor>
double nanoseconds(std::span<const std::vector<std::int64_t>> shapes) {
  const std::vector<std::int64_t>& x = shapes[0];
  const double m = static_cast<double>(x[1]), n = static_cast<double>(x[2]);
  return kFactor * (10 + 0.3 * m * n * std::min(m, n) + 2 * (m + n));
}

template <class F, int kFactor>
graph::HostFunctionPtr made(const char* name) {
  const auto run = [name](const HostCall& c) {
    check<F>(name, c);
    if (c.operands[0].dtype == DType::float64) return F::template run<double>(c);
    F::template run<float>(c);
  };
  auto function = std::make_shared<graph::HostFunction>(name, run, HostOptions{.batched = true}, name);
  function->batch_nanoseconds = nanoseconds<kFactor>;
  return function;
}

}  // namespace

graph::HostFunctionPtr linalg_function(std::string_view name) {
  static const graph::HostFunctionPtr functions[] = {
      made<Solve, 1>("solve"),
      made<Inverse, 2>("inverse"),
      made<Cholesky<false>, 1>("cholesky"),
      made<Cholesky<true>, 1>("cholesky:upper"),
      made<Triangular<ei::Lower>, 1>("triangular_solve"),
      made<Triangular<ei::UnitLower>, 1>("triangular_solve:unit"),
      made<Triangular<ei::Upper>, 1>("triangular_solve:upper"),
      made<Triangular<ei::UnitUpper>, 1>("triangular_solve:upper:unit"),
      made<Determinant<false>, 1>("det"),
      made<Determinant<true>, 1>("slogdet"),
      made<HouseholderQr<false>, 4>("qr"),
      made<HouseholderQr<true>, 4>("qr:complete"),
      made<PivotedLu, 2>("lu"),
      made<SingularValues<Parts::Values>, 20>("svdvals"),
      made<SingularValues<Parts::Thin>, 40>("svd"),
      made<SingularValues<Parts::Full>, 40>("svd:full"),
      made<SymmetricEigen<false>, 10>("eigvalsh"),
      made<SymmetricEigen<true>, 20>("eigh"),
      made<GeneralEigen, 40>("eig"),
      made<LeastSquares, 8>("lstsq"),
  };
  for (const graph::HostFunctionPtr& function : functions)
    if (function->saved == name) return function;
  return nullptr;
}

}  // namespace oriel::api
