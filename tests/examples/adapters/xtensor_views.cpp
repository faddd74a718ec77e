// xtensor under `oriel fuzz reshape --external ./xtensor_views`. Needs xtensor (Debian's libxtensor-dev) and
// nlohmann-json, and C++17: in C++20, xt::pad of version 0.24.3 loses the elements or throws std::bad_alloc.
//
// Two movements at a time are one lazy expression, which is then evaluated. An array holds the position of each index
// plus 1, and 0 where the index is invalid. The sum along one axis is compared with the table, and, where the last
// movement is a view of an array, a write through it with what the array holds then.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xbroadcast.hpp>
#include <xtensor/xmanipulation.hpp>
#include <xtensor/xpad.hpp>
#include <xtensor/xstrided_view.hpp>

using nlohmann::json;
using Array = xt::xarray<std::int64_t>;
using Sizes = std::vector<std::size_t>;

namespace {

std::size_t product(const Sizes& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

Array numbers(std::int64_t from, std::size_t count) {
  return xt::arange<std::int64_t>(from, from + static_cast<std::int64_t>(count));
}

bool has(const json& axes, std::size_t d) { return std::find(axes.begin(), axes.end(), json(d)) != axes.end(); }

/// The slices of a shrink or a flip, and their text.
xt::xstrided_slice_vector slices(const std::string& op, const json& argument, std::size_t rank, std::string& text) {
  xt::xstrided_slice_vector out;
  for (std::size_t d = 0; d < rank; ++d) {
    text += d ? ", " : "";
    if (op == "shrink") {
      out.emplace_back(xt::range(argument[d][0].get<std::ptrdiff_t>(), argument[d][1].get<std::ptrdiff_t>()));
      text += "xt::range(" + argument[d][0].dump() + ", " + argument[d][1].dump() + ")";
    } else if (has(argument, d)) {
      using namespace xt::placeholders;
      out.emplace_back(xt::range(_, _, -1));
      text += "xt::range(_, _, -1)";
    } else {
      out.emplace_back(xt::all());
      text += "xt::all()";
    }
  }
  return out;
}

template <class E, class = void>
struct HasStrides : std::false_type {};
template <class E>
struct HasStrides<E, std::void_t<decltype(std::declval<E&>().strides(), std::declval<E&>().data_offset())>>
    : std::true_type {};

std::string braces(const json& list) {
  std::string out;
  for (const json& item : list) out += (out.empty() ? "" : ", ") + (item.is_array() ? braces(item) : item.dump());
  return "{" + out + "}";
}

/// Passes the movement of `e`, which is not evaluated, to `use`, and adds its text, of a value called `name`.
template <class E, class Use>
void moved(const json& movement, E& e, const std::string& name, std::string& text, const Use& use) {
  const std::string op = movement[0];
  const json& argument = movement[1];
  if (op == "reshape") {
    text = "xt::reshape_view(" + name + ", Sizes" + braces(argument) + ")";
    use(xt::reshape_view(e, argument.get<Sizes>()));
  } else if (op == "permute") {
    text = "xt::transpose(" + name + ", Sizes" + braces(argument) + ")";
    if constexpr (HasStrides<E>::value) {
      use(xt::transpose(e, argument.get<Sizes>()));
    } else {  // it has no strides to permute
      text = "xt::transpose(xt::eval(" + name + "), Sizes" + braces(argument) + ")";
      const Array evaluated = e;
      use(xt::transpose(evaluated, argument.get<Sizes>()));
    }
  } else if (op == "expand") {
    text = "xt::broadcast(" + name + ", Sizes" + braces(argument) + ")";
    use(xt::broadcast(e, argument.get<Sizes>()));
  } else if (op == "pad") {
    // Of version 0.24.3, xt::pad of a view does not compile.
    const bool array = std::is_same_v<std::remove_cv_t<E>, Array>;
    text = "xt::pad(" + (array ? name : "xt::xarray<long>(" + name + ")") + ", Ends" + braces(argument) +
           ", xt::pad_mode::constant, 0)";
    const Array evaluated = e;
    use(xt::pad(evaluated, argument.get<std::vector<Sizes>>(), xt::pad_mode::constant, std::int64_t{0}));
  } else if (op == "shrink" || op == "flip") {
    std::string parts;
    const xt::xstrided_slice_vector chosen = slices(op, argument, e.dimension(), parts);
    text = "xt::strided_view(" + name + ", {" + parts + "})";
    use(xt::strided_view(e, chosen));
  } else {
    throw std::runtime_error("unknown movement " + op);
  }
}

/// What a question starts with.
Array start(const json& question) {
  if (question.contains("base_shape")) {
    const Sizes shape = question["base_shape"];
    Array x = numbers(1, product(shape));
    x.reshape(shape);
    return x;
  }
  Array x;
  bool first = true;
  for (const json& view : question["start_views"]) {
    const Sizes shape = view["shape"];
    Array at = xt::broadcast(Array(view["offset"].get<std::int64_t>() + 1), shape);
    Array valid = xt::broadcast(Array(std::int64_t{1}), shape);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      Sizes along(shape.size(), 1);
      along[d] = shape[d];
      Array i = numbers(0, shape[d]);
      i.reshape(along);
      at = at + i * view["strides"][d].get<std::int64_t>();
      if (!view["mask"].is_null())
        valid = valid * xt::cast<std::int64_t>(i >= view["mask"][d][0].get<std::int64_t>() &&
                                               i < view["mask"][d][1].get<std::int64_t>());
    }
    Array next = xt::where(valid > 0, at, 0);
    if (!first) {
      const Array below = xt::flatten(x);
      for (std::int64_t& n : next) n = n > 0 ? below(static_cast<std::size_t>(n - 1)) : 0;
    }
    x = next;
    first = false;
  }
  return x;
}

json listed(const Array& x) {
  json out = json::array();
  for (const std::int64_t n : x) out.push_back(n);
  return out;
}

/// Throws if a sum along an axis of x is not that of its elements one by one.
void check_sum(const Array& x) {
  if (x.dimension() == 0) return;
  const std::size_t axis = std::accumulate(x.shape().begin(), x.shape().end(), std::size_t{0}) % x.dimension();
  const Array total = xt::sum(x, {axis});
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < x.dimension(); ++d) inner *= x.shape(d);
  std::vector<std::int64_t> expected(total.size(), 0);
  std::size_t flat = 0;
  for (const std::int64_t n : x) {
    expected[flat / (inner * x.shape(axis)) * inner + flat % inner] += n;
    ++flat;
  }
  if (!std::equal(total.begin(), total.end(), expected.begin(), expected.end()))
    throw std::runtime_error("xt::sum(x, {" + std::to_string(axis) + "}) is " + listed(total).dump() + ", not " +
                             json(expected).dump());
}

/// Throws if a write through a movement that is a view of an array does not reach the elements that the view names.
void check_write(const Array& x, const json& movement, const Array& result) {
  const std::string op = movement[0];
  if (op == "expand" || op == "pad" || result.size() == 0) return;
  Array base = numbers(1, x.size());
  base.reshape(x.shape());
  const Array original = base;
  Array seen;
  std::string text;
  moved(movement, base, "base", text, [&](auto&& e) {
    seen = e;
    if constexpr (std::is_assignable_v<decltype(e), const Array&>) e = -seen;
  });
  Array expected = original;
  for (const std::int64_t n : seen) expected.flat(static_cast<std::size_t>(n - 1)) = -n;
  if (base != expected) throw std::runtime_error("after " + text + " = -" + text + ", base is " + listed(base).dump());
}

json answer(const json& question) {
  Array x = start(question);
  std::string program =
      "using Sizes = std::vector<std::size_t>;\nusing Ends = std::vector<Sizes>;\nusing namespace "
      "xt::placeholders;\nxt::xarray<long> x0 = " +
      std::string(question.contains("base_shape") ? "xt::arange<long>(1, " + std::to_string(x.size() + 1) + ")"
                                                  : "xt::xarray<long>" + braces(listed(x))) +
      ";\nx0.reshape(Sizes" + braces(json(x.shape())) + ");\n";
  const json ops = question.value("ops", json::array());
  std::string name = "x0";
  const auto line = [&](std::size_t k, const char* type, const std::string& text) {
    name = "x" + std::to_string(k + 1);
    program += std::string(type) + " " + name + " = " + text + ";\n";
  };
  const bool run = !question.value("program", false);
  for (std::size_t k = 0; k < ops.size(); k += 2) {
    Array next;
    std::string text;
    const auto keep = [&](const auto& e) { next = e; };
    moved(ops[k], x, name, text, [&](auto&& e) {
      if (k + 1 == ops.size()) {
        line(k, "xt::xarray<long>", text);
        keep(e);
        return;
      }
      line(k, "auto", text);
      moved(ops[k + 1], e, name, text, [&](auto&& both) { keep(both); });
      line(k + 1, "xt::xarray<long>", text);
    });
    if (run && k + 1 == ops.size()) check_write(x, ops[k], next);
    x = next;
  }
  if (!run) return {{"program", program + "std::cout << " + name + " << '\\n';  // positions plus 1, 0: padding\n"}};
  check_sum(x);
  json table = json::array();
  for (const std::int64_t n : x) table.push_back(n - 1);
  return {{"table", table}};
}

}  // namespace

int main() {
  for (std::string text; std::getline(std::cin, text);) {
    json said;
    try {
      said = answer(json::parse(text));
    } catch (const std::exception& error) {
      said = {{"error", error.what()}};
    }
    std::cout << said.dump() << std::endl;
  }
}
