#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ostream>
#include <utility>

#include "builder.hpp"
#include "leaf.hpp"
#include "oriel/oriel.hpp"

namespace oriel::testing {

namespace {

constexpr std::uint32_t kSent = 30;  // the last kind of step

DType any_dtype(Dice& dice) {
  // float32 is the most frequent.
  return dice.roll(3) == 0 ? DType::float32 : static_cast<DType>(dice.roll(kDTypeCount));
}

std::string dtype_text(DType dtype) {
  return fmt::format("DType::{}{}", name(dtype), dtype == DType::bool_ ? "_" : "");
}

// All axes, or one, or two; as a value and as text.
std::pair<Axes, std::string> some_axes(Dice& dice, std::size_t rank) {
  if (rank == 0 || dice.roll(4) == 0) return {Axes(), "{}"};
  const std::int64_t first = dice.roll(rank);
  if (rank == 1 || dice.roll(3) != 0) return {Axes(first), fmt::format("{}", first)};
  const std::int64_t second = (first + 1) % static_cast<std::int64_t>(rank);
  return {Axes(Ints{first, second}), fmt::format("{{{}, {}}}", first, second)};
}

}  // namespace

void Builder::leaf(Dice& dice) {
  const DType dtype = any_dtype(dice);
  Shape shape(dice.roll(5));
  // Mostly 2 to 5, sometimes 1, rarely 0 or 17.
  constexpr std::int64_t kExtents[] = {2, 3, 1, 4, 5, 3, 2, 1, 4, 17, 3, 0};
  for (SymInt& n : shape) n = kExtents[dice.roll(std::size(kExtents))];
  if (rows_ || dice.roll(3) == 0) shape = short_rows(dice);
  if (numel(shape) > kMostElements) return;
  add(leaf_of(dtype, shape, dice.roll(1000)));
}

void Builder::made(Dice& dice) {
  const auto a = static_cast<std::int64_t>(dice.roll(6));
  const auto b = static_cast<std::int64_t>(1 + dice.roll(4));
  switch (dice.roll(6)) {
    case 0:
      return add(arange(a, 3 * a + 2, b), fmt::format("arange({}, {}, {})", a, 3 * a + 2, b));
    case 1:
      return add(iota({a, b}), fmt::format("iota({{{}, {}}})", a, b));
    case 2:
      return add(eye(a, b, a - 2, DType::int32), fmt::format("eye({}, {}, {}, DType::int32)", a, b, a - 2));
    case 3:
      return add(random_bits(Key(static_cast<std::uint64_t>(a)), {b, a}),
                 fmt::format("random_bits(Key({}), {{{}, {}}})", a, b, a));
    case 4:
      return add(uniform(Key(static_cast<std::uint64_t>(b)), {a, b}, -1, 1),
                 fmt::format("uniform(Key({}), {{{}, {}}}, -1, 1)", b, a, b));
    default: {
      // Drivers' compilers evaluate functions of such numbers when they compile.
      static constexpr std::pair<const char*, double> kNumbers[] = {
          {"1.5", 1.5}, {"NAN", NAN}, {"INFINITY", INFINITY}, {"-INFINITY", -INFINITY}, {"-0.0", -0.0}, {"1e30", 1e30}};
      const auto& [text, number] = kNumbers[dice.roll(std::size(kNumbers))];
      return add(full({b, a}, number), fmt::format("full({{{}, {}}}, {})", b, a, text));
    }
  }
}

void Builder::unary(Dice& dice) {
  using F = Tensor (*)(const Operand&);
  static constexpr std::pair<const char*, F> kOps[] = {
      {"-", static_cast<F>(&oriel::operator-)}, {"abs", &oriel::abs}, {"sign", &oriel::sign}, {"exp", &oriel::exp},
      {"exp2", &oriel::exp2}, {"log", &oriel::log}, {"log2", &oriel::log2}, {"sqrt", &oriel::sqrt},
      {"rsqrt", &oriel::rsqrt}, {"reciprocal", &oriel::reciprocal}, {"sin", &oriel::sin}, {"cos", &oriel::cos},
      {"tan", &oriel::tan}, {"expm1", &oriel::expm1}, {"log1p", &oriel::log1p}, {"log10", &oriel::log10},
      {"asin", &oriel::asin}, {"acos", &oriel::acos}, {"atan", &oriel::atan}, {"sinh", &oriel::sinh},
      {"cosh", &oriel::cosh}, {"asinh", &oriel::asinh}, {"acosh", &oriel::acosh}, {"atanh", &oriel::atanh},
      {"hardswish", &oriel::hardswish}, {"mish", &oriel::mish}, {"logsigmoid", &oriel::logsigmoid},
      {"softsign", &oriel::softsign}, {"frac", &oriel::frac}, {"sinc", &oriel::sinc}, {"erfc", &oriel::erfc},
      {"tanh", &oriel::tanh}, {"erf", &oriel::erf}, {"sigmoid", &oriel::sigmoid}, {"gelu", &oriel::gelu},
      {"silu", &oriel::silu}, {"relu", &oriel::relu}, {"floor", &oriel::floor}, {"ceil", &oriel::ceil},
      {"round", &oriel::round}, {"trunc", &oriel::trunc}, {"square", &oriel::square}, {"isnan", &oriel::isnan},
      {"isinf", &oriel::isinf}, {"isfinite", &oriel::isfinite}, {"!", &oriel::operator!}, {"~", &oriel::operator~} };
  const std::size_t x = pick(dice);
  const auto& [text, op] = kOps[dice.roll(std::size(kOps))];
  add(op(at(x)), fmt::format("{}({})", text, v(x)));
}

void Builder::binary(Dice& dice) {
  using F = Tensor (*)(const Operand&, const Operand&);
  static constexpr std::pair<const char*, F> kOps[] = {
      {"operator+", static_cast<F>(&oriel::operator+)}, {"operator-", static_cast<F>(&oriel::operator-)},
      {"operator*", &oriel::operator* },
       {"operator/", &oriel::operator/ }, {"floor_divide", &oriel::floor_divide},
        {"trunc_divide", &oriel::trunc_divide}, {"remainder", &oriel::remainder}, {"fmod", &oriel::fmod},
        {"pow", &oriel::pow}, {"atan2", &oriel::atan2}, {"hypot", &oriel::hypot}, {"copysign", &oriel::copysign},
        {"nextafter", &oriel::nextafter}, {"logaddexp", &oriel::logaddexp}, {"xlogy", &oriel::xlogy},
        {"heaviside", &oriel::heaviside}, {"fmax", &oriel::fmax}, {"minimum", &oriel::minimum},
        {"maximum", &oriel::maximum},
        {"operator==", &oriel::operator== },
         {"operator!=", &oriel::operator!= },
          {"operator<", &oriel::operator<},
           {"operator<=", &oriel::operator<= },
            {"operator>", &oriel::operator> },
             {"operator>=", &oriel::operator>= },
              {"operator&&", &oriel::operator&& },
               {"operator||", &oriel::operator|| }, {"logical_xor", &oriel::logical_xor},
                {"operator&", &oriel::operator& },
                 {"operator|", &oriel::operator| },
                  {"operator^", &oriel::operator^ },
                   {"operator<<", &oriel::operator<< }, {"operator>>", &oriel::operator>> } };
  const std::size_t x = pick(dice);
  const auto& [text, op] = kOps[dice.roll(std::size(kOps))];
  const std::size_t y = partner(dice, x);
  add(op(at(x), at(y)), fmt::format("{}({}, {})", text, v(x), v(y)));
}

void Builder::number(Dice& dice) {
  const std::size_t x = pick(dice);
  const auto k = static_cast<int>(dice.roll(5));
  const double f = 0.5 * static_cast<double>(dice.roll(7)) - 1;
  switch (dice.roll(9)) {
    case 0:
      return add(at(x) + k, fmt::format("{} + {}", v(x), k));
    case 1:
      return add(at(x) * f, fmt::format("{} * {:#}", v(x), f));
    case 2:
      return add(k - at(x), fmt::format("{} - {}", k, v(x)));
    case 3:
      return add(at(x) / 2, fmt::format("{} / 2", v(x)));
    case 4:
      return add(clamp(at(x), 0, k), fmt::format("clamp({}, 0, {})", v(x), k));
    case 5:
      return add(maximum(at(x), f), fmt::format("maximum({}, {:#})", v(x), f));
    case 6:
      return add(at(x) < k, fmt::format("{} < {}", v(x), k));
    case 7:
      return add(masked_fill(at(x), at(x) < k, at(x).flip()),
                 fmt::format("masked_fill({}, {} < {}, {}.flip())", v(x), v(x), k, v(x)));
    default:
      return add(pow(at(x), 2), fmt::format("pow({}, 2)", v(x)));
  }
}

void Builder::choose(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t c = partner(dice, x);
  add(where(at(c), at(x), 0), fmt::format("where({}, {}, 0)", v(c), v(x)));
}

void Builder::convert(Dice& dice) {
  const std::size_t x = pick(dice);
  if (dice.roll(4) != 0) {
    const DType dtype = any_dtype(dice);
    return add(at(x).to(dtype), fmt::format("{}.to({})", v(x), dtype_text(dtype)));
  }
  const std::uint32_t first = dice.roll(kDTypeCount);
  for (std::uint32_t k = 0; k < kDTypeCount; ++k) {
    const auto dtype = static_cast<DType>((first + k) % kDTypeCount);
    if (dtype == DType::bool_ || itemsize(dtype) != itemsize(at(x).dtype())) continue;
    return add(at(x).bitcast(dtype), fmt::format("{}.bitcast({})", v(x), dtype_text(dtype)));
  }
}

void Builder::reduced(Dice& dice) {
  const std::size_t x = pick(dice);
  const auto& [text, op] = row_reduction(dice);
  const auto [axes, axes_text] = some_axes(dice, at(x).rank());
  const bool keep = dice.roll(2) == 0;
  add(op(at(x), axes, keep), fmt::format("{}({}, {}, {})", text, v(x), axes_text, keep));
}

void Builder::composed(Dice& dice) {
  const std::size_t x = pick(dice);
  const auto [axes, text] = some_axes(dice, at(x).rank());
  switch (dice.roll(5)) {
    case 0:
      return add(softmax(at(x), axes), fmt::format("softmax({}, {})", v(x), text));
    case 1:
      return add(log_softmax(at(x), axes), fmt::format("log_softmax({}, {})", v(x), text));
    case 2:
      return add(layer_norm(at(x), axes), fmt::format("layer_norm({}, {})", v(x), text));
    case 3: {
      constexpr double kPowers[] = {2, 1, 0, 3, -1};
      const double p = kPowers[dice.roll(std::size(kPowers))];
      return add(norm(at(x), p, axes), fmt::format("norm({}, {}, {})", v(x), p, text));
    }
    default:
      return add(var(at(x), axes), fmt::format("var({}, {})", v(x), text));
  }
}

void Builder::product(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t start = dice.roll(built_.values.size());
  for (std::size_t k = 0; k < built_.values.size(); ++k) {
    const std::size_t y = (start + k) % built_.values.size();
    const std::size_t rank = at(y).rank();
    if (at(x).rank() == 0 || rank == 0 || at(x).size(-1) != at(y).size(rank == 1 ? 0 : -2)) continue;
    return add(matmul(at(x), at(y)), fmt::format("matmul({}, {})", v(x), v(y)));
  }
  if (at(x).rank() >= 2) add(matmul(at(x), at(x).transpose()), fmt::format("matmul({0}, {0}.transpose())", v(x)));
}

// Operations along one axis.
void Builder::along(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::int64_t axis = at(x).rank() == 0 ? 0 : static_cast<std::int64_t>(dice.roll(at(x).rank()));
  const bool down = dice.roll(2) == 0;
  switch (dice.roll(6)) {
    case 4: {
      const bool exclusive = dice.roll(2) == 0;
      return add(cumsum(at(x), axis, {down, exclusive}),
                 fmt::format("cumsum({}, {}, {{{}, {}}})", v(x), axis, down, exclusive));
    }
    case 5:
      if (at(x).rank() == 0) return;
      return add(
          associative_scan([](const Tensor& a, const Tensor& b) { return maximum(a, b); }, at(x), axis, down),
          fmt::format("associative_scan([](const Tensor& a, const Tensor& b) {{ return maximum(a, b); }}, {}, {}, {})",
                      v(x), axis, down));
    case 0:
      return add(cumsum(at(x), axis), fmt::format("cumsum({}, {})", v(x), axis));
    case 1:
      return add(cumprod(at(x), axis), fmt::format("cumprod({}, {})", v(x), axis));
    case 2:
      return add(sort(at(x), axis, down), fmt::format("sort({}, {}, {})", v(x), axis, down));
    default:
      return add(argsort(at(x), axis, down), fmt::format("argsort({}, {}, {})", v(x), axis, down));
  }
}

// The derivative of a value by one that it was computed from, or by any other one.
void Builder::derived(Dice& dice) {
  constexpr int kMostDerivatives = 3;  // each makes the graph some times as large
  const std::size_t x = pick(dice), y = dice.roll(built_.values.size());
  if (!is_floating(at(x).dtype()) || !is_floating(at(y).dtype()) || derivatives_ == kMostDerivatives) return;
  ++derivatives_;
  if (dice.roll(4) == 0)  // by an argument that the loss does not reach
    return add(grad<1>([](Tensor a, Tensor) { return sum(a); })(at(x), at(y)),
               fmt::format("grad<1>([](Tensor a, Tensor) {{ return sum(a); }})({}, {})", v(x), v(y)));
  // The second sum leads to y in any case: a value that is not reached may be an error.
  add(gradients(sum(at(x)) + sum(at(y)), {at(y)})[0],
      fmt::format("gradients(sum({}) + sum({}), {{{}}})[0]", v(x), v(y), v(y)));
}

void Builder::alike(Dice& dice) {
  const std::size_t x = pick(dice);
  const auto value = static_cast<int>(dice.roll(2));
  add(full_like(at(x), value), fmt::format("full_like({}, {})", v(x), value));
}

// Sends a value to the other device, computes there, and sends it back, so that other steps find all values on one
// device. If the next step sends the result there again, it continues on that device, because a copy of a copy is
// dropped.
void Builder::sent(Dice& dice) {
  const Device other = default_device() == Device::eigen() ? Device::opencl() : Device::eigen();
  const std::size_t x = pick(dice);
  const std::string to = fmt::format("to(Device::{}())", other == Device::eigen() ? "eigen" : "opencl");
  const Tensor there = at(x).to(other);
  const auto add_back = [&](const Tensor& tensor, const std::string& text) {
    add(tensor.to(default_device()), fmt::format("({}).to(default_device())", text));
  };
  switch (dice.roll(5)) {
    case 0:
      return add_back(there, fmt::format("{}.{}", v(x), to));
    case 1:
      return add_back(abs(there), fmt::format("abs({}.{})", v(x), to));
    case 2: {
      const std::size_t y = partner(dice, x);
      return add_back(maximum(there, at(y).to(other)), fmt::format("maximum({0}.{2}, {1}.{2})", v(x), v(y), to));
    }
    case 3:
      return add_back(max(there), fmt::format("max({}.{})", v(x), to));
    default:
      return add_back(flip(there), fmt::format("flip({}.{})", v(x), to));
  }
}

void Builder::step(const Step& step) {
  static constexpr void (Builder::*kKinds[])(Dice&) = {
      &Builder::leaf,    &Builder::unary,    &Builder::binary,  &Builder::rearrange, &Builder::padded,
      &Builder::sliced,  &Builder::reduced,  &Builder::grown,   &Builder::number,    &Builder::convert,
      &Builder::cut,     &Builder::flipped,  &Builder::choose,  &Builder::joined,    &Builder::composed,
      &Builder::product, &Builder::windowed, &Builder::made,    &Builder::laid_out,  &Builder::along,
      &Builder::alike,   &Builder::gathered, &Builder::chained, &Builder::chained,   &Builder::gathered,
      &Builder::shaped,  &Builder::summed,   &Builder::rowed,   &Builder::rowed,     &Builder::derived,
      &Builder::sent};
  static_assert(std::size(kKinds) == kSent + 1);
  Dice dice(step);
  needed_.clear();
  try {
    (this->*kKinds[std::min(step.kind % kind_count(), kSent)])(dice);
  } catch (const UserError&) {
    // A refused step (because of the dtype or an empty axis) is skipped.
  }
}

bool spans_devices() {
  static const bool spans = std::getenv("ORIEL_TEST_SPAN") != nullptr;
  return spans;
}
std::uint32_t kind_count() { return spans_devices() ? kSent + 9 : kSent; }

Built build(const Program& program) {
  Builder builder(program.in_callers_memory, program.scatters, program.rows);
  for (const Step& step : program.steps) builder.step(step);
  return std::move(builder).finish();
}

std::pair<std::size_t, std::size_t> results(const Built& built) {
  return {built.values.size() - 1, built.values.size() / 2};
}

std::string paste_ready(const Program& program) {
  const Built built = build(program);
  const auto [last, middle] = results(built);
  std::vector<bool> wanted(built.values.size(), false);
  wanted[last] = true;
  wanted[middle] = true;
  std::string text;
  for (std::size_t k = built.values.size(); k-- > 0;) {
    if (!wanted[k]) continue;
    for (const std::size_t needed : built.needs[k]) wanted[needed] = true;
    text = "  " + built.lines[k] + "\n" + text;
  }
  return fmt::format(
      "#include <algorithm>\n#include <cmath>\n#include <cstdlib>\n#include <limits>\n#include \"oriel/oriel.hpp\"\n"
      "using namespace oriel;\n\n{}int main() {{\n  set_default_bounds(Bounds::zero);\n{}  realize({{v{}, "
      "v{}}});\n}}\n",
      text.find("in_callers_memory") == std::string::npos ? "" : kInCallersMemory + std::string("\n"), text, last,
      middle);
}

void showValue(const Program& program, std::ostream& out) {
  out << (build(program).values.empty() ? "// nothing\n" : paste_ready(program));
}

}  // namespace oriel::testing
