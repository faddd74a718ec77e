// Writes the entries of a captured function as bytes.
#include <fmt/format.h>

#include <cstring>
#include <unordered_map>

#include "capture/file/saved.hpp"
#include "graph/build.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"
#include "sym/environment.hpp"

namespace oriel::api {

using graph::Node;
using graph::NodePtr;
using graph::Op;

namespace {

class EntryWriter {
 public:
  explicit EntryWriter(const CapturedEntry& entry)
      : entry_(entry),
        trace_(entry.graph),
        origin_(*entry.origin),
        environment_(entry.symbolic() ? &entry.symbols.env().environment() : nullptr),
        to_(environment_) {}

  std::string write() {
    find_devices();
    write_origin();
    write_guards();
    write_graph();
    write_statements();
    write_results();
    write_sizes();
    ByteWriter out;
    out.text(origin_.form.arguments);
    out.text(origin_.form.result);
    to_.finish(out);
    return std::move(out.bytes());
  }

 private:
  void find_devices() {
    for (const CapturedOrigin::Storage& s : origin_.storages) to_.add_device(s.device);
    if (!origin_.numbers.empty()) to_.add_device(entry_.number_device);
    roots_ = trace_.values;
    for (const CapturedEntry::Write& write : entry_.writes) roots_.push_back(node_of(write.value));
    for (const CapturedValue& value : entry_.fresh) roots_.push_back(node_of(value));
    for (const NodePtr& root : roots_) to_.add_device(root->device);
    find_order();
    for (const Node* n : order_)
      if (!graph::movable(*n)) to_.add_device(n->device);
  }
  /// Sources first. Positions follow their mask, and stand before everything that may name their number.
  void find_order() {
    graph::Numbering met;
    const auto add = [&](std::span<const NodePtr> roots) {
      for (const Node* n : graph::post_order(roots))
        if (met.insert(n)) order_.push_back(n);
    };
    for (const TracedGraph::Unbacked& unbacked : trace_.unbacked) {
      const NodePtr mask = node_of(unbacked.mask);
      add({&mask, 1});
      add({&unbacked.positions.placeholder, 1});
    }
    add(roots_);
  }
  void write_origin() {
    to_.out().u8(static_cast<std::uint8_t>(origin_.bounds));
    to_.out().u32(origin_.form.values.size());
    for (const std::int64_t x : origin_.form.values) to_.out().i64(x);
    to_.out().u32(origin_.storages.size());
    for (const CapturedOrigin::Storage& s : origin_.storages) {
      to_.device(s.device);
      to_.realized_kind(s.kind);
    }
    to_.out().u32(origin_.tensors.size());
    for (std::size_t k = 0; k < origin_.tensors.size(); ++k) {
      to_.out().u32(origin_.tensors[k].storage);
      to_.out().u8(origin_.tensors[k].is_view ? 1 : 0);
      to_.movements(origin_.tensors[k].movements);
      to_.word(origin_.names.tensors[k]);
    }
    to_.out().u32(origin_.numbers.size());
    for (std::size_t k = 0; k < origin_.numbers.size(); ++k) {
      to_.dtype(origin_.numbers[k].dtype);
      to_.word(origin_.names.numbers[k]);
    }
    to_.device(entry_.number_device);
    to_.out().u32(origin_.values.size());
    for (std::size_t k = 0; k < origin_.values.size(); ++k) {
      to_.out().i64(origin_.values[k]);
      to_.word(origin_.names.values[k].name);
      to_.out().u8(origin_.names.values[k].floating ? 1 : 0);
    }
    to_.out().u32(origin_.choices.size());
    for (const SizeChoice& choice : origin_.choices) {
      to_.out().u32(choice.fact);
      to_.word(entry_.names[choice.fact].subject);
      to_.out().u8(static_cast<std::uint8_t>(choice.policy));
      to_.out().u8(choice.marked ? 1 : 0);
      to_.word(choice.mark.name);
      for (const std::optional<std::int64_t>& bound : {choice.mark.lo, choice.mark.hi}) {
        to_.out().u8(bound ? 1 : 0);
        to_.out().i64(bound.value_or(0));
      }
      to_.out().i64(choice.mark.multiple_of);
    }
  }

  void write_guards() {
    if (environment_ == nullptr) return to_.out().u32(0);
    to_.out().u32(environment_->guards.all().size());
    for (const sym::Environment::Guard& guard : environment_->guards.all()) {
      to_.condition(guard.condition);
      to_.site(guard.site);
    }
  }

  void write_buffer(const mem::Buffer& buffer) {
    std::string bytes(buffer.bytes(), '\0');
    if (const auto allocator = buffer.allocator()) {
      allocator->read(buffer.data(), bytes.data(), bytes.size());
    } else if (!bytes.empty()) {
      std::memcpy(bytes.data(), buffer.data(), bytes.size());
    }
    to_.out().text(bytes);
  }

  /// Finds the leaf among inputs and numbers.
  bool write_input(const Node& leaf) {
    const auto find = [&](const std::vector<TracedGraph::Input>& inputs, SavedNode tag) {
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k].placeholder.get() != &leaf) continue;
        to_.out().u8(static_cast<std::uint8_t>(tag));
        to_.out().u32(k);
        return true;
      }
      return false;
    };
    return find(trace_.storages, SavedNode::input) || find(trace_.numbers, SavedNode::number);
  }
  bool write_late(const Node& leaf) {
    for (const TracedGraph::Unbacked& unbacked : trace_.unbacked) {
      if (unbacked.positions.placeholder.get() != &leaf) continue;
      to_.out().u8(static_cast<std::uint8_t>(SavedNode::unbacked));
      to_.out().u32(static_cast<std::size_t>(places_.find(node_of(unbacked.mask).get())));
      to_.site(unbacked.positions.kind.site);
      to_.out().u8(unbacked.element ? 1 : 0);
      return true;
    }
    return false;
  }
  /// What was stated of counts, which have no values in a trace.
  void write_statements() {
    const auto list = [&](const auto& conditions, const auto& write) {
      to_.out().u32(conditions.size());
      for (const auto& one : conditions) write(one);
    };
    if (environment_ == nullptr) {
      to_.out().u32(0);
      return to_.out().u32(0);
    }
    list(environment_->constraints, [&](sym::Expr stated) { to_.condition(stated); });
    list(environment_->deferred, [&](const sym::Environment::Deferred& check) {
      to_.condition(check.condition);
      to_.site(check.site);
      to_.word(check.operation);
    });
  }

  void write_graph() {
    std::unordered_map<const mem::Buffer*, std::size_t> buffers;
    std::vector<const mem::Buffer*> list;
    for (const Node* n : order_)
      if (n->realized() && !runtime::is_placeholder(*n->buffer) && buffers.emplace(n->buffer.get(), list.size()).second)
        list.push_back(n->buffer.get());
    to_.out().u32(list.size());
    for (const mem::Buffer* buffer : list) {
      to_.device(buffer->device());
      write_buffer(*buffer);
    }
    to_.out().u32(order_.size());
    for (const Node* n : order_) {
      places_.insert(n);
      if (write_input(*n) || write_late(*n)) continue;
      if (n->realized()) {
        if (runtime::is_placeholder(*n->buffer)) throw InternalError("save", "a leaf of the graph is no input");
        to_.out().u8(static_cast<std::uint8_t>(SavedNode::constant));
        to_.out().u32(buffers.at(n->buffer.get()));
        to_.realized_kind(graph::realized_kind(*n));
        continue;
      }
      to_.out().u8(static_cast<std::uint8_t>(SavedNode::made));
      to_.node(*n);
      if (n->op == Op::Copy || n->sources.empty()) to_.device(n->device);
      to_.out().u32(n->sources.size());
      for (const NodePtr& source : n->sources) to_.out().u32(static_cast<std::size_t>(places_.find(source.get())));
    }
  }

  void write_results() {
    const auto place = [&](const CapturedValue& value) {
      to_.out().u32(static_cast<std::size_t>(places_.find(node_of(value).get())));
    };
    to_.out().u32(entry_.writes.size());
    for (const CapturedEntry::Write& write : entry_.writes) {
      to_.out().u32(write.storage);
      place(write.value);
    }
    to_.out().u32(entry_.fresh.size());
    for (const CapturedValue& value : entry_.fresh) place(value);
    to_.out().u32(entry_.results.size());
    for (std::size_t r = 0; r < entry_.results.size(); ++r) {
      to_.out().u8(static_cast<std::uint8_t>(entry_.results[r].kind));
      to_.out().u32(entry_.results[r].index);
      to_.movements(trace_.movements[r]);
    }
    to_.out().u32(entry_.result_sizes.symbolic().size());
    for (const SymInt size : entry_.result_sizes.symbolic()) {
      if (size.is_symbolic() && (environment_ == nullptr || size.node()->pool != &environment_->pool))
        throw ArgumentError("save", "a result is a size of another environment, which a file cannot hold");
      to_.number(size);
    }
  }

  NodePtr node_of(const CapturedValue& value) const {
    switch (value.kind) {
      case CapturedValue::Kind::input:
        return trace_.storages[value.index].placeholder;
      case CapturedValue::Kind::number:
        return trace_.numbers[value.index].placeholder;
      case CapturedValue::Kind::constant:
        return entry_.constants[value.index];
      case CapturedValue::Kind::unbacked:
        return trace_.unbacked[value.index].positions.placeholder;
      case CapturedValue::Kind::output:
        break;
    }
    return trace_.values[value.index];
  }

  void write_sizes() {
    if (!entry_.symbolic()) {
      to_.out().u32(0);
      return to_.out().u32(0);
    }
    const CapturedStage& stage = entry_.stages.front();
    to_.out().u32(stage.facts().size());
    for (const std::size_t fact : stage.facts()) to_.out().u32(fact);
    const std::vector<std::vector<std::int64_t>> met = stage.plans().met(kMostSavedSizes);
    to_.out().u32(met.size());
    for (const std::vector<std::int64_t>& values : met)
      for (const std::int64_t value : values) to_.out().i64(value);
  }

  const CapturedEntry& entry_;
  const TracedGraph& trace_;
  const CapturedOrigin& origin_;
  sym::Environment* const environment_;  // null without symbols
  SavedWriter to_;
  std::vector<NodePtr> roots_;
  std::vector<const Node*> order_;
  graph::Numbering places_;  // of the nodes, in order_
};

}  // namespace

std::string saved_entries(const detail::Captured& captured) {
  const std::vector<const CapturedEntry*> entries = captured.entries();
  if (entries.empty())
    throw ArgumentError("save",
                        fmt::format("{} has no entry; call it first, with arguments like those that it is to serve",
                                    detail::called(captured)));
  ByteWriter out;
  out.u32(entries.size());
  for (const CapturedEntry* entry : entries) out.text(EntryWriter(*entry).write());
  return std::move(out.bytes());
}

}  // namespace oriel::api
