#include "lang/derive_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lang/builtins.hpp"
#include "lang/syntax/words.hpp"
#include "oriel/comprehension.hpp"
#include "sym/print.hpp"

namespace oriel::lang {
namespace {

bool is_part(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// A line with the loops whose ranges it gives.
struct Clauses {
  Line line;
  std::vector<char> given;

  std::string text() const {
    const std::string body = fmt::format("{} {} {}", line.head, line.op, line.right);
    const std::vector<std::string_view> used = words(body);
    std::string out = body;
    bool any = false;
    const auto clause = [&](const std::string& more) { out += (std::exchange(any, true) ? ", " : " where ") + more; };
    for (std::size_t v = 0; v < line.loops.size(); ++v) {
      const Loop& loop = line.loops[v];
      if (given[v] != 0) clause(fmt::format("{} in {}:{}", loop.name, loop.lo, loop.end));
      if (std::ranges::find(used, loop.name) == used.end()) clause("exists " + loop.name);
    }
    return out;
  }

  // Does inference find these ranges?
  bool has_ranges(const CheckedStatement& statement, const StatementRanges& found) const {
    return std::ranges::all_of(line.loops, [&](const Loop& loop) {
      const auto at = std::ranges::find(statement.variables, loop.name, &Variable::name);
      if (at == statement.variables.end()) return false;
      const IndexRange range = found.ranges[static_cast<std::size_t>(at - statement.variables.begin())];
      return notation(range.lo) == loop.lo && notation(range.end) == loop.end;
    });
  }
};

std::string definition(const std::string& head, const std::vector<Clauses>& lines) {
  std::string out = head + " {\n";
  for (const Clauses& line : lines) out += fmt::format("  {}\n", line.text());
  return out + "}\n";
}

bool keeps_ranges(const std::string& head, const std::vector<Clauses>& lines) {
  try {
    const ProgramPtr program = check(definition(head, lines), "the derivative").back();
    const Inference inference = infer_open(*program);
    for (std::size_t k = 0; k < lines.size(); ++k)
      if (!lines[k].has_ranges(program->statements[k], inference.statements[k])) return false;
    return true;
  } catch (const ComprehensionError&) {
    return false;
  }
}

}  // namespace

Names::Names(const Program& program) {
  for (const std::string_view size : program.sizes) taken_.emplace(size);
  for (const TensorSymbol& tensor : program.tensors) taken_.emplace(tensor.name);
  for (const std::string_view type : program.definition.types) taken_.emplace(type);
  for (const CheckedStatement& statement : program.statements)
    for (const Variable& variable : statement.variables) taken_.emplace(variable.name);
}

std::string Names::fresh(const std::string& like) {
  std::string name = like;
  for (int k = 0; find_builtin(name) != nullptr || !taken_.insert(name).second; ++k)
    name = fmt::format("{}{}", like, k);
  return name;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t k = 0; k < text.size();) {
    std::size_t end = k;
    while (end < text.size() && is_part(text[end])) ++end;
    if (end > k) out.push_back(text.substr(k, end - k));
    k = std::max(end, k + 1);
  }
  return out;
}

std::string notation(sym::Expr formula) {
  std::string text = sym::to_string(formula);
  for (std::size_t at = text.find(" // "); at != std::string::npos; at = text.find(" // ", at)) text.erase(at + 2, 1);
  // min and max take two: min(a, b, c) is min(min(a, b), c).
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string name = text.substr(at, 4);
    if (name != "min(" && name != "max(") continue;
    std::size_t commas = 0;
    int depth = 1;
    for (std::size_t k = at + 4; k < text.size() && depth > 0; ++k) {
      depth += text[k] == '(' ? 1 : text[k] == ')' ? -1 : 0;
      if (depth != 1 || text[k] != ',' || ++commas < 2) continue;
      text.insert(k, ")");
      text.insert(at, name);
      k += 5;
      at += 4;
    }
  }
  return text;
}

Inference infer_open(const Program& program) {
  std::vector<ArgumentShape> shapes;
  for (const Parameter& parameter : program.definition.parameters)
    shapes.push_back(parameter.dims.empty() ? ArgumentShape(std::in_place) : std::nullopt);
  return infer_symbolic(program, shapes);
}

std::string without_needless_ranges(const std::string& head, std::vector<Line> lines) {
  std::vector<Clauses> all;
  for (Line& line : lines) {
    std::vector<char> given(line.loops.size(), 1);
    all.push_back({std::move(line), std::move(given)});
  }
  infer_open(*check(definition(head, all), "the derivative").back());  // throws what is wrong with it
  for (Clauses& line : all) {
    for (std::size_t v = line.given.size(); v-- > 0;) {
      line.given[v] = 0;
      if (!keeps_ranges(head, all)) line.given[v] = 1;
    }
  }
  return definition(head, all);
}

}  // namespace oriel::lang
