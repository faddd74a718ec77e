#include "source/cpp/size_source.hpp"

#include <fmt/format.h>

#include "oriel/error.hpp"
#include "sym/print.hpp"
#include "sym/visit.hpp"

namespace oriel::source::cpp {

using sym::Kind;

std::string_view size_functions() {
  return R"(using Int = std::int64_t;

/// A size, unless it does not fit an Int or a divisor is 0.
struct Size {
  Int value;
  bool known;
};
/// 128 bits, in two's complement: not every target has such a type.
struct Wide {
  std::uint64_t low, high;
};
[[maybe_unused]] inline Wide widened(Int a) { return {static_cast<std::uint64_t>(a), a < 0 ? ~std::uint64_t{0} : 0}; }
[[maybe_unused]] inline Wide plus(Wide a, Wide b) {
  const std::uint64_t low = a.low + b.low;
  return {low, a.high + b.high + (low < b.low ? 1 : 0)};
}
[[maybe_unused]] inline Wide times(Int a, Int b) {
  constexpr std::uint64_t half = 0xffffffff;
  const std::uint64_t x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  const std::uint64_t carried = (x >> 32) * (y & half) + ((x & half) * (y & half) >> 32);
  const std::uint64_t middle = (x & half) * (y >> 32) + (carried & half);
  const std::uint64_t high = (x >> 32) * (y >> 32) + (carried >> 32) + (middle >> 32);
  return {x * y, high - (a < 0 ? y : 0) - (b < 0 ? x : 0)};
}
[[maybe_unused]] inline Size narrowed(Wide value, bool known) {
  const Int low = static_cast<Int>(value.low);
  if (!known || value.high != widened(low).high) return {0, false};
  return {low, true};
}
/// constant + the sum of coefficients times sizes.
[[maybe_unused]] inline Size sum(Int constant, const Int* coefficients, const Size* sizes, int n) {
  Wide total = widened(constant);
  bool known = true;
  for (int k = 0; k < n; ++k) {
    known = known && sizes[k].known;
    total = plus(total, times(coefficients[k], sizes[k].value));
  }
  return narrowed(total, known);
}
[[maybe_unused]] inline Size product(const Size* sizes, int n) {
  bool known = true;
  for (int k = 0; k < n; ++k) known = known && sizes[k].known;
  for (int k = 0; k < n; ++k) {
    if (known && sizes[k].value == 0) return {0, true};
  }
  Size result{1, known};
  for (int k = 0; k < n; ++k) result = narrowed(times(result.value, sizes[k].value), result.known);
  return result;
}
/// Rounded towards minus infinity, and the remainder with the divisor's sign.
[[maybe_unused]] inline Size floor_div(Size a, Size b) {
  if (!a.known || !b.known || b.value == 0) return {0, false};
  if (b.value == -1) return narrowed(times(a.value, -1), true);
  const Int q = a.value / b.value;
  return {a.value % b.value != 0 && (a.value % b.value < 0) != (b.value < 0) ? q - 1 : q, true};
}
[[maybe_unused]] inline Size mod(Size a, Size b) {
  if (!a.known || !b.known || b.value == 0) return {0, false};
  if (b.value == -1) return {0, true};
  const Int r = a.value % b.value;
  return {r != 0 && (r < 0) != (b.value < 0) ? r + b.value : r, true};
}
[[maybe_unused]] inline Size least_size(const Size* sizes, int n) {
  Size result = sizes[0];
  for (int k = 1; k < n; ++k) {
    result = {sizes[k].value < result.value ? sizes[k].value : result.value, result.known && sizes[k].known};
  }
  return result;
}
[[maybe_unused]] inline Size largest_size(const Size* sizes, int n) {
  Size result = sizes[0];
  for (int k = 1; k < n; ++k) {
    result = {sizes[k].value > result.value ? sizes[k].value : result.value, result.known && sizes[k].known};
  }
  return result;
}
[[maybe_unused]] inline Size choose(const Size* sizes) {
  if (!sizes[0].known) return sizes[0];
  return sizes[0].value != 0 ? sizes[1] : sizes[2];
}
/// A side that decides does so even if another side has no value.
[[maybe_unused]] inline Size any_or_all(const Size* sizes, int n, Int decides) {
  Size result{1 - decides, true};
  for (int k = 0; k < n; ++k) {
    if (sizes[k].known && sizes[k].value == decides) return {decides, true};
    if (!sizes[k].known) result = {0, false};
  }
  return result;
}
/// Do sizes, and the strides behind them, say of elements that they lie densely in memory in some order of the axes?
[[maybe_unused]] inline Size lie_densely(const Size* list, int n, Int yes) {
  const int rank = n / 2;
  int left = 0;
  for (int k = 0; k < n; ++k) {
    if (!list[k].known) return {0, false};
    if (k < rank && list[k].value >= 2) ++left;
  }
  for (int k = 0; k < rank; ++k) {
    if (list[k].value == 0) return {yes, true};
  }
  Size stride{1, true};  // one that does not fit an Int is nobody's
  for (; left > 0; --left) {
    int k = 0;
    while (k < rank && (list[k].value < 2 || !stride.known || list[rank + k].value != stride.value)) ++k;
    if (k == rank) return {1 - yes, true};
    stride = narrowed(times(stride.value, list[k].value), stride.known);
  }
  return {yes, true};
}
)";
}

std::string SizeStatements::list(sym::Expr e) const {
  std::string text;
  for (const sym::Expr arg : e->args) text += (text.empty() ? "" : ", ") + made_.at(arg);
  return text;
}

// Of an expression whose arguments have variables.
std::string SizeStatements::written(sym::Expr e) const {
  const std::size_t n = e->args.size();
  const auto on_list = [&](std::string_view call) {
    return fmt::format("[&] {{ const Size list[] = {{{}}}; return {}; }}()", list(e), call);
  };
  const auto compared = [&](std::string_view sign) {
    return fmt::format("{{{0}.value {1} {2}.value ? 1 : 0, {0}.known && {2}.known}}", made_.at(e->args[0]), sign,
                       made_.at(e->args[1]));
  };
  switch (e->kind) {
    case Kind::constant:
    case Kind::truth:
      if (e->value == INT64_MIN) return "{std::numeric_limits<Int>::min(), true}";
      return fmt::format("{{{}, true}}", e->value);
    case Kind::symbol:
    case Kind::loop:
      return fmt::format("{{{}, true}}", names_.at(e));
    case Kind::floor_div:
      return fmt::format("floor_div({})", list(e));
    case Kind::mod:
      return fmt::format("mod({})", list(e));
    case Kind::min:
      return on_list(fmt::format("least_size(list, {})", n));
    case Kind::max:
      return on_list(fmt::format("largest_size(list, {})", n));
    case Kind::select:
      return on_list("choose(list)");
    case Kind::product:
      return on_list(fmt::format("product(list, {})", n));
    case Kind::sum: {
      std::string coefficients;
      for (const std::int64_t c : e->coefficients)
        coefficients += fmt::format("{}{}", coefficients.empty() ? "" : ", ", c);
      return fmt::format(
          "[&] {{ const Size list[] = {{{}}}; const Int by[] = {{{}}}; return sum({}, by, list, {}); }}()", list(e),
          coefficients, e->value, n);
    }
    case Kind::eq:
      return compared("==");
    case Kind::ne:
      return compared("!=");
    case Kind::lt:
      return compared("<");
    case Kind::le:
      return compared("<=");
    case Kind::gt:
      return compared(">");
    case Kind::ge:
      return compared(">=");
    case Kind::logical_and:
      return on_list(fmt::format("any_or_all(list, {}, 0)", n));
    case Kind::logical_or:
      return on_list(fmt::format("any_or_all(list, {}, 1)", n));
    case Kind::predicate:
    case Kind::not_predicate:
      if (e->name != "non_overlapping_and_dense") break;  // view/layouts/density_predicate.hpp, the only one there is
      return on_list(fmt::format("lie_densely(list, {}, {})", n, e->kind == Kind::predicate ? 1 : 0));
  }
  throw ArgumentError("export_cpp", fmt::format("the sizes depend on {}, which has no text in C++; export the "
                                                "computation at one size (export_cpp of tensors)",
                                                sym::to_string(e)));
}

std::string SizeStatements::of(sym::Expr root) {
  sym::visit(root, [&](sym::Expr e) {
    if (made_.contains(e)) return;
    const std::string name = "n" + std::to_string(made_.size());
    text_ += fmt::format("  const Size {} = {};\n", name, written(e));
    made_.emplace(e, name);
  });
  return made_.at(root);
}

std::size_t SizeTable::place(SymInt size) {
  const sym::Expr e = size.node();
  const auto [known, fresh] = places_.emplace(e, sizes_.size());
  if (fresh) sizes_.push_back(e);
  return known->second;
}

}  // namespace oriel::source::cpp
