#include "graph/outermost.hpp"

#include <string>
#include <vector>

#include "oriel/error.hpp"

namespace oriel::graph {
namespace {

View moved(const View& source, const Node& movement) {
  switch (movement.op) {
    case Op::Reshape:
      return source.reshape(movement.shape).value_or(View::contiguous(movement.shape));
    case Op::Permute:
      return source.permute(std::get<Ints>(movement.arg));
    case Op::Expand:
      return source.expand(movement.shape);
    case Op::Shrink:
      return source.shrink(*std::get<std::shared_ptr<const Ranges>>(movement.arg));
    case Op::Pad:
      return source.pad(*std::get<std::shared_ptr<const Ranges>>(movement.arg));
    case Op::Flip:
      return source.flip(std::get<Ints>(movement.arg));
    case Op::RawView: {
      const View& raw = *std::get<std::shared_ptr<const View>>(movement.arg);
      MergeResult merged = merge(raw, source);
      return merged.verdict == MergeVerdict::Merged ? std::move(merged.view) : raw;
    }
    default:
      throw InternalError("outermost_view", std::string(name(movement.op)) + " is no movement with a view");
  }
}

}  // namespace

View outermost_view(const NodePtr& node) {
  std::vector<NodePtr> movements;
  NodePtr base = node;
  while (is_movement(base->op) && !base->realized()) {
    auto below = base->lazy_sources();
    if (below.empty()) break;  // realised by another thread just now
    movements.push_back(std::move(base));
    base = std::move(below[0]);
  }
  View view = View::contiguous(base->shape);
  for (; !movements.empty(); movements.pop_back()) view = moved(view, *movements.back());
  return view;
}

}  // namespace oriel::graph
