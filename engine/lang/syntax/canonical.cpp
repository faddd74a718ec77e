// Writes a definition in canonical form: indices renamed, blanks normalised.
#include <fmt/format.h>

#include <unordered_map>

#include "lang/syntax/program.hpp"

namespace oriel::lang {
namespace {

/// Writes the parsed definition as text that does not depend on blanks, comments and the names of indices.
class Canonical {
 public:
  explicit Canonical(const Program& program) : p_(program), d_(program.definition) {}

  std::string run() {
    out_ = fmt::format("def {}(", d_.name);
    for (const Parameter& parameter : d_.parameters) {
      out_ += fmt::format("{}{}{}", &parameter == d_.parameters.data() ? "" : ", ", name(parameter.dtype),
                          dimensions(parameter.dims, !parameter.dims.empty()));
      out_ += fmt::format(" {}", parameter.name);
    }
    out_ += ") -> (";
    for (const Result& result : d_.results) {
      if (&result != d_.results.data()) out_ += ", ";
      if (result.dtype) out_ += fmt::format("{}{} ", name(*result.dtype), dimensions(result.dims, result.has_dims));
      out_ += result.name;
    }
    out_ += ") {";
    for (const CheckedStatement& statement : p_.statements) this->statement(statement);
    return out_ + " }";
  }

 private:
  std::string dimensions(const std::vector<Dimension>& dims, bool any) const {
    if (!any) return "";
    std::string text = "(";
    for (const Dimension& dim : dims) {
      if (&dim != dims.data()) text += ", ";
      text += dim.name.empty() ? fmt::format("{}", dim.value) : std::string(dim.name);
    }
    return text + ")";
  }

  void statement(const CheckedStatement& statement) {
    const Statement& syntax = *statement.syntax;
    lets_.clear();
    out_ += fmt::format(" {}(", syntax.target);
    for (std::size_t k = 0; k < statement.left; ++k) out_ += fmt::format("{}_{}", k > 0 ? ", " : "", k);
    out_ += fmt::format(") {} ", symbol(syntax.assignment, syntax.initialises));
    expression(syntax.right);
    bool first = true;
    std::vector<std::size_t> ranged(syntax.clauses.size());  // the variable of each range clause
    for (std::size_t v = 0; v < statement.variables.size(); ++v) {
      const std::int32_t range = statement.variables[v].range;
      if (range >= 0) ranged[static_cast<std::size_t>(range)] = v;
    }
    for (const Clause& clause : syntax.clauses) {
      if (clause.kind == Clause::Kind::Let) continue;  // written where it is used
      out_ += first ? " where " : ", ";
      first = false;
      if (clause.kind == Clause::Kind::Exists) {
        out_ += "exists ";
        expression(clause.first);
        continue;
      }
      out_ += fmt::format("_{} in ", ranged[static_cast<std::size_t>(&clause - syntax.clauses.data())]);
      expression(clause.first);
      out_ += ':';
      expression(clause.second);
    }
  }

  // Writes every operation in parentheses. The value of a where clause is written at its first use and referred to by
  // number afterwards.
  void expression(ExprId id) {
    const Expr& expr = d_[id];
    if (expr.kind == ExprKind::Let) {
      const auto [found, fresh] = lets_.emplace(expr.args[0], lets_.size());
      out_ += fmt::format("${}{}", found->second, fresh ? "=" : "");
      if (fresh) expression(expr.args[0]);
      return;
    }
    switch (expr.kind) {
      case ExprKind::Integer:
        out_ += expr.dtype != DType::bool_ ? fmt::format("{}", expr.integer) : expr.integer != 0 ? "true" : "false";
        return;
      case ExprKind::Float:
        out_ += fmt::format("{:a}", expr.number);
        return;
      case ExprKind::Index:
        out_ += fmt::format("_{}", expr.id);
        return;
      case ExprKind::Size:
      case ExprKind::Name:
        out_ += expr.name;
        return;
      case ExprKind::Operation:
        out_ += symbol(expr.op);
        break;
      case ExprKind::Select:
        out_ += '?';
        break;
      case ExprKind::Cast:
        out_ += name(expr.dtype);
        break;
      default:
        out_ += expr.name;
    }
    out_ += '(';
    for (std::size_t k = 0; k < expr.args.size(); ++k) {
      if (k > 0) out_ += ", ";
      expression(expr.args[k]);
    }
    out_ += ')';
  }

  const Program& p_;
  const Definition& d_;
  std::unordered_map<ExprId, std::size_t> lets_;  // in order of their first use
  std::string out_;
};

}  // namespace

std::string canonical_text(const Program& program) { return Canonical(program).run(); }

}  // namespace oriel::lang
