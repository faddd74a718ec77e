// Prints expressions.
#include <fmt/format.h>

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
  explicit Writer(const Definition& definition) : definition_(definition) {}

  void write(ExprId id, int least) {
    if (out_.size() > kMaxText) return;
    const Expr& expr = definition_[id];
    if (expr.kind == ExprKind::Let) return write(expr.args[0], least);
    const bool parentheses = level(expr) < least;
    if (parentheses) out_ += '(';
    body(expr);
    if (parentheses) out_ += ')';
  }

  std::string finish() {
    if (out_.size() > kMaxText) {
      out_.resize(kMaxText);
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
  std::string out_;
};

}  // namespace

std::string text(const Definition& definition, ExprId expression) {
  Writer writer(definition);
  writer.write(expression, 0);
  return writer.finish();
}

}  // namespace oriel::lang
