// Prints expressions.

#include <fmt/format.h>

#include <unordered_map>

#include "lang/syntax/program.hpp"
#include "lang/syntax/syntax.hpp"

namespace oriel::lang {

namespace {

/// Longer texts are cut. Names of where clauses are replaced by their values, so a short program can have a long text.
constexpr std::size_t kMaxText = 2000;

int level(const Expr& expr) noexcept {
  if (expr.kind == ExprKind::Select) return 0;
  if (expr.kind != ExprKind::Operation) return 7;
  switch (expr.op) {
    case Operator::Or:
      return 1;
    case Operator::And:
      return 2;
    case Operator::Add:
    case Operator::Sub:
      return 4;
    case Operator::Mul:
    case Operator::Div:
    case Operator::Mod:
      return 5;
    case Operator::Neg:
    case Operator::Not:
      return 6;
    case Operator::Min:
    case Operator::Max:
      return 7;
    default:
      return 3;
  }
}

class Writer {
 public:
  explicit Writer(const Definition& definition, std::size_t most = kMaxText) : definition_(definition), most_(most) {}

  void write(ExprId id, int least) {
    if (out_.size() > most_) return;
    const Expr& expr = definition_[id];
    if (expr.kind == ExprKind::Let) return write(expr.args[0], least);
    const bool parentheses = level(expr) < least;
    if (parentheses) out_ += '(';
    body(expr);
    if (parentheses) out_ += ')';
  }

  std::string finish() {
    if (out_.size() > most_) {
      out_.resize(most_);
      out_ += "...";
    }
    return std::move(out_);
  }

 private:
  void list(const Expr& expr) {
    out_ += '(';
    for (std::size_t k = 0; k < expr.args.size(); ++k) {
      if (k > 0) out_ += ", ";
      write(expr.args[k], 0);
    }
    out_ += ')';
  }

  void body(const Expr& expr) {
    switch (expr.kind) {
      case ExprKind::Integer:
        out_ += expr.dtype != DType::bool_ ? fmt::format("{}", expr.integer) : expr.integer != 0 ? "true" : "false";
        return;
      case ExprKind::Float: {
        const std::string number = fmt::format("{}", expr.number);
        out_ += number.find_first_of(".e") == std::string::npos ? number + ".0" : number;
        return;
      }
      case ExprKind::Apply:
      case ExprKind::Call:
        out_ += expr.name;
        if (!expr.args.empty()) list(expr);
        return;
      case ExprKind::Cast:
        out_ += expr.dtype == DType::float32 ? "float" : expr.dtype == DType::float64 ? "double" : name(expr.dtype);
        return list(expr);
      case ExprKind::Select:
        write(expr.args[0], 1);
        out_ += " ? ";
        write(expr.args[1], 0);
        out_ += " : ";
        return write(expr.args[2], 0);
      case ExprKind::Operation:
        return operation(expr);
      default:
        out_ += expr.name;
    }
  }

  void operation(const Expr& expr) {
    const int own = level(expr);
    if (expr.op == Operator::Min || expr.op == Operator::Max) {
      out_ += symbol(expr.op);
      list(expr);
    } else if (expr.args.size() == 1) {
      out_ += symbol(expr.op);
      write(expr.args[0], own);
    } else {
      write(expr.args[0], own);
      out_ += fmt::format(" {} ", symbol(expr.op));
      write(expr.args[1], own + 1);
    }
  }

  const Definition& definition_;
  std::size_t most_;
  std::string out_;
};

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
    for (std::size_t k = 0; k < statement.axes.size(); ++k) {
      if (k > 0) out_ += ", ";
      if (statement.axes[k] >= 0) {
        out_ += fmt::format("_{}", statement.axes[k]);
      } else {
        expression(syntax.left[k].position);
      }
    }
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

std::string text(const Definition& definition, ExprId expression) {
  Writer writer(definition);
  writer.write(expression, 0);
  return writer.finish();
}

std::string whole_text(const Definition& definition, ExprId expression) {
  constexpr std::size_t kWhole = std::size_t{1} << 20;  // no parser takes more
  Writer writer(definition, kWhole);
  writer.write(expression, 0);
  return writer.finish();
}

std::string canonical_text(const Program& program) { return Canonical(program).run(); }

}  // namespace oriel::lang
