// Steps that move elements.
#include "builder.hpp"

namespace oriel::testing {

namespace {

std::string ranges_text(const Ranges& ranges) {
  std::string out = "{";
  for (const Range& r : ranges)
    out += fmt::format("{}{{{}, {}}}", out.size() == 1 ? "" : ", ", r.lo.value(), r.hi.value());
  return out + "}";
}

}  // namespace

void Builder::rearrange(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t rank = at(x).rank();
  switch (dice.roll(4)) {
    case 0: {
      // Splits the number of elements into random factors, so that reshapes split and join axes.
      std::int64_t left = at(x).numel().value();
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

// Other orders in memory: a pending format, or a realised leaf with permuted axes.
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
  needed_.clear();  // only the shape of the operand is used
  const Leaf leaf = leaf_of(at(x).dtype(), at(x).shape(), dice.roll(1000));
  add(in_memory(leaf.tensor.permute(order)), fmt::format("Tensor({}.permute({}).realize())", leaf.text, braces(order)));
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
  if (dice.roll(3) == 2) {
    Ints steps(at(x).rank());
    for (SymInt& step : steps) step = 1 + dice.roll(3);
    return add(every(at(x), steps), fmt::format("every({}, {})", v(x), braces(steps)));
  }
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
    if (s.start) parts += fmt::format(".start = {}, ", (*s.start).value());
    if (s.stop) parts += fmt::format(".stop = {}, ", (*s.stop).value());
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

void Builder::joined(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t y = partner(dice, x);
  const std::size_t rank = at(x).rank();
  const bool stacks = rank == 0 || dice.roll(3) == 0;
  const auto axis = static_cast<std::int64_t>(dice.roll(stacks ? rank + 1 : rank));
  const std::size_t kinds = rank == 0 ? 1 : at(x).shape() == at(y).shape() ? 4 : 3;
  std::vector<Tensor> pieces;
  std::string text;
  for (std::size_t left = 2 + dice.roll(3); left > 0; --left) {
    const std::size_t kind = dice.roll(kinds);
    Tensor piece = at(x);
    std::string name = v(x);
    if (kind == 1) {
      const auto along = static_cast<std::int64_t>(dice.roll(rank));
      piece = flip(at(x), along);
      name = fmt::format("flip({}, {})", v(x), along);
    } else if (kind == 2 && !stacks) {
      const std::int64_t n = at(x).size(axis).value();
      piece = at(x).shrink({{n / 3, n}}, axis);
      name = fmt::format("{}.shrink({{{{{}, {}}}}}, {})", v(x), n / 3, n, axis);
    } else if (kind == 3) {
      piece = at(y);
      name = v(y);
    }
    pieces.push_back(piece);
    text += (text.empty() ? "" : ", ") + name;
  }
  if (stacks) return add(stack(pieces, axis), fmt::format("stack({{{}}}, {})", text, axis));
  add(concat(pieces, axis), fmt::format("concat({{{}}}, {})", text, axis));
}

void Builder::windowed(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t rank = at(x).rank();
  if (rank == 0) return;
  const std::int64_t axis = dice.roll(rank);
  const std::int64_t n = at(x).size(axis).value();
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

// Writes and combines at these positions, one for each line (`lines`) or for each element, what is read there.
void Builder::scattered(Dice& dice, std::size_t x, const Tensor& index, const std::string& text, std::int64_t axis,
                        bool lines) {
  const Tensor values = lines ? take(at(x), index, axis).flip() : gather(at(x), index, axis).flip();
  const std::string given = fmt::format("{}({}, {}, {}).flip()", lines ? "take" : "gather", v(x), text, axis);
  const bool flags = at(x).dtype() == DType::bool_;
  if (dice.roll(3) == 0) {
    return add(lines ? put(at(x), index, values, axis) : scatter(at(x), index, values, axis),
               fmt::format("{}({}, {}, {}, {})", lines ? "put" : "scatter", v(x), text, given, axis));
  }
  constexpr std::array kCombines{std::pair{Combine::amax, "amax"}, std::pair{Combine::amin, "amin"},
                                 std::pair{Combine::sum, "sum"}, std::pair{Combine::mean, "mean"}};
  const auto [combine, word] = kCombines[dice.roll(flags ? 2 : kCombines.size())];
  const bool with = dice.roll(2) == 0;
  const IncludeSelf self = with ? IncludeSelf::yes : IncludeSelf::no;
  const std::string end =
      fmt::format("Combine::{}, {}IncludeSelf::{})", word, lines ? fmt::format("{}, ", axis) : "", with ? "yes" : "no");
  if (lines)
    return add(index_reduce(at(x), index, values, combine, axis, self),
               fmt::format("index_reduce({}, {}, {}, {}", v(x), text, given, end));
  add(scatter_reduce(at(x), index, values, axis, combine, self),
      fmt::format("scatter_reduce({}, {}, {}, {}, {}", v(x), text, given, axis, end));
}

// Gathers at positions that a leaf holds, some counted from the end, some outside.
void Builder::gathered(Dice& dice) {
  const std::size_t x = pick(dice);
  const std::size_t rank = at(x).rank();
  if (rank == 0) return;
  const std::int64_t axis = dice.roll(rank);
  constexpr DType kIntegers[] = {DType::int32, DType::int64, DType::int8, DType::uint8};
  const DType dtype = kIntegers[dice.roll(std::size(kIntegers))];
  const std::int64_t least = is_unsigned(dtype) ? 0 : -static_cast<std::int64_t>(dice.roll(3));
  const std::int64_t positions = at(x).size(axis).value() + static_cast<std::int64_t>(dice.roll(2)) - least;
  if (positions == 0) return;
  const bool taken = dice.roll(2) == 0;
  Shape shape = at(x).shape();
  if (taken) shape.resize(dice.roll(3), SymInt(1));
  for (SymInt& n : shape)
    n = taken ? 1 + static_cast<std::int64_t>(dice.roll(4)) : std::min<std::int64_t>(n.value(), 3);
  const Leaf leaf = leaf_of(dtype, shape, dice.roll(1000));
  const Tensor index = remainder(leaf.tensor, positions) + least;
  const std::string text = fmt::format("remainder({}, {}) + {}", leaf.text, positions, least);
  const std::string taking = fmt::format("take({}, {}, {})", v(x), text, axis);
  if (dice.roll(3) == 0 || scatters_) return scattered(dice, x, index, text, axis, taken);
  if (taken) return add(take(at(x), index, axis), taking);
  add(gather(at(x), index, axis), fmt::format("gather({}, {}, {})", v(x), text, axis));
}

}  // namespace oriel::testing
