#include <boost/container_hash/hash.hpp>

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "oriel/error.hpp"
#include "oriel/inline_vector.hpp"
#include "oriel/view.hpp"
#include "view/canonical.hpp"
#include "view/expression.hpp"
#include "view/merging/refine.hpp"
#include "view/merging/simplify.hpp"
#include "view/positions.hpp"

namespace oriel {
namespace {

// is_contiguous tests a stack entry by entry if it has at most this many entries.
constexpr std::int64_t kContiguityWalk = 10'000'000;

/// True if `top` reads a view of shape `below` in row-major order, so that both views together change nothing.
bool is_reshape_back(const View& top, const Shape& below) {
  if (top.rank() != below.size() || top.masked() || !(identical(top.offset, 0))) return false;
  View identity = View::contiguous(top.shape);
  identity.shape = below;
  return top == identity;
}

}  // namespace

ShapeTracker::ShapeTracker(const Shape& shape) { views_.push_back(View::contiguous(shape)); }

ShapeTracker::ShapeTracker(View view) {
  view = View::make(std::move(view.shape), std::move(view.strides), view.offset, std::move(view.mask));
  detail::canonicalize(view);
  views_.push_back(std::move(view));
}

ShapeTracker ShapeTracker::from_views(std::span<const View> innermost_first) {
  if (innermost_first.empty()) throw ShapeError("view", "a stack of no views; give at least one, innermost first");
  ShapeTracker tracker;
  for (const View& raw : innermost_first) {
    View view = View::make(raw.shape, raw.strides, raw.offset, raw.mask);
    detail::canonicalize(view);
    if (!tracker.views_.empty()) detail::require_inside("view", view, tracker.views_.back());
    tracker.views_.push_back(std::move(view));
  }
  return tracker;
}

ShapeTracker ShapeTracker::with_top(View top) const {
  ShapeTracker tracker;
  tracker.views_.reserve(views_.size());
  for (std::size_t k = 0; k + 1 < views_.size(); ++k) tracker.views_.push_back(views_[k]);
  tracker.views_.push_back(std::move(top));
  return tracker;
}

ShapeTracker ShapeTracker::permute(const Ints& order) const { return with_top(views_.back().permute(order)); }
ShapeTracker ShapeTracker::expand(const Shape& target) const { return with_top(views_.back().expand(target)); }
ShapeTracker ShapeTracker::shrink(const Ranges& ranges) const { return with_top(views_.back().shrink(ranges)); }
ShapeTracker ShapeTracker::pad(const Ranges& before_after) const { return with_top(views_.back().pad(before_after)); }
ShapeTracker ShapeTracker::flip(const Ints& axes) const { return with_top(views_.back().flip(axes)); }

ShapeTracker ShapeTracker::reshape(const Shape& target) const {
  if (std::optional<View> top = views_.back().reshape(target)) {
    // If this reshape undoes an earlier one, the extra view disappears.
    if (views_.size() > 1 && is_reshape_back(*top, views_[views_.size() - 2].shape)) {
      ShapeTracker tracker = *this;
      tracker.views_.pop_back();
      return tracker;
    }
    return with_top(std::move(*top));
  }
  ShapeTracker tracker = *this;
  tracker.views_.push_back(View::contiguous(target));
  return tracker;
}

ShapeTracker ShapeTracker::view(const View& outer) const {
  View top = View::make(outer.shape, outer.strides, outer.offset, outer.mask);
  detail::canonicalize(top);
  detail::require_inside("view", top, views_.back());
  MergeResult merged = merge(top, views_.back());
  if (merged.verdict == MergeVerdict::Merged) return with_top(std::move(merged.view));
  ShapeTracker tracker = *this;
  tracker.views_.push_back(std::move(top));
  return tracker;
}

ShapeTracker ShapeTracker::over(const ShapeTracker& inner) const {
  // If other views lie on top, some positions of the innermost view may be unreachable, and these may lie anywhere.
  if (single()) detail::require_inside("over", views_.front(), inner.views_.back());
  ShapeTracker tracker = inner;
  tracker.views_.insert(tracker.views_.end(), views_.begin(), views_.end());
  return tracker;
}

ShapeTracker ShapeTracker::over(const View& inner) const { return over(ShapeTracker(inner)); }

ShapeTracker ShapeTracker::simplify() const {
  ShapeTracker tracker = *this;
  detail::simplify(tracker.views_);
  return tracker;
}

ShapeTracker ShapeTracker::canonical() const {
  ShapeTracker tracker = *this;
  detail::canonicalize(tracker.views_);
  return tracker;
}

std::optional<Refinement> ShapeTracker::refine() const {
  const ShapeTracker simple = simplify();
  if (!simple.single()) return detail::refine(simple.views());
  Refinement itself{{}, simple.views_[0]};
  for (const SymInt extent : simple.shape()) itself.pieces.push_back({extent});
  return itself;
}

bool ShapeTracker::is_contiguous() const {
  if (detail::has_zero_extent(shape())) return true;
  const View identity = View::contiguous(shape());
  if (views_.size() == 1) return views_[0] == identity;
  const ShapeTracker simple = simplify();
  if (simple.single()) return simple.views_[0] == identity;
  if (detail::is_symbolic(simple.views())) return false;
  // The identity is one view, so merging would have found it in a pair. Only stacks of three or more views and
  // undecided merges remain. They are tested entry by entry; a stack that is not the identity almost always fails at
  // once.
  if (numel(shape()) > kContiguityWalk) return false;
  InlineVector<std::int64_t, 8> index(shape().size(), 0);
  for (std::int64_t n = 0, count = numel(shape()).value(); n < count; ++n) {
    if (simple.at({index.data(), index.size()}) != n) return false;
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape()[d].value()) break;
      index[d] = 0;
    }
  }
  return true;
}

std::optional<std::int64_t> ShapeTracker::at(std::span<const std::int64_t> i) const {
  return detail::position_of(views(), i);
}

std::vector<std::int64_t> ShapeTracker::table(std::int64_t limit) const {
  if (numel(shape(), "table") > limit) {
    throw ArgumentError("table", "shape " + to_string(shape()) + " has " + to_string(numel(shape())) +
                                     " entries; at most " + std::to_string(limit) + " are listed");
  }
  try {
    return detail::positions(views());
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  throw MemoryError(
      "table", "there is no memory for the " + to_string(numel(shape())) + " entries of shape " + to_string(shape()));
}

std::string ShapeTracker::index_expression() const { return detail::index_text(detail::express(views())); }
std::string ShapeTracker::valid_expression() const { return detail::valid_text(detail::express(views())); }

std::string ShapeTracker::str() const {
  std::string text;
  for (std::size_t k = views_.size(); k-- > 0;) {
    text += views_[k].str();
    if (k > 0) text += " over ";
  }
  return text;
}

std::size_t hash_value(const ShapeTracker& tracker) noexcept {
  std::size_t seed = tracker.views().size();
  for (const View& view : tracker.views()) boost::hash_combine(seed, hash_value(view));
  return seed;
}

}  // namespace oriel
