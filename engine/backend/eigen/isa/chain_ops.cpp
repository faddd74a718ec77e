// Chains of arithmetic on floats in one pass: intermediate values stay in registers.
#include "backend/eigen/isa/level.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

template <class T>
struct ChainVector {
  typedef T type __attribute__((vector_size(kVectorBytes)));
  static constexpr std::int64_t kElements = kVectorBytes / static_cast<std::int64_t>(sizeof(T));
};

// Vectors that go through the links together: the switch on a link's op is paid once for all of them.
constexpr int kTogether = kFew ? 4 : kVectorBytes == 64 ? 16 : 8;

template <class T>
typename ChainVector<T>::type load_vector(const T* p) {
  typename ChainVector<T>::type x;
  std::memcpy(&x, p, sizeof x);
  return x;
}

/// Hides from the compiler how p was computed. Otherwise it keeps each vector's offset, which all operands share, in a
/// register of its own.
template <class T>
const T* own_pointer(const T* p) {
  asm("" : "+r"(p));
  return p;
}

/// The first `count` elements of a vector.
template <class T>
void store_part(T* p, const typename ChainVector<T>::type& x, std::int64_t count) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << count) - 1), __m512(x));
  } else {
    _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1U << count) - 1), __m512d(x));
  }
#else
  std::memcpy(p, &x, static_cast<std::size_t>(count) * sizeof(T));
#endif
}

// Max and Min of ops/functions/element.hpp, for whole vectors.
struct LargerOf {
  template <class V>
  static V of(const V& a, const V& b) {
    const V larger = a > b ? a : b;
    return a != a ? a : larger;
  }
};
struct SmallerOf {
  template <class V>
  static V of(const V& a, const V& b) {
    const V smaller = a < b ? a : b;
    return a != a ? a : smaller;
  }
};

/// Applies the links to kCount vectors from element `at` on, and stores their first `kept` elements.
template <class T, int kCount>
__attribute__((always_inline)) inline void run_links(T* dst, const T* first, const ChainLink* links, int count,
                                                     std::int64_t at, std::int64_t kept) {
  using V = typename ChainVector<T>::type;
  constexpr std::int64_t size = ChainVector<T>::kElements;
  V sum[kCount];
  ORIEL_UNROLL
  for (int k = 0; k < kCount; ++k) sum[k] = load_vector<T>(first + at + k * size);
  for (int l = 0; l < count; ++l) {
    const ChainLink& link = links[l];
    const T* x = static_cast<const T*>(link.x);
    const T* y = static_cast<const T*>(link.y);
    // f gets the operand's vector, or its one number in every lane.
    const auto each = [&](auto f) __attribute__((always_inline)) {
      if (link.number) {
        const V one = *x - V{};
        ORIEL_UNROLL
        for (int k = 0; k < kCount; ++k) sum[k] = f(sum[k], one);
        return;
      }
      const T* x_here = own_pointer(x + at);
      ORIEL_UNROLL
      for (int k = 0; k < kCount; ++k) sum[k] = f(sum[k], load_vector<T>(x_here + k * size));
    };
    const auto product = [&](auto f) __attribute__((always_inline)) {
      const T* x_here = own_pointer(x + at);
      if (link.number) {
        const V one = *y - V{};
        ORIEL_UNROLL
        for (int k = 0; k < kCount; ++k) sum[k] = f(sum[k], load_vector<T>(x_here + k * size) * one);
        return;
      }
      const T* y_here = own_pointer(y + at);
      ORIEL_UNROLL
      for (int k = 0; k < kCount; ++k)
        sum[k] = f(sum[k], load_vector<T>(x_here + k * size) * load_vector<T>(y_here + k * size));
    };
    const auto plus = [](const V& a, const V& b) { return a + b; };
    const auto minus = [](const V& a, const V& b) { return a - b; };
    const auto minus_from = [](const V& a, const V& b) { return b - a; };
    switch (link.op) {
      case Link::Add:
        each(plus);
        break;
      case Link::Subtract:
        each(minus);
        break;
      case Link::SubtractFrom:
        each(minus_from);
        break;
      case Link::Multiply:
        each([](const V& a, const V& b) { return a * b; });
        break;
      case Link::Divide:
        each([](const V& a, const V& b) { return a / b; });
        break;
      case Link::DivideInto:
        each([](const V& a, const V& b) { return b / a; });
        break;
      case Link::Max:
        each([](const V& a, const V& b) { return LargerOf::of(a, b); });
        break;
      case Link::MaxOf:
        each([](const V& a, const V& b) { return LargerOf::of(b, a); });
        break;
      case Link::Min:
        each([](const V& a, const V& b) { return SmallerOf::of(a, b); });
        break;
      case Link::MinOf:
        each([](const V& a, const V& b) { return SmallerOf::of(b, a); });
        break;
      case Link::AddProduct:
        product(plus);
        break;
      case Link::SubtractProduct:
        product(minus);
        break;
      case Link::SubtractFromProduct:
        product(minus_from);
        break;
    }
  }
  if (kept == kCount * size) {
    ORIEL_UNROLL
    for (int k = 0; k < kCount; ++k) std::memcpy(dst + at + k * size, &sum[k], sizeof(V));
    return;
  }
  ORIEL_UNROLL
  for (int k = 0; k < kCount; ++k) {
    const std::int64_t left = kept - k * size;
    if (left >= size) {
      std::memcpy(dst + at + k * size, &sum[k], sizeof(V));
    } else if (left > 0) {
      store_part(dst + at + k * size, sum[k], left);
    }
  }
}

template <class T>
void chain(void* dst, const void* first, const ChainLink* links, int count, std::int64_t n) {
  constexpr std::int64_t size = ChainVector<T>::kElements;
  T* d = static_cast<T*>(dst);
  const T* f = static_cast<const T*>(first);
  std::int64_t at = 0;
  const auto run = [&](auto together) {
    constexpr int kCount = decltype(together)::value;
    const std::int64_t kept = n - at < kCount * size ? n - at : kCount * size;
    run_links<T, kCount>(d, f, links, count, at, kept);
    at += kept;
  };
  // No vector starts beyond the last element.
  while (n - at > (kTogether - 1) * size) run(std::integral_constant<int, kTogether>{});
  if constexpr (kTogether > 8) {
    if (n - at > 7 * size) run(std::integral_constant<int, 8>{});
  }
  if (n - at > 3 * size) run(std::integral_constant<int, 4>{});
  if (n - at > size) run(std::integral_constant<int, 2>{});
  while (at < n) run(std::integral_constant<int, 1>{});  // NOLINT(bugprone-infinite-loop): run changes `at`
}

}  // namespace

void add_chain_ops(Table& table) {
  table.chain[kDTypeIndex<float>] = chain<float>;
  if constexpr (!kFew) table.chain[kDTypeIndex<double>] = chain<double>;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
