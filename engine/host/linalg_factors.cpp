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

/// These are computed in float64 for both dtypes: each of Eigen's solvers takes many seconds to compile.
using Doubles = Any<double>;
template <class T>
Doubles doubles(const Batch<T>& x, std::int64_t k) {
  return In<T, kAny>(x.at(k), x.rows, x.columns).template cast<double>();
}

enum class Parts { Values, Thin, Full };

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
    const unsigned wanted = parts == Parts::Values ? 0U
                            : parts == Parts::Thin ? unsigned{ei::ComputeThinU} | unsigned{ei::ComputeThinV}
                                                   : unsigned{ei::ComputeFullU} | unsigned{ei::ComputeFullV};
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("svd", c, x, k);
      T* to = y.at(k);
      if (least == 0) {  // Eigen computes no factors without singular values
        Out<T, kAny>(to, x.rows, left).setIdentity();
        Out<T, kAny>(to + x.rows * left, right, x.columns).setIdentity();
        continue;
      }
      const ei::BDCSVD<Doubles> svd(doubles(x, k), wanted);
      if (parts != Parts::Values) {
        Out<T, kAny>(to, x.rows, left) = svd.matrixU().template cast<T>();
        to += x.rows * left;
      }
      ei::Map<ei::Matrix<T, kAny, 1>>(to, least) = svd.singularValues().template cast<T>();
      if (parts != Parts::Values)
        Out<T, kAny>(to + least, right, x.columns) = svd.matrixV().transpose().template cast<T>();
    }
  }
};

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
      const ei::SelfAdjointEigenSolver<Doubles> solver(doubles(x, k),
                                                       vectors ? ei::ComputeEigenvectors : ei::EigenvaluesOnly);
      if (solver.info() != ei::Success) refuse("eigh", c, k, "has eigenvalues that were not found");
      ei::Map<ei::Matrix<T, kAny, 1>>(y.at(k), x.rows) = solver.eigenvalues().template cast<T>();
      if (vectors) Out<T, kAny>(y.at(k) + x.rows, x.rows, x.rows) = solver.eigenvectors().template cast<T>();
    }
  }
};

/// Real and imaginary parts of the values, then those of the vectors.
struct GeneralEigen {
  static constexpr bool kSquare = true, kTwo = false;
  static std::int64_t size(const MatrixExtents& s) { return 2 * s.n + 2 * s.n * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]);
    const Packed<T> y(c.result);
    const ei::Index n = x.rows;
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("eig", c, x, k);
      const ei::EigenSolver<Doubles> solver(doubles(x, k));
      if (solver.info() != ei::Success) refuse("eig", c, k, "has eigenvalues that were not found");
      T* to = y.at(k);
      ei::Map<ei::Matrix<T, kAny, 1>>(to, n) = solver.eigenvalues().real().template cast<T>();
      ei::Map<ei::Matrix<T, kAny, 1>>(to + n, n) = solver.eigenvalues().imag().template cast<T>();
      const auto vectors = solver.eigenvectors();
      Out<T, kAny>(to + 2 * n, n, n) = vectors.real().template cast<T>();
      Out<T, kAny>(to + 2 * n + n * n, n, n) = vectors.imag().template cast<T>();
    }
  }
};

/// By singular values above a share of the largest: the first element of each matrix of the second operand.
struct PseudoInverse {
  static constexpr bool kSquare = false, kTwo = true;
  static std::int64_t size(const MatrixExtents& s) { return s.m * s.n; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), share(c.operands[1]), y(c.result);
    for (std::int64_t k = 0; k < x.count && x.size != 0; ++k) {
      need_finite("pinv", c, x, k);
      const ei::BDCSVD<Doubles> svd(doubles(x, k), unsigned{ei::ComputeThinU} | unsigned{ei::ComputeThinV});
      ei::VectorXd inverse = svd.singularValues();
      const double least = static_cast<double>(share.at(k)[0]) * inverse(0);
      for (double& s : inverse) s = s > least ? 1 / s : 0;
      const Doubles right = svd.matrixV() * inverse.asDiagonal();
      Out<T, kAny>(y.at(k), x.columns, x.rows) = (right * svd.matrixU().transpose()).template cast<T>();
    }
  }
};

struct LeastSquares {
  static constexpr bool kSquare = false, kTwo = true;
  static std::int64_t size(const MatrixExtents& s) { return s.n * s.k; }
  template <class T>
  static void run(const HostCall& c) {
    const Batch<T> x(c.operands[0]), b(c.operands[1]), y(c.result);
    for (std::int64_t k = 0; k < x.count; ++k) {
      need_finite("lstsq", c, x, k);
      ei::CompleteOrthogonalDecomposition<Doubles> found(x.rows, x.columns);
      found.setThreshold(std::numeric_limits<T>::epsilon() * static_cast<T>(std::min(x.rows, x.columns)));
      found.compute(doubles(x, k));
      Out<T, kAny>(y.at(k), x.columns, b.columns) = found.solve(doubles(b, k)).template cast<T>();
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
