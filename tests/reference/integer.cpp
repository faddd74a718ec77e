#include <stdexcept>
#include <string>

#include "reference/formats.hpp"

namespace oriel::reference {

using graph::Op;

namespace {

Wide floor_quotient(Wide x, Wide y) {
  const Wide q = x / y;
  return x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}

}  // namespace

Wide integer_value(Op op, DType dtype, Wide x, Wide y) {
  const int bits = width(dtype);
  const bool logical = dtype == DType::bool_;
  switch (op) {
    case Op::Neg:
      return -x;
    case Op::Abs:
      return x < 0 ? -x : x;
    case Op::Sign:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    case Op::Floor:
    case Op::Ceil:
    case Op::Round:
    case Op::Trunc:
      return x;
    case Op::Not:
      return logical ? Wide{x == 0} : -x - 1;
    case Op::Add:
      return logical ? Wide{x != 0 || y != 0} : x + y;
    case Op::Sub:
      return x - y;
    case Op::Mul:
      // Products of signed 64-bit numbers fit 128 bits. Products of unsigned ones may wrap, but their low half is
      // right.
      return static_cast<Wide>(static_cast<UnsignedWide>(x) * static_cast<UnsignedWide>(y));
    case Op::FloorDiv:
      return y == 0 ? 0 : floor_quotient(x, y);
    case Op::TruncDiv:
      return y == 0 ? 0 : x / y;
    case Op::Remainder:
      return y == 0 ? 0 : x - y * floor_quotient(x, y);
    case Op::Fmod:
      return y == 0 ? 0 : x % y;
    case Op::Pow: {
      if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
      std::uint64_t result = 1;
      // Computed modulo 2^64 by squaring, with the bits of the exponent from the top.
      const auto exponent = static_cast<std::uint64_t>(y);
      for (int bit = 63; bit >= 0; --bit) {
        result *= result;
        if ((exponent >> bit & 1) != 0) result *= static_cast<std::uint64_t>(x);
      }
      return static_cast<std::int64_t>(result);
    }
    case Op::Min:
      return x < y ? x : y;
    case Op::Max:
      return x > y ? x : y;
    case Op::And:
      return x & y;
    case Op::Or:
      return x | y;
    case Op::Xor:
      return x ^ y;
    case Op::Shl:
      return y < 0 || y >= bits ? 0 : x * (Wide{1} << static_cast<int>(y));
    case Op::Shr:
      return y < 0 || y >= bits ? (x < 0 ? -1 : 0) : floor_quotient(x, Wide{1} << static_cast<int>(y));
    default:
      throw std::logic_error("reference: " + std::string(graph::name(op)) + " of integers");
  }
}

}  // namespace oriel::reference
