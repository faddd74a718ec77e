#include "source/items/spelling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/build.hpp"
#include "oriel/error.hpp"
#include "source/names.hpp"

namespace oriel::source::items {

using codegen::Code;
using codegen::Instr;
using graph::Op;

namespace {

DType signed_of(DType dtype) {
  switch (is_half(dtype) ? 4 : itemsize(dtype)) {
    case 1:
      return DType::int8;
    case 2:
      return DType::int16;
    case 4:
      return DType::int32;
    default:
      return DType::int64;
  }
}
DType unsigned_of(DType dtype) {
  switch (is_half(dtype) ? 4 : itemsize(dtype)) {
    case 1:
      return DType::uint8;
    case 2:
      return DType::uint16;
    case 4:
      return DType::uint32;
    default:
      return DType::uint64;
  }
}
bool is_signed(DType dtype) { return is_integer(dtype) && !is_unsigned(dtype); }

}  // namespace

std::string short_type(DType dtype) {
  if (dtype == DType::bool_) return "b8";
  if (dtype == DType::bfloat16) return "bf16";
  return fmt::format("{}{}", is_floating(dtype) ? "f" : is_unsigned(dtype) ? "u" : "i", 8 * itemsize(dtype));
}

/// Comparisons give 1 in scalars and -1 in vector lanes as wide as the operands; bool is 0 or 1.
std::string Helpers::truth(const std::string& test, DType compared, int width) const {
  if (width == 1) return fmt::format("({})({})", value_type(DType::bool_), test);
  const std::string mask = value_type(signed_of(compared), width);
  return dialect_.converted(value_type(DType::bool_, width), fmt::format("({}) & ({})(1)", test, mask));
}

std::string Helpers::choose(const std::string& mask, int width, const std::string& yes, const std::string& no) const {
  if (width == 1) return fmt::format("({} ? {} : {})", mask, yes, no);
  return fmt::format("select({}, {}, {})", no, yes, mask);
}

/// + - * on integers, which wrap: computed on unsigned integers, and in scalars on integers that are not promoted to
/// int.
std::string Helpers::wrapping(const char* sign, DType dtype, int width, const std::string& a,
                              const std::string& b) const {
  const DType bits = unsigned_of(dtype);
  const auto as = [&](DType to, const std::string& x) {
    return is_signed(dtype) ? dialect_.bits_as(value_type(to, width), x) : x;
  };
  if (width == 1 && itemsize(dtype) < 4) {
    const std::string wide = value_type(DType::uint32);
    return as(dtype,
              fmt::format("({0})(({1}){2} {3} ({1}){4})", value_type(bits), wide, as(bits, a), sign, as(bits, b)));
  }
  return as(dtype, fmt::format("({} {} {})", as(bits, a), sign, as(bits, b)));
}

/// Adds the function that computes each lane of a vector. Returns a call of it.
std::string Helpers::by_lane(const std::string& name, DType result, std::span<const DType> types, int width,
                             const std::vector<std::string>& operands,
                             const std::function<std::string(const std::vector<std::string>&)>& expression) {
  static constexpr const char* kNames[] = {"x", "y", "z"};
  std::string arguments;
  std::string values;
  std::vector<std::string> lanes;
  for (std::size_t o = 0; o < operands.size(); ++o) {
    const char* separator = o == 0 ? "" : ", ";
    arguments += fmt::format("{}{} {}", separator, value_type(types[o], width), kNames[o]);
    values += separator + operands[o];
    lanes.push_back(dialect_.lane(kNames[o], "k"));
  }
  const std::string function = fmt::format("{}x{}", name, width);
  if (!has(function)) {
    const std::string one = expression(lanes);  // may add helpers
    add(function,
        fmt::format("{0}{1} {2}({3}) {{\n  {1} r;\n  for (int k = 0; k < {4}; ++k) {5} = {6};\n  return r;\n}}\n",
                    dialect_.function_prefix, value_type(result, width), function, arguments, width,
                    dialect_.lane("r", "k"), one));
  }
  return fmt::format("{}({})", function, values);
}

std::string Helpers::identity(Op op, DType dtype) const {
  const ops::Identity identity = ops::identity(op, dtype);
  if (identity == ops::Identity::None)
    throw InternalError("render", fmt::format("{} is not a reduction", graph::name(op)));
  if (dtype == DType::bool_) return fmt::format("({}){}", value_type(dtype), identity == ops::Identity::One ? 1 : 0);
  return dialect_.literal(graph::Scalar::of_identity(identity, dtype));
}

std::string Helpers::spell(const Instr& in, int width, const std::vector<std::string>& x) {
  if (width > 1 && !dialect_.vector_arithmetic) {
    const bool round = in.code == Code::Round;
    const std::string name =
        fmt::format("{}_{}_{}", round ? "round" : graph::snake_name(in.op), short_type(in.from), short_type(in.dtype));
    const DType from = codegen::register_dtype(in.from);
    DType types[] = {from, from, from};
    if (in.op == Op::Where && !round) {
      types[0] = DType::bool_;
      types[1] = types[2] = in.dtype;
    }
    return by_lane(name, codegen::register_dtype(in.dtype), types, width, x,
                   [&](const std::vector<std::string>& lane) { return spell(in, 1, lane); });
  }
  if (in.code == Code::Round) return fmt::format("{}({})", rounded(in.from, width), x[0]);
  if (in.op == Op::Cast || in.op == Op::Bitcast) return spell_conversion(in, width, x[0]);
  switch (in.op) {
    case Op::Eq:
      return truth(fmt::format("{} == {}", x[0], x[1]), in.from, width);
    case Op::Ne:
      return truth(fmt::format("{} != {}", x[0], x[1]), in.from, width);
    case Op::Lt:
      return truth(fmt::format("{} < {}", x[0], x[1]), in.from, width);
    case Op::Le:
      return truth(fmt::format("{} <= {}", x[0], x[1]), in.from, width);
    case Op::Where: {
      const std::string mask = value_type(signed_of(in.dtype), width);
      const std::string test =
          width == 1
              ? x[0] + " != 0"
              : fmt::format("{} != ({})(0)", dialect_.converted(value_type(signed_of(in.dtype), width), x[0]), mask);
      return choose(test, width, x[1], x[2]);
    }
    case Op::Min:
    case Op::Max:
      return extreme(in.op, in.from, width, x[0], x[1]);
    default:
      return is_floating(in.from) ? spell_float(in, width, x) : spell_integer(in, width, x);
  }
}

std::string Helpers::join(Op op, DType dtype, int width, const std::string& a, const std::string& b) {
  Instr in;
  in.op = graph::row(op).combination;
  in.from = in.dtype = dtype;
  return spell(in, width, {a, b});
}

std::string Helpers::extreme(Op op, DType dtype, int width, const std::string& a, const std::string& b) {
  const bool larger = op == Op::Max;
  if (dtype == DType::bool_) return fmt::format("({} {} {})", a, larger ? "|" : "&", b);
  if (!is_floating(dtype)) return fmt::format("{}({}, {})", larger ? "max" : "min", a, b);
  const std::string name = fmt::format("{}_{}x{}", larger ? "larger" : "smaller", short_type(dtype), width);
  const std::string type = value_type(dtype, width);
  const char* sign = larger ? ">" : "<";
  // x > y ? x : y is one instruction on CPUs. In addition only x has to be tested for NaN.
  add(name, fmt::format("// NaN if either is.\n{3}{0} {1}({0} x, {0} y) {{ return {2}; }}\n", type, name,
                        width == 1 ? fmt::format("x {} y || x != x ? x : y", sign)
                                   : fmt::format("select(select(y, x, x {} y), x, x != x)", sign),
                        dialect_.function_prefix));
  return fmt::format("{}({}, {})", name, a, b);
}

std::string Helpers::fused(DType dtype, int width, const std::string& a, const std::string& b, const std::string& c) {
  if (width == 1 || dialect_.vector_arithmetic) return fmt::format("fma({}, {}, {})", a, b, c);
  const DType types[] = {dtype, dtype, dtype};
  return by_lane("fused_" + short_type(dtype), dtype, types, width, {a, b, c},
                 [&](const std::vector<std::string>& lane) { return fused(dtype, 1, lane[0], lane[1], lane[2]); });
}

std::string Helpers::fold(Op op, DType dtype, int width, const std::string& a) {
  if (width == 1) return a;
  const std::string name = fmt::format("{}_of_{}x{}", reduction_name(op), short_type(dtype), width);
  std::string body;
  std::string last = "x";
  for (int w = width / 2; w >= 1; w /= 2) {
    const std::string next = fmt::format("x{}", w);
    body += fmt::format("  const {} {} = {};\n", value_type(dtype, w), next,
                        join(op, dtype, w, dialect_.half_of(last, 2 * w, false), dialect_.half_of(last, 2 * w, true)));
    last = next;
  }
  add(name, fmt::format("{}{} {}({} x) {{\n{}  return {};\n}}\n", dialect_.function_prefix, value_type(dtype), name,
                        value_type(dtype, width), body, last));
  return fmt::format("{}({})", name, a);
}

std::string Helpers::keep_lanes(Op op, DType dtype, int width, const std::string& a, const std::string& count) {
  const std::string type = value_type(dtype, width);
  const std::string rest = fmt::format("({})({})", type, identity(op, dtype));
  if (width == 1) return fmt::format("({} > 0 ? {} : {})", count, a, rest);
  const std::string name = fmt::format("lanes_{}x{}", short_type(dtype), width);
  const std::string element = value_type(dtype);
  add(name, fmt::format("// The first lanes of x, the others of rest.\n{7}{0} {1}({0} x, {0} rest, int count) {{\n"
                        "  if (count >= {2}) return x;\n  {3} lanes[{2}];\n  {3} others[{2}];\n  {4};\n  {5};\n"
                        "  for (int k = 0; k < {2}; ++k) lanes[k] = k < count ? lanes[k] : others[k];\n"
                        "  return {6};\n}}\n",
                        type, name, width, element, dialect_.store_vector(width, "x", "lanes"),
                        dialect_.store_vector(width, "rest", "others"), dialect_.load_vector(width, "lanes"),
                        dialect_.function_prefix));
  return fmt::format("{}({}, {}, {})", name, a, rest, count);
}

std::string Helpers::spell_float(const Instr& in, int width, const std::vector<std::string>& x) {
  const std::string type = value_type(in.from, width);
  const auto between = [&](const char* sign) { return fmt::format("({} {} {})", x[0], sign, x[1]); };
  const std::string scalar = value_type(in.from);
  switch (in.op) {
    case Op::Neg:
      return "(-" + x[0] + ")";
    case Op::Sign:
      return lanewise("sign", in.from, in.from, width, 1,
                      fmt::format("x != x ? x : ({0})(x > 0) - ({0})(x < 0)", scalar)) +
             "(" + x[0] + ")";
    case Op::AbsAdd:
      return fmt::format("(fabs({}) + fabs({}))", x[0], x[1]);
    case Op::Rsqrt:
      return fmt::format("(({})(1) / sqrt({}))", type, x[0]);
    case Op::IsNan:
      return truth(fmt::format("{0} != {0}", x[0]), in.from, width);
    case Op::IsInf:
      return truth(fmt::format("fabs({}) == ({})({})", x[0], type, dialect_.infinity[0]), in.from, width);
    case Op::Add:
      return between("+");
    case Op::Sub:
      return between("-");
    case Op::Mul:
      return between("*");
    case Op::Div:
      return between("/");
    case Op::FloorDiv:
      // The same algorithm as in ops/functions/division.hpp.
      add("floor_quotient_of_" + short_type(in.from),
          fmt::format("{2}{0} floor_quotient_of_{1}({0} x, {0} y) {{\n  const {0} rest = fmod(x, y);\n"
                      "  {0} quotient = (x - rest) / y;\n"
                      "  if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;\n  const {0} down = floor(quotient);\n"
                      "  const {0} nearest = quotient - down > ({0})0.5f ? down + 1 : down;\n"
                      "  return y == 0 ? x / y : quotient != 0 ? nearest : copysign(({0})0, x / y);\n}}\n",
                      scalar, short_type(in.from), dialect_.function_prefix));
      return fmt::format("{}({}, {})",
                         lanewise("floor_quotient", in.from, in.from, width, 2,
                                  fmt::format("floor_quotient_of_{}(x, y)", short_type(in.from))),
                         x[0], x[1]);
    case Op::TruncDiv:
      return "trunc" + between("/");
    case Op::Remainder: {
      const std::string rest = fmt::format("fmod_{}", short_type(in.from));
      add(rest, fmt::format("// The sign of y.\n{2}{0} {1}({0} x, {0} y) {{\n  const {0} rest = fmod(x, y);\n"
                            "  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;\n}}\n",
                            scalar, rest, dialect_.function_prefix));
      return fmt::format("{}({}, {})", lanewise("remainder", in.from, in.from, width, 2, rest + "(x, y)"), x[0], x[1]);
    }
    default:
      break;
  }
  // Only fmod of floats is C's; integers have a function of their own.
  const std::string_view function = in.op == Op::Fmod ? "fmod" : graph::row(in.op).c_function;
  if (function.empty())
    throw InternalError("render", fmt::format("{} has no {} spelling for floats", graph::name(in.op), dialect_.name));
  const FunctionFault* const fault = dialect_.fault(in.op, in.from);
  const auto called = [&](const std::string& name) { return fmt::format("{}({})", name, fmt::join(x, ", ")); };
  const auto by_lanes = [&] {
    const int arity = static_cast<int>(x.size());
    return lanewise(fmt::format("{}_of", function), in.from, in.from, width, arity,
                    fmt::format("{}({})", function, arity > 1 ? "x, y" : "x"));
  };
  if (fault == nullptr) return called(std::string(function));
  if (fault->in_vectors) return called(by_lanes());
  std::string body;
  if (const std::string where = fault->vectors_where(type); width > 1 && !where.empty())
    body = fmt::format("  if (any({})) return {}(x);\n  return {}(x);\n", where, by_lanes(), function);
  if (const std::string where = fault->where(type); !where.empty())
    body = fmt::format("  return {};\n", choose(where, width, fault->value(type), fmt::format("{}(x)", function)));
  if (body.empty()) return called(std::string(function));
  const std::string name = fmt::format("{}_{}x{}", function, short_type(in.from), width);
  add(name, fmt::format("{0}{1} {2}({1} x) {{\n{3}}}\n", dialect_.function_prefix, type, name, body));
  return called(name);
}

std::string Helpers::spell_integer(const Instr& in, int width, const std::vector<std::string>& x) {
  const DType dtype = in.from;
  const std::string type = value_type(dtype, width);
  const std::string scalar = value_type(dtype);
  const std::string bits = value_type(unsigned_of(dtype));
  const bool boolean = dtype == DType::bool_;
  const auto lanes = [&](const char* name, const std::string& expression) {
    std::string arguments = x[0];
    if (x.size() > 1) arguments += ", " + x[1];
    return lanewise(name, dtype, dtype, width, static_cast<int>(x.size()), expression) + "(" + arguments + ")";
  };
  const auto both = [&](const char* sign) { return fmt::format("({})({} {} {})", type, x[0], sign, x[1]); };
  switch (in.op) {
    case Op::Neg:
      return wrapping("-", dtype, width, fmt::format("({})(0)", type), x[0]);
    case Op::Abs:
      return is_signed(dtype) ? dialect_.magnitude(value_type(dtype, width), x[0]) : x[0];
    case Op::Sign:
      return boolean ? x[0] : lanes("sign", fmt::format("({})((x > 0) - (x < 0))", scalar));
    case Op::Floor:
    case Op::Ceil:
    case Op::Round:
    case Op::Trunc:
      return x[0];
    case Op::IsNan:
    case Op::IsInf:
      return fmt::format("({})(0)", value_type(DType::bool_, width));
    case Op::Not:
      return boolean ? fmt::format("({0})({1} ^ ({0})(1))", type, x[0]) : fmt::format("({})(~{})", type, x[0]);
    case Op::And:
      return both("&");
    case Op::Or:
      return both("|");
    case Op::Xor:
      return both("^");
    case Op::Add:
      return boolean ? both("|") : wrapping("+", dtype, width, x[0], x[1]);
    case Op::Sub:
      return wrapping("-", dtype, width, x[0], x[1]);
    case Op::Mul:
      return boolean ? both("&") : wrapping("*", dtype, width, x[0], x[1]);
    default:
      break;
  }
  // Functions with cases are computed lane by lane.
  const int size = static_cast<int>(8 * itemsize(dtype));
  const char* const s = is_signed(dtype) ? "x < 0" : "0";
  const std::string negated = wrapping("-", dtype, 1, fmt::format("({})0", scalar), "x");
  const std::string minus_one = is_signed(dtype) ? fmt::format("y == ({})-1", scalar) : "0";
  const std::string quotient = fmt::format("y == 0 ? ({0})0 : {1} ? {2} : ({0})(x / y)", scalar, minus_one, negated);
  const std::string no_rest = is_signed(dtype) ? fmt::format("y == 0 || {}", minus_one) : "y == 0";
  const std::string rest = fmt::format("{1} ? ({0})0 : ({0})(x % y)", scalar, no_rest);
  const std::string suffix = short_type(dtype);
  const auto scalar_function = [&](const std::string& name, const std::string& body) {
    add(name, fmt::format("{3}{0} {1}({0} x, {0} y) {{\n{2}}}\n", scalar, name, body, dialect_.function_prefix));
    return name + "(x, y)";
  };
  switch (in.op) {
    case Op::TruncDiv:
      return lanes("quotient", quotient);
    case Op::Fmod:
      return lanes("rest", rest);
    case Op::FloorDiv:
      return lanes("floor_quotient",
                   scalar_function("floor_quotient_of_" + suffix,
                                   fmt::format("  const {0} q = {1};\n  const {0} r = {2};\n"
                                               "  return r != 0 && (r < 0) != (y < 0) ? ({0})(q - 1) : q;\n",
                                               scalar, quotient, rest)));
    case Op::Remainder:
      return lanes("remainder",
                   scalar_function("remainder_of_" + suffix,
                                   fmt::format("  const {0} r = {1};\n"
                                               "  return r != 0 && (r < 0) != (y < 0) ? ({0})(r + y) : r;\n",
                                               scalar, rest)));
    case Op::Pow:
      return lanes(
          "power",
          scalar_function(
              "power_of_" + suffix,
              fmt::format("  if (y < 0) return x == 1 ? ({0})1 : {3} ? ((y & 1) != 0 ? ({0})-1 : ({0})1) : ({0})0;\n"
                          "  {0} result = 1;\n  for ({4} left = ({4})y; left != 0; left >>= 1) {{\n"
                          "    if ((left & 1) != 0) result = {1};\n    x = {2};\n  }}\n  return result;\n",
                          scalar, wrapping("*", dtype, 1, "result", "x"), wrapping("*", dtype, 1, "x", "x"),
                          is_signed(dtype) ? fmt::format("x == ({})-1", scalar) : "0", value_type(DType::uint64))));
    case Op::Shl:
      return lanes("shifted_left",
                   fmt::format("y >= 0 && y < {0} ? ({1})(({2})x << ({2})y) : ({1})0", size, scalar, bits));
    case Op::Shr:
      return lanes("shifted_right",
                   fmt::format("y >= 0 && y < {0} ? ({1})(x >> y) : {2} ? ({1})-1 : ({1})0", size, scalar, s));
    case Op::Philox:
      return lanes("random_words",
                   scalar_function("philox", fmt::format("  {0} a = x & 0x7fffffffffffffff, b = 0;\n"
                                                         "  {0} k0 = y & 0xffffffff, k1 = y >> 32;\n"
                                                         "  for (int round = 0; round < 10; ++round) {{\n"
                                                         "    const {0} p = (a & 0xffffffff) * 0xd2511f53;\n"
                                                         "    const {0} q = (b & 0xffffffff) * 0xcd9e8d57;\n"
                                                         "    a = (q >> 32 | q << 32) ^ (a >> 32) ^ k0;\n"
                                                         "    b = (p >> 32 | p << 32) ^ (b >> 32) ^ k1;\n"
                                                         "    k0 = (k0 + 0x9e3779b9) & 0xffffffff;\n"
                                                         "    k1 = (k1 + 0xbb67ae85) & 0xffffffff;\n"
                                                         "  }}\n  return x >> 63 ? b : a;\n",
                                                         scalar)));
    default:
      throw InternalError("render",
                          fmt::format("{} has no {} spelling for integers", graph::name(in.op), dialect_.name));
  }
}

std::string Helpers::spell_conversion(const Instr& in, int width, const std::string& x) {
  const std::string to = value_type(in.dtype, width);
  const std::string from = value_type(in.from, width);
  const DType compared = is_half(in.from) ? DType::float32 : in.from;
  const std::string zero = fmt::format("{} != ({})(0)", x, from);
  if (in.op == Op::Bitcast) {
    if (is_half(in.from) && is_half(in.dtype)) {
      if (in.from == in.dtype) return x;
      return fmt::format("{}_widened({}({}))", narrow_half(in.dtype, width), narrow_half(in.from, width), x);
    }
    if (is_half(in.from))
      return dialect_.bits_as(value_type(in.dtype, width), fmt::format("{}({})", narrow_half(in.from, width), x));
    if (is_half(in.dtype))
      return fmt::format("{}_widened({})", narrow_half(in.dtype, width),
                         dialect_.bits_as(value_type(DType::uint16, width), x));
    if (in.dtype == DType::bool_ && in.from != DType::bool_) return truth(zero, compared, width);
    return dialect_.bits_as(value_type(in.dtype, width), x);
  }
  if (in.dtype == DType::bool_) return in.from == DType::bool_ ? x : truth(zero, compared, width);
  if (is_floating(in.from) && !is_floating(in.dtype)) {
    const std::string name = fmt::format("{}_of_{}x{}", short_type(in.dtype), short_type(in.from), width);
    add(name,
        fmt::format("// 0 for NaN: devices may saturate it to anything.\n{4}{0} {1}({2} x) {{ return {3}; }}\n", to,
                    name, from,
                    dialect_.saturated(value_type(in.dtype, width),
                                       width == 1 ? "x == x ? x : 0" : fmt::format("select(({})(0), x, x == x)", from)),
                    dialect_.function_prefix));
    return fmt::format("{}({})", name, x);
  }
  return dialect_.converted(value_type(in.dtype, width), x);
}

}  // namespace oriel::source::items
