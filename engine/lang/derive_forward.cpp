#include "lang/derive_forward.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oriel/error.hpp"

namespace oriel::lang {
namespace {

Operator combination(Assignment assignment) {
  return assignment == Assignment::Mul   ? Operator::Mul
         : assignment == Assignment::Min ? Operator::Min
         : assignment == Assignment::Max ? Operator::Max
                                         : Operator::Add;
}

}  // namespace

ForwardStatements::ForwardStatements(const Program& program, std::span<const std::string> by)
    : p_(program), d_(program.definition), make_(d_), names_(program), inference_(infer_open(program)) {
  inputs(by);
  for (std::size_t s = 0; s < p_.statements.size(); ++s) statement(s);
  results();
}

void ForwardStatements::refuse(Span span, const std::string& message) const {
  fail(p_.source(), ErrorKind::NotDifferentiable, span, message);
}

void ForwardStatements::inputs(std::span<const std::string> by) {
  for (const Parameter& parameter : d_.parameters) {
    const std::string name(parameter.name);
    const bool named = std::ranges::find(by, name) != by.end();
    if (named && !is_floating(parameter.dtype)) {
      throw ArgumentError(
          "grad", fmt::format("'{}' is {}, and only floats have derivatives", name, oriel::name(parameter.dtype)));
    }
    Derived& value = values_[name];
    value.dtype = parameter.dtype;
    value.box = box(static_cast<std::size_t>(p_.tensor_ids.at(name)));
    value.declared = value.active = is_floating(parameter.dtype) && (by.empty() || named);
    if (value.active) by_.push_back(name);
  }
  for (const std::string& name : by)
    if (std::ranges::find(by_, name) == by_.end())
      throw ArgumentError("grad", fmt::format("'{}' is no parameter of {}", name, d_.name));
  if (by_.empty()) throw ArgumentError("grad", fmt::format("no parameter of {} holds floats", d_.name));
}

std::vector<Loop> ForwardStatements::box(std::size_t tensor) const {
  std::vector<Loop> out;
  for (const IndexRange range : inference_.boxes[tensor]) out.push_back({"", notation(range.lo), notation(range.end)});
  return out;
}

// Names the tensors that an expression reads as they are called now.
void ForwardStatements::rename(ExprId id) {
  Expr& expr = d_[id];
  if (expr.kind == ExprKind::Apply) {
    if (const auto now = now_.find(expr.id); now != now_.end()) expr.name = make_.keep(now->second);
  }
  for (const ExprId argument : InlineVector<ExprId, 3>(d_[id].args)) rename(argument);
}

void ForwardStatements::statement(std::size_t s) {
  const CheckedStatement& checked = p_.statements[s];
  const Statement& syntax = *checked.syntax;
  const StatementRanges& ranges = inference_.statements[s];
  Assigned out;
  out.checked = &checked;
  out.ranges = &ranges;
  out.left_loops = checked.left;
  out.scatters = checked.written != kNoExpr;
  out.assignment = syntax.assignment;
  if (out.scatters && (out.assignment == Assignment::Set || out.assignment == Assignment::Mul)) {
    refuse(syntax.operator_span, "of = and *= at positions the notation has no derivative; write +=!, max=! or min=!");
  }
  for (std::size_t v = 0; v < checked.variables.size(); ++v) {
    const IndexRange range = ranges.ranges[v];
    out.loops.push_back({std::string(checked.variables[v].name), notation(range.lo), notation(range.end)});
  }
  for (const Index& left : syntax.left) {
    out.left.push_back(left.position != kNoExpr ? left.position : make_.name(std::string(left.name)));
    if (left.position != kNoExpr) rename(left.position);
  }
  out.right = syntax.right;
  rename(out.right);
  if (is_floating(checked.target_dtype) && d_[out.right].dtype != checked.target_dtype)
    out.right = make_.cast(checked.target_dtype, out.right);

  const auto later = [&](const CheckedStatement& other) { return other.target == checked.target; };
  const std::string name(p_.tensors[static_cast<std::size_t>(checked.target)].name);
  const bool last =
      std::none_of(p_.statements.begin() + static_cast<std::ptrdiff_t>(s) + 1, p_.statements.end(), later);
  Derived value;
  value.dtype = checked.target_dtype;
  value.box = box(static_cast<std::size_t>(checked.target));
  std::string target = last ? name : names_.fresh(fmt::format("{}_{}", name, s));
  if (!checked.updates) {
    add(std::move(out), std::move(target), std::move(value));
  } else {  // what was before and the part of this statement
    const std::string before = now_.at(checked.target), part = names_.fresh(name + "_part");
    add(std::move(out), part, value);
    Assigned both;
    both.loops = value.box;
    for (Loop& loop : both.loops) both.left.push_back(make_.name(loop.name = names_.fresh("n")));
    both.left_loops = both.loops.size();
    const DType dtype = values_[before].dtype;
    both.right = make_.operation(combination(syntax.assignment), make_.read(before, both.left, dtype),
                                 make_.read(part, both.left, value.dtype));
    add(std::move(both), target, std::move(value));
  }
  now_[checked.target] = assigned_.back().target;
}

void ForwardStatements::add(Assigned of, std::string target, Derived value) {
  value.active = is_floating(value.dtype) && active(of.right);
  values_[target] = std::move(value);
  of.target = std::move(target);
  assigned_.push_back(std::move(of));
}

// Does the value depend on what is derived by?
bool ForwardStatements::active(ExprId id) const {
  const Expr& expr = d_[id];
  if (!is_floating(expr.dtype)) return false;
  if (expr.kind == ExprKind::Apply) return values_.at(std::string(expr.name)).active;
  return std::ranges::any_of(expr.args, [&](ExprId argument) { return active(argument); });
}

void ForwardStatements::results() {
  for (const std::int32_t id : p_.results) {
    const TensorSymbol& tensor = p_.tensors[static_cast<std::size_t>(id)];
    Derived& value = values_[std::string(tensor.name)];
    if (!is_floating(value.dtype)) continue;
    value.given = names_.fresh(fmt::format("d_{}", tensor.name));
    given_.push_back(id);
  }
  if (given_.empty()) throw ArgumentError("grad", fmt::format("no result of {} holds floats", d_.name));
}

}  // namespace oriel::lang
