// What the bodies of the public functions share: one call of a public function, on whose behalf nodes are made.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "api/cell.hpp"
#include "graph/build.hpp"
#include "oriel/layout.hpp"
#include "oriel/tensor.hpp"

namespace oriel::detail {

/// The way in and out of Tensor and Operand.
struct Access {
  /// The elements as of now.
  static graph::NodePtr node(const Tensor& tensor) { return tensor.cell_->node(); }
  /// A storage of its own with these elements. Realises the node first where the bounds on laziness say so.
  static Tensor tensor(graph::NodePtr node);
  /// A view of the operand: `path` applied to it. Of a number, a storage of its own.
  static Tensor view(const Operand& x, graph::NodePtr number, Path path);
  /// Puts `value`, of any dtype that may be cast, into what the tensor names, broadcast. The caller keeps no hold on
  /// what the value reads, so that it may be overwritten.
  static void write(Tensor& tensor, graph::NodePtr value, const graph::Origin& origin);

  /// As a user sees it.
  static Layout layout(const graph::Node& node);

  static const Tensor* tensor(const Operand& x) noexcept { return x.tensor_; }
  static Site site(const Operand& x) noexcept { return x.site_; }
  /// The number in `dtype`. Throws ArgumentError where an integer dtype cannot hold an integer.
  static graph::Scalar number(const Operand& x, DType dtype, std::string_view operation);
  /// A number's value; NaN for a tensor.
  static double value(const Operand& x) noexcept;
  /// bool, int64 or float32.
  static DType default_dtype(const Operand& x) noexcept;
  /// "3", "0.5", "true".
  static std::string text(const Operand& x);
};

}  // namespace oriel::detail

namespace oriel::api {

using detail::Access;
using graph::NodePtr;
using graph::Op;

/// The dtype in which operands meet: that of the tensors with axes, raised by a tensor without axes of a higher
/// category (bool, integer, float), and that by a number of a higher one.
DType common_dtype(std::initializer_list<const Operand*> operands);
/// The dtype of x after `x op= y`, where x op y has dtype `result`: x's. Throws DTypeError unless can_cast(result,
/// x's).
DType in_place_dtype(DType target, DType result, std::string_view operation);
/// float32 for integers and bool, itself for floats.
DType floating_dtype(DType dtype) noexcept;
/// The dtype in which floats are composed and summed: float32 for all but float64.
DType wide_dtype(DType dtype) noexcept;

/// bool, integers, floats: 0, 1, 2.
int category(DType dtype) noexcept;

/// Where a new axis of a tensor with `rank` axes stands; counted from the end of the result where negative. Throws
/// ShapeError.
std::size_t new_axis(const class Call& call, std::int64_t axis, std::size_t rank);

/// [0, extent) on every axis.
Ranges whole(const Shape& shape);

/// One call: builds nodes that carry its name and line. Elementwise members broadcast; operands have one dtype already
/// unless they are Operands.
class Call {
 public:
  Call(std::string_view operation, Site site) : origin_{operation, site} { scope_.emplace(site); }
  Call(std::string_view operation, const Operand& x) : Call(operation, Access::site(x)) {}

  /// For paths, which are kept and applied again: errors name the line of the call that does that.
  Call(const Call& other) : origin_(other.origin_) {}
  Call& operator=(const Call&) = delete;

  const graph::Origin& origin() const noexcept { return origin_; }
  std::string_view operation() const noexcept { return origin_.operation; }

  /// A view of x by `path`, a function of its node.
  template <class F>
  Tensor view(const Operand& x, F&& path) const {
    return Access::view(x, Access::tensor(x) != nullptr ? nullptr : node(x), std::forward<F>(path));
  }
  /// The tensor; a number becomes one without axes in its default dtype.
  NodePtr node(const Operand& x) const;
  /// The operand in `dtype`, a number with `shape`.
  NodePtr node(const Operand& x, DType dtype, const Shape& shape, Device device) const;
  /// Both in one dtype and shape; in floats where `floats`.
  std::pair<NodePtr, NodePtr> meet(const Operand& a, const Operand& b, bool floats = false) const;

  NodePtr cast(NodePtr x, DType dtype) const { return graph::cast(std::move(x), dtype, origin_); }
  NodePtr unary(Op op, NodePtr x) const { return graph::unary(op, std::move(x), origin_); }
  NodePtr binary(Op op, NodePtr a, NodePtr b) const;
  /// x op value, the number in x's dtype.
  NodePtr binary(Op op, NodePtr x, double value) const;
  NodePtr where(NodePtr c, NodePtr x, NodePtr y) const;
  /// `value` in the dtype and shape of `x`.
  NodePtr like(const NodePtr& x, double value) const;
  NodePtr to_bool(NodePtr x) const { return cast(std::move(x), DType::bool_); }

  NodePtr reshape(NodePtr x, const Shape& shape) const { return graph::reshape(std::move(x), shape, origin_); }
  NodePtr broadcast(NodePtr x, const Shape& shape) const { return graph::broadcast_to(std::move(x), shape, origin_); }
  NodePtr permute(NodePtr x, const Ints& order) const { return graph::permute(std::move(x), order, origin_); }
  NodePtr shrink(NodePtr x, const Ranges& ranges) const { return graph::shrink(std::move(x), ranges, origin_); }

  /// x with `value`, of its dtype, around it.
  NodePtr pad(NodePtr x, const Ranges& before_after, const graph::Scalar& value) const;
  /// True where something of this shape was padded from, false around it.
  NodePtr inside(const Shape& shape, Device device, const Ranges& before_after) const;

  /// x in the strides of a new tensor like `like`, which has its shape (Layout::preserved).
  NodePtr laid_out(NodePtr x, const graph::Node& like) const;

  /// Ascending, each once. A tensor without axes counts as one of extent 1: 0 and -1 name nothing to reduce.
  Ints axes(const Axes& axes, std::size_t rank) const;
  std::size_t axis(SymInt axis, std::size_t rank) const { return graph::normal_axis(axis, rank, origin_); }
  NodePtr reduce(Op op, NodePtr x, const Ints& axes) const { return graph::reduce(op, std::move(x), axes, origin_); }
  /// Without the axes, which have extent 1.
  NodePtr drop(NodePtr x, const Ints& axes) const;
  /// The number of elements over which `axes` reduce.
  std::int64_t count(const Shape& shape, const Ints& axes) const;

 private:
  graph::Origin origin_;
  std::optional<detail::CallSite> scope_;
};

}  // namespace oriel::api
