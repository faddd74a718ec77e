#include "source/cpp/spelling.hpp"

#include <fmt/format.h>

#include "oriel/error.hpp"

namespace oriel::source::cpp {
namespace {

using codegen::Code;
using codegen::Instr;
using graph::Op;

constexpr Dialect kCpp{
    .types = {"std::uint8_t", "std::int8_t", "std::int16_t", "std::int32_t", "std::int64_t", "std::uint8_t",
              "std::uint16_t", "std::uint32_t", "std::uint64_t", "float", "float", "float", "double"},
    .half_bits = "std::uint16_t",
    .integer = "{1}",
    .int64 = "{1}",
    .uint64 = "{1}u",
    .least_int64 = "std::numeric_limits<std::int64_t>::min()",
    .nan = {"std::numeric_limits<float>::quiet_NaN()", "std::numeric_limits<double>::quiet_NaN()"},
    .infinity = {"std::numeric_limits<float>::infinity()", "std::numeric_limits<double>::infinity()"},
    .signed_float = "{0}{1}",
};

Spelling map(std::string_view functor) { return {false, std::string(functor), std::string(functor), {}, {}, {}}; }
Spelling map_to(std::string_view functor, DType to) {
  return {false, fmt::format("{}<{}>", functor, value_type(to)), std::string(functor), {}, {}, {}};
}
Spelling packets(std::string_view functor) { return {true, std::string(functor), std::string(functor), {}, {}, {}}; }
/// The same operator for elements and for packets.
Spelling both(Op op, const char* expression) {
  const std::string name(graph::name(op));
  return {false, name, name, expression, expression, {}};
}
Spelling with_packet(Op op, const char* expression, const char* helper) {
  const std::string name(graph::name(op));
  return {false, name, name, {}, expression, helper};
}

/// Shorter or faster spellings of functors on floats, with the same bits.
Spelling spell_float(Op op) {
  switch (op) {
    case Op::Neg:
      return both(op, "-{a}");
    case Op::Add:
      return both(op, "{a} + {b}");
    case Op::Sub:
      return both(op, "{a} - {b}");
    case Op::Mul:
      return both(op, "{a} * {b}");
    case Op::Div:
      return both(op, "{a} / {b}");
    case Op::Abs:
      return with_packet(op, "absolute({a})", "absolute");
    case Op::Min:
      return with_packet(op, "smaller(all({a}), all({b}))", "smaller");
    case Op::Max:
      return with_packet(op, "larger(all({a}), all({b}))", "larger");
    case Op::Eq:
      return with_packet(op, "all({a}) == all({b})", "");
    case Op::Ne:
      return with_packet(op, "all({a}) != all({b})", "");
    case Op::Lt:
      return with_packet(op, "all({a}) < all({b})", "");
    case Op::Le:
      return with_packet(op, "all({a}) <= all({b})", "");
    case Op::Where:
      return with_packet(op, "choose({a}, all({b}), all({c}))", "choose");
    default:
      break;
  }
  switch (graph::row(op).functor) {
    case ops::FunctorKind::Function:
      return packets(graph::name(op));
    case ops::FunctorKind::Quick:
      return packets(std::string(graph::name(op)) + "s");
    default:
      return map(graph::name(op));
  }
}

Spelling spell_cast(DType from, DType to) {
  if (to == DType::bool_) return map("CastToBool");
  if (is_floating(from) && !is_floating(to)) return map_to("SaturateTo", to);
  return map_to("CastTo", to);
}

Spelling spell_bitcast(DType from, DType to) {
  const auto half_name = [](DType dtype) { return dtype == DType::float16 ? "Float16" : "Bfloat16"; };
  if (is_half(from) && is_half(to)) {
    if (from == to) return map("Same");
    throw InternalError("render", "a bitcast between float16 and bfloat16 needs an integer between them");
  }
  if (is_half(to)) return map(std::string(half_name(to)) + "OfBits");
  if (is_half(from)) return map(fmt::format("{}Bits", half_name(from)));
  // The byte of a bool must become 0 or 1, whatever the bits were.
  if (to == DType::bool_ && from != DType::bool_) return map("CastToBool");
  return map_to("BitsOf", to);
}

// The helper that converts between a float of 16 bits and a float32; empty for other dtypes.
std::string half_helper(DType dtype) {
  return dtype == DType::float16 ? "float16" : dtype == DType::bfloat16 ? "bfloat16" : "";
}

}  // namespace

const Dialect& dialect() { return kCpp; }

Spelling spell(const Instr& in) {
  if (in.code == Code::Round) return map(in.from == DType::float16 ? "RoundFloat16" : "RoundBfloat16");
  if (in.op == Op::Cast) return spell_cast(in.from, in.dtype);
  if (in.op == Op::Bitcast) return spell_bitcast(in.from, in.dtype);
  return is_floating(in.from) ? spell_float(in.op) : map(ops::functor(in.op, in.from));
}

std::string widened(DType dtype, const std::string& element, Snippets& snippets) {
  const std::string half = half_helper(dtype);
  if (half.empty()) return element;
  snippets.need(half);
  return fmt::format("widen_{}({})", half, element);
}
std::string narrowed(DType dtype, const std::string& element, Snippets& snippets) {
  const std::string half = half_helper(dtype);
  if (half.empty()) return element;
  snippets.need(half);
  return fmt::format("narrow_{}({})", half, element);
}

std::string spell_reduction(Op op, DType dtype, Snippets& snippets) {
  const std::string_view combination = ops::functor(graph::row(op).combination, dtype);
  const std::string_view identity = ops::name(ops::identity(op, dtype));
  for (const std::string_view helper : {std::string_view("Reduce"), combination, identity}) snippets.need(helper);
  return fmt::format("Reduce<{}, {}>", combination, identity);
}

}  // namespace oriel::source::cpp
