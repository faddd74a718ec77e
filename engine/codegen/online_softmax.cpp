#include "codegen/online_softmax.hpp"

#include <algorithm>
#include <set>

#include "codegen/definitions.hpp"
#include "codegen/stack.hpp"

namespace oriel::codegen {

using graph::Op;

namespace {

constexpr int kDeepestEqual = 64;  // the most levels of instructions below a value that are compared

std::size_t buffer_of(const LoopProgram& program, const Instr& in) {
  return static_cast<std::size_t>(program.accesses[static_cast<std::size_t>(in.aux)].buffer);
}

class Matcher {
 public:
  explicit Matcher(const LoopProgram& program)
      : program_(program), weights_(part_program(program, 1, false)), products_(part_program(program, 2, false)) {}

  std::optional<OnlineSoftmax> run() {
    if (!find_stages() || !find_weights() || !loads_weights()) return std::nullopt;
    return out_;
  }

 private:
  static bool looped(const Stage& stage) { return !stage.body.empty() || !stage.reductions.empty(); }
  const Instr* definition(ValueId v) const {
    return v == kNoValue ? nullptr : definitions_[static_cast<std::size_t>(v)];
  }
  static bool is(const Instr* in, Op op) { return in != nullptr && in->code == Code::Elementwise && in->op == op; }

  // There must be a maximum, a sum, and a stage that stores, all over the same columns.
  bool find_stages() {
    const std::vector<Stage>& stages = weights_.stages;
    std::vector<std::size_t> all;
    for (std::size_t s = 0; s < stages.size(); ++s)
      if (looped(stages[s])) all.push_back(s);
    if (all.size() != 3 || all.back() + 1 != stages.size()) return false;
    const Stage& most = stages[all[0]];
    const Stage& sum = stages[all[1]];
    const Stage& store = stages[all[2]];
    out_.max_stage = all[0];
    out_.sum_stage = all[1];
    if (most.inner.size() != 1 || most.inner != sum.inner || most.inner != store.inner) return false;
    out_.columns = most.inner[0].value();
    if (most.reductions.size() != 1 || most.reductions[0].op != Op::ReduceMax || sum.reductions.size() != 1 ||
        sum.reductions[0].op != Op::Sum || !store.reductions.empty() || !store.outer.empty()) {
      return false;
    }
    int stores = 0;
    for (const Stage& stage : stages) {
      for (const std::vector<Instr>* list : {&stage.body, &stage.outer}) {
        for (const Instr& in : *list) {
          stores += in.code == Code::Store;
          if (in.code == Code::Store) store_ = in;
        }
      }
    }
    return stores == 1;
  }

  // The stored value must be exp(y - most) / sum, perhaps rounded to a half, where y depends on neither the maximum nor
  // the sum.
  bool find_weights() {
    const LoopProgram& p = weights_;
    definitions_ = definitions_of(p);
    const Reduction& most = p.stages[out_.max_stage].reductions[0];
    const Reduction& sum = p.stages[out_.sum_stage].reductions[0];
    out_.dtype = sum.dtype;
    const Instr* quotient = definition(store_.a);
    if (quotient != nullptr && quotient->code == Code::Round) quotient = definition(quotient->a);
    if (!is(quotient, Op::Div) || quotient->b != sum.result || !same(quotient->a, sum.input, 0)) return false;
    const Instr* power = definition(sum.input);
    if (!is(power, Op::Exp) || power->dtype != most.dtype || most.dtype != sum.dtype) return false;
    const Instr* shift = definition(power->a);
    if (!is(shift, Op::Sub) || shift->b != most.result) return false;
    out_.shifted = shift->a;
    out_.power = sum.input;
    std::vector<bool> late(p.values.size(), false);
    late[static_cast<std::size_t>(most.result)] = late[static_cast<std::size_t>(sum.result)] = true;
    const auto reads_late = [&](const Instr& in) {
      const ValueId operands[] = {in.a, in.b, in.c};
      return std::any_of(std::begin(operands), std::end(operands),
                         [&](ValueId v) { return v != kNoValue && late[static_cast<std::size_t>(v)]; });
    };
    for (const Stage& stage : p.stages) {
      for (const Instr& in : stage.outer)
        if (reads_late(in)) return false;
    }
    for (const Instr& in : p.stages[out_.sum_stage].body) {
      if (&in != shift && &in != power && reads_late(in)) return false;
      if (in.result != kNoValue && (&in == shift || &in == power)) late[static_cast<std::size_t>(in.result)] = true;
    }
    return true;
  }

  // Are a and b the same value, kept or computed again?
  bool same(ValueId a, ValueId b, int depth) {
    if (a == b || !met_.emplace(a, b).second) return true;  // compared when the pair was first met
    const Instr* x = definition(a);
    const Instr* y = definition(b);
    if (x == nullptr || y == nullptr || depth > kDeepestEqual || x->code != y->code || x->op != y->op ||
        x->dtype != y->dtype || x->from != y->from) {
      return false;
    }
    if (x->code == Code::Const) {
      const Constant& c = weights_.constants[static_cast<std::size_t>(x->aux)];
      const Constant& d = weights_.constants[static_cast<std::size_t>(y->aux)];
      return x->aux == y->aux || (c.parameter == d.parameter && c.parameter < 0 && c.value == d.value);
    }
    if (reads(*x)) {
      const Access& c = weights_.accesses[static_cast<std::size_t>(x->aux)];
      const Access& d = weights_.accesses[static_cast<std::size_t>(y->aux)];
      return c.buffer == d.buffer && c.dtype == d.dtype && stack_of(c) == stack_of(d) && same(x->a, y->a, depth + 1);
    }
    return same(x->a, y->a, depth + 1) && same(x->b, y->b, depth + 1) && same(x->c, y->c, depth + 1);
  }

  // The product must load the weights as its left factor, unchanged.
  bool loads_weights() {
    out_.weights_argument = static_cast<std::size_t>(weights_.accesses[static_cast<std::size_t>(store_.aux)].buffer);
    if (!program_.arguments[out_.weights_argument].local) return false;
    int loads = 0;
    const std::vector<const Instr*> definition = definitions_of(products_);
    for (const Stage& stage : products_.stages) {
      for (const Instr& in : stage.outer)
        if (in.code == Code::Load && buffer_of(products_, in) == out_.weights_argument) return false;
      for (const Instr& in : stage.body) {
        if (in.code != Code::Load) continue;
        const Access& access = products_.accesses[static_cast<std::size_t>(in.aux)];
        if (access.buffer != static_cast<std::int32_t>(out_.weights_argument)) continue;
        ++loads;
        for (const Instr& reader : stage.body) {
          if ((reader.a == in.result || reader.b == in.result) && (!is(&reader, Op::Mul) || reader.dtype != out_.dtype))
            return false;
        }
      }
    }
    if (loads != 1) return false;
    for (const Stage& stage : weights_.stages) {
      for (const Instr& in : stage.body) {
        if (in.code != Code::Load) continue;
        const auto buffer = static_cast<std::size_t>(weights_.accesses[static_cast<std::size_t>(in.aux)].buffer);
        if (!program_.arguments[buffer].local) continue;
        out_.scores_argument = buffer;
        return true;
      }
    }
    return false;
  }

  const LoopProgram& program_;
  const LoopProgram weights_;
  const LoopProgram products_;
  OnlineSoftmax out_;
  std::vector<const Instr*> definitions_;
  Instr store_;
  std::set<std::pair<ValueId, ValueId>> met_;
};

// Drops the last stage. The stage of the sum stores its powers instead.
void store_powers(const OnlineSoftmax& softmax, OnlineParts& parts) {
  std::vector<Stage>& stages = parts.weights.stages;
  Instr store = *std::find_if(stages.back().body.begin(), stages.back().body.end(),
                              [](const Instr& in) { return in.code == Code::Store; });
  store.a = softmax.power;
  store.dtype = store.from = softmax.dtype;
  stages[softmax.sum_stage].body.push_back(store);
  stages.pop_back();
  for (LoopProgram* part : {&parts.scores, &parts.weights, &parts.products}) {
    part->arguments[softmax.weights_argument].dtype = softmax.dtype;
    for (Access& access : part->accesses)
      if (access.buffer == static_cast<std::int32_t>(softmax.weights_argument)) access.dtype = softmax.dtype;
    for (Stage& stage : part->stages)
      for (Instr& in : stage.body)
        if (in.code == Code::Load && buffer_of(*part, in) == softmax.weights_argument) in.from = softmax.dtype;
  }
}

void set_pitch(LoopProgram& part, std::size_t outer, std::int64_t columns, std::int64_t pitch) {
  for (Access& access : part.accesses) {
    if (access.buffer < 0 || !part.arguments[static_cast<std::size_t>(access.buffer)].local) continue;
    View view = stack_of(access).views().back();
    for (std::size_t d = 0; d < outer; ++d) view.strides[d] = SymInt(view.strides[d].value() / columns * pitch);
    access.remap(ShapeTracker(view));
  }
}

}  // namespace

std::optional<OnlineSoftmax> find_online_softmax(const LoopProgram& program) {
  if (parts_of(program) != 3) return std::nullopt;
  return Matcher(program).run();
}

OnlineParts online_parts(const LoopProgram& program, std::int64_t pitch) {
  const OnlineSoftmax& softmax = *online_softmax_in(program.form);
  OnlineParts parts{part_program(program, 0, false), part_program(program, 1, false), part_program(program, 2, false)};
  store_powers(softmax, parts);
  for (LoopProgram* part : {&parts.scores, &parts.weights, &parts.products})
    set_pitch(*part, program.outer.size(), softmax.columns, pitch);
  parts.weights.form = form_of(parts.weights);  // its last stage is gone
  return parts;
}

}  // namespace oriel::codegen
