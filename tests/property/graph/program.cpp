#include "program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "leaf.hpp"
#include "oriel/oriel.hpp"

namespace oriel::testing {

namespace {

constexpr std::int64_t kMostElements = 3000;

// Reads a step's numbers one by one.
class Dice {
 public:
  explicit Dice(const Step& step) : step_(step) {}
  std::uint32_t roll(std::size_t below) {
    const std::uint32_t value =
        step_.dice[next_ % step_.dice.size()] + static_cast<std::uint32_t>(next_ / step_.dice.size());
    ++next_;
    return below == 0 ? 0 : value % static_cast<std::uint32_t>(below);
  }

 private:
  const Step& step_;
  std::size_t next_ = 0;
};

class Builder {
 public:
  void step(const Step& step);
  Built finish() && { return std::move(built_); }

 private:
  void leaf(Dice& dice);
  void made(Dice& dice);
  void laid_out(Dice& dice);
  void unary(Dice& dice);
  void binary(Dice& dice);
  void number(Dice& dice);
  void choose(Dice& dice);
  void convert(Dice& dice);
  void rearrange(Dice& dice);
  void padded(Dice& dice);
  void cut(Dice& dice);
  void sliced(Dice& dice);
  void flipped(Dice& dice);
  void grown(Dice& dice);
  void reduced(Dice& dice);
  void composed(Dice& dice);
  void joined(Dice& dice);
  void product(Dice& dice);
  void windowed(Dice& dice);
  void along(Dice& dice);
  void alike(Dice& dice);

  std::size_t pick(Dice& dice) {
    if (built_.values.empty()) add(make_leaf(DType::float32, {2, 3}, 1));
    // The latest values most of all: programs grow deep rather than wide.
    const std::size_t back =
        dice.roll(dice.roll(3) == 0 ? built_.values.size() : std::min<std::size_t>(2, built_.values.size()));
    std::size_t at = built_.values.size() - 1 - back;
    // Empty tensors breed only empty ones, so they are passed over more often than not.
    while (at > 0 && built_.values[at].numel() == 0 && dice.roll(4) != 0) --at;
    needed_.push_back(at);
    return at;
  }
  // A partner that broadcasts with the value, or the value itself.
  std::size_t partner(Dice& dice, std::size_t with) {
    const std::size_t start = dice.roll(built_.values.size());
    for (std::size_t k = 0; k < built_.values.size(); ++k) {
      const std::size_t at = (start + k) % built_.values.size();
      try {
        if (numel(broadcast_shape(built_.values[at].shape(), built_.values[with].shape())) <= kMostElements) return at;
      } catch (const ShapeError&) {
        continue;
      }
    }
    return with;
  }
  const Tensor& at(std::size_t k) {
    needed_.push_back(k);
    return built_.values[k];
  }
  static std::string v(std::size_t k) { return fmt::format("v{}", k); }

  void add(const Leaf& leaf) { add(leaf.tensor, leaf.text); }
  void add(const Tensor& tensor, const std::string& text) {
    if (tensor.numel() > kMostElements) return;
    built_.lines.push_back(fmt::format("auto v{} = {};  // {}", built_.values.size(), text, tensor.str()));
    built_.needs.push_back(std::exchange(needed_, {}));
    built_.values.push_back(tensor);
  }

  Built built_;
  std::vector<std::size_t> needed_;  // by the step at hand
};

DType any_dtype(Dice& dice) {
  // float32 most often.
  return dice.roll(3) == 0 ? DType::float32 : static_cast<DType>(dice.roll(kDTypeCount));
}

std::string dtype_text(DType dtype) {
  return fmt::format("DType::{}{}", name(dtype), dtype == DType::bool_ ? "_" : "");
}

std::string ranges_text(const Ranges& ranges) {
  std::string out = "{";
  for (const Range& r : ranges)
    out += fmt::format("{}{{{}, {}}}", out.size() == 1 ? "" : ", ", r.lo.value(), r.hi.value());
  return out + "}";
}

void Builder::leaf(Dice& dice) {
  const DType dtype = any_dtype(dice);
  Shape shape(dice.roll(5));
  // Mostly 2 to 5, sometimes 1, seldom 0 and 17.
  constexpr std::int64_t kExtents[] = {2, 3, 1, 4, 5, 3, 2, 1, 4, 17, 3, 0};
  for (SymInt& n : shape) n = kExtents[dice.roll(std::size(kExtents))];
  if (numel(shape) > kMostElements) return;
  add(make_leaf(dtype, shape, dice.roll(1000)));
}

void Builder::made(Dice& dice) {
  const auto a = static_cast<std::int64_t>(dice.roll(6));
  const auto b = static_cast<std::int64_t>(1 + dice.roll(4));
  switch (dice.roll(4)) {
    case 0:
      return add(arange(a, 3 * a + 2, b), fmt::format("arange({}, {}, {})", a, 3 * a + 2, b));
    case 1:
      return add(iota({a, b}), fmt::format("iota({{{}, {}}})", a, b));
    case 2:
      return add(eye(a, b, a - 2, DType::int32), fmt::format("eye({}, {}, {}, DType::int32)", a, b, a - 2));
    default:
      return add(full({b, a}, 1.5), fmt::format("full({{{}, {}}}, 1.5)", b, a));
  }
}

void Builder::unary(Dice& dice) {
  using F = Tensor (*)(const Operand&);
  static constexpr std::pair<const char*, F> kOps[] = {
      {"-", static_cast<F>(&oriel::operator-)}, {"abs", &oriel::abs}, {"sign", &oriel::sign}, {"exp", &oriel::exp},
      {"exp2", &oriel::exp2}, {"log", &oriel::log}, {"log2", &oriel::log2}, {"sqrt", &oriel::sqrt},
      {"rsqrt", &oriel::rsqrt}, {"reciprocal", &oriel::reciprocal}, {"sin", &oriel::sin}, {"cos", &oriel::cos},
      {"tan", &oriel::tan}, {"tanh", &oriel::tanh}, {"erf", &oriel::erf}, {"sigmoid", &oriel::sigmoid},
      {"gelu", &oriel::gelu}, {"silu", &oriel::silu}, {"relu", &oriel::relu}, {"floor", &oriel::floor},
      {"ceil", &oriel::ceil}, {"round", &oriel::round}, {"trunc", &oriel::trunc}, {"square", &oriel::square},
      {"isnan", &oriel::isnan}, {"isinf", &oriel::isinf}, {"isfinite", &oriel::isfinite},
      {"!", &oriel::operator!}, {"~", &oriel::operator~} };
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
        {"pow", &oriel::pow}, {"atan2", &oriel::atan2}, {"minimum", &oriel::minimum}, {"maximum", &oriel::maximum},
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
  switch (dice.roll(8)) {
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

void Builder::rearrange(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t rank = at(x).rank();
  switch (dice.roll(4)) {
    case 0: {
      // A random factoring of the element count, so that reshapes split and join across axes.
      std::int64_t left = at(x).numel();
      Shape shape;
      while (left > 1 && shape.size() < 4) {
        std::int64_t divisor = static_cast<std::int64_t>(2 + dice.roll(5));
        while (left % divisor != 0) divisor = divisor < left ? divisor + 1 : left;
        shape.push_back(divisor);
        left /= divisor;
      }
      if (left != 1) shape.push_back(left);
      return add(reshape(at(x), shape), fmt::format("reshape({}, {})", v(x), braces(shape)));
    }
    case 1: {
      Ints order(rank);
      for (std::size_t d = 0; d < rank; ++d) order[d] = d;
      for (std::size_t d = rank; d > 1; --d) std::swap(order[d - 1], order[dice.roll(d)]);
      return add(permute(at(x), order), fmt::format("permute({}, {})", v(x), braces(order)));
    }
    case 2:
      return add(squeeze(at(x)), fmt::format("squeeze({})", v(x)));
    default: {
      const std::int64_t axis = dice.roll(rank + 1);
      return add(unsqueeze(at(x), axis), fmt::format("unsqueeze({}, {})", v(x), axis));
    }
  }
}

// Another order of memory: a format, pending; a realised leaf with its axes in any order.
void Builder::laid_out(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t rank = at(x).rank();
  if (dice.roll(2) == 0) {
    if (rank == 4) return add(at(x).to(MemoryFormat::channels_last), v(x) + ".to(MemoryFormat::channels_last)");
    if (rank == 5) return add(at(x).to(MemoryFormat::channels_last_3d), v(x) + ".to(MemoryFormat::channels_last_3d)");
    return add(at(x).contiguous(), v(x) + ".contiguous()");
  }
  Ints order(rank);
  for (std::size_t d = 0; d < rank; ++d) order[d] = d;
  for (std::size_t d = rank; d > 1; --d) std::swap(order[d - 1], order[dice.roll(d)]);
  needed_.clear();  // only the shape is taken
  const Leaf leaf = make_leaf(at(x).dtype(), at(x).shape(), dice.roll(1000));
  add(leaf.tensor.permute(order).realize(), fmt::format("Tensor({}.permute({}).realize())", leaf.text, braces(order)));
}

void Builder::padded(Dice& dice) {
  const std::size_t x = pick(dice);
  Ranges around(at(x).rank());
  for (Range& r : around) r = {dice.roll(3), dice.roll(2)};
  const int value = static_cast<int>(dice.roll(3));
  const int fitting = at(x).dtype() == DType::bool_ ? 0 : value;
  add(pad(at(x), around, fitting), fmt::format("pad({}, {}, {})", v(x), ranges_text(around), fitting));
}

void Builder::cut(Dice& dice) {
  const std::size_t x = pick(dice);
  Ranges ranges(at(x).rank());
  for (std::size_t d = 0; d < ranges.size(); ++d) {
    const std::int64_t n = at(x).shape()[d].value();
    const std::int64_t lo = dice.roll(static_cast<std::size_t>(n / 2 + 1));
    ranges[d] = {lo, n - static_cast<std::int64_t>(dice.roll(static_cast<std::size_t>((n - lo) / 2 + 1)))};
  }
  add(shrink(at(x), ranges), fmt::format("shrink({}, {})", v(x), ranges_text(ranges)));
}

void Builder::sliced(Dice& dice) {
  const std::size_t x = pick(dice);
  std::vector<Slice> slices;
  std::string text;
  for (std::size_t d = 0; d < at(x).rank(); ++d) {
    constexpr std::int64_t kSteps[] = {1, -1, 2, -2, 3};
    Slice s;
    s.step = kSteps[dice.roll(std::size(kSteps))];
    if (dice.roll(2) != 0) s.start = static_cast<std::int64_t>(dice.roll(9)) - 4;
    if (dice.roll(4) == 3) s.stop = static_cast<std::int64_t>(dice.roll(9)) - 4;
    slices.push_back(s);
    std::string parts;
    if (s.start) parts += fmt::format(".start = {}, ", *s.start);
    if (s.stop) parts += fmt::format(".stop = {}, ", *s.stop);
    text += fmt::format("{}{{{}.step = {}}}", d == 0 ? "" : ", ", parts, s.step);
  }
  add(slice(at(x), slices), fmt::format("slice({}, {{{}}})", v(x), text));
}

void Builder::flipped(Dice& dice) {
  const std::size_t x = pick(dice);
  if (at(x).rank() == 0) return;
  const std::int64_t axis = dice.roll(at(x).rank());
  if (dice.roll(2) == 0) return add(flip(at(x), axis), fmt::format("flip({}, {})", v(x), axis));
  const std::int64_t shift = static_cast<std::int64_t>(dice.roll(7)) - 3;
  add(roll(at(x), shift, axis), fmt::format("roll({}, {}, {})", v(x), shift, axis));
}

void Builder::grown(Dice& dice) {
  const std::size_t x = pick(dice);
  if (dice.roll(2) == 0) {
    Ints counts(at(x).rank());
    for (SymInt& n : counts) n = 1 + dice.roll(2);
    return add(repeat(at(x), counts), fmt::format("repeat({}, {})", v(x), braces(counts)));
  }
  Shape shape = at(x).shape();
  for (SymInt& n : shape) {
    if (n == 1) n = 1 + dice.roll(4);
  }
  shape.insert(shape.begin(), SymInt(1 + dice.roll(3)));
  add(broadcast_to(at(x), shape), fmt::format("broadcast_to({}, {})", v(x), braces(shape)));
}

// Some axes, as text and value: all, one, or two.
std::pair<Axes, std::string> some_axes(Dice& dice, std::size_t rank) {
  if (rank == 0 || dice.roll(4) == 0) return {Axes(), "{}"};
  const std::int64_t first = dice.roll(rank);
  if (rank == 1 || dice.roll(3) != 0) return {Axes(first), fmt::format("{}", first)};
  const std::int64_t second = (first + 1) % static_cast<std::int64_t>(rank);
  return {Axes(Ints{first, second}), fmt::format("{{{}, {}}}", first, second)};
}

void Builder::reduced(Dice& dice) {
  using F = Tensor (*)(const Operand&, const Axes&, bool);
  static constexpr std::pair<const char*, F> kOps[] = {{"sum", &oriel::sum},
                                                       {"max", &oriel::max},
                                                       {"min", &oriel::min},
                                                       {"prod", &oriel::prod},
                                                       {"any", &oriel::any},
                                                       {"all", &oriel::all},
                                                       {"mean", &oriel::mean},
                                                       {"argmax", &oriel::argmax},
                                                       {"argmin", &oriel::argmin},
                                                       {"logsumexp", &oriel::logsumexp},
                                                       {"count_nonzero", &oriel::count_nonzero}};
  const std::size_t x = pick(dice);
  const auto& [text, op] = kOps[dice.roll(std::size(kOps))];
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

void Builder::joined(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t y = partner(dice, x);
  if (at(x).rank() == 0 || at(x).shape() != at(y).shape()) {
    return add(stack({at(x), at(x)}, 0), fmt::format("stack({{{0}, {0}}}, 0)", v(x)));
  }
  const std::int64_t axis = dice.roll(at(x).rank());
  add(concat({at(x), at(y), at(x)}, axis), fmt::format("concat({{{0}, {1}, {0}}}, {2})", v(x), v(y), axis));
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

void Builder::windowed(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t rank = at(x).rank();
  if (rank == 0) return;
  const std::int64_t axis = dice.roll(rank);
  const std::int64_t n = at(x).size(axis);
  if (n == 0) return;
  switch (dice.roll(3)) {
    case 0: {
      const std::int64_t size = 1 + static_cast<std::int64_t>(dice.roll(static_cast<std::size_t>(n)));
      const std::int64_t step = 1 + static_cast<std::int64_t>(dice.roll(2));
      return add(unfold(at(x), axis, size, step), fmt::format("unfold({}, {}, {}, {})", v(x), axis, size, step));
    }
    case 1: {
      const std::int64_t position = dice.roll(static_cast<std::size_t>(n));
      return add(select(at(x), axis, position), fmt::format("select({}, {}, {})", v(x), axis, position));
    }
    default: {
      if (rank < 2) return;
      const std::int64_t offset = static_cast<std::int64_t>(dice.roll(3)) - 1;
      return add(diagonal(at(x), offset), fmt::format("diagonal({}, {})", v(x), offset));
    }
  }
}

// What goes along one axis.
void Builder::along(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::int64_t axis = at(x).rank() == 0 ? 0 : static_cast<std::int64_t>(dice.roll(at(x).rank()));
  const bool down = dice.roll(2) == 0;
  switch (dice.roll(4)) {
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

void Builder::alike(Dice& dice) {
  const std::size_t x = pick(dice);
  const auto value = static_cast<int>(dice.roll(2));
  add(full_like(at(x), value), fmt::format("full_like({}, {})", v(x), value));
}

void Builder::step(const Step& step) {
  static constexpr void (Builder::*kKinds[])(Dice&) = {
      &Builder::leaf,    &Builder::unary,    &Builder::binary, &Builder::rearrange, &Builder::padded,
      &Builder::sliced,  &Builder::reduced,  &Builder::grown,  &Builder::number,    &Builder::convert,
      &Builder::cut,     &Builder::flipped,  &Builder::choose, &Builder::joined,    &Builder::composed,
      &Builder::product, &Builder::windowed, &Builder::made,   &Builder::laid_out,  &Builder::along,
      &Builder::alike};
  static_assert(std::size(kKinds) == 21);
  Dice dice(step);
  needed_.clear();
  try {
    (this->*kKinds[step.kind % std::size(kKinds)])(dice);
  } catch (const UserError&) {
    // A refused step (a dtype that the operation does not take, an empty axis) is no step.
  }
}

}  // namespace

std::uint32_t kind_count() { return 21; }

Built build(const Program& program) {
  Builder builder;
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
      "#include <cmath>\n#include <limits>\n#include \"oriel/oriel.hpp\"\nusing namespace oriel;\n\n"
      "int main() {{\n{}  realize({{v{}, v{}}});\n}}\n",
      text, last, middle);
}

void showValue(const Program& program, std::ostream& out) {
  out << (build(program).values.empty() ? "// nothing\n" : paste_ready(program));
}

}  // namespace oriel::testing
