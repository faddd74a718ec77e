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

/// Philox 4x32-10 as its authors define it: on four words.
std::uint64_t random_words(std::uint64_t counter, std::uint64_t key) {
  const bool last = counter >> 63 != 0;
  std::uint32_t word[4] = {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32) & 0x7fffffffU,
                           0, 0};
  std::uint32_t k[2] = {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
  for (int round = 0; round < 10; ++round) {
    const UnsignedWide left = static_cast<UnsignedWide>(word[0]) * 3528531795U;
    const UnsignedWide right = static_cast<UnsignedWide>(word[2]) * 3449720151U;
    const auto high = [](UnsignedWide product) {
      return static_cast<std::uint32_t>(product / (UnsignedWide{1} << 32));
    };
    const std::uint32_t next[4] = {high(right) ^ word[1] ^ k[0], static_cast<std::uint32_t>(right),
                                   high(left) ^ word[3] ^ k[1], static_cast<std::uint32_t>(left)};
    for (int i = 0; i < 4; ++i) word[i] = next[i];
    k[0] += 2654435769U;
    k[1] += 3144134277U;
  }
  const int first = last ? 2 : 0;
  return word[first] + (static_cast<std::uint64_t>(word[first + 1]) << 32);
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
    case Op::Philox:
      return static_cast<Wide>(random_words(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y)));
    default:
      throw std::logic_error("reference: " + std::string(graph::name(op)) + " of integers");
  }
}

}  // namespace oriel::reference
