// The loops over elements for one kind of dtype, built from the functors of the elementwise ops.
#pragma once

#include "backend/eigen/isa/level.hpp"
#include "ops/functions/all.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

using namespace oriel::ops;                   // NOLINT(google-build-using-namespace): functors, and
using namespace oriel::ops::ORIEL_ISA_LEVEL;  // NOLINT(google-build-using-namespace): those of the level

/// c ? x : y, on bytes that hold 0 or 1.
template <class T, class F>
void map_choice(void* dst, const void* c, const void* a, const void* b, std::int64_t n) {
  T* d = static_cast<T*>(dst);
  const std::uint8_t* k = static_cast<const std::uint8_t*>(c);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  if (n % kPacket != 0) __builtin_unreachable();
  ORIEL_VECTOR_LOOP
  for (std::int64_t i = 0; i < n; ++i) d[i] = F::of(k[i], x[i], y[i]);
}

/// Applies F to two arrays. F's quick form has no branches and says whether its result is sure; a packet with a
/// doubtful element is computed again element by element.
template <class T, class F>
void map2_quick(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (std::int64_t i = 0; i < n; i += kPacket) {
    alignas(64) T r[kPacket];
    int doubts = 0;
    ORIEL_VECTOR_LOOP
    for (std::int64_t k = 0; k < kPacket; ++k) {
      bool sure = false;
      r[k] = F::quick(x[i + k], y[i + k], sure);
      doubts |= sure ? 0 : 1;
    }
    if (__builtin_expect(doubts != 0, 0)) {
      for (std::int64_t k = 0; k < kPacket; ++k) r[k] = F::of(x[i + k], y[i + k]);
    }
    std::memcpy(d + i, r, sizeof r);
  }
}

/// Applies F to whole packets. If the target has no packets of T, calls the C library's function instead.
template <class T, class F, class... X>
void map_packets(T* d, std::int64_t n, const X*... x) {
  using P = typename ei::packet_traits<T>::type;
  constexpr std::int64_t size = ei::packet_traits<T>::size;
  if constexpr (size == 1) {
    for (std::int64_t i = 0; i < n; ++i) d[i] = F::library(x[i]...);
  } else {
    for (std::int64_t i = 0; i < n; i += size) ei::pstore(d + i, F::of(ei::ploadu<P>(x + i)...));
  }
}
template <class T, class F>
void packets1(void* dst, const void* a, const void*, const void*, std::int64_t n) {
  map_packets<T, F>(static_cast<T*>(dst), n, static_cast<const T*>(a));
}
template <class T, class F>
void packets2(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  map_packets<T, F>(static_cast<T*>(dst), n, static_cast<const T*>(a), static_cast<const T*>(b));
}

/// Applies F, which multiplies the low words of uint64, to whole registers.
template <class F>
void map_words(void* dst, const void* a, const void* b, const void*, std::int64_t n) {
  typedef std::uint64_t Words __attribute__((vector_size(kVectorBytes)));
  const auto product = [](Words x, std::uint32_t m) {
    const Words y = Words{} + m;
#if defined(__AVX512F__)
    return Words(_mm512_mul_epu32(__m512i(x), __m512i(y)));
#elif defined(__AVX2__)
    return Words(_mm256_mul_epu32(__m256i(x), __m256i(y)));
#elif defined(__SSE2__)
    return Words(_mm_mul_epu32(__m128i(x), __m128i(y)));
#else
    return (x & (Words{} + 0xffffffff)) * y;
#endif
  };
  std::uint64_t* d = static_cast<std::uint64_t*>(dst);
  const std::uint64_t* x = static_cast<const std::uint64_t*>(a);
  const std::uint64_t* y = static_cast<const std::uint64_t*>(b);
  constexpr std::int64_t size = kVectorBytes / static_cast<std::int64_t>(sizeof *d);
  for (std::int64_t i = 0; i < n; i += size) {
    Words p, q;
    std::memcpy(&p, x + i, sizeof p);
    std::memcpy(&q, y + i, sizeof q);
    p = F::words(p, q, product);
    std::memcpy(d + i, &p, sizeof p);
  }
}

/// The loop for op kOp with functor F. T is the dtype that registers hold.
template <Op kOp, class T, class F>
constexpr ElementFn loop_of() {
  constexpr OpRow r = row(kOp);
  using R = std::conditional_t<gives_bool(kOp), std::uint8_t, T>;
  if constexpr (r.functor == FunctorKind::Function && std::is_floating_point_v<T>) {
    static_assert(r.arity == 1 || r.arity == 2);
    if constexpr (r.arity == 1) return packets1<T, F>;
    if constexpr (r.arity == 2) return packets2<T, F>;
  } else if constexpr (r.functor == FunctorKind::Quick && std::is_floating_point_v<T>) {
    static_assert(r.arity == 2);
    return map2_quick<T, F>;
  } else if constexpr (r.rule == DTypeRule::Word) {
    return map_words<F>;
  } else {
    static_assert(r.arity >= 1 && r.arity <= 3 && (r.arity == 3) == (r.rule == DTypeRule::Select));
    if constexpr (r.arity == 1) return map1<R, T, F>;
    if constexpr (r.arity == 2) return map2<R, T, F>;
    if constexpr (r.arity == 3) return map_choice<T, F>;
  }
}

/// Adds the loop of an op to the table if the op has a functor, takes the dtype, and is a function of floats exactly if
/// `kFunctions` says so.
template <Op kOp, DType kDType, class T, class Named, bool kFunctions = false>
void add_element(Table& t) {
  constexpr bool function = row(kOp).functor == FunctorKind::Function && std::is_floating_point_v<T>;
  if constexpr (row(kOp).functor != FunctorKind::None && takes(kOp, kDType) && function == kFunctions) {
    t.element[static_cast<int>(kOp)][static_cast<int>(kDType)] =
        loop_of<kOp, T, typename FunctorOf<kOp, kind(kDType), Named>::type>();
  }
}

}  // namespace
}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
