#include "graph/gather.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "graph/make.hpp"
#include "graph/movements.hpp"
#include "graph/walk.hpp"
#include "sym/decide.hpp"

namespace oriel::graph {

namespace {

constexpr std::size_t kMostMovements = 64;  // above a value; with more, the view is stored
constexpr std::size_t kMostComputed = 256;  // uses of values that are computed at the coordinates
constexpr std::int64_t kGatherCost = 4;     // cost of gathering an element, in adds: row(Op::Gather)
constexpr std::size_t kMostLows = 64;       // axes of an address whose parts are computed apart
constexpr std::int64_t kUnravelCost = 18;   // cost of an axis, in adds: a quotient and a remainder of int64

using Coordinates = std::vector<NodePtr>;

// A value and the movements above it, outermost first.
struct Chain {
  NodePtr base;
  std::vector<NodePtr> movements;
};

Chain chain_of(NodePtr x) {
  Chain chain;
  while (is_movement(x->op) && x->op != Op::Mark && !x->realized() && chain.movements.size() < kMostMovements) {
    auto sources = x->lazy_sources();
    if (sources.empty()) break;
    chain.movements.push_back(std::move(x));
    x = std::move(sources[0]);
  }
  chain.base = std::move(x);
  return chain;
}

ShapeTracker map_of(const Chain& chain) {
  ShapeTracker map(chain.base->shape);
  for (std::size_t k = chain.movements.size(); k-- > 0;) map = moved(map, *chain.movements[k]);
  return map.simplify();
}

bool is_computed(const Node& node) noexcept {
  return !node.realized() &&
         (is_elementwise(node.op) || node.op == Op::Const || node.op == Op::Iota || node.op == Op::Gather);
}

std::int64_t saturated(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() / 4
                                                : std::min(product, std::numeric_limits<std::int64_t>::max() / 4);
}

// Sizes are weighed by their hints: each choice is right for all sizes, so it needs no guard.
std::int64_t weight(SymInt n) {
  constexpr std::int64_t kUnknown = 4096;
  return sym::hint(n).value_or(kUnknown);
}
std::int64_t weight(const Shape& shape) {
  std::int64_t count = 1;
  for (const SymInt n : shape) count = saturated(count, weight(n));
  return count;
}

// Are all extents numbers, or symbols with hints?
bool has_hints(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](SymInt n) { return sym::hint(n).has_value(); });
}

// The strides of row-major elements, without asking whether there are any.
Ints row_major(const Shape& shape) {
  if (std::none_of(shape.begin(), shape.end(), [](SymInt n) { return n.is_symbolic(); }))
    return contiguous_strides(shape);
  Ints strides(shape.size());
  SymInt stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride = stride * shape[d];
  }
  return strides;
}

// Known for all sizes?
bool surely(SymBool condition) { return sym::known(condition).value_or(false); }

// The cost of one element that is computed from values in memory.
struct Cost {
  std::int64_t operations = 0;
  std::int64_t reads = 0;
  bool known = true;  // false: too much is computed to be looked through
};

Cost cost_of(const NodePtr& value) {
  Cost cost;
  std::vector<NodePtr> waiting{value};
  Numbering seen;
  std::size_t uses = 0;
  while (!waiting.empty()) {
    const NodePtr node = std::move(waiting.back());
    waiting.pop_back();
    const bool first = seen.insert(node.get());
    if (!is_computed(*node)) {
      cost.reads += first ? 1 : 0;
      continue;
    }
    // Each use counts towards the bound, since another one may be through other movements; most are at one place.
    if (++uses > kMostComputed) return {0, 0, false};
    cost.operations += first ? row(node->op).cost : 0;
    const auto sources = node->lazy_sources();
    if (sources.empty() && row(node->op).arity != 0) return {0, 0, false};  // realised by another thread
    for (std::size_t k = node->op == Op::Gather ? 1 : 0; k < sources.size(); ++k) {
      Chain below = chain_of(sources[k]);
      for (const NodePtr& movement : below.movements)
        cost.operations += movement->op == Op::RawView                      ? kUnravelCost
                           : row(movement->op).elements == Elements::Padded ? 4
                                                                            : 1;
      waiting.push_back(std::move(below.base));
    }
  }
  return cost;
}

/// Builds the nodes of one gather.
class GatherBuilder {
 public:
  GatherBuilder(const Shape& domain, Device device, const Origin& origin)
      : domain_(domain), count_(weight(domain)), device_(device), origin_(origin) {}

  // 0 where `inside` is false. If `inside` is null, the result is undefined where a coordinate is outside. `chosen`: it
  // was decided already that the sources of x are read instead of x.
  NodePtr value_at(NodePtr x, const Coordinates& at, const NodePtr& inside, bool chosen = false) {
    if (surely(numel(x->shape) == 0)) return constant(Scalar::of_int(x->dtype, 0), domain_, device_, origin_);
    Chain chain = chain_of(x);
    if (is_computed(*chain.base) && (chosen || pays(chain.base, weight(x->shape)))) {
      Coordinates below = at;
      NodePtr valid = inside;
      for (const NodePtr& movement : chain.movements) {
        const auto sources = movement->lazy_sources();
        if (sources.empty()) return stored(std::move(x), at, inside);  // realised by another thread
        below = through(*movement, sources[0]->shape, below, valid);
      }
      if (NodePtr value = computed(chain.base, below)) {
        if (!valid) return value;
        NodePtr zero = constant(Scalar::of_int(value->dtype, 0), domain_, device_, origin_);
        return where(std::move(valid), std::move(value), std::move(zero), origin_);
      }
    }
    if (chain.movements.empty()) return stored(std::move(x), at, inside);
    // If the tensor below a view is not in memory and is larger than the view, the view is stored instead.
    const bool memory = chain.base->realized() || chain.base->op == Op::Assign;
    const std::int64_t count = weight(x->shape);
    if (!memory && count < weight(chain.base->shape)) return stored(std::move(x), at, inside);
    const auto views_unknown = [](const NodePtr& movement) { return !has_hints(movement->shape); };
    if (!has_hints(chain.base->shape) || std::ranges::any_of(chain.movements, views_unknown))
      return stored(std::move(x), at, inside);
    const ShapeTracker map = map_of(chain);
    std::int64_t unravelled = 0;
    for (std::size_t k = 0; k + 1 < map.views().size(); ++k)
      unravelled += static_cast<std::int64_t>(map.views()[k].rank());
    if (saturated(count_, unravelled * kUnravelCost) > saturated(count, 2) && unravelled != 0)
      return stored(std::move(x), at, inside);
    return read(std::move(chain.base), position(map, at, inside));
  }

 private:
  NodePtr number(SymInt value, const Shape& shape) const {
    return size_constant(value, DType::int64, shape, device_, origin_);
  }
  NodePtr number(SymInt value) const { return number(value, domain_); }
  NodePtr plus(NodePtr a, SymInt b) const {
    if (surely(b == 0)) return a;
    NodePtr addend = number(b, a->shape);
    return binary(Op::Add, std::move(a), std::move(addend), origin_);
  }
  NodePtr times(NodePtr a, SymInt b) const {
    if (surely(b == 1)) return a;
    NodePtr factor = number(b, a->shape);
    return binary(Op::Mul, std::move(a), std::move(factor), origin_);
  }
  NodePtr both(NodePtr a, NodePtr b) const { return a ? binary(Op::And, std::move(a), std::move(b), origin_) : b; }

  // Is it cheaper to compute this at the coordinates than to store `elements` elements of it?
  bool pays(const NodePtr& value, std::int64_t elements) const {
    const Cost cost = cost_of(value);
    if (!cost.known) return false;
    // Counted in halves of an add. If both cost the same, the value is stored, because it may be needed for itself.
    const std::int64_t here = saturated(count_, 2 * (cost.operations + kGatherCost * cost.reads));
    const std::int64_t apart = saturated(elements, cost.operations + 2) + saturated(count_, 2 * kGatherCost);
    return here <= apart;
  }

  NodePtr stored(NodePtr x, const Coordinates& at, const NodePtr& inside) const {
    NodePtr place = address(View{x->shape, row_major(x->shape), 0, {}}, at, inside);
    return read(std::move(x), std::move(place));
  }

  NodePtr read(NodePtr x, NodePtr place) const { return gather(std::move(x), std::move(place), origin_); }

  // The coordinate without the axes on which it does not depend.
  static NodePtr narrowed(const NodePtr& at) {
    if (at->op != Op::Expand || at->realized()) return at;
    const auto sources = at->lazy_sources();
    return sources.empty() || sources[0]->shape.size() != at->shape.size() ? at : sources[0];
  }

  // Is the coordinate a position of the domain, so that it is in range everywhere?
  static bool counts_positions(const NodePtr& at) { return chain_of(at).base->op == Op::Iota; }

  struct AddressPart {
    Shape shape;
    NodePtr sum;    // null: 0
    NodePtr valid;  // null: valid everywhere
  };

  // A number so low that the positions of the view, added to it, stay negative; so low that it can be added for each
  // axis without overflow. None if the view is too large for that.
  static std::optional<SymInt> low_position(const View& view) {
    constexpr std::int64_t kLow = -(std::int64_t{1} << 54);
    std::int64_t most = 0;
    const auto add = [&](SymInt n, SymInt times) {
      if (n.is_symbolic() || times.is_symbolic()) return false;
      most += std::min(saturated(std::abs(n.value()), times.value()), -kLow);
      most = std::min(most, -kLow);
      return true;
    };
    bool numbers = add(view.offset, 1);
    for (std::size_t d = 0; d < view.rank(); ++d) numbers = add(view.strides[d], view.shape[d]) && numbers;
    if (numbers) return most < -kLow / 2 ? std::optional<SymInt>(kLow) : std::nullopt;
    // The tensor lies in memory or will, so that for any sizes the sum of its positions is far from overflow.
    SymInt low = -1;
    for (std::size_t d = 0; d < view.rank(); ++d) {
      if (!surely(view.strides[d] >= 0)) return std::nullopt;
      low = low - view.strides[d] * view.shape[d];
    }
    if (!surely(view.offset >= 0)) return std::nullopt;
    return low - view.offset;
  }

  // The view's position, or a negative one where the view or `inside` says so. A part that depends on few axes is
  // computed over these alone, including its mask: where it is invalid it is so low that the other parts cannot make it
  // positive.
  NodePtr address(const View& view, const Coordinates& at, NodePtr inside) const {
    if (at.size() > kMostLows) return masked_address(view, at, std::move(inside));
    const std::optional<SymInt> low = low_position(view);
    if (!low) return masked_address(view, at, std::move(inside));
    std::vector<AddressPart> parts;
    const auto part = [&](const Shape& shape) -> AddressPart& {
      for (AddressPart& known : parts)
        if (known_same(known.shape, shape)) return known;
      return parts.emplace_back(AddressPart{shape, nullptr, nullptr});
    };
    // Coordinates may be anything where `inside` is false. Then all parts that do not count positions must be masked.
    const Shape inside_shape = inside ? narrowed(inside)->shape : Shape{};
    bool masks_all = static_cast<bool>(inside);
    for (std::size_t d = 0; d < at.size(); ++d) {
      const NodePtr x = narrowed(at[d]);
      AddressPart& mine = part(x->shape);
      if (view.masked()) restrict(mine.valid, x, view.mask[d], view.shape[d]);
      if (surely(view.shape[d] == 1) || surely(view.strides[d] == 0)) continue;
      masks_all = masks_all && (known_same(x->shape, inside_shape) || counts_positions(x));
      NodePtr term = times(x, view.strides[d]);
      mine.sum = mine.sum ? binary(Op::Add, std::move(mine.sum), std::move(term), origin_) : std::move(term);
    }
    if (masks_all) {
      AddressPart& mine = part(inside_shape);
      mine.valid = both(std::move(mine.valid), narrowed(inside));
      inside = nullptr;
    }
    NodePtr sum;
    SymInt offset = view.offset;
    for (AddressPart& each : parts) {
      if (!each.sum && !each.valid) continue;
      NodePtr term = each.sum ? plus(std::move(each.sum), std::exchange(offset, SymInt(0))) : number(0, each.shape);
      if (each.valid) term = where(std::move(each.valid), std::move(term), number(*low, each.shape), origin_);
      NodePtr wide = expand(std::move(term), domain_, origin_);
      sum = sum ? binary(Op::Add, std::move(sum), std::move(wide), origin_) : std::move(wide);
    }
    sum = sum ? plus(std::move(sum), offset) : number(offset);
    return inside ? where(std::move(inside), std::move(sum), number(-1), origin_) : sum;
  }

  NodePtr masked_address(const View& view, const Coordinates& at, NodePtr valid) const {
    for (std::size_t d = 0; view.masked() && d < at.size(); ++d) restrict(valid, at[d], view.mask[d], view.shape[d]);
    NodePtr place = affine(view.strides, view.shape, view.offset, at);
    return valid ? where(std::move(valid), std::move(place), number(-1), origin_) : place;
  }

  NodePtr affine(const Ints& strides, const Shape& shape, SymInt offset, const Coordinates& at) const {
    NodePtr sum;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (surely(shape[d] == 1) || surely(strides[d] == 0)) continue;
      NodePtr term = times(at[d], strides[d]);
      sum = sum ? binary(Op::Add, std::move(sum), std::move(term), origin_) : std::move(term);
    }
    return sum ? plus(std::move(sum), offset) : number(offset);
  }

  void restrict(NodePtr& valid, const NodePtr& at, const Range& range, SymInt extent) const {
    const auto bound = [&](SymInt value) { return number(value, at->shape); };
    if (!surely(range.lo <= 0)) valid = both(std::move(valid), binary(Op::Le, bound(range.lo), at, origin_));
    if (!surely(range.hi >= extent)) valid = both(std::move(valid), binary(Op::Lt, at, bound(range.hi), origin_));
  }

  // Splits `place`, a row-major position in `shape`, into coordinates.
  Coordinates unravel(const NodePtr& place, const Shape& shape) const {
    Coordinates at(shape.size());
    const Ints strides = row_major(shape);
    bool first = true;
    std::size_t last = shape.size();
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (!surely(shape[d] == 1)) last = d;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (surely(shape[d] == 1)) {
        at[d] = number(0);
        continue;
      }
      at[d] = d == last ? place : binary(Op::TruncDiv, place, number(strides[d]), origin_);
      if (!first) at[d] = binary(Op::Fmod, at[d], number(shape[d]), origin_);
      first = false;
    }
    return at;
  }

  // The position in memory; negative where there is none.
  NodePtr position(const ShapeTracker& map, Coordinates at, NodePtr valid) const {
    for (std::size_t k = map.views().size(); k-- > 1;) {
      const View& view = map.views()[k];
      for (std::size_t d = 0; view.masked() && d < at.size(); ++d) restrict(valid, at[d], view.mask[d], view.shape[d]);
      at = unravel(affine(view.strides, view.shape, view.offset, at), map.views()[k - 1].shape);
    }
    return address(map.views()[0], at, std::move(valid));
  }

  // The coordinates of a movement's source. The source has elements.
  Coordinates through(const Node& node, const Shape& below, const Coordinates& at, NodePtr& valid) const {
    const Move move = move_of(node);
    if (row(node.op).takes == Takes::View) {
      const View& view = *move.view;
      for (std::size_t d = 0; view.masked() && d < at.size(); ++d) restrict(valid, at[d], view.mask[d], view.shape[d]);
      return unravel(affine(view.strides, view.shape, view.offset, at), below);
    }
    if (movement(node.op).map == nullptr) return node.op == Op::Reshape ? reshaped(node.shape, below, at) : at;
    const IndexMap map = movement(node.op).map(below, move);
    Coordinates out(below.size());
    for (std::size_t d = 0; d < below.size(); ++d) {
      const auto& [axis, start, step] = map.axes[d];
      if (map.pads) restrict(valid, at[axis], {-start, below[d] - start}, map.shape[axis]);
      if (identical(step, 1) || identical(step, 0))
        out[d] = identical(step, 0) ? number(start) : plus(at[axis], start);
      else
        out[d] = identical(step, -1) ? binary(Op::Sub, number(start), at[axis], origin_)
                                     : plus(times(at[axis], step), start);
    }
    return out;
  }

  // Advances `a` over the axes of `shape` that hold `want` elements; false if there are none for all sizes.
  static bool take_axes(const Shape& shape, std::size_t& a, SymInt want) {
    SymInt have = 1;
    for (std::size_t end = a;; ++end) {
      if (surely(have == want)) {
        a = end;
        return true;
      }
      if (end == shape.size()) return false;
      have = have * shape[end];
    }
  }

  // Turns coordinates of `above` into coordinates of `below`, group by group. Only axes that were joined are split.
  Coordinates reshaped(const Shape& above, const Shape& below, const Coordinates& at) const {
    Coordinates out(below.size());
    std::size_t a = 0;
    std::size_t b = 0;
    while (b < below.size()) {
      const std::size_t first_a = a;
      const std::size_t first_b = b;
      SymInt want = below[b++];
      // The fewest axes on both sides that hold the same number of elements.
      while (!take_axes(above, a, want)) {
        if (b == below.size()) {  // both hold all elements, though it is not known that the products are equal
          a = above.size();
          break;
        }
        want = want * below[b++];
      }
      const Shape from(above.begin() + static_cast<std::ptrdiff_t>(first_a),
                       above.begin() + static_cast<std::ptrdiff_t>(a));
      const Shape to(below.begin() + static_cast<std::ptrdiff_t>(first_b),
                     below.begin() + static_cast<std::ptrdiff_t>(b));
      const Coordinates piece(at.begin() + static_cast<std::ptrdiff_t>(first_a),
                              at.begin() + static_cast<std::ptrdiff_t>(a));
      Coordinates found = unravel(affine(row_major(from), from, 0, piece), to);
      std::move(found.begin(), found.end(), out.begin() + static_cast<std::ptrdiff_t>(first_b));
    }
    return out;
  }

  // Returns null if another thread has realised the value meanwhile.
  NodePtr computed(const NodePtr& value, const Coordinates& at) {
    const auto known = std::find_if(computed_.begin(), computed_.end(),
                                    [&](const Computed& c) { return c.value == value && c.at == at; });
    if (known != computed_.end()) return known->node;
    NodePtr node = compute(value, at);
    if (node) computed_.push_back({value, at, node});
    return node;
  }

  NodePtr compute(const NodePtr& value, const Coordinates& at) {
    switch (value->op) {
      case Op::Const:
        if (const auto* size = std::get_if<Ints>(&value->arg))
          return size_constant((*size)[0], value->dtype, domain_, device_, origin_);
        return constant(std::get<Scalar>(value->arg), domain_, device_, origin_);
      case Op::Iota:
        return affine(row_major(value->shape), value->shape, 0, at);
      default:
        break;
    }
    auto sources = value->lazy_sources();
    if (sources.empty()) return nullptr;
    if (value->op == Op::Gather)
      return gather(std::move(sources[0]), value_at(std::move(sources[1]), at, nullptr, true), origin_);
    for (NodePtr& source : sources) source = value_at(std::move(source), at, nullptr, true);
    return make_node(value->op, value->dtype, domain_, value->arg, {sources.data(), sources.size()}, origin_);
  }

  struct Computed {
    NodePtr value;
    Coordinates at;
    NodePtr node;
  };

  Shape domain_;
  std::int64_t count_;
  Device device_;
  Origin origin_;
  std::vector<Computed> computed_;
};

}  // namespace

NodePtr gather_at(NodePtr x, std::span<const NodePtr> coordinates, NodePtr inside, const Origin& origin) {
  if (coordinates.empty()) {  // one element at position 0
    const Shape& shape = inside ? inside->shape : Shape{};
    NodePtr place = constant(Scalar::of_int(DType::int64, 0), shape, x->device, origin);
    if (inside)
      place =
          where(std::move(inside), place, constant(Scalar::of_int(DType::int64, -1), shape, x->device, origin), origin);
    return gather(std::move(x), std::move(place), origin);
  }
  const Node& first = *coordinates[0];
  GatherBuilder builder(first.shape, first.device, origin);
  NodePtr value = builder.value_at(std::move(x), Coordinates(coordinates.begin(), coordinates.end()), inside);
  if (value->op == Op::Const && !value->realized() && has_hints(value->shape)) {
    const Layout rows = Layout::contiguous(value->shape);
    return laid_out_constant(std::move(value), rows);
  }
  // The result of a gather is row-major, whatever the layout of the coordinates.
  return value->layout_class == LayoutClass::Any ? format(std::move(value), MemoryFormat::contiguous, origin) : value;
}

}  // namespace oriel::graph
