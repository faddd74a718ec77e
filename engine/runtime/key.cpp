#include "runtime/key.hpp"

#include <algorithm>
#include <unordered_map>

#include "graph/layout.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/usage.hpp"

namespace oriel::runtime {

using graph::Node;
using graph::NodePtr;
using graph::Op;

namespace {

enum class ConstUse : std::uint8_t { Unused, Parameter, ByValue };

bool is_constant(const Node& n) { return n.op == Op::Const && !n.realized(); }

bool read_by_rules(const graph::Scalar& s) {
  const double v = s.as_double();
  return v == 0 || v == 1 || v == -1 || v == 2 || v == 0.5;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t v) noexcept {
  h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}

void push_ints(std::vector<std::uint64_t>& words, const Ints& ints) {
  words.push_back(ints.size());
  for (SymInt i : ints) words.push_back(static_cast<std::uint64_t>(i.value()));
}

void push_strides(std::vector<std::uint64_t>& words, const Ints* strides) {
  words.push_back(strides == nullptr ? 0 : 1);
  if (strides != nullptr) push_ints(words, *strides);
}

/// Writes one graph's words; scratch vectors are kept between calls.
class Writer {
 public:
  void write(std::span<const NodePtr> roots, std::uint64_t salt, Key& key) {
    key.words.clear();
    key.leaves.clear();
    key.parameter_values.clear();
    key.parameters.clear();
    key.leaf_readers.clear();
    key.leaf_dies.clear();
    many_leaves_.clear();
    order(roots);
    key.writes = writes_;
    if (writes_) usage_.count(nodes_, roots);
    find_waiting(roots);
    key.nodes = nodes_.size();
    classify_constants(roots);
    key.words.push_back(salt);
    for (const Node* n : nodes_) node(*n, key);
    for (const NodePtr& r : roots) {
      key.words.push_back(static_cast<std::uint64_t>(r->walk_id));
      push_strides(key.words, graph::memory_strides(*r));
    }
    std::uint64_t h = key.words.size();
    for (std::uint64_t w : key.words) h = mix(h, w);
    key.hash = h;
  }

 private:
  void order(std::span<const NodePtr> roots) {
    nodes_.clear();
    stack_.clear();
    writes_ = false;
    const std::uint64_t walk = graph::next_walk();
    for (const NodePtr& root : roots) {
      if (root->walk != walk) stack_.emplace_back(root.get(), 0U);
      while (!stack_.empty()) {
        auto& [n, next] = stack_.back();
        if (n->walk == walk) {
          stack_.pop_back();
          continue;
        }
        if (!n->realized() && next < n->sources.size()) {
          const Node* s = n->sources[next++].get();
          if (s->walk != walk) stack_.emplace_back(s, 0U);
          continue;
        }
        n->walk = walk;
        n->walk_id = static_cast<std::int32_t>(nodes_.size());
        nodes_.push_back(n);
        writes_ = writes_ || (n->op == Op::Assign && !n->realized());
        stack_.pop_back();
      }
    }
  }

  // Which values somebody can still ask for once the roots are there: those held from outside, and what these need.
  void find_waiting(std::span<const NodePtr> roots) {
    const auto at = [](const NodePtr& node) { return static_cast<std::size_t>(node->walk_id); };
    uses_.assign(nodes_.size(), 0);
    for (const Node* n : nodes_)
      if (!n->realized())
        for (const NodePtr& s : n->sources) ++uses_[at(s)];
    waits_.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
      waits_[i] = nodes_[i]->references.load(std::memory_order_acquire) > uses_[i];
    root_.assign(nodes_.size(), false);
    for (const NodePtr& r : roots) root_[at(r)] = true;
    for (std::size_t i = nodes_.size(); i-- > 0;)
      if (waits_[i] && !root_[i] && !nodes_[i]->realized())
        for (const NodePtr& s : nodes_[i]->sources) waits_[at(s)] = true;
  }

  // Of a realised node. Another node over the same buffer counts as a reader.
  bool dies(const Node& n) const {
    const long known = 1 + (std::holds_alternative<mem::BufferPtr>(n.arg) ? 1 : 0) + 1;  // and the key's
    return !waits_[static_cast<std::size_t>(n.walk_id)] && !n.buffer->borrowed() && n.buffer.use_count() == known &&
           n.buffer->bytes() == static_cast<std::size_t>(numel(n.shape).value()) * itemsize(n.dtype);
  }

  // A constant is a parameter if every reader is elementwise with another, non-constant operand.
  void classify_constants(std::span<const NodePtr> roots) {
    use_.assign(nodes_.size(), ConstUse::Unused);
    for (const Node* n : nodes_) {
      if (n->realized()) continue;
      bool varies = false;
      if (graph::is_elementwise(n->op) && n->op != Op::Pow)
        varies = std::any_of(n->sources.begin(), n->sources.end(), [](const NodePtr& s) { return !is_constant(*s); });
      for (const NodePtr& s : n->sources) {
        if (!is_constant(*s)) continue;
        ConstUse& use = use_[static_cast<std::size_t>(s->walk_id)];
        if (!varies)
          use = ConstUse::ByValue;
        else if (use == ConstUse::Unused)
          use = ConstUse::Parameter;
      }
    }
    for (const NodePtr& r : roots) use_[static_cast<std::size_t>(r->walk_id)] = ConstUse::ByValue;
  }

  void node(const Node& n, Key& key) {
    auto& words = key.words;
    const Op op = n.realized() ? Op::Buffer : n.op;
    words.push_back(static_cast<std::uint64_t>(op) | static_cast<std::uint64_t>(n.dtype) << 8 |
                    static_cast<std::uint64_t>(n.shape.size()) << 16);
    if (op == Op::Buffer) {
      push_ints(words, n.shape);
      push_strides(words, graph::memory_strides(n));
      if (n.version != n.buffer->version()) {
        throw DeviceError("realize", std::string("the elements of ") + std::string(name(n.dtype)) + " " +
                                         to_string(n.shape) +
                                         " were being overwritten when the device failed; make the tensor anew");
      }
      words.push_back(leaf(n.buffer, key));
      if (dies(n)) {
        key.leaf_dies[static_cast<std::size_t>(words.back())] = true;
        words.back() |= std::uint64_t{1} << 32;
      }
      if (writes_) {
        const auto i = static_cast<std::size_t>(words.back() & 0xffffffffU);
        words.push_back((key.leaf_readers[i] == Usage::Readers::none ? 1U : 0U) | (n.buffer->writable() ? 2U : 0U));
      }
      return;
    }
    for (const NodePtr& s : n.sources) words.push_back(static_cast<std::uint64_t>(s->walk_id));
    if (!graph::is_elementwise(op)) push_ints(words, n.shape);
    if (op == Op::Assign) push_strides(words, graph::memory_strides(n));
    if (op == Op::Assign && n.arg.index() == 0) words.push_back(0);
    if (const auto* s = std::get_if<graph::Scalar>(&n.arg)) {
      constant(n, *s, key);
    } else if (const auto* ints = std::get_if<Ints>(&n.arg)) {
      push_ints(words, *ints);
    } else if (const auto* ranges = std::get_if<std::shared_ptr<const Ranges>>(&n.arg)) {
      for (const Range& r : **ranges) {
        words.push_back(static_cast<std::uint64_t>(r.lo.value()));
        words.push_back(static_cast<std::uint64_t>(r.hi.value()));
      }
    } else if (const auto* where = std::get_if<std::shared_ptr<const ShapeTracker>>(&n.arg)) {
      words.push_back((*where)->views().size());
      for (const View& v : (*where)->views()) {
        push_ints(words, v.shape);
        push_ints(words, v.strides);
        words.push_back(static_cast<std::uint64_t>(v.offset.value()));
      }
    } else if (const auto* view = std::get_if<std::shared_ptr<const View>>(&n.arg)) {
      push_ints(words, (*view)->strides);
      words.push_back(static_cast<std::uint64_t>((*view)->offset.value()));
      words.push_back((*view)->mask.size());
      for (const Range& r : (*view)->mask) {
        words.push_back(static_cast<std::uint64_t>(r.lo.value()));
        words.push_back(static_cast<std::uint64_t>(r.hi.value()));
      }
    }
  }

  std::uint64_t leaf(const mem::BufferPtr& buffer, Key& key) {
    constexpr std::size_t kFew = 16;  // few leaves, as nearly all graphs have, need no table
    if (key.leaves.size() <= kFew) {
      for (std::size_t i = 0; i < key.leaves.size(); ++i)
        if (key.leaves[i] == buffer) return i;
    } else if (auto it = many_leaves_.find(buffer.get()); it != many_leaves_.end()) {
      return it->second;
    }
    key.leaves.push_back(buffer);
    key.leaf_dies.push_back(false);
    key.leaf_readers.push_back(writes_ ? usage_.readers(buffer.get()) : Usage::Readers::elsewhere);
    if (key.leaves.size() == kFew + 1)
      for (std::size_t i = 0; i < kFew; ++i) many_leaves_.emplace(key.leaves[i].get(), i);
    if (key.leaves.size() > kFew) many_leaves_.emplace(buffer.get(), key.leaves.size() - 1);
    return key.leaves.size() - 1;
  }

  void constant(const Node& n, const graph::Scalar& s, Key& key) {
    if (use_[static_cast<std::size_t>(n.walk_id)] != ConstUse::Parameter || read_by_rules(s)) {
      key.words.push_back(1);
      key.words.push_back(static_cast<std::uint64_t>(s.i));
      return;
    }
    const bool half = s.dtype == DType::float16 || s.dtype == DType::bfloat16;
    const graph::Scalar value = half ? s.cast(DType::float32) : s;
    std::size_t p = 0;
    const std::size_t recent = key.parameter_values.size() > 8 ? key.parameter_values.size() - 8 : 0;
    for (p = recent; p < key.parameter_values.size(); ++p)
      if (key.parameter_values[p] == value) break;
    if (p == key.parameter_values.size()) key.parameter_values.push_back(value);
    key.parameters.emplace_back(&n, static_cast<std::int32_t>(p));
    key.words.push_back(2);
    key.words.push_back(p);
  }

  bool writes_ = false;
  Usage usage_;
  std::vector<const Node*> nodes_;
  std::vector<std::pair<const Node*, std::uint32_t>> stack_;
  std::vector<ConstUse> use_;
  std::vector<std::uint32_t> uses_;  // by walk_id: edges to it
  std::vector<bool> waits_, root_;   // by walk_id
  std::unordered_map<const mem::Buffer*, std::size_t> many_leaves_;
};

}  // namespace

void make_key(std::span<const NodePtr> roots, std::uint64_t salt, Key& key, std::size_t early) {
  static Writer& writer = *new Writer;  // under the runtime's lock; never destroyed, as the executor's state
  key.early = early;
  writer.write(roots, salt, key);
}

std::size_t add_due_roots(std::vector<NodePtr>& roots, const Key& key) {
  const std::vector<const Node*> nodes = graph::post_order(roots);
  Usage usage;
  usage.count(nodes, roots, key.leaves);
  const std::size_t asked = roots.size();
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i]->op == Op::Assign && !nodes[i]->realized() && usage.held(i) && !usage.root(i))
      roots.emplace_back(nodes[i]);
  if (roots.size() > asked) usage.count(nodes, roots, key.leaves);
  const std::vector<std::size_t> early = usage.early_readers();
  for (const std::size_t i : early) roots.emplace_back(nodes[i]);
  return early.size();
}

}  // namespace oriel::runtime
