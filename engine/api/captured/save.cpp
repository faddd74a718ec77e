// Writes the entries of a captured function as bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "api/captured/saved.hpp"
#include "graph/build.hpp"
#include "graph/walk.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"
#include "sym/environment.hpp"
#include "sym/parse.hpp"
#include "sym/print.hpp"
#include "view/layouts/density_predicate.hpp"

namespace oriel::api {

using graph::Node;
using graph::NodePtr;
using graph::Op;

namespace {

[[noreturn]] void refuse_to_save(const std::string& why) { throw ArgumentError("save", why); }

class EntryWriter {
 public:
  explicit EntryWriter(const CapturedEntry& entry)
      : entry_(entry), trace_(entry.traced_graph()), origin_(*entry.origin) {}

  std::string write() {
    if (entry_.sizes) environment_ = &entry_.sizes->symbols().env().environment();
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
    out.u32(words_.size());
    for (const std::string& text : words_) out.text(text);
    out.u32(devices_.size());
    for (const Device d : devices_) {
      out.u8(static_cast<std::uint8_t>(d.kind));
      out.u8(d.index);
    }
    out.bytes() += out_.bytes();
    return std::move(out.bytes());
  }

 private:
  void word(std::string_view text) {
    const auto [at, fresh] = word_of_.emplace(std::string(text), words_.size());
    if (fresh) words_.emplace_back(text);
    out_.u32(at->second);
  }
  void dtype(DType d) { word(name(d)); }
  /// Its place in the table, or one behind the last: numbers and positions may be on a device that nothing else names.
  void device(Device d) { out_.u32(static_cast<std::size_t>(std::ranges::find(devices_, d) - devices_.begin())); }
  void add_device(Device d) {
    if (std::ranges::find(devices_, d) == devices_.end()) devices_.push_back(d);
  }
  void find_devices() {
    for (const CapturedOrigin::Storage& s : origin_.storages) add_device(s.device);
    if (!origin_.numbers.empty()) add_device(entry_.number_device);
    roots_ = trace_.values;
    for (const CapturedEntry::Write& write : entry_.writes) roots_.push_back(node_of(write.value));
    for (const CapturedValue& value : entry_.fresh) roots_.push_back(node_of(value));
    for (const NodePtr& root : roots_) add_device(root->device);
    find_order();
    for (const Node* n : order_)
      if (!graph::movable(*n)) add_device(n->device);
  }
  /// Sources first. Positions follow their mask, and stand before everything that may name their number.
  void find_order() {
    graph::Numbering met;
    const auto add = [&](std::span<const NodePtr> roots) {
      for (const Node* n : graph::post_order(roots))
        if (met.insert(n)) order_.push_back(n);
    };
    for (const TracedGraph::Late& late : trace_.late) {
      const NodePtr mask = node_of(late.mask);
      add({&mask, 1});
      add({&late.positions.placeholder, 1});
    }
    add(roots_);
  }
  void site(Site s) {
    const std::string_view file = s.file == nullptr ? "" : s.file;
    word(file.substr(file.find_last_of('/') + 1));
    out_.i64(s.line);
  }

  /// Only what reads back as the same expression is written.
  void expression(sym::Expr e) {
    const std::string text = sym::to_string(e);
    const auto symbol = [&](std::string_view symbol_name) -> sym::Expr {
      const auto* found = environment_->symbols.find(symbol_name);
      return found == nullptr ? nullptr : found->expr;
    };
    sym::Expr read = nullptr;
    try {
      read = sym::parse(environment_->pool, text, symbol);
    } catch (const Error&) {  // too long, too deep, or a predicate
    }
    if (read != e)
      refuse_to_save(
          fmt::format("a size or guard of the captured function cannot be written as text: {}", text.substr(0, 200)));
    word(text);
  }
  void condition(sym::Expr e) {
    const bool negated = e->kind == sym::Kind::not_predicate;
    const bool opaque = (negated || e->kind == sym::Kind::predicate) && e->name == detail::kDensityPredicate;
    const SavedGuard kind = !opaque ? SavedGuard::text : negated ? SavedGuard::not_dense : SavedGuard::dense;
    out_.u8(static_cast<std::uint8_t>(kind));
    if (!opaque) return expression(e);
    out_.u32(e->args.size());
    for (const sym::Expr n : e->args) number(n->is_constant() ? SymInt(n->value) : SymInt(n));
  }
  void number(SymInt n) {
    out_.u8(n.is_symbolic() ? 1 : 0);
    if (n.is_symbolic()) {
      expression(n.node());
    } else {
      out_.i64(n.value());
    }
  }
  void numbers(const Ints& ints) {
    out_.u32(ints.size());
    for (const SymInt n : ints) number(n);
  }
  void ranges(const Ranges& list) {
    out_.u32(list.size());
    for (const Range& r : list) {
      number(r.lo);
      number(r.hi);
    }
  }
  void view(const View& v) {
    numbers(v.shape);
    numbers(v.strides);
    number(v.offset);
    ranges(v.mask);
  }

  void argument(const graph::Arg& arg) {
    const auto tag = [&](SavedArg t) { out_.u8(static_cast<std::uint8_t>(t)); };
    if (const auto* scalar = std::get_if<graph::Scalar>(&arg)) {
      tag(SavedArg::scalar);
      dtype(scalar->dtype);
      out_.i64(scalar->i);
    } else if (const auto* ints = std::get_if<Ints>(&arg)) {
      tag(SavedArg::ints);
      numbers(*ints);
    } else if (const auto* list = std::get_if<std::shared_ptr<const Ranges>>(&arg)) {
      tag(SavedArg::ranges);
      ranges(**list);
    } else if (const auto* one = std::get_if<std::shared_ptr<const View>>(&arg)) {
      tag(SavedArg::view);
      view(**one);
    } else if (const auto* stack = std::get_if<std::shared_ptr<const ShapeTracker>>(&arg)) {
      tag(SavedArg::stack);
      out_.u32((*stack)->views().size());
      for (const View& v : (*stack)->views()) view(v);
    } else {
      tag(SavedArg::none);
    }
  }

  /// Everything of a node but its sources.
  void node(const Node& n) {
    word(graph::name(n.op));
    dtype(n.dtype);
    numbers(n.shape);
    argument(n.arg);
    site(n.site);
    const bool laid_out = n.op == Op::Const && n.found;
    const bool any = (n.op == Op::Reshape || laid_out) && n.layout_class == graph::LayoutClass::Any;
    out_.u8(static_cast<std::uint8_t>((n.mirrored ? kMirrored : 0) | (n.broadcast ? kBroadcast : 0) |
                                      (any ? kLayoutAny : 0) | (n.axis_strides ? kHasStrides : 0) |
                                      (laid_out ? kHasLayout : 0)));
    if (laid_out) {
      numbers(n.found->layout.shape);  // a broadcast operand has its own layout
      numbers(n.found->layout.strides);
      numbers(n.found->memory);
    }
    if (!n.axis_strides) return;
    out_.u32(n.axis_strides->size());
    for (const graph::AxisStride& axis : *n.axis_strides) {
      number(axis.constant);
      out_.u32(axis.terms.size());
      for (const graph::AxisStride::Term& term : axis.terms) {
        out_.u32(term.axis);
        number(term.factor);
      }
    }
  }
  void movements(const std::vector<NodePtr>& list) {
    out_.u32(list.size());
    for (const NodePtr& movement : list) node(*movement);
  }
  void realized_kind(const graph::RealizedKind& kind) {
    dtype(kind.dtype);
    numbers(kind.shape);
    out_.u8(static_cast<std::uint8_t>(kind.layout_class));
    if (kind.layout_class != graph::LayoutClass::RowMajor) numbers(kind.found->layout.strides);
    site(kind.site);
  }

  void write_origin() {
    out_.u8(static_cast<std::uint8_t>(origin_.bounds));
    out_.u32(origin_.form.values.size());
    for (const std::int64_t x : origin_.form.values) out_.i64(x);
    out_.u32(origin_.storages.size());
    for (const CapturedOrigin::Storage& s : origin_.storages) {
      device(s.device);
      realized_kind(s.kind);
    }
    out_.u32(origin_.tensors.size());
    for (std::size_t k = 0; k < origin_.tensors.size(); ++k) {
      out_.u32(origin_.tensors[k].storage);
      out_.u8(origin_.tensors[k].viewed ? 1 : 0);
      movements(origin_.tensors[k].movements);
      word(origin_.names.tensors[k]);
    }
    out_.u32(origin_.numbers.size());
    for (std::size_t k = 0; k < origin_.numbers.size(); ++k) {
      dtype(origin_.numbers[k].dtype);
      word(origin_.names.numbers[k]);
    }
    device(entry_.number_device);
    out_.u32(origin_.values.size());
    for (std::size_t k = 0; k < origin_.values.size(); ++k) {
      out_.i64(origin_.values[k]);
      word(origin_.names.values[k].name);
      out_.u8(origin_.names.values[k].floating ? 1 : 0);
    }
    out_.u32(origin_.choices.size());
    for (const SizeChoice& choice : origin_.choices) {
      out_.u32(choice.fact);
      word(entry_.names[choice.fact].subject);
      out_.u8(static_cast<std::uint8_t>(choice.policy));
      out_.u8(choice.marked ? 1 : 0);
      word(choice.mark.name);
      for (const std::optional<std::int64_t>& bound : {choice.mark.lo, choice.mark.hi}) {
        out_.u8(bound ? 1 : 0);
        out_.i64(bound.value_or(0));
      }
      out_.i64(choice.mark.multiple_of);
    }
  }

  void write_guards() {
    if (environment_ == nullptr) return out_.u32(0);
    out_.u32(environment_->guards.all().size());
    for (const sym::Environment::Guard& guard : environment_->guards.all()) {
      condition(guard.condition);
      site(guard.site);
    }
  }

  void write_buffer(const mem::Buffer& buffer) {
    std::string bytes(buffer.bytes(), '\0');
    if (const auto allocator = buffer.allocator()) {
      allocator->read(buffer.data(), bytes.data(), bytes.size());
    } else if (!bytes.empty()) {
      std::memcpy(bytes.data(), buffer.data(), bytes.size());
    }
    out_.text(bytes);
  }

  /// Finds the leaf among inputs and numbers.
  bool write_input(const Node& leaf) {
    const auto find = [&](const std::vector<TracedGraph::Input>& inputs, SavedNode tag) {
      for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k].placeholder.get() != &leaf) continue;
        out_.u8(static_cast<std::uint8_t>(tag));
        out_.u32(k);
        return true;
      }
      return false;
    };
    return find(trace_.storages, SavedNode::input) || find(trace_.numbers, SavedNode::number);
  }
  bool write_late(const Node& leaf) {
    for (const TracedGraph::Late& late : trace_.late) {
      if (late.positions.placeholder.get() != &leaf) continue;
      out_.u8(static_cast<std::uint8_t>(SavedNode::late));
      out_.u32(static_cast<std::size_t>(places_.find(node_of(late.mask).get())));
      site(late.positions.kind.site);
      out_.u8(late.element ? 1 : 0);
      return true;
    }
    return false;
  }
  /// What was stated of counts, which have no values in a trace.
  void write_statements() {
    const auto list = [&](const auto& conditions, const auto& write) {
      out_.u32(conditions.size());
      for (const auto& one : conditions) write(one);
    };
    if (environment_ == nullptr) {
      out_.u32(0);
      return out_.u32(0);
    }
    list(environment_->constraints, [&](sym::Expr stated) { condition(stated); });
    list(environment_->deferred, [&](const sym::Environment::Deferred& check) {
      condition(check.condition);
      site(check.site);
    });
  }

  void write_graph() {
    std::unordered_map<const mem::Buffer*, std::size_t> buffers;
    std::vector<const mem::Buffer*> list;
    for (const Node* n : order_)
      if (n->realized() && !runtime::is_placeholder(*n->buffer) && buffers.emplace(n->buffer.get(), list.size()).second)
        list.push_back(n->buffer.get());
    out_.u32(list.size());
    for (const mem::Buffer* buffer : list) {
      device(buffer->device());
      write_buffer(*buffer);
    }
    out_.u32(order_.size());
    for (const Node* n : order_) {
      places_.insert(n);
      if (write_input(*n) || write_late(*n)) continue;
      if (n->realized()) {
        if (runtime::is_placeholder(*n->buffer)) throw InternalError("save", "a leaf of the graph is no input");
        out_.u8(static_cast<std::uint8_t>(SavedNode::constant));
        out_.u32(buffers.at(n->buffer.get()));
        realized_kind(graph::realized_kind(*n));
        continue;
      }
      out_.u8(static_cast<std::uint8_t>(SavedNode::made));
      node(*n);
      if (n->op == Op::Copy || n->sources.empty()) device(n->device);
      out_.u32(n->sources.size());
      for (const NodePtr& source : n->sources) out_.u32(static_cast<std::size_t>(places_.find(source.get())));
    }
  }

  void write_results() {
    const auto place = [&](const CapturedValue& value) {
      out_.u32(static_cast<std::size_t>(places_.find(node_of(value).get())));
    };
    out_.u32(entry_.writes.size());
    for (const CapturedEntry::Write& write : entry_.writes) {
      out_.u32(write.storage);
      place(write.value);
    }
    out_.u32(entry_.fresh.size());
    for (const CapturedValue& value : entry_.fresh) place(value);
    out_.u32(entry_.results.size());
    for (std::size_t r = 0; r < entry_.results.size(); ++r) {
      out_.u8(static_cast<std::uint8_t>(entry_.results[r].kind));
      out_.u32(entry_.results[r].index);
      movements(trace_.movements[r]);
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
      case CapturedValue::Kind::late:
        return trace_.late[value.index].positions.placeholder;
      case CapturedValue::Kind::output:
        break;
    }
    return trace_.values[value.index];
  }

  void write_sizes() {
    if (!entry_.sizes) {
      out_.u32(0);
      return out_.u32(0);
    }
    const CapturedStage& stage = entry_.sizes->stages().front();
    out_.u32(stage.facts().size());
    for (const std::size_t fact : stage.facts()) out_.u32(fact);
    const std::vector<std::vector<std::int64_t>> met = stage.plans().met(kMostSavedSizes);
    out_.u32(met.size());
    for (const std::vector<std::int64_t>& values : met)
      for (const std::int64_t value : values) out_.i64(value);
  }

  const CapturedEntry& entry_;
  const TracedGraph& trace_;
  const CapturedOrigin& origin_;
  sym::Environment* environment_ = nullptr;
  std::vector<NodePtr> roots_;
  std::vector<const Node*> order_;
  graph::Numbering places_;  // of the nodes, in order_
  std::vector<Device> devices_;
  ByteWriter out_;
  std::vector<std::string> words_;
  std::unordered_map<std::string, std::size_t> word_of_;
};

}  // namespace

std::string saved_entries(const detail::Captured& captured) {
  const std::vector<const CapturedEntry*> entries = captured.entries();
  if (entries.empty())
    refuse_to_save(fmt::format("{} has no entry; call it first, with arguments like those that it is to serve",
                               detail::called(captured)));
  ByteWriter out;
  out.u32(entries.size());
  for (const CapturedEntry* entry : entries) out.text(EntryWriter(*entry).write());
  return std::move(out.bytes());
}

}  // namespace oriel::api
