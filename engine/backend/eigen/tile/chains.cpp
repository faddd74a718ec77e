#include "backend/eigen/tile/chains.hpp"

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
// Two operations in one pass are handled as a pair.
constexpr int kLeastOperations = 3;

bool is_arithmetic(const Instr& in) {
  if (in.code != Code::Elementwise || in.aux >= 0 || in.from != in.dtype) return false;
  if (in.dtype != DType::float32 && in.dtype != DType::float64) return false;
  return isa::pair_index(in.op) >= 0;
}

/// Orders the instructions of one list.
class ChainSorter {
 public:
  ChainSorter(std::vector<Instr>& list, const std::vector<int>& uses, const isa::Table& table)
      : list_(list), uses_(uses), table_(table), nodes_(list.size()), maker_(uses.size(), kNone) {}

  void run() {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (!chains(list_[i])) continue;
      link(i);
      maker_[static_cast<std::size_t>(list_[i].result)] = static_cast<int>(i);
    }
    bool any = false;
    for (Node& node : nodes_) {
      if (node.taken || node.operations < kLeastOperations) continue;
      any = true;
      move(node);
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

  bool chains(const Instr& in) const {
    return is_arithmetic(in) && table_.chain[static_cast<int>(in.dtype)] != nullptr;
  }

  /// The operation that computes v, if only one reader needs v; else kNone.
  int maker(ValueId v) const {
    return uses_[static_cast<std::size_t>(v)] == 1 ? maker_[static_cast<std::size_t>(v)] : kNone;
  }

  void link(std::size_t i) {
    const Instr& in = list_[i];
    Node& node = nodes_[i];
    node.operations = 1;
    int before = maker(in.a), other = maker(in.b);
    const auto operations = [&](int n) { return n == kNone ? 0 : nodes_[static_cast<std::size_t>(n)].operations; };
    if (operations(other) > operations(before)) std::swap(before, other);
    if (before == kNone || operations(before) + 2 > kMostLinks) return;
    take(node.before, before, node);
    const bool sums = in.op == Op::Add || in.op == Op::Sub;
    if (sums && operations(other) == 1 && list_[static_cast<std::size_t>(other)].op == Op::Mul)
      take(node.product, other, node);
  }

  void take(int& place, int which, Node& by) {
    place = which;
    Node& node = nodes_[static_cast<std::size_t>(which)];
    node.taken = true;
    by.operations += node.operations;
  }

  void move(const Node& end) {
    for (const int n : {end.before, end.product}) {
      if (n == kNone) continue;
      Node& node = nodes_[static_cast<std::size_t>(n)];
      node.moved = true;
      move(node);
    }
  }

  void emit(std::size_t i, std::vector<Instr>& ordered) {
    const Node& node = nodes_[i];
    for (const int n : {node.before, node.product}) {
      if (n == kNone || !nodes_[static_cast<std::size_t>(n)].moved) continue;
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

/// The link for `in`. `from_left`: the value so far is the left operand.
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
    default:
      return from_left ? Link::Min : Link::MinOf;
  }
}

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
    chain.items.push_back({link_of(made_[first]->op, true), number_(start.b), start.b});
    end = first + 1;
    while (in_chain(*made_[end - 1]) && end < steps_.size()) {
      const Slot before = steps_[end - 1].dst;
      if (takes(end, before)) {
        const bool from_left = steps_[end].a == before;
        const Slot x = from_left ? steps_[end].b : steps_[end].a;
        chain.items.push_back({link_of(made_[end]->op, from_left), number_(x), x});
        ++end;
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
  bool is_step(std::size_t i) const { return steps_[i].kind == StepKind::Compute && is_arithmetic(*made_[i]); }
  bool takes(std::size_t i, Slot value) const { return is_step(i) && (steps_[i].a == value) != (steps_[i].b == value); }
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

}  // namespace

bool in_chain(const Instr& in) noexcept { return in.aux == kChained && in.code == Code::Elementwise; }

std::vector<int> count_readers(const std::vector<Stage>& stages, std::size_t values, ValueId wanted) {
  std::vector<int> readers(values);
  const auto read = [&](ValueId v) {
    if (v != kNoValue) ++readers[static_cast<std::size_t>(v)];
  };
  for (const Stage& stage : stages) {
    for (const std::vector<Instr>* list : {&stage.body, &stage.outer}) {
      for (const Instr& in : *list) {
        read(in.a);
        read(in.b);
        read(in.c);
      }
    }
    for (const codegen::Reduction& r : stage.reductions) read(r.input);
  }
  read(wanted);
  read(wanted);
  return readers;
}

void order_chains(std::vector<Stage>& stages, const std::vector<int>& readers, const isa::Table& table) {
  for (Stage& stage : stages) {
    ChainSorter(stage.body, readers, table).run();
    ChainSorter(stage.outer, readers, table).run();
  }
}

void join_chains(Plan& plan, std::vector<TileStep>& steps, const std::vector<const Instr*>& made,
                 const std::function<bool(Slot)>& number) {
  const Joiner joiner(steps, made, number);
  std::vector<TileStep> joined;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;
    TileStep step = steps[i];
    if (joiner.begins(i)) {
      Chain chain = joiner.follow(i, end);
      if (end > i + 1) {
        step = steps[end - 1];
        step.kind = StepKind::Chain;
        step.element = nullptr;
        step.numbers = false;
        step.chain = static_cast<std::int32_t>(plan.chains.size());
        chain.run = plan.table->chain[static_cast<int>(made[end - 1]->dtype)];
        plan.chains.push_back(std::move(chain));
      }
    }
    joined.push_back(step);
    i = end;
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
