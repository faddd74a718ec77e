// A cotangent as the sum of products that it often is.
#pragma once

#include <vector>

#include "grad/step.hpp"
#include "sym/decide.hpp"

namespace oriel::derive {

/// Does it hold for all sizes, or those that were fixed?
inline bool surely(SymBool condition) { return sym::known(condition).value_or(false); }

/// A sum over the last axes of a product of factors. The cotangent of a view is often one: that of a convolution's
/// input sums over the channels. The sum is taken last, and each factor is moved by itself, so the adjoint is one
/// reduction over products of views, as the convolution was. A factor has extent 1 along axes on which it does not
/// depend: what moves the others leaves its view as it is, and it needs no zeros there, because another factor has
/// them.
class SumOfProducts {
 public:
  explicit SumOfProducts(const Value& x);

  const Shape& shape() const { return shape_; }
  std::size_t rank() const { return shape_.size() - summed_; }
  std::vector<Value>& factors() { return factors_; }
  void set_extent(std::size_t axis, SymInt n) { shape_[axis] = n; }
  Value value() const;

  void permute(const Ints& order);
  /// A new axis of extent 1.
  void insert(std::size_t axis);
  /// Takes an axis of extent 1 away.
  void drop(std::size_t axis);
  /// The axis as (parts, extent / parts).
  void split(std::size_t axis, SymInt parts);
  /// The axis and the one behind it as one.
  void join(std::size_t axis);
  void flip(std::size_t axis);
  void shrink(std::size_t axis, SymInt lo, SymInt hi);
  /// Zeros before and behind, of the factors that depend on the axis: of one at least.
  void pad(std::size_t axis, SymInt before, SymInt behind);
  /// One more axis to sum over: moves it behind all others.
  void sum_over(std::size_t axis);

 private:
  void take(const Value& x, std::size_t depth, bool factor);
  void take_sum(const Node& node, const Value& of, std::size_t depth);
  void take_moved(const Node& node, const Value& of, std::size_t depth);
  void add_summed(Shape& shape) const;
  Value repeated(const Value& x, std::size_t axis) const;
  template <class F>
  void reshape_each(std::size_t axis, std::size_t count, F&& f);

  std::vector<Value> factors_;
  Shape shape_;
  std::size_t summed_ = 0;  // so many axes
};

}  // namespace oriel::derive
