#include "codegen/keep.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "codegen/stack.hpp"

namespace oriel::codegen {

namespace {

// A value that costs more element operations than this is kept: writing it to the cache and reading it back costs about
// as much.
constexpr int kKeepCost = 4;
// With fewer outer points, threads share the inner range of a row, and each thread would see only its part of the row.
constexpr std::int64_t kFewestWholeRows = 16;

constexpr int kOuterHome = -1;

int cost_of(const Instr& in) {
  if (in.code == Code::Elementwise || in.code == Code::Gather) return graph::row(in.op).cost;
  return in.code == Code::Round ? 1 : 0;
}

/// For each value the stage whose body defines it.
std::vector<int> homes(const LoopProgram& program) {
  std::vector<int> home(program.values.size(), kOuterHome);
  for (std::size_t s = 0; s < program.stages.size(); ++s)
    for (const Instr& in : program.stages[s].body)
      if (in.result != kNoValue) home[static_cast<std::size_t>(in.result)] = static_cast<int>(s);
  return home;
}

class Keeper {
 public:
  Keeper(LoopProgram& program, std::int64_t row_bytes) : program_(program), home_(homes(program)), left_(row_bytes) {}

  bool run() {
    number_accesses();
    for (const Stage& stage : program_.stages)
      for (const Instr& in : stage.body)
        if (in.op == graph::Op::Cast && in.code == Code::Elementwise && itemsize(in.dtype) > itemsize(in.from))
          widened_.push_back(in.result);
    same_.resize(program_.values.size());
    for (std::size_t v = 0; v < same_.size(); ++v) same_[v] = static_cast<ValueId>(v);
    for (std::size_t s = 0; s < program_.stages.size(); ++s) number(static_cast<int>(s));
    bool changed = false;
    for (std::size_t s = 1; s < program_.stages.size(); ++s) changed = replace(static_cast<int>(s)) || changed;
    return changed;
  }

 private:
  using InstrKey = std::tuple<std::size_t, Code, graph::Op, DType, DType, ValueId, ValueId, ValueId, std::int32_t>;

  ValueId same(ValueId v) const { return v == kNoValue ? v : same_[static_cast<std::size_t>(v)]; }
  int home(ValueId v) const { return home_[static_cast<std::size_t>(v)]; }

  // Equal accesses get the same number, so that loads through them compare equal.
  void number_accesses() {
    access_.reserve(program_.accesses.size());
    for (const Access& access : program_.accesses) {
      std::size_t first = 0;
      while (!(program_.accesses[first].buffer == access.buffer && program_.accesses[first].dtype == access.dtype &&
               stack_of(program_.accesses[first]) == stack_of(access))) {
        ++first;
      }
      access_.push_back(static_cast<std::int32_t>(first));
    }
  }

  // same_[v] is the first value in program order that equals v at every point of these inner loops.
  void number(int s) {
    const Stage& stage = program_.stages[static_cast<std::size_t>(s)];
    std::size_t loops = 0;  // the first stage with these inner loops
    while (program_.stages[loops].inner != stage.inner) ++loops;
    for (const Instr& in : stage.body) {
      if (in.result == kNoValue) continue;
      const std::int32_t aux = has_access(in) ? access_[static_cast<std::size_t>(in.aux)] : in.aux;
      const InstrKey key{loops, in.code, in.op, in.dtype, in.from, same(in.a), same(in.b), same(in.c), aux};
      same_[static_cast<std::size_t>(in.result)] = numbers_.emplace(key, in.result).first->second;
    }
  }

  // The cost of evaluating v again: all instructions of the stage's body that v depends on.
  int recomputation(const std::vector<Instr>& body, ValueId v) const {
    std::vector<bool> needed(program_.values.size());
    needed[static_cast<std::size_t>(v)] = true;
    int cost = 0;
    for (std::size_t k = body.size(); k-- > 0;) {
      const Instr& in = body[k];
      if (in.result == kNoValue || !needed[static_cast<std::size_t>(in.result)]) continue;
      cost += cost_of(in);
      each_operand(in, [&](ValueId o) { needed[static_cast<std::size_t>(o)] = true; });
    }
    return cost;
  }

  // Is v a conversion to more bytes? What it converts is kept in its place.
  bool widened(ValueId v) const { return std::find(widened_.begin(), widened_.end(), v) != widened_.end(); }
  bool kept(ValueId v) const { return std::find(kept_.begin(), kept_.end(), v) != kept_.end(); }
  std::int64_t bytes(ValueId v) const {
    return numel(program_.stages[static_cast<std::size_t>(home(v))].inner).value() *
           static_cast<std::int64_t>(itemsize(program_.values[static_cast<std::size_t>(v)]));
  }
  void keep(ValueId v) {
    if (kept(v)) return;
    left_ -= bytes(v);
    kept_.push_back(v);
  }

  bool replace(int s) {
    Stage& stage = program_.stages[static_cast<std::size_t>(s)];
    bool changed = false;
    // Backwards, so that instructions that only a replaced value needed are dropped.
    std::vector<bool> used(program_.values.size());
    const auto use = [&](ValueId& v) {
      if (v == kNoValue) return;
      const ValueId first = same(v);
      // The question whether there is room comes first because it is cheaper.
      if (home(v) == s && first != v && home(first) < s && !widened(first) && (kept(first) || bytes(first) <= left_) &&
          recomputation(stage.body, v) > kKeepCost) {
        keep(first);
        v = first;
        changed = true;
        return;
      }
      used[static_cast<std::size_t>(v)] = true;
    };
    // A reduction's input is a value of the stage itself.
    for (const Reduction& r : stage.reductions) used[static_cast<std::size_t>(r.input)] = true;
    std::vector<Instr> body;
    body.reserve(stage.body.size());
    for (std::size_t k = stage.body.size(); k-- > 0;) {
      Instr instr = stage.body[k];
      if (instr.code != Code::Store && !used[static_cast<std::size_t>(instr.result)]) continue;
      use(instr.a);
      use(instr.b);
      use(instr.c);
      body.push_back(instr);
    }
    if (!changed) return false;
    std::reverse(body.begin(), body.end());
    stage.body = std::move(body);
    return true;
  }

  LoopProgram& program_;
  const std::vector<int> home_;
  std::int64_t left_;
  std::vector<std::int32_t> access_;
  std::vector<ValueId> same_;
  std::map<InstrKey, ValueId> numbers_;
  std::vector<ValueId> kept_;
  std::vector<ValueId> widened_;
};

}  // namespace

std::vector<ValueId> kept_values(const LoopProgram& program) {
  std::vector<ValueId> kept;
  if (program.stages.size() < 2) return kept;
  const std::vector<int> home = homes(program);
  const auto read = [&](ValueId v, int s) {
    const int at = home[static_cast<std::size_t>(v)];
    if (at != kOuterHome && at != s) kept.push_back(v);
  };
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    for (const Instr& in : program.stages[s].body) each_operand(in, [&](ValueId v) { read(v, static_cast<int>(s)); });
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

bool may_keep_rows(const LoopProgram& program) {
  if (program.stages.size() < 2 || program.orientation != Orientation::Inner ||
      numel(program.outer).value() < kFewestWholeRows)
    return false;
  return std::any_of(program.stages.begin() + 1, program.stages.end(), [](const Stage& stage) {
    int cost = 0;
    for (const Instr& in : stage.body) cost += cost_of(in);
    return cost > kKeepCost;
  });
}

bool keep_rows(LoopProgram& program, std::int64_t row_bytes) {
  if (!may_keep_rows(program)) return false;
  return Keeper(program, row_bytes).run();
}

}  // namespace oriel::codegen
