#include "lang/infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lang/pending_variables.hpp"
#include "lang/precondition.hpp"
#include "lang/range_search.hpp"
#include "lang/range_warnings.hpp"
#include "oriel/error.hpp"

namespace oriel::lang {
namespace {

using detail::ArithmeticOverflow;
using detail::Int;

// The most expressions visited for a left index; names of where clauses can multiply them.
constexpr std::size_t kMaxLooked = 100000;

// Does the expression name variable v? `looked`: the expressions visited so far.
bool names(const Program& p, ExprId id, std::int32_t v, std::size_t& looked) {
  if (++looked > kMaxLooked) return true;  // inference then reports the index if it is unresolved
  const Expr& expr = p.definition[id];
  if (expr.kind == ExprKind::Index) return expr.id == v;
  for (const ExprId argument : expr.args) {
    if (names(p, argument, v, looked)) return true;
  }
  return false;
}

/// Inference inside one statement.
class Rounds {
 public:
  Rounds(const Program& program, const CheckedStatement& statement, const Inference& known, bool zero_input,
         Budget& budget)
      : p_(program),
        s_(statement),
        known_(known),
        zero_input_(zero_input),
        budget_(budget),
        pending_(statement.variables.size()) {}

  StatementRanges run() {
    const std::size_t count = s_.variables.size();
    out_.ranges.assign(count, Interval{});
    out_.lower_by.assign(count, -1);
    out_.upper_by.assign(count, -1);
    where_ranges();
    conditions();
    check_left();
    pending_.count(out_.conditions);
    while (round()) {
    }
    check_resolved();
    if (std::ranges::any_of(out_.ranges, &Interval::empty)) return std::move(out_);  // the statement has no points
    for (Condition& condition : out_.conditions) condition.range = range_over(condition.index, out_.ranges);
    GuardTable guards;
    for (std::size_t k = 0; k < out_.conditions.size(); ++k) {
      if (used_[k] == 0) check_precondition(builder(), p_, s_, known_.sizes, out_, k, guards, budget_);
    }
    out_.warnings = range_warnings(builder(), p_, s_, known_.sizes, out_);
    return std::move(out_);
  }

  std::size_t visited() const noexcept { return pending_.visited(); }

 private:
  [[noreturn]] void fail(ErrorKind kind, Span span, const std::string& message,
                         const std::vector<Note>& notes = {}) const {
    lang::fail(p_.source(), kind, span, message, notes);
  }
  IndexBuilder& builder() const { return *known_.builder; }
  const Variable& variable(std::size_t v) const { return s_.variables[v]; }

  void where_ranges() {
    for (std::size_t v = 0; v < s_.variables.size(); ++v) {
      if (variable(v).range < 0) continue;
      const Clause& clause = s_.syntax->clauses[static_cast<std::size_t>(variable(v).range)];
      const std::int64_t begin = builder().size(p_, clause.first, known_.sizes);
      const std::int64_t end = builder().size(p_, clause.second, known_.sizes);
      if (end < begin) {
        fail(ErrorKind::EmptyRange, clause.span,
             fmt::format("the range of '{}' is {}:{}, which ends before it begins", variable(v).name, begin, end));
      }
      out_.ranges[v] = {begin, (Int(end) - 1).value()};
      pending_.set_resolved(v);
    }
  }

  void conditions() {
    for (std::size_t k = 0; k < s_.accesses.size(); ++k) {
      const Expr& access = p_.definition[s_.accesses[k].expr];
      const std::vector<Interval>& box = known_.boxes[static_cast<std::size_t>(access.id)];
      out_.first.push_back(out_.conditions.size());
      for (std::size_t d = 0; d < access.args.size(); ++d) {
        Condition condition;
        condition.access = k;
        condition.dimension = d;
        condition.index = builder().number(p_, access.args[d], known_.sizes);
        condition.variables = index_variables(condition.index);
        condition.target = box[d];
        out_.conditions.push_back(std::move(condition));
      }
    }
    out_.first.push_back(out_.conditions.size());
    used_.assign(out_.conditions.size(), 0);
  }

  // Throws for a left index that occurs in no access and no where clause.
  void check_left() const {
    std::size_t looked = 0;
    for (std::size_t v = 0; v < s_.left; ++v) {
      if (pending_.resolved(v)) continue;
      bool named = false;
      for (const AccessUse& use : s_.accesses)
        named = named || names(p_, use.expr, static_cast<std::int32_t>(v), looked);
      if (!named) {
        fail(ErrorKind::UnconstrainedOutputIndex, variable(v).span,
             fmt::format("no access and no where clause gives '{}' a range; write where {} in a:b", variable(v).name,
                         variable(v).name));
      }
    }
  }

  // Tries only variables with a new expression: for the others the result would be the same as before.
  bool round() {
    std::vector<std::int32_t> solved;
    for (const std::int32_t v : pending_.take_tried()) {
      if (RangeSearch(p_, s_, zero_input_, pending_, budget_, out_, v).run(pending_.look(v))) solved.push_back(v);
    }
    for (const std::int32_t v : solved) {
      for (const std::size_t k : pending_.ready(v)) {
        used_[k] = 1;
        out_.conditions[k].status = AccessStatus::Solving;
      }
    }
    pending_.resolve(out_.conditions, solved);
    if (!solved.empty()) out_.rounds.push_back(solved);
    return !solved.empty();
  }

  void check_resolved() const {
    std::string names;
    std::vector<Note> notes;
    std::size_t first = s_.variables.size();
    for (std::size_t v = 0; v < s_.variables.size(); ++v) {
      if (pending_.resolved(v)) continue;
      first = std::min(first, v);
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", variable(v).name);
    }
    if (names.empty()) return;
    for (std::size_t k = 0; k < out_.conditions.size() && notes.size() < 4; ++k) {
      const std::int32_t only = pending_.only_unknown(out_.conditions[k]);
      if (only == -1) continue;
      const std::string why = out_.conditions[k].variables.reads ? "reads a tensor, so that its value is not known yet"
                              : only == -2                       ? "has several unresolved variables"
                                                                 : "does not bound it on both sides";
      notes.push_back({index_span(p_, s_, out_.conditions[k]), "this index " + why});
    }
    fail(ErrorKind::UnresolvedVariable, variable(first).span,
         fmt::format("no access bounds {} on both sides; write where {} in a:b", names, variable(first).name), notes);
  }

  const Program& p_;
  const CheckedStatement& s_;
  const Inference& known_;
  bool zero_input_;
  Budget& budget_;
  StatementRanges out_;
  std::vector<char> used_;
  PendingVariables pending_;
};

std::vector<Interval> box_of(const Shape& shape) {
  std::vector<Interval> box;
  for (const SymInt size : shape) box.push_back({0, size.value() - 1});
  return box;
}

// True if a tensor that the statement reads has no elements. A where clause may cause that.
bool reads_nothing(const Program& program, const CheckedStatement& statement, const Inference& known) {
  for (const AccessUse& use : statement.accesses) {
    for (const Interval range : known.boxes[static_cast<std::size_t>(program.definition[use.expr].id)]) {
      if (range.empty()) return true;
    }
  }
  return false;
}

[[noreturn]] void fail_overflow(const Program& program, const CheckedStatement& statement) {
  fail(program.source(), ErrorKind::Overflow, statement.syntax->span,
       "the arithmetic of this statement's indices does not fit 64 bits, or divides by zero");
}

// Checks the target's coordinates after a statement against those of earlier statements and those declared.
void check_target(const Program& program, const CheckedStatement& statement, const std::vector<Interval>& box,
                  bool assigned, Inference& out) {
  const auto target = static_cast<std::size_t>(statement.target);
  const TensorSymbol& tensor = program.tensors[target];
  const auto listed = [](const std::vector<Interval>& of) {
    std::string text;
    for (const Interval range : of) text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", range.lo, range.hi + 1);
    return text;
  };
  if (assigned && out.boxes[target] != box) {
    fail(program.source(), ErrorKind::ShapeConflict, statement.syntax->head,
         fmt::format("'{}' ranges over ({}) here, but over ({}) in an earlier statement", tensor.name, listed(box),
                     listed(out.boxes[target])));
  }
  if (tensor.result >= 0) {
    const Result& result = program.definition.results[static_cast<std::size_t>(tensor.result)];
    for (std::size_t d = 0; d < result.dims.size(); ++d) {
      const Dimension& dim = result.dims[d];
      const std::int64_t wanted = dim.size >= 0 ? out.sizes[static_cast<std::size_t>(dim.size)] : dim.value;
      const std::int64_t found = extent(box[d]);
      if (wanted != found) {
        fail(program.source(), ErrorKind::SizeMismatch, dim.span,
             fmt::format("dimension {} of '{}' is declared as {}, but is {}", d, tensor.name, wanted, found),
             {{statement.syntax->head, "its range comes from here"}});
      }
    }
  }
  out.boxes[target] = box;
}

}  // namespace

std::vector<std::int64_t> bind_sizes(const Program& program, std::span<const std::optional<Shape>> shapes) {
  const Definition& d = program.definition;
  std::vector<std::int64_t> sizes(program.sizes.size(), 0);
  std::vector<std::string> from(program.sizes.size());
  for (std::size_t k = 0; k < d.parameters.size(); ++k) {
    const Parameter& parameter = d.parameters[k];
    if (k >= shapes.size() || !shapes[k]) {
      fail(program.source(), ErrorKind::MissingInput, parameter.span,
           fmt::format("no argument came for '{}', which has {} dimension{}", parameter.name, parameter.dims.size(),
                       parameter.dims.size() == 1 ? "" : "s"));
    }
    const Shape& shape = *shapes[k];
    if (shape.size() != parameter.dims.size()) {
      fail(program.source(), ErrorKind::RankMismatch, parameter.span,
           fmt::format("'{}' has {} dimension{}, but its argument has {}: {}", parameter.name, parameter.dims.size(),
                       parameter.dims.size() == 1 ? "" : "s", shape.size(), to_string(shape)));
    }
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const Dimension& dim = parameter.dims[axis];
      const std::int64_t came = shape[axis].value();
      if (dim.size < 0) {
        if (came == dim.value) continue;
        fail(program.source(), ErrorKind::SizeMismatch, dim.span,
             fmt::format("dimension {} of '{}' is {}, but its argument has {} there", axis, parameter.name, dim.value,
                         came));
      }
      const auto size = static_cast<std::size_t>(dim.size);
      if (from[size].empty()) {
        sizes[size] = came;
        from[size] = fmt::format("dimension {} of '{}'", axis, parameter.name);
      } else if (sizes[size] != came) {
        fail(program.source(), ErrorKind::SizeMismatch, dim.span,
             fmt::format("{} is {} by {}, but {} by dimension {} of '{}'", dim.name, sizes[size], from[size], came,
                         axis, parameter.name));
      }
    }
  }
  return sizes;
}

Inference infer(const Program& program, std::span<const std::optional<Shape>> shapes) {
  Inference out;
  out.builder = std::make_unique<IndexBuilder>();
  out.sizes = bind_sizes(program, shapes);
  out.boxes.resize(program.tensors.size());
  bool zero_input = false;
  for (std::size_t k = 0; k < program.tensors.size(); ++k) {
    const TensorSymbol& tensor = program.tensors[k];
    if (!tensor.input()) continue;
    out.boxes[k] = box_of(*shapes[static_cast<std::size_t>(tensor.parameter)]);
    for (const Interval range : out.boxes[k]) zero_input = zero_input || range.empty();
  }
  Budget budget;
  std::vector<char> assigned(program.tensors.size(), 0);
  for (const CheckedStatement& statement : program.statements) {
    try {
      const bool zero = zero_input || reads_nothing(program, statement, out);
      Rounds rounds(program, statement, out, zero, budget);
      out.statements.push_back(rounds.run());
      out.looked += rounds.visited();
    } catch (const ArithmeticOverflow&) {
      fail_overflow(program, statement);
    } catch (const OverflowError&) {
      fail_overflow(program, statement);
    }
    const std::vector<Interval>& ranges = out.statements.back().ranges;
    const auto target = static_cast<std::size_t>(statement.target);
    check_target(program, statement, {ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(statement.left)},
                 assigned[target] != 0, out);
    assigned[target] = 1;
  }
  return out;
}

}  // namespace oriel::lang
