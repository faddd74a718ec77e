#include "oriel/comprehension.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/escape.hpp"
#include "formula/call.hpp"
#include "lang/cache.hpp"
#include "lang/lower.hpp"
#include "lang/report.hpp"
#include "lang/warnings.hpp"

namespace oriel {
namespace {

graph::NodePtr argument(const lang::Program& program, std::size_t k, const Operand& operand, Device device,
                        const graph::Origin& origin) {
  const lang::Parameter& parameter = program.definition.parameters[k];
  const Tensor* tensor = detail::Access::tensor(operand);
  if (tensor == nullptr) {
    const double value = detail::Access::value(operand);
    const graph::Scalar number = detail::Access::number(operand, parameter.dtype, origin.operation);
    const double kept = is_unsigned(parameter.dtype) ? static_cast<double>(static_cast<std::uint64_t>(number.i))
                                                     : static_cast<double>(number.i);
    if (is_integer(parameter.dtype) ? kept != value : !is_floating(parameter.dtype) && std::trunc(value) != value) {
      lang::fail(program.source(), lang::ErrorKind::DTypeMismatch, parameter.span,
                 fmt::format("'{}' is {}, but its argument is {}", parameter.name, name(parameter.dtype),
                             detail::Access::text(operand)));
    }
    return graph::constant(number, {}, device, origin);
  }
  if (tensor->dtype() != parameter.dtype) {
    lang::fail(program.source(), lang::ErrorKind::DTypeMismatch, parameter.span,
               fmt::format("'{}' is {}, but its argument is {}; convert it with to(), or declare that type",
                           parameter.name, name(parameter.dtype), name(tensor->dtype())));
  }
  return detail::Access::node(*tensor);
}

// The definition with its type variables bound to the arguments' dtypes. Arguments that are numbers bind none.
lang::CompiledDefinitionPtr bound(lang::CompiledDefinitionPtr definition, std::span<const Operand> arguments) {
  const lang::Program& program = *definition->program;
  const std::vector<std::string_view>& variables = program.definition.types;
  if (variables.empty()) return definition;
  std::vector<DType> types(variables.size(), DType::float32);
  std::vector<const lang::Parameter*> by(variables.size(), nullptr);
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const lang::Parameter& parameter = program.definition.parameters[k];
    const Tensor* tensor = detail::Access::tensor(arguments[k]);
    if (parameter.type < 0 || tensor == nullptr) continue;
    const auto v = static_cast<std::size_t>(parameter.type);
    const DType dtype = tensor->dtype();
    if (dtype == DType::bfloat16) {
      lang::fail(program.source(), lang::ErrorKind::DTypeMismatch, parameter.span,
                 fmt::format("'{}' is bfloat16, which the notation lacks; convert it with to()", parameter.name));
    }
    if (by[v] != nullptr && types[v] != dtype) {
      lang::fail(program.source(), lang::ErrorKind::DTypeMismatch, parameter.span,
                 fmt::format("'{}' is {}, which is {} by '{}', but its argument is {}; convert one of them with to()",
                             parameter.name, variables[v], name(types[v]), by[v]->name, name(dtype)));
    }
    types[v] = dtype;
    by[v] = &parameter;
  }
  return lang::compile(*definition, types);
}

}  // namespace

std::string Comprehension::name() const { return std::string(definition_->program->definition.name); }

std::vector<std::string> Comprehension::parameters() const {
  std::vector<std::string> names;
  for (const lang::Parameter& parameter : definition_->program->definition.parameters)
    names.emplace_back(parameter.name);
  return names;
}

std::vector<std::string> Comprehension::results() const {
  std::vector<std::string> names;
  for (const lang::Result& result : definition_->program->definition.results) names.emplace_back(result.name);
  return names;
}

std::string Comprehension::canonical_text() const { return lang::canonical_text(*definition_->program); }

std::vector<ComprehensionWarning> Comprehension::warnings() const { return lang::warnings(*definition_->program); }

ComprehensionRanges Comprehension::ranges(ListOf<Shape> shapes, const ComprehensionOptions& options) const {
  const lang::Program& program = *definition_->program;
  lang::check_options(program, options);
  const std::vector<std::optional<Shape>> given(shapes.begin(), shapes.end());
  const std::shared_ptr<const lang::Inference> inference = definition_->inferences->get(program, given);
  lang::check_options(program, *inference, options);
  return lang::report(program, *inference);
}

const Tensor& ComprehensionResults::operator[](std::string_view name) const {
  std::string names;
  for (const auto& [known, tensor] : named_) {
    if (known == name) return tensor;
    names += (names.empty() ? "" : ", ") + known;
  }
  throw ArgumentError("comprehension", fmt::format("no result '{}'; there are {}", base::escaped(name), names));
}

const Tensor& ComprehensionResults::tensor() const {
  if (named_.size() == 1) return named_[0].second;
  std::string names;
  for (const auto& [name, tensor] : named_) names += (names.empty() ? "" : ", ") + name;
  throw ArgumentError("comprehension", fmt::format("there are {} results; name one of {}, as in results[\"{}\"]",
                                                   named_.size(), names, named_.empty() ? "" : named_[0].first));
}

Operand::Operand(const ComprehensionResults& results, Site site) : tensor_(&results.tensor()), site_(site) {}

void Comprehension::expect_size(std::string_view name, const Operand& value, std::span<const Operand> arguments) const {
  const lang::Program& program = *definition_->program;
  std::size_t found = 0;
  while (found < program.sizes.size() && program.sizes[found] != name) ++found;
  if (found == program.sizes.size()) {
    throw ArgumentError("comprehension", fmt::format("'{}' is neither a parameter nor a size variable of {}",
                                                     base::escaped(name), program.definition.name));
  }
  std::vector<std::optional<Shape>> shapes;
  for (const Operand& argument : arguments) {
    const Tensor* tensor = detail::Access::tensor(argument);
    shapes.emplace_back(tensor != nullptr ? tensor->shape() : Shape{});
  }
  const std::int64_t size = lang::bind_sizes(program, shapes)[found];
  if (static_cast<double>(size) == detail::Access::value(value)) return;
  lang::fail(program.source(), lang::ErrorKind::SizeMismatch, program.definition.name_span,
             fmt::format("{} is {} by the arguments' shapes, not {}", name, size, detail::Access::text(value)));
}

ComprehensionResults Comprehension::call(std::span<const Operand> arguments, const ComprehensionOptions& options,
                                         Site site) const {
  if (const lang::Definition& given = definition_->program->definition; arguments.size() > given.parameters.size()) {
    throw ArgumentError("comprehension", fmt::format("{} takes {} arguments, but {} came", given.name,
                                                     given.parameters.size(), arguments.size()));
  }
  const lang::CompiledDefinitionPtr compiled = bound(definition_, arguments);
  const lang::Program& program = *compiled->program;
  const lang::Definition& definition = program.definition;
  lang::check_options(program, options);
  Device device = default_device();
  for (std::size_t k = arguments.size(); k-- > 0;) {
    if (const Tensor* tensor = detail::Access::tensor(arguments[k])) device = tensor->device();
  }
  const std::string operation(definition.name);
  const detail::CallSite call(site);
  const graph::Origin origin{operation, detail::CallSite::current()};
  std::vector<std::optional<Shape>> shapes(definition.parameters.size());
  std::vector<graph::NodePtr> nodes;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    nodes.push_back(argument(program, k, arguments[k], device, origin));
    shapes[k] = nodes.back()->shape;
  }
  std::optional<lang::Lowered> lowered =
      lang::lower_symbolic(program, nodes, device, origin, options.zero_origin, options.bounds);
  std::shared_ptr<const lang::Inference> inference;
  if (!lowered) {
    // The cache outlives a trace and its symbols, so it gets numbers. Symbolic sizes are fixed by guards here.
    for (std::optional<Shape>& shape : shapes) {
      if (!shape) continue;
      for (SymInt& size : *shape) size = size.value();
    }
    inference = compiled->inferences->get(program, shapes);
    lang::check_options(program, *inference, options);
    try {
      lowered = lang::lower(program, *inference, nodes, device, origin, options.bounds);
    } catch (const detail::ArithmeticOverflow&) {
      throw OverflowError(operation, "the positions of its accesses do not fit 64 bits");
    }
  }
  std::vector<std::pair<std::string, Tensor>> results;
  for (std::size_t k = 0; k < lowered->results.size(); ++k) {
    graph::NodePtr& result = lowered->results[k];
    // A number would have no strides of its own: movements of it would lie otherwise than those of a stored tensor.
    if (result->op == graph::Op::Const && !result->realized() && !result->found) {
      const Layout rows = Layout::contiguous(result->shape);
      result = graph::laid_out_constant(std::move(result), rows);
    }
    results.emplace_back(definition.results[k].name, detail::Access::tensor(std::move(result)));
  }
  std::vector<ComprehensionWarning> warnings =
      inference ? lang::warnings(program, *inference, options.bounds) : lang::warnings(program);
  if (!inference || compiled->inferences->first_call(*inference)) lang::tell(warnings);
  return ComprehensionResults(std::move(results), std::move(warnings));
}

Comprehension comprehension(std::string_view text, std::string_view name, std::string_view file) {
  const std::vector<lang::CompiledDefinitionPtr> definitions = lang::compile(text, file);
  std::vector<lang::ProgramPtr> programs;
  programs.reserve(definitions.size());
  for (const lang::CompiledDefinitionPtr& definition : definitions) programs.push_back(definition->program);
  const lang::ProgramPtr chosen = lang::select(programs, name);
  const auto place = std::find(programs.begin(), programs.end(), chosen) - programs.begin();
  return Comprehension(definitions[static_cast<std::size_t>(place)]);
}

std::vector<Comprehension> comprehensions(std::string_view text, std::string_view file) {
  std::vector<Comprehension> out;
  for (const lang::CompiledDefinitionPtr& definition : lang::compile(text, file)) out.emplace_back(definition);
  return out;
}

}  // namespace oriel
