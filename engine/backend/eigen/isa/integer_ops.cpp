// Integers and bool. Arithmetic wraps; no operand traps, whatever lies in a register's slack.
#include "backend/eigen/isa/level.hpp"
#include "graph/division.hpp"

namespace oriel::backend::isa::ORIEL_ISA_LEVEL {
namespace {

using graph::Op;

// Unsigned and at least 32 bits wide: no promotion to a signed int that could overflow.
template <class T>
using Wide = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;
template <class T>
inline constexpr int kBits = static_cast<int>(8 * sizeof(T));

struct AddOf {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};
struct SubOf {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
};
struct MulOf {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
struct NegOf {
  template <class T>
  static T of(T a) {
    return SubOf::of(T(0), a);
  }
};
struct AbsOf {
  template <class T>
  static T of(T a) {
    return a < T(0) ? NegOf::of(a) : a;
  }
};
struct SignOf {
  template <class T>
  static T of(T a) {
    return static_cast<T>((a > T(0) ? 1 : 0) - (a < T(0) ? 1 : 0));
  }
};
struct IdentityOf {
  template <class T>
  static T of(T a) {
    return a;
  }
};
struct FalseOf {
  template <class T>
  static std::uint8_t of(T) {
    return 0;
  }
};
struct NotOf {
  template <class T>
  static T of(T a) {
    return static_cast<T>(~a);
  }
};
struct LogicalNotOf {
  static std::uint8_t of(std::uint8_t a) { return a == 0 ? 1 : 0; }
};
struct AndOf {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct OrOf {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct XorOf {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct ShlOf {
  template <class T>
  static T of(T a, T b) {
    const bool in = b >= T(0) && b < T(kBits<T>);
    const T count = in ? b : T(0);
    const T r = static_cast<T>(static_cast<Wide<T>>(a) << static_cast<Wide<T>>(count));
    return in ? r : T(0);
  }
};
struct ShrOf {
  template <class T>
  static T of(T a, T b) {
    const bool in = b >= T(0) && b < T(kBits<T>);
    const T count = in ? b : T(0);
    const T r = static_cast<T>(a >> count);
    return in ? r : a < T(0) ? static_cast<T>(-1) : T(0);
  }
};

struct PowOf {
  template <class T>
  static T of(T base, T exponent) {
    if constexpr (std::is_signed_v<T>) {
      if (exponent < T(0)) {
        if (base == T(1)) return T(1);
        if (base == T(-1)) return (exponent & 1) != 0 ? T(-1) : T(1);
        return T(0);
      }
    }
    T result = T(1);
    auto left = static_cast<std::make_unsigned_t<T>>(exponent);
    while (left != 0) {
      if ((left & 1) != 0) result = MulOf::of(result, base);
      base = MulOf::of(base, base);
      left = static_cast<std::make_unsigned_t<T>>(left >> 1);
    }
    return result;
  }
};

template <class T>
void add_whole(Table& t, int d) {
  const auto at = [&](Op op) -> ElementFn& { return t.element[static_cast<int>(op)][d]; };
  at(Op::Floor) = at(Op::Ceil) = at(Op::Round) = at(Op::Trunc) = map1<T, T, IdentityOf>;
  at(Op::IsNan) = at(Op::IsInf) = map1<std::uint8_t, T, FalseOf>;
  at(Op::And) = map2<T, T, AndOf>;
  at(Op::Or) = map2<T, T, OrOf>;
  at(Op::Xor) = map2<T, T, XorOf>;
  add_common<T>(t, d);
}

template <class T>
void add_integers(Table& t) {
  constexpr int d = kDTypeIndex<T>;
  add_whole<T>(t, d);
  const auto at = [&](Op op) -> ElementFn& { return t.element[static_cast<int>(op)][d]; };
  at(Op::Neg) = map1<T, T, NegOf>;
  at(Op::Abs) = map1<T, T, AbsOf>;
  at(Op::Sign) = map1<T, T, SignOf>;
  at(Op::Not) = map1<T, T, NotOf>;
  at(Op::Add) = map2<T, T, AddOf>;
  at(Op::Sub) = map2<T, T, SubOf>;
  at(Op::Mul) = map2<T, T, MulOf>;
  at(Op::FloorDiv) = map2<T, T, graph::FloorDiv>;
  at(Op::TruncDiv) = map2<T, T, graph::TruncDiv>;
  at(Op::Remainder) = map2<T, T, graph::Remainder>;
  at(Op::Fmod) = map2<T, T, graph::Fmod>;
  at(Op::Pow) = map2<T, T, PowOf>;
  at(Op::Shl) = map2<T, T, ShlOf>;
  at(Op::Shr) = map2<T, T, ShrOf>;
}

}  // namespace

void add_integer_ops(Table& table) {
  add_integers<std::int8_t>(table);
  add_integers<std::int16_t>(table);
  add_integers<std::int32_t>(table);
  add_integers<std::int64_t>(table);
  add_integers<std::uint8_t>(table);
  add_integers<std::uint16_t>(table);
  add_integers<std::uint32_t>(table);
  add_integers<std::uint64_t>(table);

  constexpr int b = kDTypeIndex<bool>;
  add_whole<std::uint8_t>(table, b);
  const auto at = [&](Op op) -> ElementFn& { return table.element[static_cast<int>(op)][b]; };
  at(Op::Add) = map2<std::uint8_t, std::uint8_t, OrOf>;
  at(Op::Mul) = map2<std::uint8_t, std::uint8_t, AndOf>;
  at(Op::Abs) = at(Op::Sign) = map1<std::uint8_t, std::uint8_t, IdentityOf>;
  at(Op::Not) = map1<std::uint8_t, std::uint8_t, LogicalNotOf>;
}

}  // namespace oriel::backend::isa::ORIEL_ISA_LEVEL
