#include "lang/check_expression.hpp"

#include <fmt/format.h>

#include "lang/uses.hpp"
#include "oriel/inline_vector.hpp"

namespace oriel::lang {
namespace {

std::string plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : what[0] == 'i' && what[3] == 'e' ? "es" : "s");
}

}  // namespace

std::int32_t find_size(const Program& program, std::string_view name) noexcept {
  const auto found = program.size_ids.find(name);
  return found == program.size_ids.end() ? -1 : found->second;
}

std::int32_t find_tensor(const Program& program, std::string_view name) noexcept {
  const auto found = program.tensor_ids.find(name);
  return found == program.tensor_ids.end() ? -1 : found->second;
}

void ExpressionChecker::fail(ErrorKind kind, Span span, const std::string& message,
                             const std::vector<Note>& notes) const {
  lang::fail(p_.source(), kind, span, message, notes);
}

void ExpressionChecker::clause(const Clause& clause, std::size_t position) {
  switch (clause.kind) {
    case Clause::Kind::Range:
      return range_clause(clause, position);
    case Clause::Kind::Let:
      return let_clause(clause);
    case Clause::Kind::Exists:
      return check(clause.first);
  }
}

void ExpressionChecker::range_clause(const Clause& clause, std::size_t position) {
  const bool size = find_size(p_, clause.name) >= 0;
  if (size || find_tensor(p_, clause.name) >= 0 || names_.find_let(clause.name) != nullptr) {
    fail(ErrorKind::UndefinedName, clause.name_span,
         fmt::format("'{}' is no index, so it takes no range; it names a {}", clause.name,
                     size                                      ? "size variable"
                     : names_.find_let(clause.name) != nullptr ? "where clause's value"
                                                               : "tensor"));
  }
  if (find_builtin(clause.name) != nullptr) {
    fail(ErrorKind::ReservedName, clause.name_span, fmt::format("'{}' is a builtin function", clause.name));
  }
  check_range_end(clause.first);
  check_range_end(clause.second);
  std::int32_t id = names_.find_variable(clause.name);
  if (id < 0) id = names_.add_variable(clause.name, clause.name_span, false);
  Variable& variable = names_.variable(id);
  if (variable.range >= 0) {
    fail(
        ErrorKind::DuplicateRange, clause.span, fmt::format("'{}' has a range already", clause.name),
        {{p_.definition.statements[static_cast<std::size_t>(s_)].clauses[static_cast<std::size_t>(variable.range)].span,
          "this one"}});
  }
  variable.range = static_cast<std::int32_t>(position);
}

void ExpressionChecker::let_clause(const Clause& clause) {
  if (find_builtin(clause.name) != nullptr) {
    fail(ErrorKind::ReservedName, clause.name_span, fmt::format("'{}' is a builtin function", clause.name));
  }
  if (find_tensor(p_, clause.name) >= 0 || find_size(p_, clause.name) >= 0) {
    fail(ErrorKind::ShadowedName, clause.name_span,
         fmt::format("'{}' names a tensor or a size variable; a value needs a name of its own", clause.name));
  }
  const StatementNames::Let* other = names_.find_let(clause.name);
  const std::int32_t variable = names_.find_variable(clause.name);
  if (other != nullptr || variable >= 0) {
    fail(ErrorKind::Redefinition, clause.name_span, fmt::format("'{}' has a meaning already", clause.name),
         {{other != nullptr ? other->span : names_.variable(variable).span, "it came up here"}});
  }
  check(clause.first);
  names_.add_let(clause.name, {clause.name_span, clause.first});
}

// Ends of ranges may consist of constants, size variables and arithmetic on them.
void ExpressionChecker::check_range_end(ExprId id) {
  Expr& expr = d_[id];
  if (expr.kind == ExprKind::Name) {
    const std::int32_t size = find_size(p_, expr.name);
    if (size < 0) {
      const std::int32_t tensor = find_tensor(p_, expr.name);
      fail(ErrorKind::RangeNotSizeExpr, expr.span,
           fmt::format("the ends of a range are made of size variables and integers; '{}' is {}", expr.name,
                       tensor >= 0 ? "a tensor, and tensors cannot be read here" : "neither"));
    }
    expr.kind = ExprKind::Size;
    expr.id = size;
    expr.dtype = DType::int32;
    return;
  }
  const bool truth = expr.kind == ExprKind::Integer && expr.dtype == DType::bool_;
  if (truth) fail(ErrorKind::RangeNotSizeExpr, expr.span, "the ends of a range are integers, not true or false");
  if (expr.kind == ExprKind::Apply || expr.kind == ExprKind::Float || is_floating(expr.dtype)) {
    fail(ErrorKind::RangeNotSizeExpr, expr.span,
         expr.kind == ExprKind::Apply
             ? fmt::format("the ends of a range are made of size variables and integers; '{}' cannot be read or called "
                           "here",
                           expr.name)
             : "the ends of a range are integers, not floats");
  }
  for (const ExprId argument : InlineVector<ExprId, 3>(expr.args)) check_range_end(argument);
  if (expr.kind == ExprKind::Operation || expr.kind == ExprKind::Select) d_[id].dtype = DType::int32;
}

void ExpressionChecker::check(ExprId id) {
  // Only add_self adds expressions to the pool, so references into the pool stay valid here.
  Expr& expr = d_[id];
  switch (expr.kind) {
    case ExprKind::Integer:
    case ExprKind::Float:
      return;
    case ExprKind::Name:
      return check_name(id);
    case ExprKind::Apply:
      return check_apply(id);
    case ExprKind::Select: {
      for (const ExprId argument : expr.args) check(argument);
      expr.dtype = promote_values(d_[expr.args[1]].dtype, d_[expr.args[2]].dtype);
      break;
    }
    case ExprKind::Cast:
      check(expr.args[0]);
      break;
    case ExprKind::Operation:
      return check_operation(id);
    default:
      return;
  }
  for (const ExprId argument : expr.args) expr.reads = expr.reads || d_[argument].reads;
}

void ExpressionChecker::check_name(ExprId id) {
  Expr& expr = d_[id];
  expr.dtype = DType::int32;
  if (const StatementNames::Let* let = names_.find_let(expr.name)) {
    expr.kind = ExprKind::Let;
    expr.args = {let->body};
    expr.dtype = d_[let->body].dtype;
    expr.reads = d_[let->body].reads;
    return;
  }
  expr.id = find_size(p_, expr.name);
  if (expr.id >= 0) {
    expr.kind = ExprKind::Size;
    return;
  }
  if (find_tensor(p_, expr.name) >= 0) return check_apply(id);
  if (find_builtin(expr.name) != nullptr) {
    fail(ErrorKind::ReservedName, expr.span,
         fmt::format("'{}' is a builtin function; call it with its arguments", expr.name));
  }
  expr.id = names_.find_variable(expr.name);
  if (expr.id < 0) expr.id = names_.add_variable(expr.name, expr.span, false);
  expr.kind = ExprKind::Index;
  touched_.push_back(id);
}

void ExpressionChecker::check_apply(ExprId id) {
  Expr& expr = d_[id];
  const std::int32_t tensor = find_tensor(p_, expr.name);
  if (tensor < 0) {
    const bool variable = names_.find_variable(expr.name) >= 0 || names_.find_let(expr.name) != nullptr;
    if (variable || find_size(p_, expr.name) >= 0) {
      fail(ErrorKind::NotATensor, expr.span,
           fmt::format("'{}' is {}, and only tensors take indices", expr.name,
                       variable ? "an index or a value" : "a size variable"));
    }
    const BuiltinRow* builtin = find_builtin(expr.name);
    if (builtin == nullptr) {
      fail(ErrorKind::UndefinedName, expr.span, fmt::format("'{}' is no tensor and no function", expr.name));
    }
    if (expr.args.size() != builtin->arity) {
      fail(ErrorKind::ArityMismatch, expr.span,
           fmt::format("{} takes {}, but {} came", expr.name, plural(builtin->arity, "argument"), expr.args.size()));
    }
    expr.kind = ExprKind::Call;
    expr.id = static_cast<std::int32_t>(builtin->id);
    expr.dtype = DType::float32;
    for (const ExprId argument : expr.args) {
      check(argument);
      if (d_[argument].dtype == DType::float64) expr.dtype = DType::float64;
      expr.reads = expr.reads || d_[argument].reads;
    }
    return;
  }
  const TensorSymbol& symbol = p_.tensors[static_cast<std::size_t>(tensor)];
  if (!symbol.input() && !symbol.assigned) {
    fail(ErrorKind::UndefinedName, expr.span, fmt::format("'{}' is read before a statement assigns it", expr.name),
         {{symbol.span, "it came up here"}});
  }
  if (expr.args.size() != symbol.rank) {
    fail(ErrorKind::RankMismatch, expr.span,
         fmt::format("'{}' has {}, but {} came", expr.name, plural(symbol.rank, "dimension"),
                     plural(expr.args.size(), "index")),
         {{symbol.span, "it came up here"}});
  }
  for (const ExprId argument : expr.args) {
    check(argument);
    check_integral(argument);
  }
  expr.kind = ExprKind::Apply;
  expr.id = tensor;
  expr.dtype = symbol.dtype;
  expr.reads = true;
}

void ExpressionChecker::check_integral(ExprId id) const {
  if (is_integer(d_[id].dtype)) return;
  fail(ErrorKind::IndexNotIntegral, d_[id].span,
       fmt::format("an index is an integer, but this is {}; cast it, as in int32(..)", name(d_[id].dtype)));
}

void ExpressionChecker::check_operation(ExprId id) {
  Expr& expr = d_[id];
  for (const ExprId argument : expr.args) {
    check(argument);
    expr.reads = expr.reads || d_[argument].reads;
  }
  switch (expr.op) {
    case Operator::Lt:
    case Operator::Le:
    case Operator::Gt:
    case Operator::Ge:
    case Operator::Eq:
    case Operator::Ne:
    case Operator::And:
    case Operator::Or:
    case Operator::Not:
      expr.dtype = DType::bool_;
      return;
    default:
      break;
  }
  expr.dtype = d_[expr.args[0]].dtype;
  if (expr.args.size() > 1) expr.dtype = promote_values(expr.dtype, d_[expr.args[1]].dtype);
  const bool keeps_bool = expr.op == Operator::Min || expr.op == Operator::Max;
  if (expr.dtype == DType::bool_ && !keeps_bool) expr.dtype = DType::int32;
}

void ExpressionChecker::positions(const Statement& statement) {
  for (const Index& index : statement.left) {
    if (index.position == kNoExpr) continue;
    check(index.position);
    check_integral(index.position);
  }
}

void ExpressionChecker::add_self(const Statement& statement, std::int32_t target) {
  Expr self;
  self.kind = ExprKind::Apply;
  self.name = statement.target;
  self.span = statement.head;
  self.id = target;
  self.dtype = p_.tensors[static_cast<std::size_t>(target)].dtype;
  self.reads = true;
  for (const Index& left : statement.left) {
    if (left.position != kNoExpr) {
      self.args.push_back(left.position);
      continue;
    }
    Expr index;
    index.kind = ExprKind::Index;
    index.name = left.name;
    index.span = left.span;
    index.id = names_.find_variable(left.name);
    d_.pool.push_back(std::move(index));
    self.args.push_back(static_cast<ExprId>(d_.pool.size() - 1));
    touched_.push_back(self.args.back());
  }
  d_.pool.push_back(std::move(self));
  self_ = static_cast<ExprId>(d_.pool.size() - 1);
}

void ExpressionChecker::finish(const Statement& statement, CheckedStatement& out) {
  const std::vector<Variable>& variables = names_.variables();
  LoopOrder loops(d_, variables.size());
  for (const Index& index : statement.left) {
    if (index.position != kNoExpr) {
      out.written = self_;
      loops.see(index.position);
    } else {
      loops.put(names_.find_variable(index.name));
    }
  }
  out.left = loops.variables().size();
  for (const std::int32_t variable : loops.variables()) names_.variable(variable).left = true;
  for (const Index& index : statement.left) {
    const bool position = index.position != kNoExpr;
    out.axes.push_back(position ? -1 : loops.place(static_cast<std::size_t>(names_.find_variable(index.name))));
  }
  if (self_ != kNoExpr) out.accesses.push_back({self_, {}, false, true});
  // Accesses first, because this walk is limited in length.
  AccessCollector accesses(p_, out.accesses);
  for (const Index& index : statement.left)
    if (index.position != kNoExpr) accesses.collect(index.position, false);
  accesses.collect(statement.right, false);
  for (const Clause& clause : statement.clauses) {
    if (clause.kind == Clause::Kind::Exists) accesses.collect(clause.first, true);
  }
  loops.see(statement.right);
  for (const Clause& clause : statement.clauses) {
    if (clause.kind == Clause::Kind::Exists) loops.see(clause.first);
  }
  for (std::size_t v = 0; v < variables.size(); ++v) {
    if (loops.place(v) >= 0 || variables[v].range < 0) continue;
    fail(ErrorKind::UnusedVariable, statement.clauses[static_cast<std::size_t>(variables[v].range)].span,
         fmt::format("'{}' has a range, but is used nowhere in the statement", variables[v].name));
  }
  for (const std::int32_t variable : loops.variables())
    out.variables.push_back(variables[static_cast<std::size_t>(variable)]);
  for (const ExprId id : touched_) {
    // An index that occurs only in an unused where clause is not a loop.
    d_[id].id = loops.place(static_cast<std::size_t>(d_[id].id));
  }
}

}  // namespace oriel::lang
