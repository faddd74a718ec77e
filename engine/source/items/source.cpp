// What surrounds the bodies of functions: names, arguments, the header that describes operands and domain.
#include <fmt/format.h>

#include <functional>
#include <set>

#include "codegen/cost.hpp"
#include "source/heading.hpp"
#include "source/items/statements.hpp"
#include "source/names.hpp"

namespace oriel::source::items {

using codegen::Argument;
using codegen::LoopProgram;

namespace {

std::string header(const LoopProgram& program, const Rendered& out, const std::vector<std::string>& buffers) {
  Heading head;
  head.add("Kernel {}", program.name);
  head.add_loops(program);
  head.add("How: {}", out.method);
  for (std::size_t a = 0; a < program.arguments.size(); ++a)
    head.add("{}: {}", buffers[a], Heading::argument(program.arguments[a]));
  head.add_accesses(program, buffers);
  std::string list;
  for (std::size_t k = 0; k < out.numbers.size(); ++k)
    list += fmt::format("{}n{} = {}", k == 0 ? "" : ", ", k, out.numbers[k]);
  if (!list.empty()) head.add("{}", list);
  return head.text();
}

std::vector<std::string> signature(const LoopProgram& program, const Dialect& dialect, const Rendered& out,
                                   const std::vector<std::string>& buffers,
                                   const std::vector<std::string>& parameter_names,
                                   const std::vector<std::pair<DType, std::string>>& partials) {
  std::vector<std::string> list;
  bool alone = true;
  for (const Argument& a : program.arguments) alone = alone && a.shares < 0;
  for (std::size_t a = 0; a < buffers.size(); ++a) {
    const Argument& argument = program.arguments[a];
    list.push_back(fmt::format(
        "{} {}{}", dialect.pointer(MemorySpace::Global, dialect.memory_type(argument.dtype), !argument.output),
        alone ? dialect.restricted + std::string(" ") : "", buffers[a]));
  }
  for (const auto& [dtype, name] : partials)
    list.push_back(fmt::format("{} {} {}", dialect.pointer(MemorySpace::Global, dialect.value_type(dtype), false),
                               dialect.restricted, name));
  for (std::size_t k = 0; k < out.numbers.size(); ++k)
    list.push_back(dialect.number_argument(dialect.position_type(out.wide), fmt::format("n{}", k)));
  for (std::size_t k = 0; k < out.parameters.size(); ++k)
    list.push_back(dialect.number_argument(dialect.value_type(out.parameters[k].second), parameter_names[k]));
  if (out.passes > 0) list.push_back(dialect.number_argument(dialect.position_type(false), "pass"));
  return list;
}

}  // namespace

Rendered ItemStatementWriter::finished(Rendered out, const LoopProgram& program, const std::vector<std::string>& bodies,
                                       const Places& partials, const Places& kept) const {
  const std::vector<std::string> buffers = argument_names(program);
  const Dialect& dialect = dialect_;
  out.dialect = &dialect;
  out.helpers = helpers_.all();
  out.numbers = numbers_.all();
  out.parameters = parameters_.all();
  out.wide = work_.wide;
  out.fp64 = work_.fp64;
  std::vector<std::string> arguments = signature(program, dialect, out, buffers, parameters_.names(), partials);
  const std::size_t without_rows = arguments.size();
  for (const auto& [dtype, name] : kept)
    arguments.push_back(
        fmt::format("{} {}", dialect.pointer(MemorySpace::Local, dialect.value_type(dtype), false), name));
  std::string everything = fmt::format("{}", fmt::join(arguments, ", "));
  for (const std::string& body : bodies) everything += body;
  for (const auto& [name, text] : out.helpers) everything += name;
  for (const Grid& g : out.grids) everything += fmt::format("{} {} ", g.local[0], g.local[1]);
  const std::string tag = fmt::format("{:08x}", static_cast<std::uint32_t>(std::hash<std::string>{}(everything)));
  // Programs that differ only in sizes share a source.
  const std::string base = identifier(codegen::name_without_sizes(program));
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const char* part = bodies.size() == 1 ? "" : k == 0 ? "_parts" : k == 1 ? "_join" : "_rest";
    out.functions.push_back(fmt::format("{}{}_{}", base, part, tag));
    if (k > 0) arguments.resize(without_rows);
    const auto& group = out.grids[k].local;
    out.body += "\n" + dialect.kernel(group[0], group[1], group[2], out.functions.back(),
                                      fmt::format("{}", fmt::join(arguments, ", ")), bodies[k]);
  }
  out.header = header(program, out, buffers);
  return out;
}

}  // namespace oriel::source::items
