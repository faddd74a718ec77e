#include "source/cpp/spelling.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "oriel/error.hpp"

namespace oriel::source::cpp {
namespace {

using codegen::Code;
using codegen::Instr;
using graph::Op;

class CppDialect final : public Dialect {
 public:
  /// Vectors are Eigen's packets. A source does not state their width.
  std::string value_type(DType dtype, int /*width*/) const override {
    if (dtype == DType::bool_) return "std::uint8_t";
    if (dtype == DType::float64) return "double";
    if (is_floating(dtype)) return "float";
    return "std::" + std::string(oriel::name(dtype)) + "_t";
  }
  std::string memory_type(DType dtype) const override {
    return is_half(dtype) ? "std::uint16_t" : value_type(dtype, 1);
  }
  std::string literal(const graph::Scalar& value) const override {
    const std::string type = value_type(value.dtype, 1);
    if (!is_floating(value.dtype)) {
      if (value.dtype == DType::uint64) return fmt::format("{}u", static_cast<std::uint64_t>(value.i));
      if (value.i == std::numeric_limits<std::int64_t>::min()) return "std::numeric_limits<std::int64_t>::min()";
      return std::to_string(value.i);
    }
    const std::string limits = "std::numeric_limits<" + type + ">::";
    const char* sign = std::signbit(value.f) ? "-" : "";
    if (std::isnan(value.f)) return sign + limits + "quiet_NaN()";
    if (std::isinf(value.f)) return sign + limits + "infinity()";
    return decimal(value);
  }
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

const Dialect& dialect() {
  static const CppDialect language;
  return language;
}

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
