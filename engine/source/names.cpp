#include "source/names.hpp"

#include <set>

namespace oriel::source {

std::string identifier(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    text += fits ? c : '_';
  }
  return text.empty() || (text[0] >= '0' && text[0] <= '9') ? "_" + text : text;
}

std::string lower_case(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string reduction_name(graph::Op op) {
  constexpr std::string_view kPrefix = "Reduce";
  std::string_view name = graph::name(op);
  if (name.substr(0, kPrefix.size()) == kPrefix) name.remove_prefix(kPrefix.size());
  return lower_case(name);
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
