#include "source/cpp/kernel_sizes.hpp"

#include <fmt/format.h>

#include "source/cpp/spelling.hpp"
#include "source/statements.hpp"

namespace oriel::source::cpp {

std::string KernelSizes::of(SymInt n) {
  if (!n.is_symbolic()) return std::to_string(n.value());
  const std::size_t place = symbolic_->table->place(n);
  const std::string name = "z" + std::to_string(place);
  if (used_.insert(place).second && variables_.framed()) variables_.member(position_type(), name);
  return variables_.var(name);
}

std::string KernelSizes::heading() const {
  // Units are known by their text, so no symbol is named.
  if (unit()) return fmt::format("// Kernel {}, for many sizes\n", program_.name);
  std::string text = fmt::format("// Kernel {}\n// Outer loops: {}\n", program_.name, to_string(program_.outer));
  for (std::size_t s = 0; s < program_.stages.size(); ++s) {
    const Ints& inner = program_.stages[s].inner;
    if (!inner.empty()) text += fmt::format("// Inner loops of stage {}: {}\n", s, to_string(inner));
  }
  return text;
}

std::string KernelSizes::read() const {
  std::string text;
  for (const std::size_t place : used_) {
    text += variables_.framed() ? fmt::format("  f.z{0} = sizes[{0}];\n", place)
                                : fmt::format("  [[maybe_unused]] const Int z{0} = sizes[{0}];\n", place);
  }
  return text.empty() ? "  static_cast<void>(sizes);\n" : text;
}

std::string KernelSizes::elements(std::int32_t argument) { return of(program_.arguments[at(argument)].elements); }

std::string KernelSizes::constant(std::int32_t constant, const std::string& type, Snippets& snippets) {
  if (symbolic_ == nullptr) return {};
  if (const SymInt size = program_.constants[at(constant)].size; size.is_symbolic())
    return fmt::format("static_cast<{}>({})", type, of(size));
  const std::int32_t parameter = program_.constants[at(constant)].parameter;
  for (const SizeNumber& number : symbolic_->numbers) {
    if (parameter < 0 || number.parameter != parameter) continue;
    const std::string text = of(number.size);
    if (number.dtype == DType::bool_) return fmt::format("static_cast<{}>({} != 0)", type, text);
    if (!is_floating(number.dtype)) return fmt::format("static_cast<{}>({})", type, text);
    const std::string value = fmt::format("static_cast<{}>(static_cast<double>({}))", type, text);
    return is_half(number.dtype) ? widened(number.dtype, narrowed(number.dtype, value, snippets), snippets) : value;
  }
  return {};
}

}  // namespace oriel::source::cpp
