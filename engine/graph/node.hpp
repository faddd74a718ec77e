// A node of the lazy graph: immutable, but for the set-once slot that holds its realised buffer.
#pragma once

#include <atomic>
#include <boost/container/small_vector.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "graph/op.hpp"
#include "graph/scalar.hpp"
#include "memory/buffer.hpp"
#include "oriel/device.hpp"
#include "oriel/dtype.hpp"
#include "oriel/layout.hpp"
#include "oriel/shape.hpp"
#include "oriel/site.hpp"
#include "oriel/view.hpp"

namespace oriel::graph {

struct Node;
using NodePtr = boost::intrusive_ptr<const Node>;

using oriel::Site;

/// What is known of a node's layout from its op and its sources' classes alone.
enum class LayoutClass : std::uint8_t {
  RowMajor,  // it is row-major
  Ordered,   // strides of 0, gaps and steps backwards, but in row-major order: what is computed from it is row-major
  Any,       // found by graph/layout.hpp
};

/// A layout that is not just row-major, once found.
struct FoundLayout {
  Layout layout;  // what a user sees
  Ints memory;    // the strides of the elements where the node is stored: dense; empty for row-major
};

/// A value that is put there once, by whichever thread comes first, and then stays. Thread safety: any thread.
template <class T>
class SetOnce {
 public:
  SetOnce() = default;
  ~SetOnce() { delete get(); }
  SetOnce(const SetOnce&) = delete;
  SetOnce& operator=(const SetOnce&) = delete;

  /// Null until it is there.
  const T* get() const noexcept { return value_.load(std::memory_order_acquire); }
  explicit operator bool() const noexcept { return get() != nullptr; }
  const T* operator->() const noexcept { return get(); }
  /// `value`, unless there is one already. Returns what is there.
  const T& set(T value) const {
    const T* const mine = new T(std::move(value));
    const T* there = nullptr;
    if (value_.compare_exchange_strong(there, mine, std::memory_order_acq_rel)) return *mine;
    delete mine;
    return *there;
  }
  /// Puts `value` in the place of what is there. Only while no other thread knows the object.
  void replace(T value) { delete value_.exchange(new T(std::move(value)), std::memory_order_acq_rel); }

 private:
  mutable std::atomic<const T*> value_{nullptr};
};

/// How one axis's stride follows from the source's: constant + the sum of factor times the stride of an axis.
struct AxisStride {
  struct Term {
    std::size_t axis = 0;
    SymInt factor = 1;
  };
  SymInt constant = 0;
  InlineVector<Term, 2> terms;
};
/// One an axis of the result.
using AxisStrides = std::vector<AxisStride>;

/// What an op needs beside its sources:
///   Const: Scalar, or {n} for the number of a symbolic size · Buffer: BufferPtr · Permute: order · Flip: axes ·
///   Shrink: Ranges · Pad: {before, after} as Ranges · Format: {MemoryFormat}, preserve with strides · RawView: the
///   view, over the source's row-major elements · Assign: where the second source's elements go among the first's
///   row-major ones, nothing for a write of all · reductions: axes, ascending · all others: nothing (Reshape, Expand,
///   Cast and Bitcast are told by the node's shape and dtype).
using Arg = std::variant<std::monostate, Scalar, Ints, std::shared_ptr<const Ranges>, std::shared_ptr<const View>,
                         mem::BufferPtr, std::shared_ptr<const ShapeTracker>>;

/// Reductions keep their axes with extent 1; dropping them is a Reshape. Elementwise sources have the node's shape
/// exactly (broadcasting is an Expand) and equal dtypes (promotion is a Cast; Where's condition is bool). A Gather has
/// its second source's shape. All sources of a node are on its device, but a Copy's. Const has the
/// node's shape and no source. Movements of a Const fold at the call, but for Pad of a non-zero one.
struct Node {
  Op op = Op::Const;
  DType dtype = DType::float32;
  Device device;            // Const and Iota follow their consumers
  std::uint32_t depth = 0;  // longest chain of unrealised nodes below and with this one
  Shape shape;
  /// Dropped once realised. Read directly only by work that has claimed the node (or for a node that no other thread
  /// knows); elsewhere through lazy_sources() and its kin.
  mutable boost::container::small_vector<NodePtr, 3> sources;
  Arg arg;
  std::uint64_t hash = 0;  // of op, dtype, shape, arg and the sources' hashes; a buffer counts by identity and version
  /// Upper bound on the leaf bytes that this node keeps alive, as of when it was built or last counted. A count may
  /// come while other threads build upon the node.
  mutable std::atomic<std::int64_t> held_bytes{0};
  /// When counting again may give another answer (graph/held_bytes.hpp); of the sources' values the latest.
  mutable std::atomic<std::int64_t> recount_at_check{0};
  mutable std::atomic<std::int64_t> recount_at_bytes{0};
  Site site = Site::unknown();
  LayoutClass layout_class = LayoutClass::RowMajor;
  bool mirrored = false;     // of Lt and Le: written as > or >=, so that the second source is the left operand
  bool broadcast = false;    // made to meet another operand: in its reader's layout the operand below counts
  bool over_memory = false;  // of an Assign: there is a buffer below it, by way of the targets of writes

  /// Of a movement whose strides its op alone does not tell: those of axes of extent 1. Set when the node is made.
  std::shared_ptr<const AxisStrides> axis_strides;
  /// Empty until somebody asks; there before a node that is not row-major is realised. A Const has one from the start
  /// if it is a tensor; a number has none.
  SetOnce<FoundLayout> found;

  /// The realised elements, in the order that `found` says; null until realised. Set once, by work that has claimed the
  /// node; read freely after `realized()` has said true.
  mutable mem::BufferPtr buffer;
  mutable std::uint64_t version = 0;  // of the buffer, as this node knows its elements
  mutable std::atomic<bool> has_buffer{false};
  bool realized() const noexcept { return has_buffer.load(std::memory_order_acquire); }
  using Sources = boost::container::small_vector<NodePtr, 3>;
  /// Sets the slot and drops the sources: into `dropped`, because letting go of the last of them may run a user's
  /// code. Only by work that has claimed the node.
  void set_realized(mem::BufferPtr realised, std::vector<NodePtr>& dropped) const;
  /// The sources, held; none once realised or sealed. Safe while another thread realises this node.
  Sources lazy_sources() const;
  /// The same of a sealed node too: for whoever looks at shapes and layouts and reads no elements.
  Sources sources_to_look_at() const;

  /// The same, into `out`, for work that shares a node which other work has claimed; false where it is sealed.
  bool sources_to_share(Sources& out) const;

  /// While a node is sealed it hands out no sources: who got one now could read what the work overwrites. Only by work
  /// that has claimed the node.
  void seal(bool on) const;

  /// The number of the work (base/activity.hpp) that has claimed this node, while that is under way: only that work
  /// reads `sources` directly, and only it may realise the node.
  mutable std::atomic<std::uint64_t> claim{0};
  mutable std::int32_t number = -1;  // where the node stands in that work's graph::Order; its scratch

  mutable bool sealed = false;  // guarded, as dropping and copying `sources`, by the node's spin lock
  mutable std::atomic<std::uint32_t> references{0};
};

void intrusive_ptr_add_ref(const Node* node) noexcept;
/// Frees iteratively: a chain of a million nodes needs no deep stack.
void intrusive_ptr_release(const Node* node) noexcept;

}  // namespace oriel::graph
