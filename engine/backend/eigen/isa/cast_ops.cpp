// Cast between register dtypes, and rounding to the half dtypes.
#include "backend/eigen/isa/half.hpp"
#include "ops/functions/element.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

struct Boolean {};  // a register of bytes that hold 0 or 1
template <class T>
struct Register {
  using type = T;
};
template <>
struct Register<Boolean> {
  using type = std::uint8_t;
};

/// The functor of a conversion.
template <class To, class From>
auto cast_of() {
  using R = typename Register<To>::type;
  if constexpr (std::is_same_v<To, Boolean>) {
    return ops::CastToBool();
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<R>) {
    return ops::SaturateTo<R>();
  } else {
    return ops::CastTo<R>();
  }
}

template <class From, class To>
void add_cast(Table& t, int from, int to) {
  t.cast[from][to] = map1<typename Register<To>::type, typename Register<From>::type, decltype(cast_of<To, From>())>;
}

template <class From>
void add_casts(Table& t, int from) {
  add_cast<From, Boolean>(t, from, kDTypeIndex<bool>);
  add_cast<From, std::int8_t>(t, from, kDTypeIndex<std::int8_t>);
  add_cast<From, std::int16_t>(t, from, kDTypeIndex<std::int16_t>);
  add_cast<From, std::int32_t>(t, from, kDTypeIndex<std::int32_t>);
  add_cast<From, std::int64_t>(t, from, kDTypeIndex<std::int64_t>);
  add_cast<From, std::uint8_t>(t, from, kDTypeIndex<std::uint8_t>);
  add_cast<From, std::uint16_t>(t, from, kDTypeIndex<std::uint16_t>);
  add_cast<From, std::uint32_t>(t, from, kDTypeIndex<std::uint32_t>);
  add_cast<From, std::uint64_t>(t, from, kDTypeIndex<std::uint64_t>);
  add_cast<From, float>(t, from, kDTypeIndex<float>);
  add_cast<From, double>(t, from, kDTypeIndex<double>);
}

void round_float16(void* dst, const void* a, const void*, const void*, std::int64_t n) {
  float* d = static_cast<float*>(dst);
  const float* x = static_cast<const float*>(a);
  for (std::int64_t i = 0; i < n; i += 8) {
    std::uint16_t half[8];
    narrow8(half, x + i);
    widen8(d + i, half);
  }
}

struct RoundBfloat16Of {
  static float of(float x) { return widen_bfloat16(narrow_bfloat16(x)); }
};

}  // namespace

void add_cast_ops(Table& table) {
  add_casts<Boolean>(table, kDTypeIndex<bool>);
  add_casts<std::int8_t>(table, kDTypeIndex<std::int8_t>);
  add_casts<std::int16_t>(table, kDTypeIndex<std::int16_t>);
  add_casts<std::int32_t>(table, kDTypeIndex<std::int32_t>);
  add_casts<std::int64_t>(table, kDTypeIndex<std::int64_t>);
  add_casts<std::uint8_t>(table, kDTypeIndex<std::uint8_t>);
  add_casts<std::uint16_t>(table, kDTypeIndex<std::uint16_t>);
  add_casts<std::uint32_t>(table, kDTypeIndex<std::uint32_t>);
  add_casts<std::uint64_t>(table, kDTypeIndex<std::uint64_t>);
  add_casts<float>(table, kDTypeIndex<float>);
  add_casts<double>(table, kDTypeIndex<double>);
  table.round_float16 = round_float16;
  table.round_bfloat16 = map1<float, float, RoundBfloat16Of>;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
