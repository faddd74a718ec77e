// Linear algebra by Eigen on batches of matrices: orthogonal factors, singular values, eigenvalues.
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <limits>

#include "host/linalg_batch.hpp"

namespace oriel::api::linalg {
namespace {

/// q, then r.
struct HouseholderQr {
  bool complete = false;
  static constexpr bool kSquare = false, kTwo = false;
  std::int64_t size(const MatrixExtents& s) const { return (s.m + s.n) * (complete ? s.m : s.least()); }
  template <class T>
  void run(const HostCall& c) const {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    const ei::Index inner = complete ? x.rows : std::min(x.rows, x.columns);
    for (std::int64_t k = 0; k < x.count; ++k) {
      const ei::HouseholderQR<Any<T>> qr(In<T, kAny>(x.at(k), x.rows, x.columns));
      Out<T, kAny>(y.at(k), x.rows, inner) = qr.householderQ() * Any<T>::Identity(x.rows, inner);
      Out<T, kAny>(y.at(k) + x.rows * inner, inner, x.columns) =
          qr.matrixQR().topRows(inner).template triangularView<ei::Upper>();
    }
  }
};

/// These are computed in float64 for both dtypes, in functions that are not inlined: each of Eigen's solvers takes many
/// seconds to compile, so it stands once.
using Doubles = Any<double>;
template <class T>
Doubles doubles(const Batch<T>& x, std::int64_t k) {
  return In<T, kAny>(x.at(k), x.rows, x.columns).template cast<double>();
}
template <class T>
void put(const Doubles& from, T* to) {
  Out<T, kAny>(to, from.rows(), from.cols()) = from.template cast<T>();
}

enum class Parts { Values, Thin, Full };

/// x = u s v^T. Without factors if only values are wanted.
struct SingularFactors {
  Doubles u, s, v;
};

[[gnu::noinline]] SingularFactors singular_factors(const Doubles& x, Parts parts) {
  const unsigned wanted = parts == Parts::Values ? 0U
                          : parts == Parts::Thin ? unsigned{ei::ComputeThinU} | unsigned{ei::ComputeThinV}
                                                 : unsigned{ei::ComputeFullU} | unsigned{ei::ComputeFullV};
  const ei::BDCSVD<Doubles> svd(x, wanted);
  if (parts == Parts::Values) return {{}, svd.singularValues(), {}};
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

/// u, s, vh; or s alone.
struct SingularValues {
  Parts parts = Parts::Values;
  static constexpr bool kSquare = false, kTwo = false;
  std::int64_t size(const MatrixExtents& s) const {
    if (parts == Parts::Values) return s.least();
    return s.least() + (parts == Parts::Thin ? (s.m + s.n) * s.least() : s.m * s.m + s.n * s.n);
  }
  template <class T>
  void run(const HostCall& c) const {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    const ei::Index least = std::min(x.rows, x.columns);
    const ei::Index left = parts == Parts::Full ? x.rows : least, right = parts == Parts::Full ? x.columns : least;
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("svd", c, x, k);
      T* to = y.at(k);
      if (least == 0) {  // Eigen computes no factors without singular values
        Out<T, kAny>(to, x.rows, left).setIdentity();
        Out<T, kAny>(to + x.rows * left, right, x.columns).setIdentity();
        continue;
      }
      const SingularFactors found = singular_factors(doubles(x, k), parts);
      if (parts != Parts::Values) {
        put(found.u, to);
        to += x.rows * left;
      }
      put(found.s, to);
      if (parts != Parts::Values) put(found.v.transpose(), to + least);
    }
  }
};

/// Values, and vectors as columns if they are wanted. False if values were not found.
[[gnu::noinline]] bool symmetric_eigen(const Doubles& x, Doubles& values, Doubles* vectors) {
  const ei::SelfAdjointEigenSolver<Doubles> solver(x,
                                                   vectors != nullptr ? ei::ComputeEigenvectors : ei::EigenvaluesOnly);
  if (solver.info() != ei::Success) return false;
  values = solver.eigenvalues();
  if (vectors != nullptr) *vectors = solver.eigenvectors();
  return true;
}

/// Ascending values, then vectors as columns.
struct SymmetricEigen {
  bool vectors = false;
  static constexpr bool kSquare = true, kTwo = false;
  std::int64_t size(const MatrixExtents& s) const { return s.n + (vectors ? s.n * s.n : 0); }
  template <class T>
  void run(const HostCall& c) const {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("eigh", c, x, k);
      Doubles values, columns;
      if (!symmetric_eigen(doubles(x, k), values, vectors ? &columns : nullptr))
        refuse("eigh", c, k, "has eigenvalues that were not found");
      put(values, y.at(k));
      if (vectors) put(columns, y.at(k) + x.rows);
    }
  }
};

/// Real and imaginary parts of the values, then those of the vectors. None if the values were not found.
[[gnu::noinline]] std::vector<Doubles> general_eigen(const Doubles& x) {
  const ei::EigenSolver<Doubles> solver(x);
  if (solver.info() != ei::Success) return {};
  const ei::MatrixXcd vectors = solver.eigenvectors();
  return {solver.eigenvalues().real(), solver.eigenvalues().imag(), vectors.real(), vectors.imag()};
}

struct GeneralEigen {
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const MatrixExtents& s) { return 2 * s.n + 2 * s.n * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("eig", c, x, k);
      const std::vector<Doubles> parts = general_eigen(doubles(x, k));
      if (parts.empty()) refuse("eig", c, k, "has eigenvalues that were not found");
      T* to = y.at(k);
      for (const Doubles& part : parts) {
        put(part, to);
        to += part.size();
      }
    }
  }
};

[[gnu::noinline]] Doubles pseudo_inverse(const Doubles& x, double share) {
  SingularFactors found = singular_factors(x, Parts::Thin);
  const double least = share * found.s(0, 0);
  for (ei::Index i = 0; i < found.s.rows(); ++i) found.s(i, 0) = found.s(i, 0) > least ? 1 / found.s(i, 0) : 0;
  const Doubles right = found.v * found.s.col(0).asDiagonal();
  return right * found.u.transpose();
}

/// By singular values above a share of the largest: the first element of each matrix of the second operand.
struct PseudoInverse {
  static constexpr bool kSquare = false, kTwo = true;
  static std::int64_t size(const MatrixExtents& s) { return s.m * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), share(c.operands[1]), y(c.result);
    for (std::int64_t k = 0; k < x.count && x.size != 0; ++k) {
      need_finite("pinv", c, x, k);
      put(pseudo_inverse(doubles(x, k), static_cast<double>(share.at(k)[0])), y.at(k));
    }
  }
};

[[gnu::noinline]] Doubles least_squares(const Doubles& x, const Doubles& b, double threshold) {
  ei::CompleteOrthogonalDecomposition<Doubles> found(x.rows(), x.cols());
  found.setThreshold(threshold);
  found.compute(x);
  return found.solve(b);
}

struct LeastSquares {
  static constexpr bool kSquare = false, kTwo = true;
  static std::int64_t size(const MatrixExtents& s) { return s.n * s.k; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), b(c.operands[1]), y(c.result);
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("lstsq", c, x, k);
      const T threshold = std::numeric_limits<T>::epsilon() * static_cast<T>(std::min(x.rows, x.columns));
      put(least_squares(doubles(x, k), doubles(b, k), threshold), y.at(k));
    }
  }
};

}  // namespace

Functions factors() {
  return {
      made<4>("qr", HouseholderQr()),
      made<4>("qr:complete", HouseholderQr{.complete = true}),
      made<20>("svdvals", SingularValues()),
      made<40>("svd", SingularValues{.parts = Parts::Thin}),
      made<40>("svd:full", SingularValues{.parts = Parts::Full}),
      made<10>("eigvalsh", SymmetricEigen()),
      made<20>("eigh", SymmetricEigen{.vectors = true}),
      made<40>("eig", GeneralEigen()),
      made<40>("pinv", PseudoInverse()),
      made<8>("lstsq", LeastSquares()),
  };
}

}  // namespace oriel::api::linalg
