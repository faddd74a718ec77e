#include "runtime/key.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <unordered_map>

#include "base/context.hpp"
#include "graph/build.hpp"
#include "graph/layout.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"
#include "runtime/usage.hpp"

namespace oriel::runtime {

using graph::Node;
using graph::NodePtr;
using graph::Op;

namespace {

enum class ConstUse : std::uint8_t { Unused, Parameter, ByValue };

bool read_by_rules(const graph::Scalar& s) {
  const double v = s.as_double();
  return v == 0 || v == 1 || v == -1 || v == 2 || v == 0.5;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t v) noexcept {
  h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}

// Symbolic sizes have the words of their expressions. Such keys are not looked up.
void push(std::vector<std::uint64_t>& words, SymInt n) {
  words.push_back(static_cast<std::uint64_t>(n.representation()));
}

void push_ints(std::vector<std::uint64_t>& words, const Ints& ints) {
  words.push_back(ints.size());
  for (const SymInt i : ints) push(words, i);
}

void push_strides(std::vector<std::uint64_t>& words, const Ints* strides) {
  words.push_back(strides == nullptr ? 0 : 1);
  if (strides != nullptr) push_ints(words, *strides);
}

/// Writes the words of one graph. Its scratch vectors are kept between calls.
class Writer {
 public:
  void write(std::span<const NodePtr> roots, std::uint64_t salt, std::uint64_t work, bool keeps, Key& key) {
    key.words.clear();
    key.leaves.clear();
    key.parameter_values.clear();
    key.parameters.clear();
    key.size_parameters.clear();
    key.leaf_readers.clear();
    key.leaf_dies.clear();
    key.devices.clear();
    many_leaves_.clear();
    order_ = &key.order;
    const std::size_t n = order_->size();
    writes_ = false;
    for (std::size_t i = 0; i < n && !writes_; ++i) writes_ = (*order_)[i].op == Op::Assign && !order_->in_memory(i);
    key.writes = writes_;
    if (writes_)
      usage_.count(*order_);
    else
      usage_.count_nodes(*order_);
    key.awaited.clear();
    if (keeps) find_awaited(*order_, usage_, work, key.awaited);
    classify_constants();
    key.words.push_back(salt);
    for (std::size_t i = 0; i < n; ++i) node(i, key);
    if (!key.awaited.empty()) {
      key.keep_bytes = limit_of_kept(roots.front()->device.context);
      key.words.push_back(std::uint64_t{1} << 63 | key.awaited.size());
      key.words.push_back(static_cast<std::uint64_t>(key.keep_bytes));
      for (const Awaited& a : key.awaited) {
        key.words.push_back(static_cast<std::uint64_t>(a.number));
        push_strides(key.words, graph::memory_strides((*order_)[a.number]));  // also makes the node know its layout
      }
    }
    for (std::size_t r = 0; r < roots.size(); ++r) {
      add_device(roots[r]->device, key);
      key.words.push_back(static_cast<std::uint64_t>(order_->roots()[r]));
      push_strides(key.words, graph::memory_strides(*roots[r]));
    }
    std::uint64_t h = key.words.size();
    for (std::uint64_t w : key.words) h = mix(h, w);
    key.hash = h;
  }

 private:
  static std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

  bool is_constant(std::size_t i) const { return (*order_)[i].op == Op::Const && !order_->in_memory(i); }

  bool is_symbolic_size(std::size_t i) const {
    const Node& n = (*order_)[i];
    return n.op == Op::Const && std::holds_alternative<Ints>(n.arg);
  }

  static std::int64_t limit_of_kept(std::uint16_t number) {
    base::ContextState* const context = base::find_context(number);
    return context == nullptr ? LazyLimits().bytes : base::lazy_limits(*context).bytes;
  }

  // Does the buffer of this realised node die with the work? Another node over the same buffer counts as a reader.
  bool dies(std::size_t i) const {
    const Node& n = (*order_)[i];
    const long known = 1 + (std::holds_alternative<mem::BufferPtr>(n.arg) ? 1 : 0) + 1;  // the last one is the key's
    return !usage_.waits(i) && !n.buffer->borrowed() && n.buffer.use_count() == known &&
           n.buffer->bytes() == static_cast<std::size_t>(numel(n.shape).value()) * itemsize(n.dtype) &&
           mem::holders_of(n.buffer) == known;
  }

  // A constant becomes a launch parameter if every reader is elementwise and has another operand that is not constant,
  // or that is a symbolic size: nothing folds that.
  void classify_constants() {
    use_of_.assign(order_->size(), ConstUse::Unused);
    for (std::size_t i = 0; i < order_->size(); ++i) {
      const std::span<const std::int32_t> sources = order_->sources(i);
      bool varies = false;
      const Op op = (*order_)[i].op;
      if (graph::is_elementwise(op) && op != Op::Pow)
        varies = std::any_of(sources.begin(), sources.end(),
                             [&](std::int32_t s) { return !is_constant(at(s)) || is_symbolic_size(at(s)); });
      for (const std::int32_t s : sources) {
        if (!is_constant(at(s))) continue;
        ConstUse& use = use_of_[at(s)];
        if (!varies)
          use = ConstUse::ByValue;
        else if (use == ConstUse::Unused)
          use = ConstUse::Parameter;
      }
    }
    for (const std::int32_t r : order_->roots()) use_of_[at(r)] = ConstUse::ByValue;
  }

  void node(std::size_t number, Key& key) {
    const Node& n = (*order_)[number];
    auto& words = key.words;
    const Op op = order_->in_memory(number) ? Op::Buffer : n.op;
    words.push_back(static_cast<std::uint64_t>(op) | static_cast<std::uint64_t>(n.dtype) << 8 |
                    static_cast<std::uint64_t>(n.shape.size()) << 16 | static_cast<std::uint64_t>(n.device.kind) << 37 |
                    static_cast<std::uint64_t>(n.device.index) << 39 |
                    static_cast<std::uint64_t>(n.device.context) << 47);
    if (!order_->movable(number)) add_device(n.device, key);
    if (op == Op::Buffer) {
      push_ints(words, n.shape);
      push_strides(words, graph::memory_strides(n));
      check_present(n);
      words.push_back(leaf(n.buffer, key));
      if (dies(number)) {
        key.leaf_dies[static_cast<std::size_t>(words.back())] = true;
        words.back() |= std::uint64_t{1} << 32;
      }
      if (writes_) {
        const auto i = static_cast<std::size_t>(words.back() & 0xffffffffU);
        words.push_back((key.leaf_readers[i] == Usage::Readers::none ? 1U : 0U) | (n.buffer->writable() ? 2U : 0U));
      }
      return;
    }
    for (const std::int32_t source : order_->sources(number)) {
      words.push_back(static_cast<std::uint64_t>(source));
      // A scalar that lies in the memory of another device is read as a number (schedule/arena.cpp).
      const Node& s = (*order_)[source];
      if (s.device == n.device || op == Op::Copy || !order_->in_memory(source)) continue;
      const auto* value = std::get_if<graph::Scalar>(&s.arg);
      words.push_back(static_cast<std::uint64_t>(s.op));
      words.push_back(value == nullptr ? 0 : static_cast<std::uint64_t>(value->i));
    }
    if (!graph::is_elementwise(op)) push_ints(words, n.shape);
    if (op == Op::Assign) push_strides(words, graph::memory_strides(n));
    if (op == Op::Assign && n.arg.index() == 0) words.push_back(0);
    if (const auto* s = std::get_if<graph::Scalar>(&n.arg)) {
      constant(number, *s, key);
    } else if (const auto* ints = std::get_if<Ints>(&n.arg)) {
      if (op == Op::Const) size_constant(number, (*ints)[0], n.dtype, key);
      push_ints(words, *ints);
    } else if (const auto* function = std::get_if<graph::HostFunctionPtr>(&n.arg)) {
      words.push_back((*function)->number);
    } else if (const auto* ranges = std::get_if<std::shared_ptr<const Ranges>>(&n.arg)) {
      for (const Range& r : **ranges) {
        push(words, r.lo);
        push(words, r.hi);
      }
    } else if (const auto* where = std::get_if<std::shared_ptr<const ShapeTracker>>(&n.arg)) {
      words.push_back((*where)->views().size());
      for (const View& v : (*where)->views()) {
        push_ints(words, v.shape);
        push_ints(words, v.strides);
        push(words, v.offset);
      }
    } else if (const auto* view = std::get_if<std::shared_ptr<const View>>(&n.arg)) {
      push_ints(words, (*view)->strides);
      push(words, (*view)->offset);
      words.push_back((*view)->mask.size());
      for (const Range& r : (*view)->mask) {
        push(words, r.lo);
        push(words, r.hi);
      }
    }
  }

  static void add_device(Device device, Key& key) {
    auto& known = key.devices;
    if (!known.empty() && known.back() == device) return;
    if (std::find(known.begin(), known.end(), device) == known.end()) known.push_back(device);
  }

  std::uint64_t leaf(const mem::BufferPtr& buffer, Key& key) {
    constexpr std::size_t kFew = 16;  // most graphs have few leaves; then no table is needed
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

  void size_constant(std::size_t number, SymInt size, DType dtype, Key& key) {
    if (use_of_[number] != ConstUse::Parameter)
      throw ArgumentError("schedule", "a symbolic size decides what a kernel computes");
    const auto known = std::find_if(key.size_parameters.begin(), key.size_parameters.end(), [&](const auto& other) {
      return identical(other.size, size) && other.dtype == dtype;
    });
    const std::size_t p = known == key.size_parameters.end() ? key.parameter_values.size() : known->parameter;
    key.parameters.emplace_back(static_cast<std::int32_t>(number), static_cast<std::int32_t>(p));
    if (known != key.size_parameters.end()) return;
    key.parameter_values.push_back(graph::Scalar::of_int(is_half(dtype) ? DType::float32 : dtype, 0));
    key.size_parameters.push_back({p, size, dtype});
  }

  void constant(std::size_t number, const graph::Scalar& s, Key& key) {
    if (use_of_[number] != ConstUse::Parameter || read_by_rules(s)) {
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
    key.parameters.emplace_back(static_cast<std::int32_t>(number), static_cast<std::int32_t>(p));
    key.words.push_back(2);
    key.words.push_back(p);
  }

  const graph::Order* order_ = nullptr;
  bool writes_ = false;
  Usage usage_;
  std::vector<ConstUse> use_of_;  // by node number
  std::unordered_map<const mem::Buffer*, std::size_t> many_leaves_;
};

}  // namespace

void check_present(const Node& n) {
  if (n.version == n.buffer->version()) return;
  if (is_placeholder(*n.buffer)) refuse_placeholder("realize");
  throw DeviceError("realize", std::string("the elements of ") + std::string(name(n.dtype)) + " " + to_string(n.shape) +
                                   " were being overwritten when the device failed; make the tensor anew");
}

void write_key(const base::Activity& work, std::span<const NodePtr> roots, std::uint64_t salt, Key& key, bool keeps) {
  // One writer for each slot, made by the first work in it. Never destroyed, like the executor's scratch.
  static constinit std::array<Writer*, base::Activity::kMost> writers{};
  Writer*& writer = writers[static_cast<std::size_t>(work.slot())];
  if (writer == nullptr) writer = new Writer;
  writer->write(roots, salt, work.number(), keeps, key);
}

namespace {

/// Returns 0, or the work that this one collided with (see graph::Order::build).
std::uint64_t try_key(const base::Activity& work, std::uint64_t salt, Key& key, std::vector<NodePtr>& pending,
                      std::size_t* sealed, BesideRoots beside) {
  const auto build = [&] {
    const std::uint64_t other = key.order.build(pending, work.number());
    if (other != 0 || sealed == nullptr) return other;
    while (*sealed < pending.size()) pending[(*sealed)++]->seal(true);
    return other;
  };
  if (const std::uint64_t other = build(); other != 0) return other;
  const bool keeps = beside == BesideRoots::all;
  key.added.clear();
  write_key(work, pending, salt, key, keeps);
  const std::size_t asked = pending.size();
  if (key.writes && beside != BesideRoots::nothing) add_pending_writes(pending, key);
  for (const KeptRoot& kept : find_kept_roots(key.order, key.awaited, key.keep_bytes)) {
    const NodePtr node(&key.order[kept.number]);
    if (std::find(pending.begin() + static_cast<std::ptrdiff_t>(asked), pending.end(), node) != pending.end()) continue;
    pending.push_back(node);
    key.added.push_back({kept.reason, kept.held});
  }
  if (pending.size() == asked) return 0;
  if (const std::uint64_t other = build(); other != 0) return other;
  write_key(work, pending, salt, key, keeps);
  return 0;
}

}  // namespace

std::uint64_t claim_pending(base::Activity& work, std::span<const NodePtr> roots, std::uint64_t salt, Key& key,
                            std::vector<NodePtr>& pending, std::size_t* sealed, BesideRoots beside) {
  for (const NodePtr& root : roots)
    if (!root->realized()) pending.push_back(root);
  if (pending.empty()) return 0;
  const std::uint64_t other = try_key(work, salt, key, pending, sealed, beside);
  if (other != 0) release_claims(work, key, pending, sealed);
  return other;
}

void wait_for_turn(std::uint64_t other, int attempt) {
  if (other != graph::Order::kAgain) base::Activity::wait_for_end(other);
  // Two threads that each claimed a root of the other both release everything. Sleep for different times, so that they
  // do not collide again.
  if (attempt > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(attempt, 50) * (1 + base::thread_stripe() % 8)));
}

KeySnapshot::KeySnapshot(std::span<const NodePtr> roots, BesideRoots beside) {
  for (int attempt = 0;; ++attempt) {
    const std::uint64_t other = claim_pending(work.emplace(), roots, 0, key, pending, nullptr, beside);
    if (other == 0) return;
    work.reset();
    wait_for_turn(other, attempt);
  }
}

void release_claims(base::Activity& work, Key& key, std::vector<NodePtr>& pending, std::size_t* sealed) {
  if (sealed != nullptr)
    while (*sealed > 0) pending[--*sealed]->seal(false);
  work.renumber();
  key.order.clear();
  key.leaves.clear();
  key.parameters.clear();
  pending.clear();
}

void make_key(const base::Activity& work, std::span<const NodePtr> roots, std::uint64_t salt, Key& key) {
  for (std::uint64_t other = 0; (other = key.order.build(roots, work.number())) != 0;) {
    if (other == graph::Order::kAgain) throw InternalError("make_key", "the roots are in memory already");
    base::Activity::wait_for_end(other);
  }
  write_key(work, roots, salt, key);
}

void add_pending_writes(std::vector<NodePtr>& roots, Key& key) {
  const graph::Order& order = key.order;
  Usage usage;
  usage.count(order, key.leaves);
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i].op == Op::Assign && !order.in_memory(i) && usage.held(i) && !usage.root(i)) due.push_back(i);
  if (!due.empty()) usage.count(order, key.leaves, due);
  // A write whose target is forgotten is stored whole, too, and a named value may need it again.
  const std::size_t held = due.size();
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i].op == Op::Assign && !order.in_memory(i) && usage.waits(i) && !usage.root(i)) due.push_back(i);
  if (due.size() > held) usage.count(order, key.leaves, due);
  const std::vector<std::size_t> early = usage.early_readers();
  for (const std::size_t i : due) roots.emplace_back(&order[i]);
  for (const std::size_t i : early) roots.emplace_back(&order[i]);
  key.added.insert(key.added.end(), early.size(), AddedRoot{RootReason::early});
}

}  // namespace oriel::runtime
