#include "capture/constants.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "formula/call.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"

namespace oriel::api {

using graph::Node;

namespace {

/// The values below the roots that depend on no input and have more references than the trace itself.
std::vector<const Node*> held_constants(const graph::Order& order) {
  std::vector<const Node*> out;
  std::vector<std::uint32_t> uses(order.size());
  for (const std::int32_t s : order.all_sources()) ++uses[static_cast<std::size_t>(s)];
  for (const std::int32_t r : order.roots()) uses[static_cast<std::size_t>(r)] = ~0U;
  std::vector<bool> depends(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Node& node = order[i];
    depends[i] = order.in_memory(i) && runtime::is_placeholder(*node.buffer);
    for (const std::int32_t s : order.sources(i)) depends[i] = depends[i] || depends[static_cast<std::size_t>(s)];
    if (!depends[i] && node.references.load(std::memory_order_acquire) > uses[i] && numel(node.shape) != 0)
      out.push_back(&node);
  }
  return out;
}

/// How many references to each node there are from these cells, the roots, and all that is below both.
class References {
 public:
  References(const graph::Order& order, std::span<const Tensor> known, std::span<const graph::NodePtr> results) {
    for (const graph::NodePtr& result : results) ++meet(result.get());
    for (const std::int32_t r : order.roots()) meet(&order[r]);
    for (const Tensor& tensor : known) {
      for (detail::Cell* cell = &Access::cell(tensor); cell != nullptr;) {
        const Node* node = cell->node().get();
        if (cells_.insert(cell).second) ++meet(node);
        const detail::ViewCell* const view = cell->view_cell();
        cell = view != nullptr ? view->parent().get() : nullptr;
      }
    }
    while (!waiting_.empty()) {
      const Node* node = waiting_.back();
      waiting_.pop_back();
      for (const graph::NodePtr& source : node->sources_to_look_at()) ++meet(source.get());
    }
  }
  std::uint32_t of(const Node* node) const { return count_.at(node); }

 private:
  std::uint32_t& meet(const Node* node) {
    const auto [it, fresh] = count_.emplace(node, 0);
    if (fresh) waiting_.push_back(node);
    return it->second;
  }
  std::unordered_map<const Node*, std::uint32_t> count_;
  std::unordered_set<const detail::Cell*> cells_;
  std::vector<const Node*> waiting_;
};

}  // namespace

void check_constants(const graph::Order& order, std::span<const Tensor> known,
                     std::span<const graph::NodePtr> results) {
  const std::vector<const Node*> suspects = held_constants(order);
  if (suspects.empty()) return;
  const References references(order, known, results);
  for (const Node* node : suspects) {
    if (node->references.load(std::memory_order_acquire) <= references.of(node)) continue;
    const detail::CallSite call(node->site, detail::CallSite::Nesting::inner);
    throw ArgumentError(
        "function", fmt::format("a tensor, {} {} on {}, was made while the captured function was traced, without any "
                                "of its arguments, and is still held outside of it, as a static is: its elements "
                                "would be recorded once and go stale; make it before, and pass it as an argument or "
                                "bind it with oriel::bind(f, tensor)",
                                name(node->dtype), to_string(node->shape), node->device.str()));
  }
}

}  // namespace oriel::api
