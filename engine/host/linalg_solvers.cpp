// Linear algebra by Eigen on batches of matrices: triangles, solutions, determinants.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "host/linalg_batch.hpp"

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

/// The factors of a matrix, by partial pivoting.
template <class T, int n>
class LuFactors {
 public:
  LuFactors(const T* x, ei::Index rows) : lu_(In<T, n>(x, rows, rows)) {}
  T pivot(ei::Index p) const { return lu_.matrixLU()(p, p); }
  T sign() const { return static_cast<T>(lu_.permutationP().determinant()); }
  /// The product of the pivots; `least` becomes the magnitude of the smallest partial product.
  T product(T& least) const {
    T out = pivot(0);
    least = std::abs(out);
    for (ei::Index p = 1; p < lu_.rows(); ++p) {
      out *= pivot(p);
      least = std::min(least, std::abs(out));
    }
    return out;
  }
  /// y with x y = b, where b and y have k columns.
  void solve(const T* b, T* y, ei::Index k) const {
    const Any<T> columns = In<T, kAny>(b, lu_.rows(), k);
    Out<T, kAny>(y, lu_.rows(), k) = lu_.solve(columns);
  }
  void invert(T* y) const {
    const Any<T> unit = Any<T>::Identity(lu_.rows(), lu_.rows());
    Out<T, kAny>(y, lu_.rows(), lu_.rows()) = lu_.solve(unit);
  }

 private:
  ei::PartialPivLU<Any<T>> lu_;
};

/// Matrices of a fixed size have plain loops with the steps and the bits of Eigen, whose templates would take minutes
/// to compile.
template <class T, int n>
requires(n != kAny) class LuFactors<T, n> {
 public:
  LuFactors(const T* x, ei::Index) {
    std::copy_n(x, n * n, &m_[0][0]);
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) row_[i] = i;
#pragma GCC unroll 8
    for (int k = 0; k < n - 1; ++k) {
      int best = k;
      T most = std::abs(m_[k][k]);
#pragma GCC unroll 8
      for (int i = k + 1; i < n; ++i) {
        const T size = std::abs(m_[i][k]);
        if (size > most) best = i, most = size;
      }
      if (best != k) {
        std::swap(m_[k], m_[best]);
        std::swap(row_[k], row_[best]);
        sign_ = -sign_;
      }
      if (most == 0) continue;
#pragma GCC unroll 8
      for (int i = k + 1; i < n; ++i) {
        const T factor = m_[i][k] /= m_[k][k];
#pragma GCC unroll 8
        for (int j = k + 1; j < n; ++j) m_[i][j] -= factor * m_[k][j];
      }
    }
  }
  T pivot(ei::Index p) const { return m_[p][p]; }
  T sign() const { return sign_; }
  T product(T& least) const {
    least = std::numeric_limits<T>::max();
    return tree<0, n>(least);
  }
  void solve(const T* b, T* y, ei::Index k) const {
    for (ei::Index j = 0; j < k; ++j) {
      T x[n];
#pragma GCC unroll 8
      for (int i = 0; i < n; ++i) x[i] = b[row_[i] * k + j];
      substitute(x);
#pragma GCC unroll 8
      for (int i = 0; i < n; ++i) y[i * k + j] = x[i];
    }
  }
  void invert(T* y) const {
    for (int j = 0; j < n; ++j) {
      T x[n];
#pragma GCC unroll 8
      for (int i = 0; i < n; ++i) x[i] = row_[i] == j ? T(1) : T(0);
      substitute(x);
#pragma GCC unroll 8
      for (int i = 0; i < n; ++i) y[i * n + j] = x[i];
    }
  }

 private:
  void substitute(T (&x)[n]) const {
#pragma GCC unroll 8
    for (int k = 0; k < n; ++k)
#pragma GCC unroll 8
      for (int i = k + 1; i < n; ++i) x[i] -= m_[i][k] * x[k];
#pragma GCC unroll 8
    for (int k = n - 1; k >= 0; --k) {
      x[k] /= m_[k][k];
#pragma GCC unroll 8
      for (int i = 0; i < k; ++i) x[i] -= m_[i][k] * x[k];
    }
  }
  /// Of pivots [first, first + count), as a tree.
  template <int first, int count>
  T tree(T& least) const {
    if constexpr (count == 1) {
      return m_[first][first];
    } else {
      constexpr int half = count / 2;
      const T out = tree<first, half>(least) * tree<first + half, count - half>(least);
      least = std::min(least, std::abs(out));
      return out;
    }
  }

  T m_[n][n];   // l below the diagonal, u above and on it
  int row_[n];  // which row of x each row of l u is
  T sign_ = 1;
};

/// The determinant where partial products of pivots leave the range: mantissas and exponents apart.
template <class T>
[[gnu::noinline]] T far_determinant(T sign, const std::vector<T>& pivots) {
  T product = sign;
  std::int64_t power = 0;
  for (const T pivot : pivots) {
    int of_pivot = 0, of_product = 0;
    const T mantissa = std::frexp(pivot, &of_pivot);
    product = std::frexp(product * mantissa, &of_product);
    power += of_pivot + of_product;
  }
  constexpr std::int64_t far = 1 << 14;
  return std::ldexp(product, static_cast<int>(std::clamp(power, -far, far)));
}

template <class T, int fixed>
T determinant(const T* x, ei::Index rows) {
  const LuFactors<T, fixed> lu(x, rows);
  T least = 0;
  const T plain = lu.product(least);
  const bool kept = least >= std::numeric_limits<T>::min() && std::abs(plain) <= std::numeric_limits<T>::max();
  if (kept || fixed == 1) return lu.sign() * plain;
  std::vector<T> pivots;
  for (ei::Index p = 0; p < rows; ++p) pivots.push_back(lu.pivot(p));
  return far_determinant(lu.sign(), pivots);
}

template <class Factors>
void need_pivots(const char* operation, const HostCall& c, std::int64_t k, const Factors& factors, std::int64_t n) {
  for (ei::Index p = 0; p < n; ++p)
    if (factors.pivot(p) == 0) refuse(operation, c, k, fmt::format("is singular: pivot {} is 0", p));
}

struct Solve {
  static constexpr bool kSquare = true, kTwo = true;
  static std::int64_t size(const MatrixExtents& s) { return s.n * s.k; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), b(c.operands[1]), y(c.result);
    with_size(x.rows, [&](auto size) {
      for (std::int64_t k = 0; k < x.count; ++k) {
        const LuFactors<T, size> lu(x.at(k), x.rows);
        need_pivots("solve", c, k, lu, x.rows);
        lu.solve(b.at(k), y.at(k), b.columns);
      }
    });
  }
};

struct Inverse {
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const MatrixExtents& s) { return s.n * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), y(c.result);
    with_size(x.rows, [&](auto size) {
      for (std::int64_t k = 0; k < x.count; ++k) {
        const LuFactors<T, size> lu(x.at(k), x.rows);
        need_pivots("inverse", c, k, lu, x.rows);
        lu.invert(y.at(k));
      }
    });
  }
};

/// The lower factor. Is x positive definite?
template <class T, int n>
bool factor(const T* x, ei::Index rows, T* y) {
  if constexpr (n == kAny) {
    const ei::LLT<Any<T>> llt(In<T, kAny>(x, rows, rows));
    if (llt.info() != ei::Success) return false;
    Out<T, kAny>(y, rows, rows) = llt.matrixLLT().template triangularView<ei::Lower>();
    return true;
  } else {
    T m[n][n] = {};
    for (int k = 0; k < n; ++k) {
      for (int i = k; i < n; ++i) {
        T sum = 0;
        for (int j = 0; j < k; ++j) sum += m[i][j] * m[k][j];
        m[i][k] = x[i * n + k] - sum;
      }
      if (m[k][k] <= 0) return false;
      m[k][k] = std::sqrt(m[k][k]);
      for (int i = k + 1; i < n; ++i) m[i][k] /= m[k][k];
    }
    std::copy_n(&m[0][0], n * n, y);
    return true;
  }
}

struct Cholesky {
  bool upper = false;
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const MatrixExtents& s) { return s.n * s.n; }
  template <class T>
  void run(const HostCall& c) const {
    const Batch<T> x(c.operands[0]), y(c.result);
    with_size(x.rows, [&](auto size) {
      for (std::int64_t k = 0; k < x.count; ++k) {
        if (!factor<T, size>(x.at(k), x.rows, y.at(k))) refuse("cholesky", c, k, "is not positive definite");
        if (!upper) continue;
        for (std::int64_t i = 0; i < x.rows; ++i)
          for (std::int64_t j = 0; j < i; ++j) std::swap(y.at(k)[i * x.rows + j], y.at(k)[j * x.rows + i]);
      }
    });
  }
};

struct Triangular {
  bool upper = false;
  bool unit = false;  // is the diagonal taken for ones?
  static constexpr bool kSquare = true, kTwo = true;
  static std::int64_t size(const MatrixExtents& s) { return s.n * s.k; }
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
  std::int64_t size(const MatrixExtents&) const { return logarithm ? 2 : 1; }
  template <class T>
  void run(const HostCall& c) const {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    with_size(x.rows, [&](auto size) {
      for (std::int64_t k = 0; k < x.count; ++k) {
        if (x.rows == 0) {
          y.at(k)[0] = 1;
          if (logarithm) y.at(k)[1] = 0;
          continue;
        }
        if (logarithm) {
          const LuFactors<T, size> lu(x.at(k), x.rows);
          T sign = lu.sign(), sum = 0;
          for (ei::Index p = 0; p < x.rows; ++p) {
            const T pivot = lu.pivot(p);
            sign = pivot != pivot ? pivot : pivot < 0 ? -sign : pivot > 0 ? sign : T(0);
            sum += std::log(std::abs(pivot));
          }
          y.at(k)[0] = sign;
          y.at(k)[1] = sum;
        } else {
          y.at(k)[0] = determinant<T, size>(x.at(k), x.rows);
        }
      }
    });
  }
};

/// The derivatives of the determinant by each element, also of a singular matrix. By complete pivoting p x q = l u, and
/// of u = [[a, b], [0, e]] the cofactors, transposed, are det(a) [[e a^-1, -a^-1 b], [0, 1]]: nothing is divided by the
/// last pivot, and if one before it is 0, all are 0.
struct Cofactors {
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const MatrixExtents& s) { return s.n * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), y(c.result);
    const ei::Index n = x.rows, last = n - 1;
    for (std::int64_t k = 0; k < x.count && n > 0; ++k) {
      const Any<double> doubles = In<T, kAny>(x.at(k), n, n).template cast<double>();
      const ei::FullPivLU<Any<double>> lu(doubles);
      const Any<double>& factors = lu.matrixLU();
      double product = static_cast<double>(lu.permutationP().determinant() * lu.permutationQ().determinant());
      for (ei::Index p = 0; p < last; ++p) product *= factors(p, p);
      Any<double> z = Any<double>::Zero(n, n);
      if (product != 0) {
        Any<double> a = factors.topLeftCorner(last, last), inner = Any<double>::Identity(last, n);
        inner.col(last) = -factors.col(last).head(last);
        a.triangularView<ei::Upper>().solveInPlace(inner);
        inner.leftCols(last) *= factors(last, last);
        z.topRows(last) = inner;
        z(last, last) = 1;
        // Times l^-1 from the right, transposed.
        Any<double> transposed = z.transpose(), l = factors.transpose();
        l.triangularView<ei::UnitUpper>().solveInPlace(transposed);
        z = lu.permutationQ() * Any<double>(transposed.transpose() * product) * lu.permutationP();
      }
      Out<T, kAny>(y.at(k), n, n) = z.transpose().template cast<T>();
    }
  }
};

/// The row of x that each row of l u is, then l and u in one matrix.
struct PivotedLu {
  static constexpr bool kSquare = false, kTwo = false;
  static std::int64_t size(const MatrixExtents& s) { return s.m + s.m * s.n; }
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
      made<8>("cofactors", Cofactors()),
      made<1>("slogdet", Determinant{.logarithm = true}),
      made<2>("lu", PivotedLu()),
  };
}

}  // namespace oriel::api::linalg
