// What a loop program means, one point and one number at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "codegen/keep.hpp"
#include "programs.hpp"

namespace oriel::test {

/// A register's number: its bits.
using Word = std::uint64_t;

template <class T>
T get(Word w) {
  T t;
  std::memcpy(&t, &w, sizeof t);
  return t;
}
template <class T>
Word put(T t) {
  Word w = 0;
  std::memcpy(&w, &t, sizeof t);
  return w;
}

/// Calls f with a value of the register's C++ type.
template <class F>
auto with_type(DType dtype, F f) {
  switch (register_dtype(dtype)) {
    case DType::bool_:
      return f(bool{});
    case DType::int8:
      return f(std::int8_t{});
    case DType::int16:
      return f(std::int16_t{});
    case DType::int32:
      return f(std::int32_t{});
    case DType::int64:
      return f(std::int64_t{});
    case DType::uint8:
      return f(std::uint8_t{});
    case DType::uint16:
      return f(std::uint16_t{});
    case DType::uint32:
      return f(std::uint32_t{});
    case DType::uint64:
      return f(std::uint64_t{});
    case DType::float32:
      return f(float{});
    default:
      return f(double{});
  }
}

__extension__ using Wide = __int128;

template <class T>
T from_wide(Wide x) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x));
}

template <class T>
T integer_op(Op op, T x, T y) {
  const Wide a = x;
  const Wide b = y;
  const Wide q = b == 0 ? 0 : a / b;
  const Wide r = b == 0 ? 0 : a % b;
  const bool shift_in = b >= 0 && b < static_cast<int>(8 * sizeof(T));
  const bool apart = r != 0 && (r < 0) != (b < 0);
  switch (op) {
    case Op::Neg:
      return from_wide<T>(-a);
    case Op::Abs:
      return from_wide<T>(a < 0 ? -a : a);
    case Op::Sign:
      return from_wide<T>(a > 0 ? 1 : a < 0 ? -1 : 0);
    case Op::Not:
      return from_wide<T>(~a);
    case Op::Add:
      return from_wide<T>(a + b);
    case Op::Sub:
      return from_wide<T>(a - b);
    case Op::Mul:
      return static_cast<T>(static_cast<unsigned long long>(x) * static_cast<unsigned long long>(y));
    case Op::TruncDiv:
      return from_wide<T>(q);
    case Op::FloorDiv:
      return from_wide<T>(apart ? q - 1 : q);
    case Op::Fmod:
      return from_wide<T>(r);
    case Op::Remainder:
      return from_wide<T>(apart ? r + b : r);
    case Op::Pow: {
      if (b < 0) return a == 1 ? T(1) : a == -1 ? from_wide<T>(b % 2 != 0 ? -1 : 1) : T(0);
      // Powers of a number repeat modulo 2^64 only after many steps: square and multiply.
      unsigned long long result = 1;
      auto base = static_cast<unsigned long long>(x);
      for (auto e = static_cast<std::make_unsigned_t<T>>(y); e != 0; e = static_cast<std::make_unsigned_t<T>>(e / 2)) {
        if (e % 2 == 1) result *= base;
        base *= base;
      }
      return static_cast<T>(result);
    }
    case Op::And:
      return static_cast<T>(x & y);
    case Op::Or:
      return static_cast<T>(x | y);
    case Op::Xor:
      return static_cast<T>(x ^ y);
    case Op::Shl:
      return shift_in ? from_wide<T>(static_cast<Wide>(static_cast<std::make_unsigned_t<T>>(x)) << y) : T(0);
    case Op::Shr:
      return shift_in ? from_wide<T>(a >> y) : a < 0 ? static_cast<T>(-1) : T(0);
    default:
      return x;  // roundings
  }
}

template <class T>
T float_op(Op op, T x, T y) {
  switch (op) {
    case Op::Neg:
      return -x;
    case Op::Abs:
      return std::fabs(x);
    case Op::Sign:
      return std::isnan(x) ? x : T(x > 0) - T(x < 0);
    case Op::Exp:
      return std::exp(x);
    case Op::Exp2:
      return std::exp2(x);
    case Op::Log:
      return std::log(x);
    case Op::Log2:
      return std::log2(x);
    case Op::Sqrt:
      return std::sqrt(x);
    case Op::Rsqrt:
      return T(1) / std::sqrt(x);
    case Op::Sin:
      return std::sin(x);
    case Op::Cos:
      return std::cos(x);
    case Op::Tan:
      return std::tan(x);
    case Op::Tanh:
      return std::tanh(x);
    case Op::Erf:
      return std::erf(x);
    case Op::Floor:
      return std::floor(x);
    case Op::Ceil:
      return std::ceil(x);
    case Op::Round:
      return std::nearbyint(x);
    case Op::Trunc:
      return std::trunc(x);
    case Op::Add:
      return x + y;
    case Op::Sub:
      return x - y;
    case Op::Mul:
      return x * y;
    case Op::Div:
      return x / y;
    case Op::FloorDiv: {
      // As PyTorch has it for the CPU (c10/util/generic_math.h, div_floor_floating).
      if (y == 0) return x / y;
      const T rest = std::fmod(x, y);
      T q = (x - rest) / y;
      if (rest != 0 && (y < 0) != (rest < 0)) q -= 1;
      if (q == 0) return std::copysign(T(0), x / y);
      const T down = std::floor(q);
      return q - down > T(0.5) ? down + 1 : down;
    }
    case Op::TruncDiv:
      return std::trunc(x / y);
    case Op::Fmod:
      return std::fmod(x, y);
    case Op::Remainder: {
      const T r = std::fmod(x, y);
      return r != 0 && std::signbit(r) != std::signbit(y) ? r + y : r;
    }
    case Op::Atan2:
      return std::atan2(x, y);
    default:
      return std::pow(x, y);
  }
}

template <class T>
T larger(T a, T b, bool smaller) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return a;
    if (std::isnan(b)) return b;
  }
  return (smaller ? a < b : a > b) ? a : b;
}

template <class To, class From>
To cast_number(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(x)) return 0;
    if (x >= std::ldexp(From(1), std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
    if (x <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

inline float to_half(float x, DType half) {
  return half == DType::float16 ? static_cast<float>(float16_t(x)) : static_cast<float>(bfloat16_t(x));
}
inline std::uint16_t half_bits(float x, DType half) {
  return half == DType::float16 ? float16_t(x).bits : bfloat16_t(x).bits;
}
inline float half_value(std::uint16_t bits, DType half) {
  if (half == DType::float16) {
    float16_t h;
    h.bits = bits;
    return static_cast<float>(h);
  }
  bfloat16_t h;
  h.bits = bits;
  return static_cast<float>(h);
}

inline Word evaluate(const Instr& in, Word a, Word b, Word c) {
  if (in.code == Code::Round) return put(to_half(get<float>(a), in.from));
  if (in.op == Op::Bitcast) {
    if (is_half(in.from)) return put(half_bits(get<float>(a), in.from));
    if (is_half(in.dtype)) return put(half_value(get<std::uint16_t>(a), in.dtype));
    return in.dtype == DType::bool_ ? Word(a != 0) : a;
  }
  if (in.op == Op::Where) return get<std::uint8_t>(a) != 0 ? b : c;
  return with_type(in.from, [&](auto zero) -> Word {
    using T = decltype(zero);
    const T x = get<T>(a);
    const T y = get<T>(b);
    switch (in.op) {
      case Op::Cast:
        return with_type(in.dtype, [&](auto to) -> Word { return put(cast_number<decltype(to)>(x)); });
      case Op::Eq:
        return x == y;
      case Op::Ne:
        return x != y;
      case Op::Lt:
        return x < y;
      case Op::Le:
        return x <= y;
      case Op::IsNan:
        return x != x;
      case Op::IsInf:
        if constexpr (std::is_floating_point_v<T>) return std::isinf(x);
        return 0;
      case Op::Min:
      case Op::ReduceMin:
        return put(larger(x, y, true));
      case Op::Max:
      case Op::ReduceMax:
        return put(larger(x, y, false));
      default:
        if constexpr (std::is_same_v<T, bool>) {
          switch (in.op) {
            case Op::Not:
              return !x;
            case Op::Add:
            case Op::Or:
              return x || y;
            case Op::Mul:
            case Op::And:
              return x && y;
            case Op::Xor:
              return x != y;
            default:
              return x;
          }
        } else if constexpr (std::is_integral_v<T>) {
          return put(integer_op(in.op == Op::Sum ? Op::Add : in.op == Op::Prod ? Op::Mul : in.op, x, y));
        } else {
          return put(float_op(in.op == Op::Sum ? Op::Add : in.op == Op::Prod ? Op::Mul : in.op, x, y));
        }
    }
  });
}

inline Word identity(Op op, DType dtype) {
  return with_type(dtype, [&](auto zero) -> Word {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    if (op == Op::Sum) return put(T(0));
    if (op == Op::Prod) return put(T(1));
    if constexpr (std::is_floating_point_v<T>)
      return put(op == Op::ReduceMax ? -Limits::infinity() : Limits::infinity());
    return put(op == Op::ReduceMax ? Limits::lowest() : Limits::max());
  });
}

/// The fixed order: blocks of 1024, 32 lanes, halving, then pairs of blocks.
inline Word reduce_in_order(Op op, DType dtype, const std::vector<Word>& x) {
  Instr in;
  in.op = op;
  in.from = in.dtype = dtype;
  if (x.empty()) return identity(op, dtype);
  const auto join = [&](Word a, Word b) { return evaluate(in, a, b, 0); };
  std::vector<std::pair<int, Word>> waiting;  // (level, value)
  for (std::size_t at = 0; at < x.size(); at += 1024) {
    std::vector<Word> lane(32, identity(op, dtype));
    for (std::size_t i = at; i < std::min(at + 1024, x.size()); ++i) lane[i % 32] = join(lane[i % 32], x[i]);
    for (std::size_t half = 16; half >= 1; half /= 2) {
      for (std::size_t l = 0; l < half; ++l) lane[l] = join(lane[l], lane[l + half]);
    }
    std::pair<int, Word> value{0, lane[0]};
    while (!waiting.empty() && waiting.back().first == value.first) {
      value = {value.first + 1, join(waiting.back().second, value.second)};
      waiting.pop_back();
    }
    waiting.push_back(value);
  }
  while (waiting.size() > 1) {
    const Word last = waiting.back().second;
    waiting.pop_back();
    waiting.back().second = join(waiting.back().second, last);
  }
  return waiting[0].second;
}

inline Word read_element(const Bytes& b, std::int64_t i) {
  if (is_half(b.dtype())) return put(half_value(b.as<std::uint16_t>()[i], b.dtype()));
  Word w = 0;
  std::memcpy(&w, b.as<char>() + i * static_cast<std::int64_t>(itemsize(b.dtype())), itemsize(b.dtype()));
  return w;
}
inline void write_element(const Bytes& b, std::int64_t i, Word w) {
  if (is_half(b.dtype())) w = half_bits(get<float>(w), b.dtype());
  std::memcpy(b.as<char>() + i * static_cast<std::int64_t>(itemsize(b.dtype())), &w, itemsize(b.dtype()));
}

/// Runs a program point by point.
inline void interpret(const LoopProgram& p, const std::vector<const Bytes*>& arguments,
                      std::span<const graph::Scalar> parameters = {}) {
  std::vector<Word> values(p.values.size());
  const auto unravel = [](std::int64_t i, const Ints& extents, std::vector<std::int64_t>& index, std::size_t from) {
    for (std::size_t d = extents.size(); d-- > 0;) {
      index[from + d] = i % extents[d].value();
      i /= extents[d].value();
    }
  };
  const auto execute = [&](const Instr& in, const std::vector<std::int64_t>& index) {
    const auto operand = [&](ValueId v) { return v == kNoValue ? Word{0} : values[static_cast<std::size_t>(v)]; };
    Word result = 0;
    std::optional<std::int64_t> at;
    if (codegen::has_access(in)) at = p.accesses[static_cast<std::size_t>(in.aux)].tracker.at(index);
    const Bytes* buffer = nullptr;
    if (in.code == Code::Load || in.code == Code::Store || in.code == Code::Gather) {
      buffer = arguments[static_cast<std::size_t>(p.accesses[static_cast<std::size_t>(in.aux)].buffer)];
    }
    switch (in.code) {
      case Code::Elementwise:
      case Code::Round:
        result = evaluate(in, operand(in.a), operand(in.b), operand(in.c));
        break;
      case Code::Load:
        result = at ? read_element(*buffer, *at) : 0;
        break;
      case Code::Gather: {
        const auto from = std::bit_cast<std::int64_t>(operand(in.a));
        const auto buffer_of = static_cast<std::size_t>(p.accesses[static_cast<std::size_t>(in.aux)].buffer);
        result = from >= 0 && from < p.arguments[buffer_of].elements ? read_element(*buffer, from) : 0;
        break;
      }
      case Code::Index:
        result = put(at.value_or(0));
        break;
      case Code::Valid:
        result = at.has_value();
        break;
      case Code::Const: {
        const codegen::Constant& k = p.constants[static_cast<std::size_t>(in.aux)];
        const graph::Scalar s = k.parameter >= 0 ? parameters[static_cast<std::size_t>(k.parameter)] : k.value;
        result = with_type(in.dtype, [&](auto zero) -> Word {
          using T = decltype(zero);
          return is_floating(s.dtype) ? put(static_cast<T>(s.f)) : put(static_cast<T>(s.i));
        });
        break;
      }
      case Code::Store:
        if (at) write_element(*buffer, *at, operand(in.a));
        return;
    }
    values[static_cast<std::size_t>(in.result)] = result;
  };
  // Values that later stages read at the same inner point.
  const std::vector<ValueId> kept = codegen::kept_values(p);
  std::vector<std::vector<Word>> rows(kept.size());
  const auto computes = [](const Stage& stage, ValueId v) {
    return std::any_of(stage.body.begin(), stage.body.end(), [&](const Instr& in) { return in.result == v; });
  };
  const std::int64_t points = numel(p.outer).value();
  for (std::int64_t o = 0; o < points; ++o) {
    std::vector<std::int64_t> outer(p.outer.size());
    unravel(o, p.outer, outer, 0);
    for (const Stage& stage : p.stages) {
      std::vector<std::vector<Word>> gathered(stage.reductions.size());
      if (!stage.body.empty() || !stage.reductions.empty()) {
        const std::int64_t inner = numel(stage.inner).value();
        std::vector<std::int64_t> index(outer.size() + stage.inner.size());
        std::copy(outer.begin(), outer.end(), index.begin());
        for (std::int64_t r = 0; r < inner; ++r) {
          unravel(r, stage.inner, index, outer.size());
          for (std::size_t k = 0; k < kept.size(); ++k) {
            if (!computes(stage, kept[k]) && static_cast<std::size_t>(r) < rows[k].size())
              values[static_cast<std::size_t>(kept[k])] = rows[k][static_cast<std::size_t>(r)];
          }
          for (const Instr& in : stage.body) execute(in, index);
          for (std::size_t k = 0; k < kept.size(); ++k) {
            if (!computes(stage, kept[k])) continue;
            rows[k].resize(static_cast<std::size_t>(inner));
            rows[k][static_cast<std::size_t>(r)] = values[static_cast<std::size_t>(kept[k])];
          }
          for (std::size_t k = 0; k < gathered.size(); ++k) {
            gathered[k].push_back(values[static_cast<std::size_t>(stage.reductions[k].input)]);
          }
        }
      }
      for (std::size_t k = 0; k < gathered.size(); ++k) {
        const codegen::Reduction& r = stage.reductions[k];
        values[static_cast<std::size_t>(r.result)] = reduce_in_order(r.op, r.dtype, gathered[k]);
      }
      for (const Instr& in : stage.outer) execute(in, outer);
    }
  }
}

}  // namespace oriel::test
