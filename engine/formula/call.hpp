// Shared by the bodies of the public functions: a Call, which builds nodes on behalf of one call of a public function.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "formula/cell.hpp"
#include "graph/build.hpp"
#include "oriel/layout.hpp"
#include "oriel/tensor.hpp"
#include "runtime/trace.hpp"

namespace oriel::detail {

/// Access to the private parts of Tensor and Operand.
struct Access {
  /// The node of the tensor's present elements.
  static graph::NodePtr node(const Tensor& tensor) {
    if (runtime::tracing()) tensor.cell_->check_traced("function");
    return tensor.cell_->node();
  }
  static std::vector<graph::NodePtr> nodes(std::span<const Tensor> tensors) {
    std::vector<graph::NodePtr> nodes;
    nodes.reserve(tensors.size());
    for (const Tensor& tensor : tensors) nodes.push_back(node(tensor));
    return nodes;
  }
  /// As Tensor::adopt and Tensor::from, for elements of a dtype that the program does not name.
  static Tensor adopted(DType dtype, void* data, const Shape& shape, Callback<void(void*)> deleter,
                        const char* operation, Site site) {
    return Tensor::wrap(dtype, data, shape, std::move(deleter), operation, site);
  }
  static Tensor copied(DType dtype, const void* data, const Shape& shape, Site site) {
    return Tensor::copy(dtype, data, shape, site);
  }
  /// A tensor whose elements are numbers that the function was called with.
  static Tensor of_numbers(const Tensor& elements) {
    elements.cell_->node()->buffer->mark_numbers();
    return elements;
  }
  /// What the tensor names.
  static Cell& cell(const Tensor& tensor) noexcept { return *tensor.cell_; }
  /// A tensor that names this.
  static Tensor naming(CellPtr cell) noexcept { return Tensor(cell.detach()); }
  /// A tensor with a storage of its own that holds these elements. Realises the node first if it exceeds the lazy
  /// limits.
  static Tensor tensor(graph::NodePtr node);
  /// A view of the operand: `path` applied to it. For a number, a tensor with a storage of its own.
  static Tensor view(const Operand& x, graph::NodePtr number, Path path);
  /// Writes `value`, cast and broadcast, into the storage that the tensor names. The caller must not hold what the
  /// value reads, so that it can be overwritten in place.
  static void write(Tensor& tensor, graph::NodePtr value, const graph::Origin& origin);

  /// The layout as Tensor::layout shows it.
  static Layout layout(const graph::Node& node);
  /// The elements in row-major order, in memory of the host. Realises the tensor. Throws as Tensor::data does.
  static Shared<const void> elements(const Tensor& tensor, const char* operation) {
    return tensor.hold(tensor.dtype(), operation);
  }

  /// The expression's value `tensor` is written. Throws ArgumentError if nothing else names its storage, so that the
  /// write would be lost.
  static void check_shows_writes(const Tensor& tensor, std::string_view operation);

  static const Tensor* tensor(const Operand& x) noexcept { return x.tensor_; }
  static Site site(const Operand& x) noexcept { return x.site_; }
  /// Is the operand an expression over symbols?
  static bool is_symbolic(const Operand& x) noexcept { return x.kind_ == Operand::Kind::Size; }
  /// An operand that is an integer, as a size; symbolic sizes stay symbolic. Throws as number() does.
  static SymInt size(const Operand& x, std::string_view operation);
  /// The operand's number in `dtype`. The value of a symbolic size is guarded. Throws ArgumentError if it is an integer
  /// that an integer dtype cannot hold.
  static graph::Scalar number(const Operand& x, DType dtype, std::string_view operation);
  /// The value of a number; NaN for a tensor.
  static double value(const Operand& x) noexcept;
  /// The default dtype of a number: bool, int64 or float32.
  static DType default_dtype(const Operand& x) noexcept;
  /// The number as text: "3", "0.5", "true".
  static std::string text(const Operand& x);
};

}  // namespace oriel::detail

namespace oriel::api {

using detail::Access;
using graph::NodePtr;
using graph::Op;

/// The dtype to which operands are promoted. It is that of the tensors with axes. A tensor without axes raises it if
/// its category (bool, integer, float) is higher, and so does a number after that.
DType common_dtype(std::initializer_list<const Operand*> operands);
/// The dtype of x after `x op= y`, which is that of x (`target`); x op y has dtype `result`. Throws DTypeError unless
/// can_cast(result, target).
DType in_place_dtype(DType target, DType result, std::string_view operation);
/// `value` as it is written into elements of `dtype`: cast, not broadcast. Throws DTypeError for a tensor that can_cast
/// refuses, ArgumentError for a number that an integer dtype or bool does not hold.
NodePtr written_value(const class Call& call, const Operand& value, DType dtype, Device device);
/// float32 for integers and bool, itself for floats.
DType floating_dtype(DType dtype) noexcept;
/// The dtype in which compositions and sums of floats are computed: float64 for float64, float32 for all others.
DType wide_dtype(DType dtype) noexcept;

/// 0 for bool, 1 for integers, 2 for floats.
int category(DType dtype) noexcept;

/// The position of a new axis in a tensor of `rank` axes. A negative axis counts from the end of the result. Throws
/// ShapeError if it is out of range.
std::size_t new_axis(const class Call& call, std::int64_t axis, std::size_t rank);

/// The ranges [0, extent) of all axes.
Ranges whole(const Shape& shape);

/// One call of a public function. It builds nodes that carry the function's name and the line of the program, also
/// where another public function of the library made the call. Elementwise members broadcast. Members that take nodes
/// expect them in one dtype; members that take Operands promote them.
class Call {
 public:
  Call(std::string_view operation, Site site) : origin_{operation, site} {
    scope_.emplace(site);
    if (const Site line = detail::CallSite::current(); line.file != nullptr) origin_.site = line;
  }
  Call(std::string_view operation, const Operand& x) : Call(operation, Access::site(x)) {}

  /// For paths, which are stored and applied later: errors then name the line of the later call.
  Call(const Call& other) : origin_(other.origin_) {}
  Call& operator=(const Call&) = delete;

  /// The same call for another line: of a node that was made for one which that line made.
  Call at(Site site) const {
    Call other(*this);
    other.origin_.site = site;
    return other;
  }

  const graph::Origin& origin() const noexcept { return origin_; }
  std::string_view operation() const noexcept { return origin_.operation; }

  /// A view of x: `path`, a function from node to node, applied to it.
  template <class F>
  Tensor view(const Operand& x, F&& path) const {
    return Access::view(x, Access::tensor(x) != nullptr ? nullptr : node(x), std::forward<F>(path));
  }
  /// The node of a tensor. A number becomes a node without axes in its default dtype.
  NodePtr node(const Operand& x) const;
  /// The number, expanded to `shape`. Symbolic sizes stay symbolic in int64 and in floats.
  NodePtr number(const Operand& x, DType dtype, const Shape& shape, Device device) const;
  /// The operand cast to `dtype`; a number is expanded to `shape`.
  NodePtr node(const Operand& x, DType dtype, const Shape& shape, Device device) const;
  /// Both operands promoted to one dtype, which is a float if `floats` is set, and broadcast to one shape.
  std::pair<NodePtr, NodePtr> meet(const Operand& a, const Operand& b, bool floats = false) const;

  NodePtr cast(NodePtr x, DType dtype) const { return graph::cast(std::move(x), dtype, origin_); }
  NodePtr unary(graph::UsedOp op, NodePtr x) const { return graph::unary(op, std::move(x), origin_); }
  NodePtr binary(graph::UsedOp op, NodePtr a, NodePtr b) const;
  /// x op value, with the number in the dtype of x.
  NodePtr binary(graph::UsedOp op, NodePtr x, double value) const;
  /// The same with a size as the number.
  NodePtr binary(graph::UsedOp op, NodePtr x, SymInt size) const;
  NodePtr where(NodePtr c, NodePtr x, NodePtr y) const;
  /// `value` in the dtype and shape of `x`.
  NodePtr like(const NodePtr& x, double value) const;
  NodePtr to_bool(NodePtr x) const { return cast(std::move(x), DType::bool_); }

  NodePtr reshape(NodePtr x, const Shape& shape) const { return graph::reshape(std::move(x), shape, origin_); }
  NodePtr broadcast(NodePtr x, const Shape& shape) const { return graph::broadcast_to(std::move(x), shape, origin_); }
  NodePtr permute(NodePtr x, const Ints& order) const { return graph::permute(std::move(x), order, origin_); }
  NodePtr shrink(NodePtr x, const Ranges& ranges) const { return graph::shrink(std::move(x), ranges, origin_); }

  /// x padded with `value`, which has the dtype of x.
  NodePtr pad(const NodePtr& x, const Ranges& before_after, const graph::Scalar& value) const;
  /// A bool node of the padded shape: true inside the original shape, false in the padding.
  NodePtr inside(const Shape& shape, Device device, const Ranges& before_after) const;

  /// x with the strides of a new tensor like `like` (Layout::preserved), which has the shape of x.
  NodePtr laid_out(NodePtr x, const graph::Node& like) const;

  /// The axes in ascending order, each once. For a tensor without axes, 0 and -1 are accepted and name nothing to
  /// reduce.
  Ints axes(const Axes& axes, std::size_t rank) const;
  std::size_t axis(SymInt axis, std::size_t rank) const { return graph::normal_axis(axis, rank, origin_); }
  NodePtr reduce(graph::UsedOp op, NodePtr x, const Ints& axes) const {
    return graph::reduce(op, std::move(x), axes, origin_);
  }
  /// x without these axes, which have extent 1.
  NodePtr drop(NodePtr x, const Ints& axes) const;
  /// The number of elements over which `axes` reduce.
  SymInt count(const Shape& shape, const Ints& axes) const;

 private:
  graph::Origin origin_;
  std::optional<detail::CallSite> scope_;
};

}  // namespace oriel::api
