// Discrete Fourier transforms of one length: the Stockham form of Cooley and Tukey's algorithm for lengths of small
// prime factors, Bluestein's chirp for others. Written for a vector of transforms at a time: element k of several rows
// lies in one vector, so that no step shuffles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numbers>
#include <type_traits>
#include <utility>
#include <vector>

namespace oriel::api::fft {

/// f(0), f(1), .., f(n - 1), without a loop, so that what they index stays in registers.
template <std::size_t n, class F>
inline void each(F&& f) {
  [&]<std::size_t... k>(std::index_sequence<k...>) { (f(k), ...); }
  (std::make_index_sequence<n>());
}

/// A complex number, or a vector of them.
template <class V>
struct Cx {
  V re;
  V im;
};
template <class V>
Cx<V> operator+(const Cx<V>& a, const Cx<V>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class V>
Cx<V> operator-(const Cx<V>& a, const Cx<V>& b) {
  return {a.re - b.re, a.im - b.im};
}
template <class V, class T>
Cx<V> operator*(const Cx<V>& a, const Cx<T>& w) {
  return {a.re * w.re - a.im * w.im, a.re * w.im + a.im * w.re};
}
template <class V, class T>
Cx<V> times_real(const Cx<V>& a, T s) {
  return {a.re * s, a.im * s};
}
/// -i a.
template <class V>
Cx<V> turned(const Cx<V>& a) {
  return {a.im, -a.re};
}

/// A vector that fills a register of 16 bytes: elements of as many rows, or of one row.
template <class T>
struct Packet {
  typedef T type __attribute__((vector_size(16)));  // NOLINT(modernize-use-using)
};
template <class V, class T>
inline constexpr std::size_t kLanes = sizeof(V) / sizeof(T);

// The lanes of two vectors in turn: the first half of them, the second half. And the even and the odd lanes of both.
// clang-format off
inline Packet<float>::type low(Packet<float>::type a, Packet<float>::type b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline Packet<float>::type high(Packet<float>::type a, Packet<float>::type b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
inline Packet<float>::type even(Packet<float>::type a, Packet<float>::type b) { return __builtin_shufflevector(a, b, 0, 2, 4, 6); }
inline Packet<float>::type odd(Packet<float>::type a, Packet<float>::type b) { return __builtin_shufflevector(a, b, 1, 3, 5, 7); }
inline Packet<double>::type low(Packet<double>::type a, Packet<double>::type b) { return __builtin_shufflevector(a, b, 0, 2); }
inline Packet<double>::type high(Packet<double>::type a, Packet<double>::type b) { return __builtin_shufflevector(a, b, 1, 3); }
inline Packet<double>::type even(Packet<double>::type a, Packet<double>::type b) { return low(a, b); }
inline Packet<double>::type odd(Packet<double>::type a, Packet<double>::type b) { return high(a, b); }
// clang-format on

/// The transposed matrix of the lanes: a perfect shuffle for each bit of a lane's number.
template <std::size_t lanes, class V>
void transpose(V* v) {
  for (std::size_t round = 1; round < lanes; round *= 2) {
    V out[lanes];
    each<lanes / 2>([&](std::size_t i) {
      out[2 * i] = low(v[i], v[i + lanes / 2]);
      out[2 * i + 1] = high(v[i], v[i + lanes / 2]);
    });
    each<lanes>([&](std::size_t i) { v[i] = out[i]; });
  }
}

/// exp(-2 pi i k / n), by an angle in the first eighth of the circle, where sine and cosine lose nothing.
template <class T>
Cx<T> root_of_unity(std::uint64_t k, std::uint64_t n) {
  const std::uint64_t eighths = 8 * (k % n);
  const auto angle = [&](std::uint64_t x) {
    return static_cast<double>(x) / static_cast<double>(n) * (std::numbers::pi / 4);
  };
  const std::uint64_t octant = eighths / n, rest = eighths % n;
  const double a = octant % 2 == 0 ? angle(rest) : angle(n - rest);
  double c = std::cos(a), s = std::sin(a);
  if (octant == 1 || octant == 2 || octant == 5 || octant == 6) std::swap(c, s);
  if (octant >= 2 && octant < 6) c = -c;
  if (octant >= 4) s = -s;
  return {static_cast<T>(c), static_cast<T>(-s)};
}

/// The prime factors of n in the order of the passes, with 4 in place of two twos.
std::vector<std::size_t> radices(std::size_t n);
/// The smallest length >= n without prime factors above 5.
inline std::size_t smooth_length(std::size_t n) {
  std::size_t best = 1;
  while (best < n) best *= 2;
  for (std::size_t fives = 1; fives < best; fives *= 5) {
    for (std::size_t odd = fives; odd < best; odd *= 3) {
      std::size_t length = odd;
      while (length < n) length *= 2;
      best = std::min(best, length);
    }
  }
  return best;
}
/// Does Bluestein's algorithm take fewer operations?
bool by_chirp(std::size_t n);

template <class T>
class Plan {
 public:
  /// `single`: for single rows, which run takes as elements of type T.
  Plan(std::size_t n, bool single);

  std::size_t size() const noexcept { return n_; }
  /// The elements that each of two buffers must hold, at least n + 1.
  std::size_t room() const noexcept { return chirp_.empty() ? n_ + 1 : inner_->n_ + 1; }
  /// The transform of the n elements of x, unscaled. Returns the buffer that holds it, x or y; both are overwritten.
  template <class V>
  Cx<V>* run(Cx<V>* x, Cx<V>* y) const {
    if (!chirp_.empty()) return convolved(x, y);
    if constexpr (std::is_same_v<V, T>) {
      if (inner_ != nullptr) return joined(x, y);
    }
    std::size_t before = 1;
    for (const Pass& pass : passes_) {
      const std::size_t behind = n_ / (before * pass.radix);
      step(pass, behind, before, x, y);
      std::swap(x, y);
      before *= pass.radix;
    }
    return x;
  }

 private:
  struct Pass {
    std::size_t radix;
    std::vector<Cx<T>> twiddles;  // of element i > 0 and part j > 0: at (i - 1) * (radix - 1) + j - 1
    std::vector<Cx<T>> roots;     // of unity, if the radix has no code of its own
  };

  template <class V>
  static void of_two(Cx<V>* a) {
    const Cx<V> b = a[1];
    a[1] = a[0] - b;
    a[0] = a[0] + b;
  }
  template <class V>
  static void of_four(Cx<V>* a) {
    const Cx<V> s = a[0] + a[2], d = a[0] - a[2], t = a[1] + a[3], u = turned(a[1] - a[3]);
    a[0] = s + t;
    a[1] = d + u;
    a[2] = s - t;
    a[3] = d - u;
  }

  template <class V>
  static void step(const Pass& pass, std::size_t behind, std::size_t before, const Cx<V>* x, Cx<V>* y) {
    switch (pass.radix) {
      case 2:
        return pass_of<2>(pass, behind, before, x, y, [](Cx<V>* a) { of_two(a); });
      case 3:
        return pass_of<3>(pass, behind, before, x, y, [](Cx<V>* a) {
          constexpr T kSine = static_cast<T>(0.86602540378443864676);
          const Cx<V> s = a[1] + a[2], d = turned(times_real(a[1] - a[2], kSine));
          const Cx<V> m = a[0] - times_real(s, T(0.5));
          a[0] = a[0] + s;
          a[1] = m + d;
          a[2] = m - d;
        });
      case 4:
        return pass_of<4>(pass, behind, before, x, y, [](Cx<V>* a) { of_four(a); });
      case 5:
        return pass_of<5>(pass, behind, before, x, y, [](Cx<V>* a) {
          constexpr T kC1 = static_cast<T>(0.30901699437494742410), kC2 = static_cast<T>(-0.80901699437494742410);
          constexpr T kS1 = static_cast<T>(0.95105651629515357212), kS2 = static_cast<T>(0.58778525229247312917);
          const Cx<V> s1 = a[1] + a[4], d1 = a[1] - a[4], s2 = a[2] + a[3], d2 = a[2] - a[3];
          const Cx<V> m1 = a[0] + times_real(s1, kC1) + times_real(s2, kC2);
          const Cx<V> m2 = a[0] + times_real(s1, kC2) + times_real(s2, kC1);
          const Cx<V> n1 = turned(times_real(d1, kS1) + times_real(d2, kS2));
          const Cx<V> n2 = turned(times_real(d1, kS2) - times_real(d2, kS1));
          a[0] = a[0] + s1 + s2;
          a[1] = m1 + n1;
          a[2] = m2 + n2;
          a[3] = m2 - n2;
          a[4] = m1 - n1;
        });
      default:
        return any_radix(pass, behind, before, x, y);
    }
  }

  /// Element i of block k of x: radix parts that lie `behind` apart. Their transform, turned by the twiddles of i, goes
  /// to element i of `radix` blocks of y.
  template <std::size_t radix, class V, class F>
  static void pass_of(const Pass& pass, std::size_t behind, std::size_t before, const Cx<V>* x, Cx<V>* y,
                      F&& butterfly) {
    Cx<V> a[radix];
    for (std::size_t k = 0; k < before; ++k) {
      const Cx<V>* in = x + behind * radix * k;
      Cx<V>* out = y + behind * k;
      const std::size_t apart = behind * before;
      each<radix>([&](std::size_t j) { a[j] = in[behind * j]; });
      butterfly(a);
      each<radix>([&](std::size_t j) { out[apart * j] = a[j]; });
      const Cx<T>* w = pass.twiddles.data();
      for (std::size_t i = 1; i < behind; ++i, w += radix - 1) {
        each<radix>([&](std::size_t j) { a[j] = in[i + behind * j]; });
        butterfly(a);
        out[i] = a[0];
        each<radix - 1>([&](std::size_t j) { out[i + apart * (j + 1)] = a[j + 1] * w[j]; });
      }
    }
  }

  template <class V>
  static void any_radix(const Pass& pass, std::size_t behind, std::size_t before, const Cx<V>* x, Cx<V>* y) {
    const std::size_t radix = pass.radix, half = (radix - 1) / 2, apart = behind * before;
    std::vector<Cx<V>> sums(half), differences(half);
    for (std::size_t k = 0; k < before; ++k) {
      for (std::size_t i = 0; i < behind; ++i) {
        const Cx<V>* in = x + behind * radix * k + i;
        Cx<V>* out = y + behind * k + i;
        const Cx<V> first = in[0];
        Cx<V> total = first;
        for (std::size_t j = 0; j < half; ++j) {
          const Cx<V> a = in[behind * (j + 1)], b = in[behind * (radix - 1 - j)];
          sums[j] = a + b;
          differences[j] = turned(a - b);
          total = total + sums[j];
        }
        out[0] = total;
        const Cx<T>* w = i == 0 ? nullptr : pass.twiddles.data() + (i - 1) * (radix - 1);
        for (std::size_t m = 1; m <= half; ++m) {
          Cx<V> even = first, odd = times_real(differences[0], -pass.roots[m].im);
          even = even + times_real(sums[0], pass.roots[m].re);
          for (std::size_t j = 1, at = m; j < half; ++j) {
            at = at + m < radix ? at + m : at + m - radix;
            even = even + times_real(sums[j], pass.roots[at].re);
            odd = odd + times_real(differences[j], -pass.roots[at].im);
          }
          const Cx<V> a = even + odd, b = even - odd;
          out[apart * m] = w == nullptr ? a : a * w[m - 1];
          out[apart * (radix - m)] = w == nullptr ? b : b * w[radix - m - 1];
        }
      }
    }
  }

  /// Of a single row: lane l transforms every lanes-th element from element l on, and butterflies join the lanes.
  Cx<T>* joined(Cx<T>* x, Cx<T>* y) const {
    const std::size_t m = n_ / lanes;
    // Buffers change between elements and vectors of them by copies, as the language's rules on types ask.
    auto* const vectors = reinterpret_cast<Cx<Packed>*>(y);
    for (std::size_t k = 0; k < m; ++k) {
      Packed pair[2];
      std::memcpy(pair, x + lanes * k, sizeof(pair));
      vectors[k] = {even(pair[0], pair[1]), odd(pair[0], pair[1])};
    }
    const Cx<Packed>* z = inner_->run(vectors, reinterpret_cast<Cx<Packed>*>(x));
    Cx<T>* const out = z == vectors ? x : y;
    const Cx<Packed>* w = joins_.data();
    for (std::size_t q = 0; q < m; q += lanes, w += lanes - 1) {
      Packed re[lanes], im[lanes];
      each<lanes>([&](std::size_t k) {
        re[k] = z[q + k].re;
        im[k] = z[q + k].im;
      });
      transpose<lanes>(re);
      transpose<lanes>(im);
      Cx<Packed> a[lanes];
      a[0] = {re[0], im[0]};
      each<lanes - 1>([&](std::size_t l) { a[l + 1] = Cx<Packed>{re[l + 1], im[l + 1]} * w[l]; });
      if constexpr (lanes == 4)
        of_four(a);
      else
        of_two(a);
      each<lanes>([&](std::size_t p) {
        const Packed pair[2] = {low(a[p].re, a[p].im), high(a[p].re, a[p].im)};
        std::memcpy(out + q + m * p, pair, sizeof(pair));
      });
    }
    return out;
  }

  /// Bluestein: a product with a chirp, its convolution with the inverse chirp, and the same product again.
  template <class V>
  Cx<V>* convolved(Cx<V>* x, Cx<V>* y) const {
    const std::size_t m = inner_->n_;
    for (std::size_t k = 0; k < n_; ++k) y[k] = x[k] * chirp_[k];
    for (std::size_t k = n_; k < m; ++k) y[k] = Cx<V>{V{}, V{}};
    Cx<V>* z = inner_->run(y, x);
    Cx<V>* other = z == x ? y : x;
    // Exchanging the parts before and after a transform makes it the inverse one.
    for (std::size_t k = 0; k < m; ++k) {
      const Cx<V> v = z[k] * filter_[k];
      z[k] = {v.im, v.re};
    }
    z = inner_->run(z, other);
    for (std::size_t k = 0; k < n_; ++k) z[k] = Cx<V>{z[k].im, z[k].re} * chirp_[k];
    return z;
  }

  using Packed = typename Packet<T>::type;
  static constexpr std::size_t lanes = kLanes<Packed, T>;

  std::size_t n_;
  std::vector<Pass> passes_;
  std::vector<Cx<Packed>> joins_;      // the roots with which the lanes of a single row are joined
  std::vector<Cx<T>> chirp_;           // exp(-pi i k^2 / n)
  std::vector<Cx<T>> filter_;          // the transform of the inverse chirp, over its length
  std::unique_ptr<const Plan> inner_;  // of a length that is fast, or of the lanes
};

template <class T>
Plan<T>::Plan(std::size_t n, bool single) : n_(n) {
  if (by_chirp(n)) {
    inner_ = std::make_unique<const Plan>(smooth_length(2 * n - 1), single);
    const std::size_t m = inner_->n_;
    const T share = static_cast<T>(1.0 / static_cast<double>(m));
    std::vector<Cx<T>> x(m + 1, Cx<T>{0, 0}), y(m + 1);
    // A plan for vectors also runs on single elements.
    for (std::size_t k = 0, square = 0; k < n; ++k) {
      chirp_.push_back(root_of_unity<T>(square, 2 * n));
      const Cx<T> inverse{chirp_[k].re * share, -chirp_[k].im * share};
      x[k] = inverse;
      if (k > 0) x[m - k] = inverse;
      square = (square + 2 * k + 1) % (2 * n);
    }
    const Cx<T>* filter = inner_->run(x.data(), y.data());
    filter_.assign(filter, filter + m);
    return;
  }
  if (single && n % (lanes * lanes) == 0) {
    inner_ = std::make_unique<const Plan>(n / lanes, false);
    for (std::size_t q = 0; q < n / lanes; q += lanes) {
      for (std::size_t l = 1; l < lanes; ++l) {
        Cx<Packed> w{};
        for (std::size_t k = 0; k < lanes; ++k) {
          const Cx<T> root = root_of_unity<T>(l * (q + k), n);
          w.re[k] = root.re;
          w.im[k] = root.im;
        }
        joins_.push_back(w);
      }
    }
    return;
  }
  std::size_t before = 1;
  for (const std::size_t radix : radices(n)) {
    Pass pass{radix, {}, {}};
    const std::size_t behind = n / (before * radix);
    for (std::size_t i = 1; i < behind; ++i)
      for (std::size_t j = 1; j < radix; ++j) pass.twiddles.push_back(root_of_unity<T>(i * j * before, n));
    if (radix > 5)
      for (std::size_t j = 0; j < radix; ++j) pass.roots.push_back(root_of_unity<T>(j, radix));
    passes_.push_back(std::move(pass));
    before *= radix;
  }
}

}  // namespace oriel::api::fft
