// Makes entries of captured functions from bytes. The graph of a file is replayed as a trace of the callable would have
// made it: guards, placeholders, plans and results bind in the same way.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <stdexcept>

#include "backend/backend.hpp"
#include "base/by_use.hpp"
#include "capture/file/node_reader.hpp"
#include "capture/file/saved.hpp"
#include "capture/stage.hpp"
#include "formula/call.hpp"
#include "graph/host_function.hpp"
#include "graph/make.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"

namespace oriel::api {

using detail::CapturedArguments;
using detail::Cell;
using detail::CellPtr;
using graph::NodePtr;

namespace {

/// Reads what the arguments of the traced call were.
class OriginReader {
 public:
  explicit OriginReader(SavedReader& reader) : reader_(reader), bytes_(reader.bytes()) {}

  CapturedOrigin read() {
    origin_.bounds = static_cast<Bounds>(bytes_.u8_below(2, "a kind of bounds"));
    for (std::size_t n = bytes_.count(8); n > 0; --n) origin_.form.values.push_back(bytes_.i64());
    read_storages();
    read_tensors();
    for (std::size_t n = bytes_.count(8); n > 0; --n) {
      const DType dtype = reader_.dtype();
      if (dtype != DType::float32 && dtype != DType::float64) bytes_.fail("is damaged: a number is no float");
      origin_.numbers.push_back({0, dtype});
      origin_.names.numbers.push_back(reader_.name());
    }
    static_cast<void>(reader_.device());  // of the numbers, which is that of the first storage
    for (std::size_t n = bytes_.count(13); n > 0; --n) {
      origin_.values.push_back(bytes_.i64());
      std::string name = reader_.name();
      origin_.names.values.push_back({std::move(name), bytes_.flag()});
    }
    return std::move(origin_);
  }

 private:
  void read_storages() {
    for (std::size_t n = bytes_.count(21); n > 0; --n) {
      const Device device = reader_.device();
      origin_.storages.push_back({reader_.realized_kind(), device});
    }
  }

  void read_tensors() {
    std::size_t met = 0;
    for (std::size_t n = bytes_.count(13); n > 0; --n) {
      const std::uint32_t k = bytes_.below(std::min(met + 1, origin_.storages.size()), "a storage");
      met = std::max<std::size_t>(met, k + 1);
      const bool is_view = bytes_.flag();
      std::vector<NodePtr> movements = NodeReader(reader_).movements(origin_.storages[k].kind.shape);
      check_loaded(movements);  // each one is over positions of its own
      if (!is_view && !movements.empty()) bytes_.fail("is damaged: a storage is moved");
      origin_.tensors.push_back({k, std::move(movements), is_view});
      origin_.names.tensors.push_back(reader_.name());
    }
    if (met != origin_.storages.size()) bytes_.fail("is damaged: no argument names a storage");
  }

  SavedReader& reader_;
  ByteReader& bytes_;
  CapturedOrigin origin_;
};

std::vector<SizeChoice> read_choices(SavedReader& reader, const std::vector<FactName>& names) {
  ByteReader& bytes = reader.bytes();
  std::vector<SizeChoice> choices;
  for (std::size_t n = bytes.count(40); n > 0; --n) {
    SizeChoice choice;
    choice.fact = bytes.below(names.size(), "a fact");
    if (names[choice.fact].subject != reader.name() || !names[choice.fact].may_be_symbol())
      bytes.fail("is damaged: a symbol is no size of an argument");
    choice.policy = static_cast<SizePolicy>(bytes.u8_below(4, "a kind of symbol"));
    choice.place = names[choice.fact].kind == FactName::Kind::place;
    choice.marked = bytes.flag();
    choice.mark.name = reader.name();
    for (std::optional<std::int64_t>* bound : {&choice.mark.lo, &choice.mark.hi}) {
      const bool stated = bytes.flag();
      const std::int64_t value = bytes.i64();
      if (stated) *bound = value;
    }
    choice.mark.multiple_of = bytes.i64();
    if (choice.mark.multiple_of < 1) bytes.fail("is damaged: a size is a multiple of nothing");
    choices.push_back(std::move(choice));
  }
  return choices;
}

/// Builds the nodes of a file on the placeholders of a trace.
class ReplayTracer final : public detail::TracerBase {  // NOLINT(cppcoreguidelines-virtual-class-destructor)
 public:
  ReplayTracer(SavedReader& reader, const CapturedOrigin& origin, const detail::SavedSignature& signature)
      : reader_(reader), origin_(origin), signature_(signature) {}

  detail::Shared<void> run(std::span<const Tensor> tensors, std::span<const Tensor> numbers,
                           detail::CapturedResults& results) const override {
    std::vector<CellPtr> storages(origin_.storages.size());
    for (std::size_t k = 0; k < tensors.size(); ++k)
      storages[origin_.tensors[k].storage] = CellPtr(Access::cell(tensors[k]).storage());
    set_environment(environment(tensors));
    replay_guards();
    std::vector<NodePtr> nodes = read_nodes(storages, numbers);
    replay_statements();
    const std::vector<NodePtr> contents = read_writes(storages, nodes);
    const std::vector<CellPtr> fresh = read_fresh(nodes);
    const std::vector<NodePtr> checks = unread_checks(nodes);
    if (symbols_ == nullptr) check_contents(contents, fresh, checks);
    for (const NodePtr& check : checks) runtime::Trace::add_root(check);
    nodes.clear();  // an entry may not hold values that nothing needs
    for (std::size_t k = 0; k < storages.size(); ++k)
      if (contents[k]) storages[k]->storage()->set_contents(contents[k]);
    read_results(tensors, storages, fresh, results);
    for (std::size_t n = reader_.bytes().count(5); n > 0; --n) results.sizes.push_back(reader_.number());
    set_environment(nullptr);
    return signature_.like(origin_.form.values, results.tensors.size(), results.sizes.size());
  }
  detail::CapturedNames names(const FunctionOptions& /*options*/) const override { return origin_.names; }
  detail::CapturedForm form(const void* /*like*/) const override { return origin_.form; }
  bool trusted() const override { return false; }

 private:
  /// That of the symbols in the arguments; null if there are none.
  static sym::Environment* environment(std::span<const Tensor> tensors) {
    SymInt symbol = 0;
    const auto look = [&](SymInt n) {
      if (n.is_symbolic()) symbol = n;
    };
    for (const Tensor& tensor : tensors) {
      NodePtr node = Access::node(tensor);
      for (;;) {
        for (const SymInt n : node->shape) look(n);
        if (const auto* ranges = std::get_if<std::shared_ptr<const Ranges>>(&node->arg))
          for (const Range& range : **ranges) look(range.lo);
        const graph::Node::Sources below = node->lazy_sources();
        if (below.empty()) break;
        node = below[0];
      }
    }
    return symbol.is_symbolic() ? &sym::environment_of(symbol.node()) : nullptr;
  }

  void set_environment(sym::Environment* symbols) const {
    symbols_ = symbols;
    reader_.set_environment(symbols);
  }

  void replay_statements() const {
    ByteReader& bytes = reader_.bytes();
    for (std::size_t n = bytes.count(5); n > 0; --n) {
      const sym::Expr stated = reader_.condition();
      sym::Environment& environment = sym::environment_of(stated);
      if (std::ranges::find(environment.constraints, stated) != environment.constraints.end()) continue;
      environment.knowledge.learn(stated);
      environment.constraints.push_back(stated);
    }
    for (std::size_t n = bytes.count(21); n > 0; --n) {
      const sym::Expr condition = reader_.condition();
      const Site site = reader_.site();
      sym::Environment& environment = sym::environment_of(condition);
      const std::size_t before = environment.deferred.size();
      environment.expect(condition, site, reader_.name());
      // A statement without a line would take that of the load.
      if (environment.deferred.size() > before) environment.deferred.back().site = site;
    }
  }

  /// Positions that each call finds by a mask, or an element that it reads. Their number, or it, is the next symbol.
  NodePtr read_late(const std::vector<NodePtr>& nodes) const {
    NodePtr value = read_node(nodes);
    const Site site = reader_.site();
    const bool element = reader_.bytes().flag();
    if (value->dtype != (element ? DType::int64 : DType::bool_) || (element && !value->shape.empty()))
      reader_.bytes().fail("is damaged: a value of another kind gives positions or an element");
    SymInt symbol;
    if (element) {
      symbol = runtime::Trace::unbacked()->element(value, value, site);  // read as a number: no node names its place
    } else {
      value = runtime::Trace::unbacked()->positions(std::move(value), site);
      symbol = value->shape[0];
    }
    if (symbols_ == nullptr) set_environment(&sym::environment_of(symbol.node()));
    return value;
  }

  void replay_guards() const {
    ByteReader& bytes = reader_.bytes();
    for (std::size_t n = bytes.count(17); n > 0; --n) {
      const sym::Expr condition = reader_.condition();
      const Site site = reader_.site();
      sym::Environment& environment = sym::environment_of(condition);
      const std::vector<sym::Environment::Guard>& guards = environment.guards.all();
      const sym::Expr last = guards.empty() ? nullptr : guards.back().condition;
      if (!environment.truth(condition, site)) bytes.fail("is damaged: the sizes of the traced call break a guard");
      // A guard without a line would take that of the load.
      if (!guards.empty() && guards.back().condition != last) environment.guards.set_last_site(site);
    }
  }

  mem::BufferPtr read_buffer() const {
    const Device device = reader_.device();
    const std::string_view bytes = reader_.bytes().text();
    const auto allocator = backend::backend_for(device).allocator();
    auto buffer = std::make_shared<mem::Buffer>(allocator, bytes.size());
    if (!bytes.empty()) allocator->write(buffer->data(), bytes.data(), bytes.size());
    return buffer;
  }

  NodePtr read_constant(const std::vector<mem::BufferPtr>& buffers) const {
    ByteReader& bytes = reader_.bytes();
    const mem::BufferPtr& buffer = buffers[bytes.below(buffers.size(), "a buffer")];
    const graph::RealizedKind kind = reader_.realized_kind();
    const SymInt size = numel(kind.shape) * static_cast<std::int64_t>(itemsize(kind.dtype));
    if (size.value() > static_cast<std::int64_t>(buffer->bytes()))
      bytes.fail("is damaged: a constant has more elements than its memory");
    return graph::realized_node(kind, buffer);
  }

  std::vector<NodePtr> read_nodes(const std::vector<CellPtr>& storages, std::span<const Tensor> numbers) const {
    ByteReader& bytes = reader_.bytes();
    std::vector<mem::BufferPtr> buffers;
    for (std::size_t n = bytes.count(12); n > 0; --n) buffers.push_back(read_buffer());
    std::vector<NodePtr> nodes;
    for (std::size_t n = bytes.count(5); n > 0; --n) {
      switch (static_cast<SavedNode>(bytes.u8_below(static_cast<std::size_t>(SavedNode::count), "a kind of node"))) {
        case SavedNode::input:
          nodes.push_back(storages[bytes.below(storages.size(), "an input")]->node());
          break;
        case SavedNode::number:
          nodes.push_back(Access::cell(numbers[bytes.below(numbers.size(), "a number")]).node());
          break;
        case SavedNode::constant:
          nodes.push_back(read_constant(buffers));
          break;
        case SavedNode::unbacked:
          nodes.push_back(read_late(nodes));
          break;
        default:
          nodes.push_back(NodeReader(reader_).node(nodes));
      }
    }
    return nodes;
  }

  /// The checks of positions that no other node reads: each call does them all the same.
  static std::vector<NodePtr> unread_checks(const std::vector<NodePtr>& nodes) {
    const auto checks = [](const graph::Node& n) {
      return !n.realized() && graph::is_host(n.op) && graph::only_checks(*std::get<graph::HostFunctionPtr>(n.arg));
    };
    std::set<const graph::Node*> read;
    for (const NodePtr& node : nodes)
      for (const NodePtr& source : node->lazy_sources()) read.insert(source.get());
    std::vector<NodePtr> unread;
    for (const NodePtr& node : nodes)
      if (checks(*node) && !read.contains(node.get())) unread.push_back(node);
    return unread;
  }

  static void check_contents(const std::vector<NodePtr>& contents, const std::vector<CellPtr>& fresh,
                             std::vector<NodePtr> roots) {
    for (const NodePtr& node : contents)
      if (node) roots.push_back(node);
    for (const CellPtr& cell : fresh) roots.push_back(cell->node());
    check_loaded(roots);
  }

  const NodePtr& read_node(const std::vector<NodePtr>& nodes) const {
    return nodes[reader_.bytes().below(nodes.size(), "a node")];
  }

  /// The new contents of each storage; null where there are none.
  std::vector<NodePtr> read_writes(const std::vector<CellPtr>& storages, const std::vector<NodePtr>& nodes) const {
    ByteReader& bytes = reader_.bytes();
    std::vector<NodePtr> contents(storages.size());
    for (std::size_t n = bytes.count(8); n > 0; --n) {
      const std::uint32_t k = bytes.below(storages.size(), "a storage");
      const NodePtr& node = read_node(nodes);
      const Cell& storage = *storages[k];
      if (node->dtype != storage.dtype() || node->device != storage.device() ||
          !graph::known_same(node->shape, storage.shape()))
        bytes.fail("is damaged: a write changes the kind of its argument");
      contents[k] = node;
    }
    return contents;
  }

  std::vector<CellPtr> read_fresh(const std::vector<NodePtr>& nodes) const {
    std::vector<CellPtr> fresh;
    for (std::size_t n = reader_.bytes().count(4); n > 0; --n) fresh.push_back(Cell::make_storage(read_node(nodes)));
    return fresh;
  }

  void read_results(std::span<const Tensor> tensors, const std::vector<CellPtr>& storages,
                    const std::vector<CellPtr>& fresh, detail::CapturedResults& results) const {
    ByteReader& bytes = reader_.bytes();
    for (std::size_t n = bytes.count(9); n > 0; --n) {
      const auto kind = static_cast<CapturedResult::Kind>(bytes.u8_below(3, "a kind of result"));
      CellPtr cell;
      if (kind == CapturedResult::Kind::argument) {
        cell = CellPtr(&Access::cell(tensors[bytes.below(tensors.size(), "an argument")]));
      } else {
        const std::vector<CellPtr>& from = kind == CapturedResult::Kind::input ? storages : fresh;
        cell = from[bytes.below(from.size(), "a storage")];
      }
      std::vector<NodePtr> movements = NodeReader(reader_).movements(cell->shape());
      if (symbols_ == nullptr) check_loaded(movements);
      if (!movements.empty()) cell = Cell::make_view(std::move(cell), moved_by(std::move(movements)));
      results.tensors.push_back(Access::naming(std::move(cell)));
    }
  }

  SavedReader& reader_;
  const CapturedOrigin& origin_;
  const detail::SavedSignature& signature_;
  mutable sym::Environment* symbols_ = nullptr;  // null as long as all sizes are numbers
};

/// Schedules the sets of sizes that the saved function has met.
void prepare_sizes(ByteReader& bytes, const CapturedEntry& entry) {
  std::vector<std::size_t> facts;
  for (std::size_t n = bytes.count(4); n > 0; --n) facts.push_back(bytes.below(entry.facts, "a fact"));
  const std::uint32_t sets = bytes.u32();
  if (sets > kMostSavedSizes) bytes.fail("is damaged: it has too many sets of sizes");
  for (std::uint32_t k = 0; k < sets; ++k) {
    CallKey at = entry.traced;
    for (const std::size_t fact : facts) at[fact] = bytes.i64();
    if (entry.symbolic() && entry.holds(at)) static_cast<void>(entry.stages.front().plan({at.data(), at.size()}, {}));
  }
}

std::unique_ptr<CapturedEntry> decode_entry(const SavedEntry& saved, const std::string& path,
                                            const detail::SavedSignature& signature, const LoadOptions& options,
                                            Site site) {
  by_use::operations();
  ByteReader bytes(saved.bytes, path);
  SavedReader reader(bytes, options);
  auto origin = std::make_unique<CapturedOrigin>(OriginReader(reader).read());
  origin->form.arguments = saved.arguments;
  origin->form.result = saved.result;
  const OriginCall call(*origin, signature.signature);
  std::vector<FactName> about = name_facts(call.arguments, call.inputs, origin->names);
  if (about.size() != call.key.size()) bytes.fail("is damaged: the arguments have other parts than names");
  origin->choices = read_choices(reader, about);
  const ReplayTracer tracer(reader, *origin, signature);
  auto entry = trace(call.arguments, call.inputs, call.key, std::move(about), origin->choices, tracer, site);
  entry->inputs = describe_inputs(call.arguments, call.inputs, origin->names, [&](std::size_t tensor) {
    return entry->shapes.empty() ? nullptr : &entry->shapes[tensor];
  });
  entry->origin = std::move(origin);
  prepare_sizes(bytes, *entry);
  if (!bytes.at_end()) bytes.fail("is damaged: an entry has bytes behind its end");
  return entry;
}

}  // namespace

std::vector<SavedEntry> split_entries(ByteReader& reader) {
  std::vector<SavedEntry> out;
  for (std::size_t n = reader.count(8); n > 0; --n) {
    const std::string_view whole = reader.text();
    ByteReader bytes(whole, reader.path());
    SavedEntry& entry = out.emplace_back();
    entry.arguments = bytes.text();
    entry.result = bytes.text();
    entry.bytes = whole.substr(16 + entry.arguments.size() + entry.result.size());
  }
  if (!reader.at_end()) reader.fail("is damaged: it has bytes behind its entries");
  return out;
}

std::unique_ptr<CapturedEntry> load_entry(const SavedEntry& saved, const std::string& path,
                                          const detail::SavedSignature& signature, const LoadOptions& options,
                                          Site site) {
  try {
    return decode_entry(saved, path, signature, options, site);
  } catch (const IoError&) {
    throw;
  } catch (const DeviceError&) {
    throw;
  } catch (const ArgumentError& error) {
    if (error.operation() == "load_function") throw;
    throw IoError("load_function", fmt::format("\"{}\" is damaged: {}", base::escaped(path), error.message()));
  } catch (const Error& error) {
    throw IoError("load_function", fmt::format("\"{}\" is damaged: {}", base::escaped(path), error.message()));
  } catch (const std::bad_alloc&) {
    throw MemoryError("load_function", fmt::format("no memory to load \"{}\"", base::escaped(path)));
  } catch (const std::length_error&) {
    throw MemoryError("load_function", fmt::format("no memory to load \"{}\"", base::escaped(path)));
  } catch (const std::exception& error) {
    throw IoError("load_function", fmt::format("\"{}\" is damaged: {}", base::escaped(path), error.what()));
  }
}

}  // namespace oriel::api
