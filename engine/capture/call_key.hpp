// The key of a call of a captured function: its arguments as a flat list of integers. Each is a fact, which a guard may
// check.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formula/cell.hpp"
#include "oriel/captured.hpp"
#include "oriel/inline_vector.hpp"

namespace oriel::api {

/// The storages that the tensors of a call name, each once, in order of appearance. All are in memory.
struct CapturedInputs {
  struct Storage {
    detail::Cell* cell = nullptr;
    graph::NodePtr node;  // its elements
  };
  InlineVector<Storage, 8> storages;
  InlineVector<std::int64_t, 8> storage_of;  // by tensor: index of its storage
};

/// The key by which a call finds its entry: one integer for each fact, which guards compare. The place of a fact
/// depends only on earlier facts: calls that agree on all facts before it have it in the same place.
using CallKey = InlineVector<std::int64_t, 96>;
/// The places of the facts that every call starts with.
enum SettingFact : std::size_t { kSignatureFact, kDefaultDeviceFact, kRulesFact, kBoundsFact };

/// The context in which a call works: that of its first tensor, else the thread's current one.
std::uint16_t context_of(const detail::CapturedArguments& arguments);

/// Gathers storages and the key. Realises pending storages. Throws what realize throws.
void gather(const detail::CapturedArguments& arguments, CapturedInputs& inputs, CallKey& key);

/// What a fact is about.
struct FactName {
  /// These may become symbols: size: of an axis of a storage in row-major order; extent: of an axis of a view; place:
  /// where a slice starts.
  enum class Kind : std::uint8_t {
    opaque,
    integer,
    floating,
    dtype,
    device,
    storage,
    order,
    size,
    extent,
    place,
  } kind = Kind::opaque;
  std::string subject;     // for example "x.size(0)"
  std::size_t tensor = 0;  // for a size: the tensor of the call
  std::size_t axis = 0;    // for a size: its axis
  bool may_be_symbol() const noexcept { return kind == Kind::size || kind == Kind::extent || kind == Kind::place; }
  /// "x.size(0) == 3"
  std::string guard(std::int64_t value) const;
  std::string text(std::int64_t value) const;
};
/// The names of the facts of a call, in order.
std::vector<FactName> name_facts(const detail::CapturedArguments& arguments, const CapturedInputs& inputs,
                                 const detail::CapturedNames& names);
class SizeSymbols;
/// For each tensor of the call: the movements that make it from its storage, with symbols for sizes, over other nodes
/// for the storages; the first one first. That a reshape keeps the number of elements becomes a guard.
std::vector<std::vector<graph::NodePtr>> symbolic_views(const detail::CapturedArguments& arguments,
                                                        const CapturedInputs& inputs, const SizeSymbols& symbols,
                                                        std::span<const graph::NodePtr> storages);
/// A line for each argument: "x: float32 (3, 4) on eigen". `symbolic` gives the shape of a tensor with symbols, or
/// null.
std::vector<std::string> describe_inputs(const detail::CapturedArguments& arguments, const CapturedInputs& inputs,
                                         const detail::CapturedNames& names,
                                         const std::function<const Shape*(std::size_t tensor)>& symbolic);

using Movements = InlineVector<graph::NodePtr, 4>;
/// The movements from `bottom` up to `node`, outermost first. False if they do not lead there: one of the nodes has no
/// sources any more, or was folded.
bool find_movements(graph::NodePtr node, const graph::Node* bottom, Movements& out);

}  // namespace oriel::api
