#include "writes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <set>

#include "eager.hpp"
#include "leaf.hpp"
#include "oriel/oriel.hpp"

namespace oriel::testing {

namespace {

constexpr std::int64_t kMostElements = 400;
constexpr std::size_t kMostHandles = 12;

// The text around the statements of a program. The program returns 0 if the engine agrees with the model.
constexpr const char* kBegin = R"(#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "oriel/oriel.hpp"

using namespace oriel;

template <class T>
void expect(const Tensor& x, const std::vector<T>& want) {
  const std::vector<T> got = x.to_vector<T>();
  for (std::size_t k = 0; k < want.size(); ++k) {
    if (got[k] == want[k]) continue;
    std::cout << x.str() << ": element " << k << " is " << +got[k] << ", expected " << +want[k] << "\n";
    std::exit(1);
  }
}
template <class Write>
void expect_refused(Write write) {
  try {
    write();
  } catch (const ShapeError&) {
    return;
  }
  std::cout << "a write to repeated elements was not refused\n";
  std::exit(1);
}
void expect_lent(const std::vector<std::int32_t>& memory, const std::vector<std::int32_t>& want) {
  if (memory == want) return;
  std::cout << "memory that was lent has been written\n";
  std::exit(1);
}

int main() {
  set_default_bounds(Bounds::zero);
)";
constexpr const char* kEnd = "}\n";

// For example "{1, 2}".
std::string listed(const std::vector<std::int64_t>& values) { return fmt::format("{{{}}}", fmt::join(values, ", ")); }

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
  Handle result(Dice& dice);  // a value to write or read: a handle, or something computed
  void put(Handle& target, const std::vector<std::int64_t>& values, const std::function<void()>& engine,
           const std::string& text);

  std::vector<Handle> handles_;
  struct Lent {
    std::shared_ptr<std::vector<std::int32_t>> memory;
    std::vector<std::int32_t> before;
    std::string name;
  };
  std::vector<Lent> lent_;
  std::size_t made_ = 0;
  Ran ran_;
};

void Runner::fresh(Dice& dice) {
  // Some shapes are whole packets, which the tile machine reads and writes in place.
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
      const std::string name = fmt::format("lent{}", lent_.size());
      say("const std::vector<std::int32_t> {}{};", name, listed(values));
      lent_.push_back({std::make_shared<std::vector<std::int32_t>>(data), data, name});
      return add(Tensor::borrow(*lent_.back().memory, shape), own(values, shape, DType::int32),
                 fmt::format("Tensor::borrow({}, {})", name, braces(shape)));
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
      // Column-major memory.
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

void Runner::view(Dice& dice) {
  const Handle& x = pick(dice);
  const auto by = draw_movement(dice, x.model.shape);
  if (!by) return;
  const Eager model = moved(x.model, by->move);
  if (static_cast<std::int64_t>(model.at.size()) > kMostElements) return;
  add(by->move(x.tensor), model, by->of(x.name));
}

Handle Runner::result(Dice& dice) {
  const Handle& x = pick(dice);
  const std::vector<std::int64_t> a = x.model.values();
  const auto k = static_cast<std::int64_t>(dice.roll(5));
  const auto computed = [&](std::vector<std::int64_t> v, const Shape& shape, DType dtype) {
    for (std::int64_t& n : v) n = wrap(dtype, n);
    return own(std::move(v), shape, dtype);
  };
  switch (dice.roll(9)) {
    case 6:
    case 7: {
      // Entries of the first axis in another order, some repeated and some outside. No view tells which element a point
      // reads.
      if (x.model.shape.empty() || x.model.shape[0] == 0) break;
      const std::int64_t n = x.model.shape[0].value();
      const auto rows = static_cast<std::int64_t>(dice.roll(3) == 0 ? 1 + dice.roll(5) : static_cast<std::size_t>(n));
      const auto factor = static_cast<std::int64_t>(1 + dice.roll(4));
      const auto width = static_cast<std::int64_t>(a.size()) / n;
      if (rows * width > kMostElements) break;
      std::vector<std::int64_t> v;
      for (std::int64_t i = 0; i < rows; ++i) {
        const std::int64_t position = i * factor % (n + 2) - 1;
        const std::int64_t from = position < 0 ? position + n : position;
        for (std::int64_t j = 0; j < width; ++j)
          v.push_back(from < n ? a[static_cast<std::size_t>(from * width + j)] : 0);
      }
      Shape shape = x.model.shape;
      shape[0] = rows;
      const Tensor index = remainder(iota({rows}) * factor, n + 2) - 1;
      return {take(x.tensor, index), computed(v, shape, x.model.dtype),
              fmt::format("take({}, remainder(iota({{{}}}) * {}, {}) - 1)", x.name, rows, factor, n + 2)};
    }
    case 5: {
      // Subtracts from each row its sum: a kernel of several stages that reads its rows twice.
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
      // A tensor without axes takes the other's dtype.
      const DType dtype = x.model.shape.empty() == y.model.shape.empty() ? promote(x.model.dtype, y.model.dtype)
                          : x.model.shape.empty()                        ? y.model.dtype
                                                                         : x.model.dtype;
      return {x.tensor - y.tensor, computed(v, shape, dtype), fmt::format("{} - {}", x.name, y.name)};
    }
    case 2: {
      std::int64_t total = 0;
      for (const std::int64_t n : a) total += n;
      // Sums of small integers are int64, so they are converted back.
      return {sum(x.tensor).to(x.model.dtype), computed({total}, {}, x.model.dtype),
              fmt::format("sum({}).to(DType::{})", x.name, name(x.model.dtype))};
    }
    case 3: {
      // Combines each element with the one before it: reads of overlapping parts.
      if (x.model.shape.size() != 1 || a.size() < 2) break;
      std::vector<std::int64_t> v(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) v[i] = a[i] + (i == 0 ? a[a.size() - 1] : a[i - 1]);
      return {x.tensor + roll(x.tensor, 1, 0), computed(v, x.model.shape, x.model.dtype),
              fmt::format("{0} + roll({0}, 1, 0)", x.name)};
    }
    case 4: {
      const auto by = draw_movement(dice, x.model.shape);
      if (!by) break;
      const Eager model = moved(x.model, by->move);
      if (static_cast<std::int64_t>(model.at.size()) > kMostElements) break;
      return {by->move(x.tensor), model, by->of(x.name)};
    }
    default:
      break;
  }
  return x;
}

void Runner::read(Dice& dice) {
  Handle value = result(dice);
  // A plain handle becomes an alias of the same storage.
  add(value.tensor, value.model, value.name);
}

void Runner::put(Handle& target, const std::vector<std::int64_t>& values, const std::function<void()>& engine,
                 const std::string& text) {
  const std::set<std::int64_t> distinct(target.model.at.begin(), target.model.at.end());
  const bool repeats = distinct.size() != target.model.at.size();
  repeats ? say("expect_refused([&] {{ {}; }});", text) : say("{};", text);
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

// Writes a value that fits the target, or a number.
void Runner::write(Dice& dice) {
  Handle target = pick(dice);  // a copy: it names the same storage and stays valid when handles are added or removed
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
  const std::vector<std::int64_t> want = handle.model.values();
  say("expect<std::{}_t>({}, {});", name(handle.model.dtype), handle.name, listed(want));
  std::vector<std::int64_t> got;
  if (handle.model.dtype == DType::int8) {
    for (const std::int8_t n : handle.tensor.to_vector<std::int8_t>()) got.push_back(n);
  } else {
    for (const std::int32_t n : handle.tensor.to_vector<std::int32_t>()) got.push_back(n);
  }
  for (std::size_t k = 0; k < want.size(); ++k) {
    if (got[k] == want[k]) continue;
    ran_.fault = fmt::format("{}: element {} is {}, expected {}", handle.name, k, got[k], want[k]);
    return;
  }
}

void Runner::ask(Dice& dice) {
  switch (dice.roll(5)) {
    case 0: {
      return check(pick(dice));
    }
    case 1: {
      const Handle a = pick(dice), b = pick(dice);
      say("realize({{{}, {}}});", a.name, b.name);
      return realize({a.tensor, b.tensor});
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
  for (const auto& [memory, before, name] : lent_) {
    if (!ran_.fault.empty()) break;
    say("expect_lent({}, {});", name, listed({before.begin(), before.end()}));
    if (*memory != before) ran_.fault = "memory that was lent has been written";
  }
  return std::move(ran_);
}

}  // namespace

Ran run(const WriteProgram& program) {
  set_default_bounds(Bounds::zero);  // some positions are outside
  Runner runner;
  try {
    for (const WriteStep& step : program.steps) runner.step(step);
    return runner.finish();
  } catch (const Error& error) {
    return runner.refused(error.what());
  }
}

std::string text(const Ran& ran) {
  std::string out = ran.fault.empty() ? "" : "// " + ran.fault + "\n";
  out += kBegin;
  for (const std::string& line : ran.lines) out += "  " + line + "\n";
  return out + kEnd;
}

void showValue(const WriteProgram& program, std::ostream& out) { out << "\n" << text(run(program)); }

}  // namespace oriel::testing
