// Linear algebra by Eigen on batches of matrices: triangles, solutions, determinants.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <type_traits>

#include "api/linalg_batch.hpp"

namespace oriel::api::linalg {
namespace {

/// Calls f(size) with the size as a constant if matrices of that size have code of their own.
template <class F>
void with_size(std::int64_t n, F&& f) {
  switch (n) {
    case 1:
      return f(std::integral_constant<int, 1>());
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

template <class Factors>
void need_pivots(const char* operation, const HostCall& c, std::int64_t k, const Factors& factors) {
  for (ei::Index p = 0; p < factors.rows(); ++p)
    if (factors(p, p) == 0) refuse(operation, c, k, fmt::format("is singular: pivot {} is 0", p));
}

/// Systems of a fixed size are solved here: the triangles of Eigen are unrolled by templates, which take minutes to
/// compile.
template <class T, int n, class B, class Y>
void solve_columns(const ei::PartialPivLU<ei::Matrix<T, n, n>>& lu, const B& b, Y&& y) {
  if constexpr (n == kAny) {
    const Any<T> columns = b;
    y = lu.solve(columns);
  } else {
    const T* const m = lu.matrixLU().data();  // column-major
    const auto& row = lu.permutationP().indices();
    for (ei::Index j = 0; j < b.cols(); ++j) {
      T x[n];
#pragma GCC unroll 8
      for (int i = 0; i < n; ++i) x[row(i)] = b(i, j);
#pragma GCC unroll 8
      for (int k = 0; k < n; ++k)
#pragma GCC unroll 8
        for (int i = k + 1; i < n; ++i) x[i] -= m[i + k * n] * x[k];
#pragma GCC unroll 8
      for (int k = n - 1; k >= 0; --k) {
        x[k] /= m[k + k * n];
#pragma GCC unroll 8
        for (int i = 0; i < k; ++i) x[i] -= m[i + k * n] * x[k];
      }
#pragma GCC unroll 8
      for (int i = 0; i < n; ++i) y(i, j) = x[i];
    }
  }
}

struct Solve {
  static constexpr bool kSquare = true, kTwo = true;
  static std::int64_t size(const Sizes& s) { return s.n * s.k; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), b(c.operands[1]), y(c.result);
    with_size(x.rows, [&](auto size) {
      constexpr int n = decltype(size)::value;
      for (std::int64_t k = 0; k < x.count; ++k) {
        const ei::PartialPivLU<ei::Matrix<T, n, n>> lu(In<T, n>(x.at(k), x.rows, x.rows));
        need_pivots("solve", c, k, lu.matrixLU());
        solve_columns(lu, In<T, n, kAny>(b.at(k), b.rows, b.columns), Out<T, n, kAny>(y.at(k), b.rows, b.columns));
      }
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
        solve_columns(lu, ei::Matrix<T, n, n>::Identity(x.rows, x.rows), Out<T, n>(y.at(k), x.rows, x.rows));
      }
    });
  }
};

struct Cholesky {
  bool upper = false;
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const Sizes& s) { return s.n * s.n; }
  template <class T>
  void run(const HostCall& c) const {
    const Batch<T> x(c.operands[0]), y(c.result);
    with_size(x.rows, [&](auto size) {
      constexpr int n = decltype(size)::value;
      for (std::int64_t k = 0; k < x.count; ++k) {
        const ei::LLT<ei::Matrix<T, n, n>> llt(In<T, n>(x.at(k), x.rows, x.rows));
        if (llt.info() != ei::Success) refuse("cholesky", c, k, "is not positive definite");
        Out<T, n> result(y.at(k), x.rows, x.rows);
        if (upper)
          result = llt.matrixU().toDenseMatrix();
        else
          result = llt.matrixL().toDenseMatrix();
      }
    });
  }
};

struct Triangular {
  bool upper = false;
  bool unit = false;  // is the diagonal taken for ones?
  static constexpr bool kSquare = true, kTwo = true;
  static std::int64_t size(const Sizes& s) { return s.n * s.k; }
  template <class T>
  void run(const HostCall& c) const {
    const Batch<T> x(c.operands[0]), b(c.operands[1]), y(c.result);
    Any<T> matrix, columns;
    for (std::int64_t k = 0; k < x.count; ++k) {
      matrix = In<T, kAny>(x.at(k), x.rows, x.rows);
      columns = In<T, kAny>(b.at(k), b.rows, b.columns);
      if (unit) matrix.diagonal().setOnes();
      if (upper)
        matrix.template triangularView<ei::Upper>().solveInPlace(columns);
      else
        matrix.template triangularView<ei::Lower>().solveInPlace(columns);
      Out<T, kAny>(y.at(k), b.rows, b.columns) = columns;
    }
  }
};

/// The sign of the determinant and the logarithm of its magnitude, or the determinant.
struct Determinant {
  bool logarithm = false;
  static constexpr bool kSquare = true, kTwo = false;
  std::int64_t size(const Sizes&) const { return logarithm ? 2 : 1; }
  template <class T>
  void run(const HostCall& c) const {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    with_size(x.rows, [&](auto size) {
      constexpr int n = decltype(size)::value;
      for (std::int64_t k = 0; k < x.count; ++k) {
        if (x.rows == 0) {
          y.at(k)[0] = 1;
          if (logarithm) y.at(k)[1] = 0;
          continue;
        }
        const ei::PartialPivLU<ei::Matrix<T, n, n>> lu(In<T, n>(x.at(k), x.rows, x.rows));
        if (logarithm) {
          T sign = static_cast<T>(lu.permutationP().determinant()), sum = 0;
          for (ei::Index p = 0; p < x.rows; ++p) {
            const T pivot = lu.matrixLU()(p, p);
            sign = pivot != pivot ? pivot : pivot < 0 ? -sign : pivot > 0 ? sign : T(0);
            sum += std::log(std::abs(pivot));
          }
          y.at(k)[0] = sign;
          y.at(k)[1] = sum;
        } else {
          y.at(k)[0] = lu.determinant();
        }
      }
    });
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

}  // namespace

Functions solvers() {
  return {
      made<1>("solve", Solve()),
      made<2>("inverse", Inverse()),
      made<1>("cholesky", Cholesky()),
      made<1>("cholesky:upper", Cholesky{.upper = true}),
      made<1>("triangular_solve", Triangular()),
      made<1>("triangular_solve:unit", Triangular{.unit = true}),
      made<1>("triangular_solve:upper", Triangular{.upper = true}),
      made<1>("triangular_solve:upper:unit", Triangular{.upper = true, .unit = true}),
      made<1>("det", Determinant()),
      made<1>("slogdet", Determinant{.logarithm = true}),
      made<2>("lu", PivotedLu()),
  };
}

}  // namespace oriel::api::linalg
