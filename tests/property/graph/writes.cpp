#include "writes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <set>

#include "leaf.hpp"
#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"

namespace oriel::testing {

namespace {

constexpr std::int64_t kMostElements = 400;
constexpr std::size_t kMostHandles = 12;

class Dice {
 public:
  explicit Dice(const WriteStep& step) : step_(step) {}
  std::size_t roll(std::size_t below) {
    const std::size_t value = step_.dice[next_ % step_.dice.size()] + next_ / step_.dice.size();
    ++next_;
    return below == 0 ? 0 : value % below;
  }

 private:
  const WriteStep& step_;
  std::size_t next_ = 0;
};

std::int64_t wrap(DType dtype, std::int64_t value) {
  if (dtype == DType::int8) return static_cast<std::int8_t>(static_cast<std::uint8_t>(value));
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

/// The model's tensor: which elements of which storage. Elements are whole numbers of int32 or int8.
struct Eager {
  std::shared_ptr<std::vector<std::int64_t>> storage;
  std::vector<std::int64_t> at;
  Shape shape;
  DType dtype = DType::int32;

  std::vector<std::int64_t> values() const {
    std::vector<std::int64_t> out;
    for (const std::int64_t k : at) out.push_back((*storage)[static_cast<std::size_t>(k)]);
    return out;
  }
};

Eager own(std::vector<std::int64_t> values, const Shape& shape, DType dtype) {
  Eager e;
  for (std::size_t k = 0; k < values.size(); ++k) e.at.push_back(static_cast<std::int64_t>(k));
  e.storage = std::make_shared<std::vector<std::int64_t>>(std::move(values));
  e.shape = shape;
  e.dtype = dtype;
  return e;
}

using Movement = std::function<Tensor(const Tensor&)>;

/// The same movement of the model: which elements it picks is asked of the interpreter, over their positions.
Eager moved(const Eager& x, const Movement& movement) {
  const Tensor picked = movement(iota(x.shape));
  Eager out = x;
  out.shape = picked.shape();
  out.at.clear();
  for (const reference::Number& n : reference::interpret(picked)) out.at.push_back(x.at[static_cast<std::size_t>(n.i)]);
  return out;
}

std::vector<std::int64_t> spread(const Eager& x, const Shape& shape) {
  return moved(x, [&](const Tensor& t) { return broadcast_to(t, shape); }).values();
}

struct Handle {
  Tensor tensor;
  Eager model;
  std::string name;
};

class Runner {
 public:
  void step(const WriteStep& step);
  Ran finish();
  Ran refused(const char* what) {
    ran_.fault = std::string("the engine refused: ") + what;
    return std::move(ran_);
  }
  ~Runner() { set_lazy_limits({}); }

 private:
  Handle& pick(Dice& dice) {
    if (handles_.empty()) fresh(dice);
    return handles_[handles_.size() - 1 - dice.roll(handles_.size())];
  }
  void add(Tensor tensor, Eager model, const std::string& text) {
    const std::string name = fmt::format("t{}", made_++);
    say("Tensor {} = {};  // {}", name, text, tensor.str());
    if (handles_.size() >= kMostHandles) {
      say("{} = Tensor();", handles_.front().name);
      handles_.erase(handles_.begin());
    }
    handles_.push_back({std::move(tensor), std::move(model), name});
  }
  template <class... T>
  void say(fmt::format_string<T...> format, T&&... arguments) {
    ran_.lines.push_back(fmt::format(format, std::forward<T>(arguments)...));
  }

  void fresh(Dice& dice);
  void view(Dice& dice);
  void read(Dice& dice);
  void write(Dice& dice);
  void change(Dice& dice);
  void ask(Dice& dice);
  void check(const Handle& handle);
  Handle result(Dice& dice);  // a value to write or read: a handle as it is, or something computed
  std::optional<std::pair<Movement, std::string>> movement(Dice& dice, const Shape& shape);
  void put(Handle& target, const std::vector<std::int64_t>& values, const std::function<void()>& engine,
           const std::string& text);

  std::vector<Handle> handles_;
  std::vector<std::pair<std::shared_ptr<std::vector<std::int32_t>>, std::vector<std::int32_t>>> lent_;
  std::size_t made_ = 0;
  Ran ran_;
};

void Runner::fresh(Dice& dice) {
  // Some are whole packets, which the tile machine leaves in their place in memory.
  static constexpr std::array<std::array<int, 3>, 8> kShapes{
      {{6, 0, 0}, {2, 3, 0}, {4, 4, 0}, {2, 3, 4}, {1, 0, 0}, {12, 0, 0}, {64, 0, 0}, {16, 16, 0}}};
  Shape shape;
  for (const int n : kShapes[dice.roll(kShapes.size())])
    if (n != 0) shape.push_back(n);
  const auto n = static_cast<std::size_t>(numel(shape).value());
  const DType dtype = dice.roll(4) == 0 ? DType::int8 : DType::int32;
  const auto start = static_cast<std::int64_t>(dice.roll(9));
  std::vector<std::int64_t> values(n);
  for (std::size_t k = 0; k < n; ++k) values[k] = wrap(dtype, start + static_cast<std::int64_t>(k));
  switch (dice.roll(5)) {
    case 0: {
      std::vector<std::int32_t> data(values.begin(), values.end());
      lent_.emplace_back(std::make_shared<std::vector<std::int32_t>>(data), data);
      return add(Tensor::borrow(*lent_.back().first, shape), own(values, shape, DType::int32),
                 fmt::format("/* lent: {} and on */ {}", start, braces(shape)));
    }
    case 1: {
      const Tensor pending = (iota(shape) + start).to(dtype);
      return add(pending, own(values, shape, dtype),
                 fmt::format("(iota({}) + {}).to(DType::{})", braces(shape), start, name(dtype)));
    }
    case 2:
      return add(full(shape, start, dtype), own(std::vector<std::int64_t>(n, start), shape, dtype),
                 fmt::format("full({}, {}, DType::{})", braces(shape), start, name(dtype)));
    case 3:
      // Column-major in memory.
      if (shape.size() >= 2)
        return add((iota(shape).transpose().contiguous().transpose() + start).to(dtype).realize(),
                   own(values, shape, dtype),
                   fmt::format("Tensor((iota({}).transpose().contiguous().transpose() + {}).to(DType::{}).realize())",
                               braces(shape), start, name(dtype)));
      [[fallthrough]];
    default:
      return add((iota(shape) + start).to(dtype).realize(), own(values, shape, dtype),
                 fmt::format("Tensor((iota({}) + {}).to(DType::{}).realize())", braces(shape), start, name(dtype)));
  }
}

std::optional<std::pair<Movement, std::string>> Runner::movement(Dice& dice, const Shape& shape) {
  const std::size_t rank = shape.size();
  const std::size_t kind = dice.roll(11);
  const std::int64_t axis = static_cast<std::int64_t>(dice.roll(std::max<std::size_t>(rank, 1)));
  const std::int64_t extent = rank == 0 ? 1 : shape[static_cast<std::size_t>(axis)].value();
  const auto made = [](Movement f, std::string text) {
    return std::make_optional(std::pair(std::move(f), std::move(text)));
  };
  switch (kind) {
    case 0:
      return made([](const Tensor& t) { return t.reshape({-1}); }, ".reshape({-1})");
    case 1:
      if (rank < 2) break;
      return made([](const Tensor& t) { return t.transpose(); }, ".transpose()");
    case 2:
      if (rank == 0) break;
      return made([=](const Tensor& t) { return t.flip(axis); }, fmt::format(".flip({})", axis));
    case 3:
    case 4: {
      if (rank == 0) break;
      const auto lo = static_cast<std::int64_t>(dice.roll(static_cast<std::size_t>(extent)));
      const auto hi = lo + 1 + static_cast<std::int64_t>(dice.roll(static_cast<std::size_t>(extent - lo)));
      Ranges ranges;
      std::string text;
      for (std::size_t d = 0; d < rank; ++d) {
        ranges.push_back(static_cast<std::int64_t>(d) == axis ? Range{lo, hi} : Range{0, shape[d]});
        text += fmt::format("{}{{{}, {}}}", d == 0 ? "" : ", ", ranges[d].lo.value(), ranges[d].hi.value());
      }
      return made([=](const Tensor& t) { return t.shrink(ranges); }, fmt::format(".shrink({{{}}})", text));
    }
    case 5: {
      if (rank == 0) break;
      const std::int64_t step = std::array<std::int64_t, 4>{2, -1, -2, 3}[dice.roll(4)];
      if (axis == 0)
        return made([=](const Tensor& t) { return t.slice({{.step = step}}); },
                    fmt::format(".slice({{{{.step = {}}}}})", step));
      return made(
          [=](const Tensor& t) {
            return t.slice({{}, {.step = step}});
          },
          fmt::format(".slice({{{{}}, {{.step = {}}}}})", step));
    }
    case 6: {
      if (rank == 0) break;
      const auto position = static_cast<std::int64_t>(dice.roll(static_cast<std::size_t>(extent)));
      return made([=](const Tensor& t) { return t.select(axis, position); },
                  fmt::format(".select({}, {})", axis, position));
    }
    case 7:
      if (rank < 2) break;
      return made([](const Tensor& t) { return diagonal(t); }, " | diagonal");
    case 8:
      if (extent < 2 || rank == 0) break;
      return made([=](const Tensor& t) { return unfold(t, axis, 2, 1 + extent % 2); },
                  fmt::format(" | unfold({}, 2, {})", axis, 1 + extent % 2));
    case 9:
      return made(
          [](const Tensor& t) {
            Shape grown = t.shape();
            grown.insert(grown.begin(), SymInt(2));
            return broadcast_to(t, grown);
          },
          " | broadcast_to({2, ...})");
    default: {
      // Another shape of as many elements.
      const std::int64_t n = numel(shape).value();
      for (const std::int64_t part : {3, 2, 4})
        if (n % part == 0)
          return made(
              [=](const Tensor& t) {
                return t.reshape({part, -1});
              },
              fmt::format(".reshape({{{}, -1}})", part));
      break;
    }
  }
  return std::nullopt;
}

void Runner::view(Dice& dice) {
  const Handle& x = pick(dice);
  const auto by = movement(dice, x.model.shape);
  if (!by) return;
  const Eager model = moved(x.model, by->first);
  if (static_cast<std::int64_t>(model.at.size()) > kMostElements) return;
  add(by->first(x.tensor), model, x.name + by->second);
}

Handle Runner::result(Dice& dice) {
  const Handle& x = pick(dice);
  const std::vector<std::int64_t> a = x.model.values();
  const auto k = static_cast<std::int64_t>(dice.roll(5));
  const auto computed = [&](std::vector<std::int64_t> v, const Shape& shape, DType dtype) {
    for (std::int64_t& n : v) n = wrap(dtype, n);
    return own(std::move(v), shape, dtype);
  };
  switch (dice.roll(7)) {
    case 5: {
      // Each row without its sum: a kernel of stages that reads its rows twice.
      if (x.model.shape.empty()) break;
      const auto width = static_cast<std::size_t>(x.model.shape.back().value());
      std::vector<std::int64_t> v = a;
      for (std::size_t row = 0; row < v.size(); row += width) {
        std::int64_t total = 0;
        for (std::size_t i = 0; i < width; ++i) total += a[row + i];
        for (std::size_t i = 0; i < width; ++i) v[row + i] -= wrap(x.model.dtype, total);
      }
      return {x.tensor - sum(x.tensor, -1, true).to(x.model.dtype), computed(v, x.model.shape, x.model.dtype),
              fmt::format("{0} - sum({0}, -1, true).to(DType::{1})", x.name, name(x.model.dtype))};
    }
    case 0: {
      std::vector<std::int64_t> v = a;
      for (std::int64_t& n : v) n = n * 2 + k;
      return {x.tensor * 2 + k, computed(v, x.model.shape, x.model.dtype), fmt::format("{} * 2 + {}", x.name, k)};
    }
    case 1: {
      const Handle& y = pick(dice);
      Shape shape;
      try {
        shape = broadcast_shape(x.model.shape, y.model.shape);
      } catch (const ShapeError&) {
        break;
      }
      if (numel(shape) > kMostElements) break;
      std::vector<std::int64_t> v = spread(x.model, shape), w = spread(y.model, shape);
      for (std::size_t i = 0; i < v.size(); ++i) v[i] = v[i] - w[i];
      // One without axes follows the other.
      const DType dtype = x.model.shape.empty() == y.model.shape.empty() ? promote(x.model.dtype, y.model.dtype)
                          : x.model.shape.empty()                        ? y.model.dtype
                                                                         : x.model.dtype;
      return {x.tensor - y.tensor, computed(v, shape, dtype), fmt::format("{} - {}", x.name, y.name)};
    }
    case 2: {
      std::int64_t total = 0;
      for (const std::int64_t n : a) total += n;
      // Sums of small integers are int64: back to the dtype.
      return {sum(x.tensor).to(x.model.dtype), computed({total}, {}, x.model.dtype),
              fmt::format("sum({}).to(DType::{})", x.name, name(x.model.dtype))};
    }
    case 3: {
      // Each element beside the one before it: reads of overlapping parts.
      if (x.model.shape.size() != 1 || a.size() < 2) break;
      std::vector<std::int64_t> v(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) v[i] = a[i] + (i == 0 ? a[a.size() - 1] : a[i - 1]);
      return {x.tensor + roll(x.tensor, 1, 0), computed(v, x.model.shape, x.model.dtype),
              fmt::format("{0} + roll({0}, 1, 0)", x.name)};
    }
    case 4: {
      const auto by = movement(dice, x.model.shape);
      if (!by) break;
      const Eager model = moved(x.model, by->first);
      if (static_cast<std::int64_t>(model.at.size()) > kMostElements) break;
      return {by->first(x.tensor), model, x.name + by->second};
    }
    default:
      break;
  }
  return x;
}

void Runner::read(Dice& dice) {
  Handle value = result(dice);
  // A handle as it is becomes an alias: the same storage.
  add(value.tensor, value.model, value.name);
}

void Runner::put(Handle& target, const std::vector<std::int64_t>& values, const std::function<void()>& engine,
                 const std::string& text) {
  const std::set<std::int64_t> distinct(target.model.at.begin(), target.model.at.end());
  const bool repeats = distinct.size() != target.model.at.size();
  say("{};{}", text, repeats ? "  // refused" : "");
  try {
    engine();
    if (repeats) ran_.fault = "a write to repeated elements was not refused";
  } catch (const ShapeError& error) {
    if (!repeats) ran_.fault = std::string("a write was refused: ") + error.what();
    return;
  }
  for (std::size_t k = 0; k < values.size(); ++k)
    (*target.model.storage)[static_cast<std::size_t>(target.model.at[k])] = wrap(target.model.dtype, values[k]);
}

// A value that fits the target, else a number.
void Runner::write(Dice& dice) {
  Handle target = pick(dice);  // by value: the same storage, and it stays where it is when handles come and go
  const Handle value = result(dice);
  bool fits = false;
  try {
    fits = broadcast_shape(value.model.shape, target.model.shape) == target.model.shape;
  } catch (const ShapeError&) {
  }
  if (!fits) {
    const auto k = static_cast<std::int64_t>(dice.roll(9)) - 4;
    return put(
        target, std::vector<std::int64_t>(target.model.at.size(), k), [&] { target.tensor.assign(k); },
        fmt::format("{}.assign({})", target.name, k));
  }
  put(
      target, spread(value.model, target.model.shape), [&] { target.tensor.assign(value.tensor); },
      fmt::format("{}.assign({})", target.name, value.name));
}

void Runner::change(Dice& dice) {
  Handle target = pick(dice);
  const Handle value = result(dice);
  std::vector<std::int64_t> now = target.model.values();
  bool fits = false;
  try {
    fits = broadcast_shape(value.model.shape, target.model.shape) == target.model.shape;
  } catch (const ShapeError&) {
  }
  const std::size_t op = dice.roll(3);
  const auto k = static_cast<std::int64_t>(1 + dice.roll(3));
  const std::vector<std::int64_t> other =
      fits ? spread(value.model, target.model.shape) : std::vector<std::int64_t>(now.size(), k);
  for (std::size_t i = 0; i < now.size(); ++i)
    now[i] = op == 0 ? now[i] + other[i] : op == 1 ? now[i] - other[i] : now[i] * other[i];
  put(
      target, now,
      [&] {
        const Operand y = fits ? Operand(value.tensor) : Operand(k);
        op == 0 ? target.tensor += y : op == 1 ? target.tensor -= y : target.tensor *= y;
      },
      fmt::format("{} {}= {}", target.name, "+-*"[op], fits ? value.name : std::to_string(k)));
}

void Runner::check(const Handle& handle) {
  if (!ran_.fault.empty()) return;
  std::vector<std::int64_t> got;
  if (handle.model.dtype == DType::int8) {
    for (const std::int8_t n : handle.tensor.to_vector<std::int8_t>()) got.push_back(n);
  } else {
    for (const std::int32_t n : handle.tensor.to_vector<std::int32_t>()) got.push_back(n);
  }
  const std::vector<std::int64_t> want = handle.model.values();
  for (std::size_t k = 0; k < want.size(); ++k) {
    if (got[k] == want[k]) continue;
    ran_.fault = fmt::format("{}: element {} is {}, expected {}", handle.name, k, got[k], want[k]);
    return;
  }
}

void Runner::ask(Dice& dice) {
  switch (dice.roll(5)) {
    case 0: {
      const Handle& x = pick(dice);
      say("{}.to_vector();", x.name);
      return check(x);
    }
    case 1: {
      const Tensor a = pick(dice).tensor, b = pick(dice).tensor;
      say("realize two of them");
      return realize({a, b});
    }
    case 2: {
      const Handle x = pick(dice);
      say("{} = Tensor();", x.name);
      std::erase_if(handles_, [&](const Handle& h) { return h.name == x.name; });
      return;
    }
    case 3: {
      const auto nodes = static_cast<std::int64_t>(dice.roll(12));
      say("set_lazy_limits({{.nodes = {}}});", nodes);
      return set_lazy_limits({.nodes = nodes});
    }
    default: {
      const Handle& x = pick(dice);
      say("explain({});", x.name);
      explain(x.tensor).str();
    }
  }
}

void Runner::step(const WriteStep& step) {
  if (!ran_.fault.empty()) return;
  static constexpr void (Runner::*kKinds[])(Dice&) = {&Runner::fresh,  &Runner::view,  &Runner::view,  &Runner::read,
                                                      &Runner::read,   &Runner::write, &Runner::write, &Runner::change,
                                                      &Runner::change, &Runner::ask};
  Dice dice(step);
  (this->*kKinds[step.kind % std::size(kKinds)])(dice);
}

Ran Runner::finish() {
  for (const Handle& handle : handles_) check(handle);
  for (const auto& [data, before] : lent_)
    if (*data != before && ran_.fault.empty()) ran_.fault = "memory that was lent has been written";
  return std::move(ran_);
}

}  // namespace

Ran run(const WriteProgram& program) {
  Runner runner;
  try {
    for (const WriteStep& step : program.steps) runner.step(step);
    return runner.finish();
  } catch (const Error& error) {
    return runner.refused(error.what());
  }
}

void showValue(const WriteProgram& program, std::ostream& out) {
  const Ran ran = run(program);
  out << "// " << ran.fault << "\n";
  for (const std::string& line : ran.lines) out << line << "\n";
}

}  // namespace oriel::testing
