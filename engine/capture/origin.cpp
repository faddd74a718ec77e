#include "capture/origin.hpp"

#include "formula/call.hpp"
#include "graph/make.hpp"
#include "oriel/error.hpp"
#include "runtime/trace.hpp"

namespace oriel::api {

using detail::Cell;
using graph::NodePtr;

namespace {

/// The movements from a cell's storage to the cell, over a stand-in for the storage, so that no elements are kept.
std::vector<NodePtr> movements_from(Cell& cell, const CapturedOrigin::Storage& storage) {
  const std::int64_t bytes =
      numel(storage.kind.shape).value() * static_cast<std::int64_t>(itemsize(storage.kind.dtype));
  const NodePtr stand_in = graph::realized_node(storage.kind, runtime::memoryless(storage.device, bytes));
  const detail::ViewCell* const view = cell.view_cell();
  Movements found;
  if (!find_movements(view != nullptr ? view->over(stand_in) : stand_in, stand_in.get(), found))
    throw InternalError("function", "a view does not lead to its storage");
  return {found.rbegin(), found.rend()};
}

}  // namespace

std::unique_ptr<CapturedOrigin> record_origin(const detail::CapturedArguments& arguments, const CapturedInputs& inputs,
                                              const detail::CapturedNames& names,
                                              const std::vector<SizeChoice>& choices, detail::CapturedForm form) {
  auto origin = std::make_unique<CapturedOrigin>();
  for (const CapturedInputs::Storage& s : inputs.storages)
    origin->storages.push_back({graph::realized_kind(*s.node), s.node->device});
  for (std::size_t k = 0; k < arguments.tensors.size(); ++k) {
    const auto storage = static_cast<std::size_t>(inputs.storage_of[k]);
    Cell& cell = Access::cell(*arguments.tensors[k]);
    origin->tensors.push_back({storage, movements_from(cell, origin->storages[storage]), cell.view_cell() != nullptr});
  }
  origin->numbers.assign(arguments.numbers.begin(), arguments.numbers.end());
  origin->values.assign(arguments.values.begin(), arguments.values.end());
  origin->names = names;
  origin->choices = choices;
  origin->form = std::move(form);
  origin->bounds = default_bounds();
  return origin;
}

}  // namespace oriel::api
