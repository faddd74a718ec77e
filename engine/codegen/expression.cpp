#include "codegen/expression.hpp"

#include "codegen/stack.hpp"
#include "oriel/error.hpp"

namespace oriel::codegen {
std::string plain_number(SymInt number) { return to_string(number); }

AccessExpression::AccessExpression(const Access& access, std::span<const std::string> names)
    : expression_(detail::express(stack_of(access).views())), names_(names.begin(), names.end()) {
  if (names.size() != access.loops()) {
    throw InternalError("expression", std::to_string(names.size()) + " names for the " +
                                          std::to_string(access.loops()) + " axes of " + access.stack_text());
  }
}

detail::LeafText AccessExpression::leaves(const NumberText& number) const {
  return {[this](std::size_t axis) { return names_[axis]; }, [&number](std::int64_t n) { return number(n); },
          [&number](sym::Expr size) { return number(SymInt(size)); }};
}

std::string AccessExpression::index(const NumberText& number) const {
  return detail::index_text(expression_, leaves(number));
}
std::string AccessExpression::valid(const NumberText& number) const {
  return detail::valid_text(expression_, leaves(number));
}

AccessText expression(const Access& access, std::span<const std::string> names) {
  const AccessExpression written(access, names);
  return {written.index(), written.valid()};
}

std::vector<std::string> loop_names(std::size_t outer, std::size_t inner) {
  std::vector<std::string> names;
  names.reserve(outer + inner);
  for (std::size_t d = 0; d < outer; ++d) names.push_back("o" + std::to_string(d));
  for (std::size_t d = 0; d < inner; ++d) names.push_back("r" + std::to_string(d));
  return names;
}

}  // namespace oriel::codegen
