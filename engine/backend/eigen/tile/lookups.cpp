#include "backend/eigen/tile/lookups.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "backend/eigen/tile/plan_steps.hpp"

namespace oriel::backend::eigen {

using codegen::Access;
using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::LoopProgram;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;

namespace {

/// Is it one of the operations that Worker::trace computes?
bool traces(const Instr& in) {
  if (in.code != Code::Elementwise || (in.dtype != DType::int64 && in.dtype != DType::bool_)) return false;
  switch (in.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
      return in.dtype == DType::int64;
    case Op::Lt:
    case Op::Le:
      return in.from == DType::int64;
    case Op::And:
      return in.dtype == DType::bool_;
    case Op::Where:
      return in.aux < 0;
    case Op::Cast:
      return in.dtype == DType::int64 && (in.from == DType::int32 || in.from == DType::int64);
    default:
      return false;
  }
}

class LookupFinder {
 public:
  LookupFinder(const LoopProgram& program, bool rows) : program_(program), rows_(rows) {
    const std::size_t values = program.values.size();
    maker_.assign(values, nullptr);
    roots_.assign(values, {});
    varies_.assign(values, true);
    out_.of.assign(values, -1);
    out_.starts.assign(values, false);
  }

  Lookups run(ValueId wanted) {
    out_.stages = program_.stages;
    for (std::size_t s = 0; s < out_.stages.size(); ++s) {
      look_through(program_.stages[s].body, out_.stages[s].body);
      // Later stages have no registers of these values but those that are kept.
      for (const Instr& in : program_.stages[s].body)
        if (in.result != kNoValue) forget(in.result);
      look_through(program_.stages[s].outer, out_.stages[s].outer);
    }
    if (!out_.found.empty()) finish(wanted);
    return std::move(out_);
  }

 private:
  /// What a value is computed from by operations that are traced.
  struct Root {
    ValueId key = kNoValue;        // none: numbers alone
    ValueId condition = kNoValue;  // a bool that is the same everywhere
    bool known = false;
  };

  static std::size_t at(ValueId v) { return static_cast<std::size_t>(v); }
  const Access& access(const Instr& in) const { return program_.accesses[at(in.aux)]; }
  void forget(ValueId v) {
    maker_[at(v)] = nullptr;
    roots_[at(v)] = key_root(v);
  }
  Root key_root(ValueId v) const {
    const DType dtype = program_.values[at(v)];
    return {v, kNoValue, dtype == DType::int64 || dtype == DType::int32};
  }

  void look_through(const std::vector<Instr>& from, std::vector<Instr>& to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Instr& in = from[i];
      if (in.code == Code::Gather) replace(to[i]);
      if (in.result == kNoValue) continue;
      maker_[at(in.result)] = &in;
      roots_[at(in.result)] = root_of(in);
      if (rows_) varies_[at(in.result)] = varies(in);
    }
  }

  Root root_of(const Instr& in) const {
    if (in.code == Code::Const && (in.dtype == DType::int64 || in.dtype == DType::bool_))
      return {kNoValue, kNoValue, true};
    if (in.code == Code::Load && in.dtype == DType::bool_ && same_everywhere(access(in)))
      return {kNoValue, in.result, true};
    if (in.code == Code::Index) return {};
    if (!traces(in)) return key_root(in.result);
    Root all{kNoValue, kNoValue, true};
    const auto take = [](ValueId& whole, ValueId part) {
      if (whole == kNoValue) whole = part;
      return part == kNoValue || part == whole;
    };
    codegen::each_operand(in, [&](ValueId v) {
      const Root r = roots_[at(v)].known || maker_[at(v)] != nullptr ? roots_[at(v)] : key_root(v);
      all.known = all.known && r.known && take(all.key, r.key) && take(all.condition, r.condition);
    });
    return all.known ? all : key_root(in.result);
  }

  static bool same_everywhere(const Access& access) {
    if (!access.affine() || access.boxed()) return false;
    for (std::size_t d = 0; d < access.loops(); ++d)
      if (access.coefficient(d) != 0) return false;
    return true;
  }

  /// Does a value differ along the last loop?
  bool varies(const Instr& in) const {
    if (codegen::has_access(in) && in.code != Code::Gather)
      return !access(in).affine() || access(in).boxed() || access(in).coefficient(access(in).loops() - 1) != 0;
    bool any = false;
    codegen::each_operand(in, [&](ValueId v) { any = any || varies_[at(v)]; });
    return any;
  }

  const Instr* sum(ValueId v) const {
    const Instr* const in = maker_[at(v)];
    return in != nullptr && in->code == Code::Elementwise && in->op == Op::Add && in->dtype == DType::int64 ? in
                                                                                                            : nullptr;
  }

  /// Is it the number of the last loop's point?
  bool counts_columns(ValueId v) const {
    const Instr* const in = maker_[at(v)];
    if (in == nullptr || in->code != Code::Index || !access(*in).affine() || access(*in).boxed()) return false;
    for (std::size_t d = 0; d < access(*in).loops(); ++d)
      if (access(*in).coefficient(d) != (d + 1 == access(*in).loops() ? 1 : 0)) return false;
    return true;
  }

  void replace(Instr& gather) {
    Lookup l;
    l.position = gather.a;
    if (const Instr* const both = rows_ ? sum(l.position) : nullptr; both != nullptr) {
      const ValueId columns = counts_columns(both->a) ? both->a : both->b;
      const ValueId start = columns == both->a ? both->b : both->a;
      if (counts_columns(columns) && !varies_[at(start)]) {
        l.rows = true;
        l.column = access(*maker_[at(columns)]).offset();
        l.position = start;
      }
    }
    const auto folds = [&](ValueId v) {
      const Root& r = roots_[at(v)];
      return r.known && r.key != kNoValue && r.key != v;
    };
    gather.b = gather.c = kNoValue;
    if (const Instr* const both = sum(l.position); both != nullptr && !folds(l.position)) {
      const bool left = folds(both->a);
      if (left || folds(both->b)) {
        l.position = left ? both->a : both->b;
        gather.b = left ? both->b : both->a;
      }
    }
    gather.a = l.position;
    if (folds(l.position)) {
      const Root& root = roots_[at(l.position)];
      if (add_steps(l, l.position, root.key)) {
        gather.a = root.key;
        gather.c = root.condition;
      } else {
        l.steps.clear();
      }
    }
    out_.rows = out_.rows || l.rows;
    out_.of[at(gather.result)] = static_cast<std::int32_t>(out_.found.size());
    out_.found.push_back(std::move(l));
  }

  bool add_steps(Lookup& l, ValueId v, ValueId key) const {
    if (v == key || std::ranges::any_of(l.steps, [v](const Instr& in) { return in.result == v; })) return true;
    const Instr& in = *maker_[at(v)];
    bool all = true;
    if (in.code == Code::Elementwise)
      codegen::each_operand(in, [&](ValueId operand) { all = all && add_steps(l, operand, key); });
    l.steps.push_back(in);
    return all && l.steps.size() <= kMostKeySteps;
  }

  /// Removes what nothing reads any more, and finds what is computed for rows alone.
  void finish(ValueId wanted) {
    std::vector<int> readers = count_readers(out_.stages, program_.values.size());
    if (wanted != kNoValue) ++readers[at(wanted)];
    for (std::size_t s = out_.stages.size(); s-- > 0;) {
      remove_unread(out_.stages[s].outer, readers);
      remove_unread(out_.stages[s].body, readers);
    }
    const std::vector<Instr>& list = out_.stages.front().outer;
    out_.alone = out_.stages.size() == 1 && out_.stages.front().body.empty() &&
                 std::ranges::all_of(list, [](const Instr& in) { return in.code != Code::Elementwise; });
    if (out_.rows) mark_starts(list);
  }

  void mark_starts(const std::vector<Instr>& list) {
    std::vector<bool> whole(program_.values.size(), false);  // computed for all points
    for (bool again = true; again;) {
      again = false;
      std::vector<bool> of_rows(program_.values.size(), false), of_points = of_rows;
      for (std::size_t i = list.size(); i-- > 0;) {
        const Instr& in = list[i];
        const std::int32_t number = in.result == kNoValue ? -1 : out_.of[at(in.result)];
        const bool row = number >= 0 && out_.found[at(number)].rows;
        // Floats form chains with other operations.
        const bool start = in.result != kNoValue && !row && !is_number(in) && !whole[at(in.result)] &&
                           of_rows[at(in.result)] && !of_points[at(in.result)] &&
                           !is_floating(program_.values[at(in.result)]);
        if (in.result != kNoValue) out_.starts[at(in.result)] = start;
        codegen::each_operand(in, [&](ValueId v) {
          const bool first = start || (row && (v == in.a || v == in.b));
          (first ? of_rows : of_points)[at(v)] = true;
        });
      }
      // What is made of a value of all points has all points, too.
      for (const Instr& in : list) {
        if (in.result == kNoValue || !out_.starts[at(in.result)]) continue;
        codegen::each_operand(in, [&](ValueId v) {
          if (!out_.starts[at(v)] && !is_number(*maker_[at(v)])) whole[at(in.result)] = again = true;
        });
      }
    }
  }

  /// Is it the same at all points?
  bool is_number(const Instr& in) const {
    return in.code == Code::Const || (in.code == Code::Load && same_everywhere(access(in)));
  }

  const LoopProgram& program_;
  const bool rows_;
  std::vector<const Instr*> maker_;  // of the values that a gather may look through
  std::vector<Root> roots_;
  std::vector<bool> varies_;
  Lookups out_;
};

}  // namespace

Lookups find_lookups(const LoopProgram& program, ValueId wanted, bool rows) {
  const Stage& first = program.stages.front();
  // Parts that share rows begin at any row.
  rows = rows && program.stages.size() == 1 && first.body.empty() && first.reductions.empty() &&
         !program.outer.empty() && program.outer.back().value() > 1 &&
         std::ranges::none_of(program.arguments, [](const codegen::Argument& a) { return a.local; });
  return LookupFinder(program, rows).run(wanted);
}

}  // namespace oriel::backend::eigen
