// Fourier transforms of rows in host memory. Operands are rows of real parts and, if there is a second one, of
// imaginary parts: (batches, n). A complex result is (batches, 2, n).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "host/fft_plan.hpp"
#include "host/linalg_functions.hpp"
#include "oriel/error.hpp"

namespace oriel::api {
namespace fft {

std::vector<std::size_t> radices(std::size_t n) {
  std::vector<std::size_t> out;
  const auto take = [&](std::size_t radix) {
    for (; n % radix == 0; n /= radix) out.push_back(radix);
  };
  for (const std::size_t radix : {4, 2, 3, 5}) take(radix);
  for (std::size_t radix = 7; radix * radix <= n; radix += 2) take(radix);
  if (n > 1) out.push_back(n);
  return out;
}

bool by_chirp(std::size_t n) {
  // What a point costs in each pass, by the multiplications of a butterfly.
  const auto cost = [](std::size_t length) {
    double sum = 0;
    for (const std::size_t radix : radices(length)) sum += radix <= 5 ? 4 : static_cast<double>(radix);
    return sum * static_cast<double>(length);
  };
  const std::vector<std::size_t> all = radices(n);
  if (all.empty() || all.back() < 23) return false;
  return 2.5 * cost(smooth_length(2 * n - 1)) < cost(n);
}

namespace {

/// Some rows of an array, `pitch` elements apart; lanes beyond the last row repeat it, and are not written.
template <class T>
struct Rows {
  T* first;
  std::size_t pitch;
  std::size_t count;
};

/// Elements [0, n) of the rows, as n vectors that lie `step` apart.
template <class V, class T>
void load(const Rows<T>& rows, std::size_t n, V* to, std::size_t step) {
  if constexpr (std::is_same_v<V, T>) {
    for (std::size_t k = 0; k < n; ++k) to[k * step] = rows.first[k];
  } else {
    constexpr std::size_t lanes = kLanes<V, T>;
    const T* row[lanes];
    for (std::size_t l = 0; l < lanes; ++l) row[l] = rows.first + std::min(l, rows.count - 1) * rows.pitch;
    std::size_t k = 0;
    for (; k + lanes <= n; k += lanes) {
      V v[lanes];
      each<lanes>([&](std::size_t l) { std::memcpy(&v[l], row[l] + k, sizeof(V)); });
      transpose<lanes>(v);
      each<lanes>([&](std::size_t l) { to[(k + l) * step] = v[l]; });
    }
    for (; k < n; ++k)
      for (std::size_t l = 0; l < lanes; ++l) to[k * step][l] = row[l][k];
  }
}

template <class V, class T>
void store(const V* from, std::size_t step, std::size_t n, const Rows<T>& rows, T scale) {
  if constexpr (std::is_same_v<V, T>) {
    for (std::size_t k = 0; k < n; ++k) rows.first[k] = from[k * step] * scale;
  } else {
    constexpr std::size_t lanes = kLanes<V, T>;
    std::size_t k = 0;
    for (; k + lanes <= n; k += lanes) {
      V v[lanes];
      each<lanes>([&](std::size_t l) { v[l] = from[(k + l) * step] * scale; });
      transpose<lanes>(v);
      for (std::size_t l = 0; l < rows.count; ++l) std::memcpy(rows.first + l * rows.pitch + k, &v[l], sizeof(V));
    }
    for (; k < n; ++k)
      for (std::size_t l = 0; l < rows.count; ++l) rows.first[l * rows.pitch + k] = from[k * step][l] * scale;
  }
}

/// What transforms of n numbers need: the plan, and the roots of unity that join the halves.
template <class T>
struct Tables {
  Tables(std::size_t n, bool of_reals, bool of_one_row)
      : length(n), halved(of_reals), single(of_one_row), plan(of_reals ? n / 2 : n, of_one_row) {
    for (std::size_t k = 0; of_reals && k <= n / 4; ++k) roots.push_back(root_of_unity<T>(k, n));
  }
  std::size_t length;
  bool halved;  // two reals make one complex number
  bool single;  // for rows one by one
  Plan<T> plan;
  std::vector<Cx<T>> roots;
};

/// The tables that a thread used last.
template <class T>
class Kept {
 public:
  static std::shared_ptr<const Tables<T>> tables(std::size_t n, bool halved, bool single) {
    thread_local std::vector<std::shared_ptr<const Tables<T>>> kept;  // the last one used first
    for (auto at = kept.begin(); at != kept.end(); ++at) {
      if ((*at)->length != n || (*at)->halved != halved || (*at)->single != single) continue;
      std::rotate(kept.begin(), at, at + 1);
      return kept[0];
    }
    auto made = std::make_shared<const Tables<T>>(n, halved, single);
    if (n > kMost) return made;
    kept.insert(kept.begin(), made);
    std::size_t sum = 0;
    const auto many = std::find_if(kept.begin(), kept.end(), [&](const auto& t) { return (sum += t->length) > kMost; });
    kept.erase(many, kept.end());
    return made;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // numbers in all tables of a thread
};

/// Memory for a call. A thread keeps that of its last calls, because new pages cost as much as a transform.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes) {
    thread_local std::vector<std::byte> kept;
    if (bytes > kMost) own_.resize(bytes);
    if (bytes <= kMost && kept.size() < bytes) kept = std::vector<std::byte>(bytes);
    data_ = bytes > kMost ? own_.data() : kept.data();
  }
  std::byte* data() const noexcept { return data_; }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 24;
  std::vector<std::byte> own_;
  std::byte* data_ = nullptr;
};

enum class Kind { forward, inverse, real_forward, real_inverse };
enum class Share { none, length, root };

/// One call, on rows of type T, as the lines of a loop over groups of rows.
template <class T>
class Transform {
 public:
  Transform(const HostCall& c, Kind kind, Share share, bool single)
      : call_(c),
        kind_(kind),
        n_(static_cast<std::size_t>(kind == Kind::real_inverse ? c.result.shape[1] : c.operands[0].shape[1])),
        rows_(static_cast<std::size_t>(c.result.shape[0])),
        halved_(n_ % 2 == 0 && (kind == Kind::real_inverse || c.operands.size() == 1)),
        // The vectors of long rows leave the cache, which costs more than the lanes save.
        vectors_(!single && n_ * sizeof(Cx<V>) <= kCache),
        tables_(Kept<T>::tables(n_, halved_, !vectors_)) {
    const double length = static_cast<double>(n_);
    scale_ = static_cast<T>(share == Share::none ? 1 : share == Share::length ? 1 / length : 1 / std::sqrt(length));
  }

  void run() { return vectors_ ? groups<V>(kLanes<V, T>) : groups<T>(1); }

 private:
  using V = typename Packet<T>::type;
  static constexpr std::size_t kCache = std::size_t{1} << 19;

  std::size_t room() const { return (std::max(tables_->plan.room(), n_ + 1) + 7) / 8 * 8; }  // whole vectors
  std::size_t outputs() const { return static_cast<std::size_t>(call_.result.shape[call_.result.shape.size() - 1]); }

  Rows<T> operand(std::size_t which, std::size_t row, std::size_t count) const {
    const HostArray& a = call_.operands[which];
    const auto pitch = static_cast<std::size_t>(a.shape[1]);
    return {static_cast<T*>(a.data) + row * pitch, pitch, count};
  }
  Rows<T> part(std::size_t which, std::size_t row, std::size_t count) const {
    return {static_cast<T*>(call_.result.data) + (2 * row + which) * outputs(), 2 * outputs(), count};
  }

  template <class E>
  void groups(std::size_t lanes) {
    const Workspace workspace(2 * room() * sizeof(Cx<E>));
    auto* const x = reinterpret_cast<Cx<E>*>(workspace.data());
    for (std::size_t row = 0; row < rows_; row += lanes) group(row, std::min(lanes, rows_ - row), x, x + room());
  }

  template <class E>
  void group(std::size_t row, std::size_t count, Cx<E>* x, Cx<E>* y) {
    if (kind_ == Kind::real_inverse) return to_real(row, count, x, y);
    if (halved_) return of_real(row, count, x, y);
    // The inverse is the transform with the parts exchanged before and after it.
    const bool back = kind_ == Kind::inverse;
    E* const re = back ? &x->im : &x->re;
    E* const im = back ? &x->re : &x->im;
    load(operand(0, row, count), n_, re, 2);
    if (call_.operands.size() > 1)
      load(operand(1, row, count), n_, im, 2);
    else
      for (std::size_t k = 0; k < n_; ++k) im[2 * k] = E{};
    const Cx<E>* z = tables_->plan.run(x, y);
    store(back ? &z->im : &z->re, 2, outputs(), part(0, row, count), scale_);
    store(back ? &z->re : &z->im, 2, outputs(), part(1, row, count), scale_);
  }

  /// The transform of an even number of reals, of which two make one complex number.
  template <class E>
  void of_real(std::size_t row, std::size_t count, Cx<E>* x, Cx<E>* y) {
    const std::size_t half = n_ / 2;
    load(operand(0, row, count), n_, &x->re, 1);
    Cx<E>* z = tables_->plan.run(x, y);
    const Cx<E> first = z[0];
    z[0] = {first.re + first.im, E{}};
    z[half] = {first.re - first.im, E{}};
    for (std::size_t k = 1; 2 * k <= half; ++k) {
      const Cx<E> a = z[k], b{z[half - k].re, -z[half - k].im};
      const Cx<E> even = times_real(a + b, T(0.5)), odd = times_real(turned(a - b), T(0.5)) * root(k);
      z[k] = even + odd;
      z[half - k] = {even.re - odd.re, odd.im - even.im};
    }
    for (std::size_t k = half + 1; k < outputs(); ++k) z[k] = {z[n_ - k].re, -z[n_ - k].im};
    const bool back = kind_ == Kind::inverse;
    if (back)
      for (std::size_t k = 0; k < outputs(); ++k) z[k].im = -z[k].im;
    store(&z->re, 2, outputs(), part(0, row, count), scale_);
    store(&z->im, 2, outputs(), part(1, row, count), scale_);
  }

  /// The n reals whose transform begins with the operand.
  template <class E>
  void to_real(std::size_t row, std::size_t count, Cx<E>* x, Cx<E>* y) {
    const std::size_t half = n_ / 2, given = half + 1;
    load(operand(0, row, count), given, &x->re, 2);
    load(operand(1, row, count), given, &x->im, 2);
    x[0].im = E{};
    const Rows<T> out{static_cast<T*>(call_.result.data) + row * n_, n_, count};
    if (!halved_) {
      for (std::size_t k = 1; k < given; ++k) x[n_ - k] = {x[k].re, -x[k].im};
      for (std::size_t k = 0; k < n_; ++k) std::swap(x[k].re, x[k].im);
      const Cx<E>* z = tables_->plan.run(x, y);
      return store(&z->im, 2, n_, out, scale_);
    }
    const E last = x[half].re;
    const E begin = x[0].re;
    x[0] = {begin - last, begin + last};  // exchanged, as all below
    for (std::size_t k = 1; 2 * k <= half; ++k) {
      const Cx<E> a = x[k], b{x[half - k].re, -x[half - k].im};
      const Cx<T> w = root(k);
      const Cx<E> even = a + b, odd = (a - b) * Cx<T>{w.re, -w.im};
      x[k] = {even.im + odd.re, even.re - odd.im};
      x[half - k] = {odd.re - even.im, even.re + odd.im};
    }
    Cx<E>* z = tables_->plan.run(x, y);
    for (std::size_t k = 0; k < half; ++k) std::swap(z[k].re, z[k].im);
    store(&z->re, 1, n_, out, scale_);
  }

  const Cx<T>& root(std::size_t k) const { return tables_->roots[k]; }

  const HostCall& call_;
  Kind kind_;
  std::size_t n_;
  std::size_t rows_;
  bool halved_;
  bool vectors_;  // a lane for each of several rows
  std::shared_ptr<const Tables<T>> tables_;
  T scale_ = 1;
};

/// Throws unless the arrays are what the function expects: a graph that comes from a file may say anything.
void check(const std::string& name, Kind kind, const HostCall& c) {
  const HostArray& x = c.operands[0];
  const bool pairs = c.operands.size() == 2;
  bool good = (x.dtype == DType::float32 || x.dtype == DType::float64) && c.result.dtype == x.dtype &&
              x.shape.size() == 2 && c.operands.size() <= 2;
  if (good && pairs) {
    const HostArray& y = c.operands[1];
    good = y.dtype == x.dtype && y.shape.size() == 2 && y.shape[0] == x.shape[0] && y.shape[1] == x.shape[1];
  }
  if (good && kind == Kind::real_inverse) {
    good = pairs && c.result.shape.size() == 2 && c.result.shape[1] >= 1 && x.shape[1] == c.result.shape[1] / 2 + 1;
  } else if (good) {
    const std::int64_t n = x.shape[1];
    good = n >= 1 && c.result.shape.size() == 3 && c.result.shape[1] == 2 && (kind != Kind::real_forward || !pairs) &&
           c.result.shape[2] == (kind == Kind::real_forward ? n / 2 + 1 : n);
  }
  if (!good || c.result.shape[0] != x.shape[0]) throw ArgumentError(name, "a file has operands for it that do not fit");
}

double nanoseconds(std::span<const std::vector<std::int64_t>> shapes) {
  const double n = shapes[0].size() < 2 ? 1 : static_cast<double>(shapes[0][1]);  // a file may say anything
  return 50 + n * (2 + std::log2(n + 1));
}

graph::HostFunctionPtr made(const std::string& name, Kind kind, Share share, bool single) {
  const auto run = [name, kind, share, single](const HostCall& c) {
    check(name, kind, c);
    if (c.result.size() == 0) return;
    if (c.operands[0].dtype == DType::float64)
      Transform<double>(c, kind, share, single).run();
    else
      Transform<float>(c, kind, share, single).run();
  };
  auto function = std::make_shared<graph::HostFunction>(name, run, HostOptions{.batched = true}, name);
  function->batch_nanoseconds = nanoseconds;
  return function;
}

}  // namespace
}  // namespace fft

std::vector<graph::HostFunctionPtr> fft_functions() {
  using fft::Kind, fft::Share;
  std::vector<graph::HostFunctionPtr> out;
  for (const auto& [name, kind] : {std::pair<const char*, Kind>{"fft", Kind::forward},
                                   {"ifft", Kind::inverse},
                                   {"rfft", Kind::real_forward},
                                   {"irfft", Kind::real_inverse}}) {
    for (const auto& [suffix, share] :
         {std::pair<const char*, Share>{"", Share::none}, {":length", Share::length}, {":root", Share::root}}) {
      out.push_back(fft::made(std::string(name) + suffix, kind, share, false));
      out.push_back(fft::made(std::string(name) + suffix + ":row", kind, share, true));
    }
  }
  return out;
}

}  // namespace oriel::api
