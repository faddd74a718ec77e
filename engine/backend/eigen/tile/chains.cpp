#include "backend/eigen/tile/plan_steps.hpp"

#include <algorithm>
#include <cstddef>

namespace oriel::backend::eigen {

using codegen::Code;
using codegen::Instr;
using codegen::kNoValue;
using codegen::Stage;
using codegen::ValueId;
using graph::Op;
using isa::Link;

namespace {

// The `aux` of an operation whose result the next operation of its chain takes.
constexpr std::int32_t kChained = -2;
constexpr int kLeastOperations = 2;

/// The link of an operation. `from_left`: the value so far is the left operand. Link::End if it makes no chain.
Link link_of(Op op, bool from_left) {
  switch (op) {
    case Op::Add:
      return Link::Add;
    case Op::Sub:
      return from_left ? Link::Subtract : Link::SubtractFrom;
    case Op::Mul:
      return Link::Multiply;
    case Op::Div:
      return from_left ? Link::Divide : Link::DivideInto;
    case Op::Max:
      return from_left ? Link::Max : Link::MaxOf;
    case Op::Min:
      return from_left ? Link::Min : Link::MinOf;
    case Op::Neg:
      return Link::Negate;
    case Op::Abs:
      return Link::Magnitude;
    case Op::Exp:
      return Link::Exponential;
    default:
      return Link::End;
  }
}

isa::ElementFn pair(const isa::Table& table, Link first, Link second, bool numbers = false) {
  return table.pair[static_cast<int>(first)][static_cast<int>(second)][numbers ? 1 : 0];
}

bool links(const Instr& in) {
  if (in.code != Code::Elementwise || in.from != in.dtype) return false;
  if (in.dtype != DType::float32 && in.dtype != DType::float64) return false;
  return link_of(in.op, true) != Link::End;
}

bool in_chain(const Instr& in) { return in.aux == kChained && in.code == Code::Elementwise; }

/// Orders the instructions of one list.
class ChainSorter {
 public:
  ChainSorter(std::vector<Instr>& list, const std::vector<int>& uses, const isa::Table& table)
      : list_(list), uses_(uses), table_(table), nodes_(list.size()), maker_(uses.size(), kNone) {}

  void run() {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      const Instr& in = list_[i];
      if (!links(in) || table_.chain[static_cast<int>(in.dtype)] == nullptr) continue;
      nodes_[i].operations = 1;
      if (in.b != kNoValue)
        link(in, nodes_[i]);
      else if (in.op == Op::Exp)
        link_exp(in, nodes_[i]);
      maker_[static_cast<std::size_t>(in.result)] = static_cast<int>(i);
    }
    bool any = false;
    for (const Node& end : nodes_) {
      if (end.taken || end.operations < kLeastOperations) continue;
      any = true;
      move(end);
    }
    if (!any) return;
    std::vector<Instr> ordered;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (!nodes_[i].moved) emit(i, ordered);
    }
    list_ = std::move(ordered);
  }

 private:
  static constexpr int kNone = -1;
  struct Node {
    int before = kNone;   // the node whose result this operation takes
    int product = kNone;  // the node of the product that is the other operand
    int operations = 0;   // in the chain that ends here
    bool taken = false;   // another node takes the result
    bool moved = false;   // moved next to the operation that takes it
  };

  Node& node(int n) { return nodes_[static_cast<std::size_t>(n)]; }
  const Instr& instruction(int n) const { return list_[static_cast<std::size_t>(n)]; }

  /// The operation that computes v, if only one reader needs v; else kNone.
  int maker(ValueId v) const {
    return uses_[static_cast<std::size_t>(v)] == 1 ? maker_[static_cast<std::size_t>(v)] : kNone;
  }

  void link(const Instr& in, Node& to) {
    const auto arithmetic = [&](ValueId v) {
      const int n = maker(v);
      return n != kNone && instruction(n).b != kNoValue ? n : kNone;
    };
    int before = arithmetic(in.a), other = arithmetic(in.b);
    const auto operations = [&](int n) { return n == kNone ? 0 : node(n).operations; };
    if (operations(other) > operations(before)) std::swap(before, other);
    if (before == kNone || operations(before) + 2 > kMostLinks) return;
    take(to.before, before, to);
    const bool sums = in.op == Op::Add || in.op == Op::Sub;
    if (sums && operations(other) == 1 && instruction(other).op == Op::Mul) take(to.product, other, to);
  }

  /// exp takes one operation of float32 whose pair the table has.
  void link_exp(const Instr& in, Node& to) {
    const int before = maker(in.a);
    if (before == kNone || in.dtype != DType::float32 || node(before).operations != 1) return;
    const Instr& first = instruction(before);
    if (pair(table_, link_of(first.op, true), Link::Exponential) == nullptr) return;
    const int magnitude = first.op == Op::Neg ? maker(first.a) : kNone;
    if (magnitude != kNone && instruction(magnitude).op == Op::Abs) take(node(before).before, magnitude, node(before));
    take(to.before, before, to);
  }

  void take(int& place, int which, Node& by) {
    place = which;
    node(which).taken = true;
    by.operations += node(which).operations;
  }

  void move(const Node& end) {
    for (const int n : {end.before, end.product}) {
      if (n == kNone) continue;
      node(n).moved = true;
      move(node(n));
    }
  }

  void emit(std::size_t i, std::vector<Instr>& ordered) {
    for (const int n : {nodes_[i].before, nodes_[i].product}) {
      if (n == kNone || !node(n).moved) continue;
      emit(static_cast<std::size_t>(n), ordered);
      ordered.back().aux = kChained;
    }
    ordered.push_back(list_[i]);
  }

  std::vector<Instr>& list_;
  const std::vector<int>& uses_;
  const isa::Table& table_;
  std::vector<Node> nodes_;
  std::vector<int> maker_;  // indexed by value
};

/// Follows a chain through successive steps.
class Joiner {
 public:
  Joiner(const std::vector<TileStep>& steps, const std::vector<const Instr*>& made,
         const std::function<bool(Slot)>& number)
      : steps_(steps), made_(made), number_(number) {}

  /// The chain that begins with step `first`. Sets `end` to the step after its last one.
  Chain follow(std::size_t first, std::size_t& end) const {
    const TileStep& start = steps_[first];
    Chain chain;
    chain.first = start.a;
    add(chain, first, start.a);
    end = first + 1;
    while (in_chain(*made_[end - 1]) && end < steps_.size()) {
      const Slot before = steps_[end - 1].dst;
      if (takes(end, before)) {
        add(chain, end++, before);
        continue;
      }
      if (!adds_product(end, before)) break;
      chain.items.push_back(product(end, before));
      end += 2;
    }
    return chain;
  }

  bool begins(std::size_t i) const { return is_step(i) && in_chain(*made_[i]); }

 private:
  bool is_step(std::size_t i) const { return steps_[i].kind == StepKind::Compute && links(*made_[i]); }
  bool has_operand(std::size_t i) const { return made_[i]->b != kNoValue; }
  bool takes(std::size_t i, Slot value) const {
    return is_step(i) && (steps_[i].a == value) != (has_operand(i) && steps_[i].b == value);
  }
  /// Adds the link of step i, which takes `value`.
  void add(Chain& chain, std::size_t i, Slot value) const {
    const bool from_left = steps_[i].a == value;
    const Slot x = !has_operand(i) ? chain.first : from_left ? steps_[i].b : steps_[i].a;
    const Link op = link_of(made_[i]->op, from_left);
    if (op == Link::Negate && !chain.items.empty() && chain.items.back().op == Link::Magnitude)
      chain.items.back().op = Link::NegateMagnitude;
    else
      chain.items.push_back({op, !has_operand(i) || number_(x), x});
  }
  /// Is step i a product that only the next step reads, which adds it to `value` or subtracts one from the other?
  bool adds_product(std::size_t i, Slot value) const {
    return begins(i) && made_[i]->op == Op::Mul && i + 1 < steps_.size() && takes(i + 1, value) &&
           takes(i + 1, steps_[i].dst) && (made_[i + 1]->op == Op::Add || made_[i + 1]->op == Op::Sub);
  }
  Chain::Item product(std::size_t i, Slot value) const {
    Chain::Item item;
    item.x = steps_[i].a;
    item.y = steps_[i].b;
    if (number_(item.x)) std::swap(item.x, item.y);
    item.is_uniform = number_(item.y);
    item.op = made_[i + 1]->op == Op::Add ? Link::AddProduct
              : steps_[i + 1].a == value  ? Link::SubtractProduct
                                          : Link::SubtractFromProduct;
    return item;
  }

  const std::vector<TileStep>& steps_;
  const std::vector<const Instr*>& made_;
  const std::function<bool(Slot)>& number_;
};

/// The step of a chain that ends with step `last`. False if there is none.
bool join(Plan& plan, Chain chain, const Instr& in, const TileStep& last, TileStep& step) {
  const std::vector<Chain::Item>& items = chain.items;
  if (items.size() < 2) return false;
  step = last;
  step.element = nullptr;
  step.numbers = false;
  if (items.size() == 2 && in.dtype == DType::float32) {
    step.numbers = items[0].is_uniform && items[1].is_uniform;
    step.element = pair(*plan.table, items[0].op, items[1].op, step.numbers);
    step.a = chain.first;
    step.b = items[0].x;
    step.c = items[1].x;
    if (step.element != nullptr) return true;
  }
  if (std::any_of(items.begin(), items.end(), [](const auto& item) { return item.op > Link::End; })) return false;
  step.kind = StepKind::Chain;
  step.chain = static_cast<std::int32_t>(plan.chains.size());
  chain.run = plan.table->chain[static_cast<int>(in.dtype)];
  plan.chains.push_back(std::move(chain));
  return true;
}

}  // namespace

std::vector<Stage> chained_stages(std::vector<Stage> stages, std::size_t values, const isa::Table& table,
                                  ValueId wanted) {
  std::vector<int> readers = count_readers(stages, values);
  // What is read from outside counts as having two more readers, so it is never an intermediate value.
  if (wanted != kNoValue) readers[static_cast<std::size_t>(wanted)] += 2;
  for (Stage& stage : stages) {
    ChainSorter(stage.body, readers, table).run();
    ChainSorter(stage.outer, readers, table).run();
  }
  return stages;
}

void join_chains(Plan& plan, std::vector<TileStep>& steps, const std::vector<const Instr*>& made,
                 const std::function<bool(Slot)>& number) {
  const Joiner joiner(steps, made, number);
  std::vector<TileStep> joined;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;
    if (joiner.begins(i)) {
      TileStep step = steps[i];
      Chain chain = joiner.follow(i, end);
      if (join(plan, std::move(chain), *made[end - 1], steps[end - 1], step)) {
        joined.push_back(step);
        i = end;
        continue;
      }
    }
    joined.push_back(steps[i++]);
  }
  steps = std::move(joined);
}

bool Chain::reads(Slot slot) const noexcept {
  return first == slot || std::any_of(items.begin(), items.end(), [&](const Item& item) {
           if (item.y < 0) return item.x == slot && !item.is_uniform;
           return item.x == slot || (item.y == slot && !item.is_uniform);
         });
}

}  // namespace oriel::backend::eigen
