#include "lang/resolvable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace oriel::lang {
namespace {

/// The variables of one index expression, as far as they are known without sizes.
struct IndexNames {
  ExprId expr = kNoExpr;
  std::vector<std::int32_t> variables;
  bool reads = false;
  bool selects = false;       // a conditional may skip the part that reads
  bool sizes_decide = false;  // the sizes may decide which variables occur and whether the expression bounds them
};

class Resolution {
 public:
  Resolution(const Program& program, const CheckedStatement& statement) : p_(program), s_(statement) {}

  void run() {
    resolved_.assign(s_.variables.size(), 0);
    std::size_t left = s_.variables.size();
    for (std::size_t v = 0; v < s_.variables.size(); ++v) {
      resolved_[v] = s_.variables[v].range >= 0 ? 1 : 0;
      left -= resolved_[v] != 0 ? 1 : 0;
    }
    if (left == 0) return;
    if (!collect()) return;
    solve();
    for (const char resolved : resolved_) {
      if (resolved == 0) return refuse();
    }
  }

 private:
  // Where clauses can expand short texts to long expressions. After this many steps the check accepts the definition,
  // and inference, which has limits of its own, decides.
  static constexpr std::size_t kMostSteps = 100000;

  bool collect() {
    for (const AccessUse& use : s_.accesses) {
      for (const ExprId argument : p_.definition[use.expr].args) {
        IndexNames index;
        index.expr = argument;
        if (!walk(argument, index)) return false;
        std::sort(index.variables.begin(), index.variables.end());
        index.reads = index.reads && !index.selects;
        const auto last = std::unique(index.variables.begin(), index.variables.end());
        // A variable that occurs twice may cancel.
        index.sizes_decide = index.sizes_decide || last != index.variables.end();
        index.variables.erase(last, index.variables.end());
        indices_.push_back(std::move(index));
      }
    }
    return true;
  }

  bool walk(ExprId id, IndexNames& index) {
    if (++steps_ > kMostSteps) return false;
    const Expr& expr = p_.definition[id];
    switch (expr.kind) {
      case ExprKind::Index:
        index.variables.push_back(expr.id);
        return true;
      case ExprKind::Apply:
      case ExprKind::Call:
        index.reads = true;
        return true;
      case ExprKind::Integer:
      case ExprKind::Size:
        return true;
      case ExprKind::Let:
        break;
      case ExprKind::Operation:
        if (expr.op != Operator::Add && expr.op != Operator::Sub && expr.op != Operator::Neg) index.sizes_decide = true;
        break;
      case ExprKind::Select:
        index.selects = true;
        index.sizes_decide = true;
        break;
      default:
        index.sizes_decide = true;
    }
    for (const ExprId argument : expr.args) {
      if (!walk(argument, index)) return false;
    }
    return true;
  }

  // A variable counts as resolved as soon as some expression may have no other unresolved variable.
  void solve() {
    std::vector<std::size_t> unknown(indices_.size(), 0);
    std::vector<std::vector<std::size_t>> of(s_.variables.size());
    std::vector<std::int32_t> ready;
    const auto resolve = [&](std::int32_t v) {
      if (std::exchange(resolved_[static_cast<std::size_t>(v)], 1) == 0) ready.push_back(v);
    };
    const auto look = [&](const IndexNames& index) {
      for (const std::int32_t v : index.variables) resolve(v);
    };
    for (std::size_t k = 0; k < indices_.size(); ++k) {
      const IndexNames& index = indices_[k];
      if (index.reads) continue;
      for (const std::int32_t v : index.variables) {
        of[static_cast<std::size_t>(v)].push_back(k);
        unknown[k] += resolved_[static_cast<std::size_t>(v)] == 0 ? 1 : 0;
      }
    }
    for (std::size_t k = 0; k < indices_.size(); ++k) {
      if (!indices_[k].reads && (unknown[k] == 1 || indices_[k].sizes_decide)) look(indices_[k]);
    }
    while (!ready.empty()) {
      const std::int32_t v = ready.back();
      ready.pop_back();
      for (const std::size_t k : of[static_cast<std::size_t>(v)]) {
        if (--unknown[k] == 1) look(indices_[k]);
      }
    }
  }

  [[noreturn]] void refuse() const {
    for (std::size_t v = 0; v < s_.left; ++v) {
      const bool named = std::any_of(s_.accesses.begin(), s_.accesses.end(), [&](const AccessUse& use) {
        return names_variable(use.expr, static_cast<std::int32_t>(v));
      });
      if (resolved_[v] == 0 && !named) fail_unconstrained(p_, s_.variables[v]);
    }
    std::vector<Note> notes;
    for (const IndexNames& index : indices_) {
      std::size_t unknown = 0;
      for (const std::int32_t v : index.variables) unknown += resolved_[static_cast<std::size_t>(v)] == 0 ? 1 : 0;
      if (unknown == 0 || notes.size() == 4) continue;
      notes.push_back(
          {p_.definition[index.expr].span, index.reads ? "this index reads a tensor, so that its value is not known yet"
                                                       : "this index has several unresolved variables"});
    }
    fail_unresolved(p_, s_, resolved_, notes);
  }

  bool names_variable(ExprId id, std::int32_t v) const {
    const Expr& expr = p_.definition[id];
    if (expr.kind == ExprKind::Index) return expr.id == v;
    return std::any_of(expr.args.begin(), expr.args.end(), [&](ExprId child) { return names_variable(child, v); });
  }

  const Program& p_;
  const CheckedStatement& s_;
  std::vector<IndexNames> indices_;
  std::vector<char> resolved_;
  std::size_t steps_ = 0;
};

}  // namespace

void fail_unconstrained(const Program& program, const Variable& variable) {
  fail(program.source(), ErrorKind::UnconstrainedOutputIndex, variable.span,
       fmt::format("no access and no where clause gives '{0}' a range; write where {0} in a:b", variable.name));
}

void fail_unresolved(const Program& program, const CheckedStatement& statement, std::span<const char> resolved,
                     const std::vector<Note>& notes) {
  std::string names;
  const Variable* first = nullptr;
  for (std::size_t v = 0; v < statement.variables.size(); ++v) {
    if (resolved[v] != 0) continue;
    if (first == nullptr) first = &statement.variables[v];
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", statement.variables[v].name);
  }
  fail(program.source(), ErrorKind::UnresolvedVariable, first->span,
       fmt::format("no access bounds {} on both sides; write where {} in a:b", names, first->name), notes);
}

void check_resolvable(const Program& program) {
  for (const CheckedStatement& statement : program.statements) Resolution(program, statement).run();
}

}  // namespace oriel::lang
