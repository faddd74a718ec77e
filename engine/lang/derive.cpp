#include "lang/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lang/derive_forward.hpp"
#include "oriel/error.hpp"
#include "sym/build.hpp"

namespace oriel::lang {
namespace {

class Derivation : private ForwardStatements {
 public:
  using ForwardStatements::ForwardStatements;

  std::string run() {
    for (auto of = assigned_.rbegin(); of != assigned_.rend(); ++of) pull(*of);
    for (const std::string& name : by_) {
      if (Derived& value = values_[name]; value.cotangent.empty()) fill(begin(value, name), value.box, value.dtype);
    }
    std::vector<Line> lines = forward();
    lines.insert(lines.end(), lines_.begin(), lines_.end());
    return without_needless_ranges(head(), std::move(lines));
  }

 private:
  void fill(const std::string& name, std::vector<Loop> axes, DType dtype = DType::float32) {
    for (Loop& axis : axes) axis.name = names_.fresh("n");
    lines_.push_back({call(name, axes), "=", dtype == DType::float16 ? "float16(0.0)" : "0.0", axes});
  }
  static std::string call(const std::string& name, const std::vector<Loop>& axes) {
    std::string text = name;
    for (std::size_t d = 0; d < axes.size(); ++d) text += (d == 0 ? "(" : ", ") + axes[d].name;
    return text + (axes.empty() ? "" : ")");
  }
  std::string call(const std::string& name, const InlineVector<ExprId, 3>& args) {
    return whole_text(d_, make_.read(name, args, DType::float32));
  }

  // Gives the tensor a cotangent, which holds nothing yet.
  std::string begin(Derived& value, const std::string& name) {
    return value.cotangent = names_.fresh("d_" + name + (value.given.empty() ? "" : "_all"));
  }

  // Adds a value at each point of the loops to the derivative by the element that is read there.
  void contribute(const Assigned& of, ExprId read, ExprId value) {
    const std::string name(d_[read].name);
    Derived& to = values_.at(name);
    const DType dtype = to.declared ? to.dtype : promote_values(to.dtype, DType::float32);
    if (promote_values(dtype, make_.dtype(value)) != dtype) value = make_.cast(dtype, value);
    bool axes = true;
    InlineVector<ExprId, 3> left = written(of, read, to.box, axes);
    bool first = to.cotangent.empty();
    if (first && !to.given.empty()) {  // a parameter, which is immutable
      std::vector<Loop> all = to.box;
      for (Loop& axis : all) axis.name = names_.fresh("n");
      const std::string before = given_at(to, all);
      lines_.push_back({call(begin(to, name), all), "=", before, all});
      first = false;
    } else if (first) {
      begin(to, name);
      if (!axes && !to.declared) {
        fill(to.cotangent, to.box);
        first = false;
      }
    }
    lines_.push_back({call(to.cotangent, left), first ? "+=!" : "+=", whole_text(d_, value), of.loops});
  }

  // The positions of an access. A loop alone that takes all of an axis is that axis; `axes`: all are such.
  InlineVector<ExprId, 3> written(const Assigned& of, ExprId read, const std::vector<Loop>& box, bool& axes) {
    InlineVector<ExprId, 3> left;
    std::set<std::string> used;
    for (std::size_t d = 0; d < box.size(); ++d) {
      ExprId at = d_[read].args[d];
      while (d_[at].kind == ExprKind::Let) at = d_[at].args[0];
      const bool name = d_[at].kind == ExprKind::Index || d_[at].kind == ExprKind::Name;
      const auto loop = std::ranges::find(of.loops, name ? std::string(d_[at].name) : "", &Loop::name);
      const bool axis =
          loop != of.loops.end() && loop->lo == box[d].lo && loop->end == box[d].end && used.insert(loop->name).second;
      if (!axis) {
        axes = false;
        if (name) at = make_.name(std::string(d_[at].name) + " + 0");
        if (may_leave(of, read, d))
          at = make_.name(fmt::format("max(min({}, {} - 1), {})", whole_text(d_, at), box[d].end, box[d].lo));
      }
      left.push_back(at);
    }
    return left;
  }

  // Is it a conditional that keeps the access inside?
  static bool may_leave(const Assigned& of, ExprId read, std::size_t dimension) {
    if (of.ranges == nullptr) return false;
    return std::ranges::any_of(of.ranges->conditions, [&](const Condition& condition) {
      const AccessUse& use = of.checked->accesses[condition.access];
      return use.expr == read && !use.guards.empty() && condition.dimension == dimension &&
             (condition.status == AccessStatus::Guarded || condition.status == AccessStatus::DataDependent);
    });
  }

  // The given derivative by a result at these indices, which count from the result's first one.
  static std::string given_at(const Derived& value, const std::vector<Loop>& at) {
    std::vector<Loop> moved = at;
    for (std::size_t d = 0; d < moved.size(); ++d) {
      const auto closed = [](const std::string& text) {
        return words(text).size() == 1 && words(text)[0] == text ? text : fmt::format("({})", text);
      };
      if (const std::string& lo = value.box[d].lo; lo != "0")
        moved[d].name = fmt::format("{} - {}", closed(moved[d].name), closed(lo));
    }
    return call(value.given, moved);
  }

  void pull(const Assigned& of) {
    const Derived& value = values_.at(of.target);
    if (!value.active || (value.cotangent.empty() && value.given.empty())) return;
    std::vector<Loop> at = value.box;
    for (std::size_t d = 0; d < at.size(); ++d) at[d].name = whole_text(d_, of.left[d]);
    ExprId given = make_.name(value.cotangent.empty() ? given_at(value, at) : call(value.cotangent, at));
    d_[given].dtype = promote_values(value.dtype, DType::float32);
    const bool reduces = of.scatters || of.left_loops < of.loops.size();
    if (reduces && of.assignment == Assignment::Mul) given = make_.operation(Operator::Mul, given, others(of));
    if (reduces && (of.assignment == Assignment::Min || of.assignment == Assignment::Max)) given = shared(of, given);
    differentiate(of, of.right, given);
  }

  // The product of all values but that of the point: exact where some are 0.
  ExprId others(const Assigned& of) {
    std::vector<Loop> loops = of.loops;
    ExprId same = kNoExpr;
    std::map<std::string, std::string> moved;
    for (std::size_t v = of.left_loops; v < of.loops.size(); ++v) {
      Loop loop = of.loops[v];
      loop.name = names_.fresh(loop.name + "_");
      moved[of.loops[v].name] = loop.name;
      const ExprId equal = make_.operation(Operator::Eq, make_.name(of.loops[v].name), make_.name(loop.name));
      same = same == kNoExpr ? equal : make_.operation(Operator::And, same, equal);
      loops.push_back(std::move(loop));
    }
    const std::string name = call(names_.fresh(of.target + "_others"), of.loops);
    const ExprId value = make_.select(same, make_.number(1), moved_copy(of.right, moved));
    lines_.push_back({name, "*=!", whole_text(d_, value), std::move(loops)});
    const ExprId read = make_.name(name);
    d_[read].dtype = d_[of.right].dtype;
    return read;
  }

  ExprId moved_copy(ExprId id, const std::map<std::string, std::string>& names) {
    Expr copy = d_[id];
    if (copy.kind == ExprKind::Let) return moved_copy(copy.args[0], names);
    if (const auto found = names.find(std::string(copy.name)); copy.kind == ExprKind::Index && found != names.end())
      copy.name = make_.keep(found->second);
    for (ExprId& argument : copy.args) argument = moved_copy(argument, names);
    d_.pool.push_back(std::move(copy));
    return static_cast<ExprId>(d_.pool.size() - 1);
  }

  // Values that are equal to the greatest or least one have equal parts.
  ExprId shared(const Assigned& of, ExprId given) {
    const Derived& value = values_.at(of.target);
    const std::string ties = names_.fresh(of.target + "_ties");
    if (of.scatters) fill(ties, value.box);
    const ExprId best = make_.read(of.target, of.left, value.dtype), count = make_.read(ties, of.left, DType::float32);
    const ExprId is_best = make_.operation(Operator::Eq, of.right, best);
    lines_.push_back({call(ties, of.left), "+=!",
                      whole_text(d_, make_.select(is_best, make_.number(1), make_.number(0))), of.loops});
    return make_.select(is_best, make_.operation(Operator::Div, given, count), make_.number(0));
  }

  void differentiate(const Assigned& of, ExprId id, ExprId given) {
    if (!active(id)) return;
    const Expr expr = d_[id];
    switch (expr.kind) {
      case ExprKind::Let:
      case ExprKind::Cast:
        return differentiate(of, expr.args[0], given);
      case ExprKind::Apply:
        return contribute(of, id, given);
      case ExprKind::Select:
        differentiate(of, expr.args[1], make_.select(expr.args[0], given, make_.number(0)));
        return differentiate(of, expr.args[2], make_.select(expr.args[0], make_.number(0), given));
      default:
        break;
    }
    for (std::size_t k = 0; k < expr.args.size(); ++k) {
      if (!active(expr.args[k])) continue;
      const std::optional<ExprId> by = partial(make_, d_, id, k);
      if (!by) refuse(expr.span, fmt::format("'{}' has no derivative in the notation", text(d_, id)));
      if (*by == kNoExpr) continue;
      differentiate(of, expr.args[k], make_.operation(Operator::Mul, given, *by));
    }
  }

  // The statements whose values the others read.
  std::vector<Line> forward() {
    std::set<std::string> needed;
    const auto need = [&](const Line& line) {
      const std::string body = line.head + " " + line.right;
      for (const std::string_view word : words(body)) needed.emplace(word);
    };
    for (const Line& line : lines_) need(line);
    std::vector<Line> out;
    std::vector<Line> after = std::exchange(lines_, {});
    for (auto of = assigned_.rbegin(); of != assigned_.rend(); ++of) {
      if (!needed.contains(of->target)) continue;
      const bool whole = of->assignment == Assignment::Set;
      Line line{call(of->target, of->left), std::string(symbol(of->assignment, !whole)), whole_text(d_, of->right),
                of->loops};
      need(line);
      out.push_back(std::move(line));
      if (of->scatters) {
        fill(of->target, values_.at(of->target).box);
        out.push_back(std::move(lines_.back()));
      }
    }
    std::ranges::reverse(out);
    lines_ = std::move(after);
    return out;
  }

  // The word of a type as the text has it.
  std::string word_of(DType dtype) const {
    return dtype == DType::float64 ? "double" : dtype == DType::float16 ? "float16" : "float";
  }

  std::string head() {
    std::string text = fmt::format("def {}", names_.fresh(fmt::format("{}_grad", d_.name)));
    for (std::size_t k = 0; k < d_.types.size(); ++k) text += fmt::format("{}{}", k == 0 ? "<" : ", ", d_.types[k]);
    text += d_.types.empty() ? "(" : ">(";
    const std::string_view source = p_.source().text;
    std::string results;
    for (const Parameter& parameter : d_.parameters) {
      const std::string_view written = source.substr(parameter.span.begin, parameter.span.end - parameter.span.begin);
      text += fmt::format("{}, ", written);
      const Derived& value = values_.at(std::string(parameter.name));
      if (!value.declared) continue;
      results += results.empty() ? "" : ", ";
      results += fmt::format("{}{}", written.substr(0, written.size() - parameter.name.size()), value.cotangent);
    }
    for (const std::int32_t id : given_) {
      const Derived& value = values_.at(std::string(p_.tensors[static_cast<std::size_t>(id)].name));
      text += result_type(id);
      for (std::size_t d = 0; d < value.box.size(); ++d) text += fmt::format("{}{}", d == 0 ? "(" : ", ", size(id, d));
      text += fmt::format("{}{}{}", value.box.empty() ? " " : ") ", value.given, id == given_.back() ? "" : ", ");
    }
    return fmt::format("{}) -> ({})", text, results);
  }

  // The type of a result: a type variable if it follows one.
  std::string result_type(std::int32_t id) const {
    const auto t = static_cast<std::size_t>(id);
    for (std::size_t k = 0; k < d_.types.size(); ++k) {
      std::vector<DType> types(d_.types.size(), DType::float32);
      types[k] = DType::float64;
      const std::vector<ProgramPtr> wider = check(p_.source().text, p_.source().name, types);
      if (select(wider, d_.name)->tensors[t].dtype != p_.tensors[t].dtype) return std::string(d_.types[k]);
    }
    return word_of(p_.tensors[t].dtype);
  }

  // The size of a result's axis: a size variable or a number, or a new size variable.
  std::string size(std::int32_t id, std::size_t axis) {
    const IndexRange range = inference_.boxes[static_cast<std::size_t>(id)][axis];
    std::string text = notation(sym::sub(range.end, range.lo));
    if (words(text).size() == 1 && (p_.size_ids.contains(text) || words(text)[0] == text)) return text;
    return names_.fresh(fmt::format("{}_{}", p_.tensors[static_cast<std::size_t>(id)].name, axis));
  }

  std::vector<Line> lines_;
};

}  // namespace

std::string derivative(const Program& program, std::span<const std::string> by) {
  return Derivation(program, by).run();
}

}  // namespace oriel::lang
