#include "source/names.hpp"

#include <set>
#include <string_view>

#include "graph/build.hpp"

namespace oriel::source {

std::string identifier(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    text += fits ? c : '_';
  }
  return text.empty() || (text[0] >= '0' && text[0] <= '9') ? "_" + text : text;
}

std::string reduction_name(graph::Op op) {
  constexpr std::string_view kPrefix = "reduce_";
  const std::string name = graph::snake_name(op);
  return name.substr(name.rfind(kPrefix, 0) == 0 ? kPrefix.size() : 0);
}

std::vector<std::string> argument_names(const codegen::LoopProgram& program) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (std::size_t a = 0; a < program.arguments.size(); ++a) {
    std::string name = identifier(program.arguments[a].name);
    const bool usual = name.rfind("in", 0) == 0 || name.rfind("out", 0) == 0;
    if (!usual || name == "int" || name == "inline") name = "argument_" + name;
    while (!taken.insert(name).second) name += "_" + std::to_string(a);
    names.push_back(name);
  }
  return names;
}

}  // namespace oriel::source
