// Chains of operations on floats in one pass: intermediate values stay in registers. Each link is a function that gets
// the values so far in registers and ends by calling the function of the next link, which compilers make a jump. A
// switch over links in a loop would keep the values in memory.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "backend/eigen/isa/vectors.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

/// The first `count` elements of a vector.
template <class T>
void store_part(T* p, const Vector<T>& x, std::int64_t count) {
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

template <class T, class Numbers>
struct ChainGroup;

/// The links for as many vectors as there are numbers k. They are arguments, at most eight, so that they stay in
/// registers from link to link.
template <class T, std::size_t... k>
struct ChainGroup<T, std::index_sequence<k...>> {
  using V = Vector<T>;
  template <std::size_t>
  using Value = V;
  struct Result {
    T* dst;
    std::int64_t kept;  // elements
  };
  using Step = void (*)(const Result&, const ChainLink*, std::int64_t at, Value<k>...);

  static constexpr std::int64_t kElements = sizeof...(k) * kSize<T>;

  /// Applies the links to the elements from `at` on, and stores the first `kept` of them.
  static void run(T* dst, const T* first, const ChainLink* links, std::int64_t at, std::int64_t kept) {
    next({dst + at, kept}, links, at, vector_at(first, at, k)...);
  }

 private:
  static V vector_at(const void* x, std::int64_t at, std::size_t number) {
    return load<T>(static_cast<const T*>(x) + at + static_cast<std::int64_t>(number) * kSize<T>);
  }
  static V number_at(const void* x) { return *static_cast<const T*>(x) - V{}; }

  static void next(const Result& to, const ChainLink* link, std::int64_t at, Value<k>... values) {
    kSteps[static_cast<int>(link->op)][link->number ? 1 : 0](to, link, at, values...);
  }

  template <class F, bool kNumber>
  static void with_operand(const Result& to, const ChainLink* link, std::int64_t at, Value<k>... values) {
    if constexpr (kNumber) {
      const V x = number_at(link->x);
      next(to, link + 1, at, F::of(values, x)...);
    } else {
      next(to, link + 1, at, F::of(values, vector_at(link->x, at, k))...);
    }
  }
  template <class F, bool kNumber>
  static void with_product(const Result& to, const ChainLink* link, std::int64_t at, Value<k>... values) {
    if constexpr (kNumber) {
      const V y = number_at(link->y);
      next(to, link + 1, at, F::of(values, V(vector_at(link->x, at, k) * y))...);
    } else {
      next(to, link + 1, at, F::of(values, V(vector_at(link->x, at, k) * vector_at(link->y, at, k)))...);
    }
  }
  static void end(const Result& to, const ChainLink*, std::int64_t, Value<k>... values) {
    if (to.kept < kElements) {
      end_part(to, values...);
    } else {
      T* const dst = to.dst;
      (store<T>(dst + k * kSize<T>, values), ...);
    }
#if defined(__AVX__)
    _mm256_zeroupper();  // g++ 12 leaves it out where functions end by calling others
#endif
  }
  __attribute__((noinline)) static void end_part(const Result& to, Value<k>... values) {
    const auto part = [&](std::int64_t before, const V& x) {
      if (const std::int64_t left = to.kept - before; left >= kSize<T>)
        store<T>(to.dst + before, x);
      else if (left > 0)
        store_part<T>(to.dst + before, x, left);
    };
    (part(k * kSize<T>, values), ...);
  }

  template <class F>
  static constexpr std::array<Step, 2> kOperand = {with_operand<F, false>, with_operand<F, true>};
  template <class F>
  static constexpr std::array<Step, 2> kProduct = {with_product<F, false>, with_product<F, true>};
  // By Link and ChainLink::number.
  static constexpr std::array<Step, 2> kSteps[] = {kOperand<Sum>,
                                                   kOperand<Difference>,
                                                   kOperand<Swapped<Difference>>,
                                                   kOperand<Product>,
                                                   kOperand<Quotient>,
                                                   kOperand<Swapped<Quotient>>,
                                                   kOperand<Largest>,
                                                   kOperand<Swapped<Largest>>,
                                                   kOperand<Least>,
                                                   kOperand<Swapped<Least>>,
                                                   kProduct<Sum>,
                                                   kProduct<Difference>,
                                                   kProduct<Swapped<Difference>>,
                                                   {end, end}};
  static_assert(std::size(kSteps) == static_cast<std::size_t>(Link::End) + 1);
};

template <class T>
void chain(void* dst, const void* first, const ChainLink* links, std::int64_t n) {
  std::int64_t at = 0;
  const auto run = [&](auto numbers) {
    using Group = ChainGroup<T, decltype(numbers)>;
    const std::int64_t kept = std::min(n - at, Group::kElements);
    Group::run(static_cast<T*>(dst), static_cast<const T*>(first), links, at, kept);
    at += kept;
  };
  // No vector starts beyond the last element.
  while (n - at > 7 * kSize<T>) run(std::make_index_sequence<8>());
  if (n - at > 3 * kSize<T>) run(std::make_index_sequence<4>());
  if (n - at > kSize<T>) run(std::make_index_sequence<2>());
  while (at < n) run(std::make_index_sequence<1>());  // NOLINT(bugprone-infinite-loop): run changes `at`
}

}  // namespace

void add_chain_ops(Table& table) {
  table.chain[kDTypeIndex<float>] = chain<float>;
  if constexpr (!kFew) table.chain[kDTypeIndex<double>] = chain<double>;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
