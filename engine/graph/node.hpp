// A node of the lazy graph. It is immutable, except for the slot that holds its realised buffer, which is set once.
#pragma once

#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "graph/host_function.hpp"
#include "graph/op.hpp"
#include "graph/scalar.hpp"
#include "memory/buffer.hpp"
#include "oriel/device.hpp"
#include "oriel/dtype.hpp"
#include "oriel/inline_vector.hpp"
#include "oriel/layout.hpp"
#include "oriel/shape.hpp"
#include "oriel/site.hpp"
#include "oriel/view.hpp"

namespace oriel::graph {

struct Node;
using NodePtr = boost::intrusive_ptr<const Node>;

using oriel::Site;

/// What the factors of a recurrence are: the second number of its argument.
enum class Recursion : std::uint8_t {
  factors,   // one for each element
  number,    // one for all
  restarts,  // one for each element; 0 forgets what was before
};

/// What the derivatives of Max and Min are where the sources are equal.
enum class Tie : std::uint8_t {
  even,   // each source has half
  first,  // the first one has all: the second is a bound of a range that includes it (clamp)
  none,   // none has anything: the bound is outside of the range (relu)
};

/// What follows about a node's layout from its op and the classes of its sources.
enum class LayoutClass : std::uint8_t {
  RowMajor,  // it is row-major
  Ordered,   // has strides of 0, gaps or negative steps, but in row-major order: results computed from it are row-major
  Any,       // computed by graph/layout.hpp
};

/// A layout that is not simply row-major, once it is computed.
struct FoundLayout {
  Layout layout;  // the layout that a user sees
  Ints memory;    // the dense strides of the elements where the node is stored; empty for row-major
};

/// A value that is set once, by the first thread that sets it. Thread safety: any thread.
template <class T>
class SetOnce {
 public:
  SetOnce() = default;
  ~SetOnce() { delete get(); }
  SetOnce(const SetOnce&) = delete;
  SetOnce& operator=(const SetOnce&) = delete;

  /// Null until the value is set.
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
  /// Replaces the value. Allowed only while no other thread knows the object.
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
/// One element for each axis of the result.
using AxisStrides = std::vector<AxisStride>;

/// What a Mark says of its source. Who made it knows its type (grad/mark.hpp).
class Tag {
 public:
  virtual ~Tag() = default;
  /// The Mark has been realised: moves the nodes that the tag holds to `dropped`, whose release may run user code.
  virtual void release(std::vector<NodePtr>& dropped) const = 0;
};
using TagPtr = std::shared_ptr<const Tag>;

/// What an op needs besides its sources:
///   Const: Scalar, or {n} for the number of a symbolic size · Buffer: BufferPtr · Permute: order · Flip: axes ·
///   Shrink: Ranges · Pad: {before, after} as Ranges · Format: {MemoryFormat}, preserve with strides · RawView: the
///   view, over the source's row-major elements · Assign: where the second source's elements go among the first's
///   row-major elements, null for a write of all · reductions: axes, ascending · HostCall: the function · Mark: its
///   tag · all others: nothing (Reshape, Expand, Cast and Bitcast are defined by the node's shape and dtype).
using Arg = std::variant<std::monostate, Scalar, Ints, std::shared_ptr<const Ranges>, std::shared_ptr<const View>,
                         mem::BufferPtr, std::shared_ptr<const ShapeTracker>, HostFunctionPtr, TagPtr>;

/// Reductions keep their axes with extent 1; dropping them is a Reshape. Elementwise sources have exactly the node's
/// shape (broadcasting is an Expand) and equal dtypes (promotion is a Cast; Where's condition is bool). A Gather has
/// its second source's shape. All sources of a node are on its device, except the source of a Copy. A Const has the
/// node's shape and no source. Movements of a Const fold at the call, except a Pad of a non-zero Const.
struct Node {
  Op op = Op::Const;
  DType dtype = DType::float32;
  Device device;            // Const and Iota go to the device that reads them
  std::uint32_t depth = 0;  // the longest chain of unrealised nodes that ends with this one
  Shape shape;
  /// Dropped when the node is realised. Only work that has claimed the node reads this directly (or the thread that
  /// makes the node); everyone else calls lazy_sources() or one of its relatives.
  mutable InlineVector<NodePtr, 3> sources;
  Arg arg;
  std::uint64_t hash = 0;  // of op, dtype, shape, arg and the sources' hashes; a buffer counts by identity and version
  /// An upper bound on the bytes that this node keeps alive, from when it was built or last counted: of leaves, and of
  /// pending values below it, which may be kept in memory. A count may happen while other threads build on the node.
  mutable std::atomic<std::int64_t> held_bytes{0};
  /// When counting again may give another answer (graph/walk.hpp). A new node takes the values of the pending
  /// source that holds most.
  mutable std::atomic<std::int64_t> recount_at_check{0};
  mutable std::atomic<std::int64_t> recount_at_bytes{0};
  Site site = Site::unknown();
  LayoutClass layout_class = LayoutClass::RowMajor;
  bool mirrored = false;     // of Lt and Le: written as > or >=, so the second source is the left operand
  Tie tie = Tie::even;       // of Max and Min
  bool broadcast = false;    // made by broadcasting: for its reader's layout the operand below counts
  bool over_memory = false;  // of an Assign: its chain of targets ends at a buffer

  /// For a movement whose op alone does not determine its strides: how they follow from the source's. They matter only
  /// on axes of extent 1. Set when the node is made.
  std::shared_ptr<const AxisStrides> axis_strides;
  /// Null until somebody asks. Set before a node that is not row-major is realised. A Const that is a tensor has one
  /// from the start; a Const that is a number has none.
  SetOnce<FoundLayout> found;

  /// The realised elements in the order that `found` states; null until realised. Set once by work that has claimed the
  /// node. May be read freely after `realized()` has returned true.
  mutable mem::BufferPtr buffer;
  mutable std::uint64_t version = 0;  // of the buffer when the node's elements were written
  mutable std::atomic<bool> has_buffer{false};
  bool realized() const noexcept { return has_buffer.load(std::memory_order_acquire); }
  using Sources = InlineVector<NodePtr, 3>;
  /// Sets the slot and moves the sources to `dropped`, because releasing the last reference may run user code. Only for
  /// work that has claimed the node.
  void set_realized(mem::BufferPtr realised, std::vector<NodePtr>& dropped) const;
  /// The sources, with references; none if the node is realised or sealed. Safe while another thread realises this
  /// node.
  Sources lazy_sources() const;
  /// The same, but also for a sealed node. For callers that look only at shapes and layouts and read no elements.
  Sources sources_to_look_at() const;

  /// The same, into `out`, for work that shares a node that other work has claimed. Returns false if the node is
  /// sealed.
  bool sources_to_share(Sources& out) const;

  /// A sealed node hands out no sources: whoever received one now could read memory that the work overwrites. Only for
  /// work that has claimed the node.
  void seal(bool on) const;

  /// The number of the work (base/activity.hpp) that has claimed this node. As long as that work is under way, only it
  /// reads `sources` directly, and only it may realise the node.
  mutable std::atomic<std::uint64_t> claim{0};
  mutable std::int32_t number = -1;  // the node's place in that work's graph::Order; scratch of that work

  /// How often the elements were computed by work that did not store them, while something outside that work could
  /// still ask for them: 1 for all of them once, less for a part. From runtime::kStoredFrom on, the next work that
  /// needs the value stores it (runtime/keep.hpp). Set by work that has claimed the node.
  mutable std::atomic<float> evaluated{0};

  mutable bool sealed = false;  // guarded by the node's spin lock, like dropping and copying `sources`
  mutable std::atomic<std::uint32_t> references{0};
};

void intrusive_ptr_add_ref(const Node* node) noexcept;
/// Frees a graph iteratively: a chain of a million nodes needs no deep stack.
void intrusive_ptr_release(const Node* node) noexcept;

}  // namespace oriel::graph
