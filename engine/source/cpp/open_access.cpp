// How operands are reached: with numbers, or with sizes that are read from a table.
#include <fmt/format.h>

#include "source/cpp/statements.hpp"

namespace oriel::source::cpp {

using codegen::LoopProgram;

std::string Statements::size(SymInt n) {
  if (!n.is_symbolic()) return std::to_string(n.value());
  const std::size_t place = open_->table->place(n);
  const std::string name = "z" + std::to_string(place);
  if (sizes_used_.insert(place).second && variables_.framed()) variables_.member(position_type(), name);
  return variables_.var(name);
}

std::string Statements::open_heading() const {
  // Units are known by their text, so no symbol is named.
  if (open_unit()) return fmt::format("// Kernel {}, for many sizes\n", program_.name);
  const LoopProgram& program = open_->kernel->lowered.program;
  std::string text = fmt::format("// Kernel {}\n// Outer loops: {}\n", program_.name, to_string(program.outer));
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const Ints& inner = program.stages[s].inner;
    if (!inner.empty()) text += fmt::format("// Inner loops of stage {}: {}\n", s, to_string(inner));
  }
  return text;
}

std::string Statements::read_sizes(const OpenProduct* product) {
  std::string order;
  if (product != nullptr) order = product_order(*product, *open_->kernel, program_, [&](SymInt n) { return size(n); });
  std::string text;
  for (const std::size_t place : sizes_used_) {
    text += variables_.framed() ? fmt::format("  f.z{0} = sizes[{0}];\n", place)
                                : fmt::format("  [[maybe_unused]] const Int z{0} = sizes[{0}];\n", place);
  }
  if (text.empty()) text = "  static_cast<void>(sizes);\n";
  if (product == nullptr) return text;
  if (variables_.framed()) variables_.member({"ProductOrder", 16}, "order");
  return text + fmt::format("  {} = {};\n", variables_.framed() ? "f.order" : "const ProductOrder order", order);
}

std::string Statements::open_rows(std::int64_t elements, std::int64_t most_rows) {
  std::string text;
  const auto set = [&](const Type& type, const std::string& name, const std::string& value) {
    if (variables_.framed()) variables_.member(type, name);
    text += variables_.framed() ? fmt::format("  f.{} = {};\n", name, value)
                                : fmt::format("  {} const {} = {};\n", type.text, name, value);
  };
  std::string rows = fmt::format("least({}, {})", most_rows, size(outer().back()));
  std::set<std::string> lengths;
  for (std::size_t s = 0; s < program_.stages.size(); ++s) {
    if (!looped(program_.stages[s]) || inner(s).empty()) continue;
    const std::string points = size(numel(inner(s)));
    if (!lengths.insert(points).second) continue;
    rows = fmt::format("least({0} / least({0}, {1} > 0 ? {1} : 1), {2})", elements, points, rows);
  }
  set(position_type(), "row_step", rows);
  for (std::size_t s = 0; s < program_.stages.size(); ++s) {
    for (const codegen::Instr& in : program_.stages[s].body) {
      if (in.result == codegen::kNoValue || kept_[at(in.result)].empty()) continue;
      const std::string& name = kept_[at(in.result)];
      const std::string type = type_of(in.result).text;
      snippets_.need("Allocated");
      if (form_.packets) snippets_.need("allocated_packets");
      // Whole registers may be written at the end.
      text += fmt::format("  const Allocated<{}> {}_memory({} * {} + 64);\n", type, name, variables_.var("row_step"),
                          size(numel(inner(s))));
      set(pointer_type(type), name, name + "_memory.data");
    }
  }
  return text;
}

std::string Statements::open_position(const View& view, const std::vector<std::string>& names) {
  std::string text;
  const auto add = [&](SymInt factor, const std::string& term) {
    if (!factor.is_symbolic() && factor.value() == 0) return;
    const bool negative = !factor.is_symbolic() && factor.value() < 0;
    const SymInt by = negative ? -factor : factor;
    std::string one = term;
    if (term.empty()) {
      one = size(by);
    } else if (by.is_symbolic() || by.value() != 1) {
      one += "*" + size(by);
    }
    text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    text += one;
  };
  for (std::size_t d = 0; d < view.rank(); ++d)
    if (view.shape[d].is_symbolic() || view.shape[d].value() != 1) add(view.strides[d], names[d]);
  add(view.offset, "");
  return text.empty() ? "0" : text;
}

std::string Statements::open_condition(const View& view, const std::vector<std::string>& names, int fast) {
  std::string text;
  const auto both = [&](const std::string& test) { text += (text.empty() ? "" : " && ") + test; };
  for (std::size_t d = 0; d < view.mask.size(); ++d) {
    const auto [lo, hi] = view.mask[d];
    if (!lo.is_symbolic() && !hi.is_symbolic() && lo.value() >= hi.value()) return std::string(kNever);
    if (static_cast<int>(d) == fast) continue;
    if (lo.is_symbolic() || lo.value() > 0) both(names[d] + " >= " + size(lo));
    if (!identical(hi, view.shape[d])) both(names[d] + " < " + size(hi));
  }
  return text;
}

std::string Statements::position_of(std::int32_t access, const CodePosition& place) {
  if (open_ != nullptr) return open_position(open_view(access), place.names);
  return position(program_.accesses[at(access)], place);
}

std::string Statements::condition_of(std::int32_t access, const CodePosition& place) {
  if (open_ != nullptr) return open_condition(open_view(access), place.names, place.fast);
  return condition(program_.accesses[at(access)], place);
}

std::optional<std::int64_t> Statements::step_of(std::int32_t access, const CodePosition& place) const {
  if (open_ == nullptr) return step(program_.accesses[at(access)], place);
  if (place.fast < 0) return 0;
  const View& view = open_view(access);
  const SymInt stride = view.strides[at(place.fast)];
  if (stride.is_symbolic()) return std::nullopt;
  return stride.value();
}

std::optional<Statements::Lanes> Statements::cut_of(std::int32_t access, const CodePosition& place) {
  if (open_ == nullptr) {
    const std::optional<LaneCut> lanes = cut(program_.accesses[at(access)], place);
    if (!lanes) return std::nullopt;
    return Lanes{std::to_string(lanes->lo), std::to_string(lanes->hi)};
  }
  const View& view = open_view(access);
  if (place.fast < 0 || view.mask.empty()) return std::nullopt;
  const auto [lo, hi] = view.mask[at(place.fast)];
  if (!lo.is_symbolic() && lo.value() <= 0 && identical(hi, view.shape[at(place.fast)])) return std::nullopt;
  return Lanes{size(lo), size(hi)};
}

codegen::AccessText Statements::expression_of(std::int32_t access, const std::vector<std::string>& names) {
  if (open_ == nullptr) return codegen::expression(program_.accesses[at(access)], names);
  const auto views = open_views(access);
  if (views.size() == 1) {
    const std::string valid = open_condition(views[0], names, -1);
    return {open_position(views[0], names), valid.empty() ? "1" : valid == kNever ? "0" : valid};
  }
  const detail::StackExpression written = detail::express(views);
  const detail::LeafText leaves{[&](std::size_t axis) { return names[axis]; }, codegen::plain_number,
                                [&](sym::Expr e) { return size(SymInt(e)); }};
  return {detail::index_text(written, leaves), detail::valid_text(written, leaves)};
}

std::string Statements::elements_of(std::int32_t argument) {
  if (open_ == nullptr) return std::to_string(program_.arguments[at(argument)].elements);
  return size(numel(*open_->kernel->shapes[at(argument)]));
}

std::string Statements::size_constant(std::int32_t constant, const std::string& type) {
  if (open_ == nullptr) return {};
  for (const codegen::OpenKernel::SizeConstant& c : open_->kernel->size_constants)
    if (c.constant == constant) return fmt::format("static_cast<{}>({})", type, size(c.size));
  const std::int32_t parameter = program_.constants[at(constant)].parameter;
  for (const SizeNumber& number : open_->numbers) {
    if (parameter < 0 || number.parameter != parameter) continue;
    const std::string text = size(number.size);
    if (number.dtype == DType::bool_) return fmt::format("static_cast<{}>({} != 0)", type, text);
    if (!is_floating(number.dtype)) return fmt::format("static_cast<{}>({})", type, text);
    const std::string value = fmt::format("static_cast<{}>(static_cast<double>({}))", type, text);
    return is_half(number.dtype) ? widened(number.dtype, narrowed(number.dtype, value)) : value;
  }
  return {};
}

}  // namespace oriel::source::cpp
