#include "source/cpp/size_source.hpp"

#include <fmt/format.h>

#include "oriel/error.hpp"
#include "sym/print.hpp"
#include "sym/visit.hpp"

namespace oriel::source::cpp {

using sym::Kind;

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

std::string size_text(SymInt n, SizeTable* table) {
  return n.is_symbolic() ? fmt::format("sizes[{}]", table->place(n)) : to_string(n);
}

}  // namespace oriel::source::cpp
