// Batches of data.
#include "oriel/batches.hpp"

#include <fmt/format.h>

#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"

namespace oriel::detail {

std::int64_t rows_of(std::span<const Tensor> arrays, const BatchOptions& options, Site site) {
  const CallSite call(site);
  if (options.size < 1)
    throw ArgumentError("Batches", fmt::format("a batch of {} rows; give at least 1", options.size));
  if (arrays.empty()) throw ArgumentError("Batches", "there are no arrays");
  for (const Tensor& array : arrays) {
    if (array.rank() == 0) throw ShapeError("Batches", "an array has no axes, so no rows");
    if (array.size(0) != arrays[0].size(0))
      throw ShapeError("Batches", fmt::format("arrays {} and {} differ in their number of rows",
                                              to_string(arrays[0].shape()), to_string(array.shape())));
  }
  return arrays[0].extent(0);
}

Tensor epoch_order(const Key& key, std::int64_t rows, const BatchOptions& options, std::int64_t epoch, Site site) {
  const CallSite call(site);
  if (!options.shuffle) return arange(rows).realize(site);
  return permutation(fold_in(key, epoch), rows, site).realize(site);
}

std::vector<Tensor> rows_at(std::span<const Tensor> arrays, const Tensor& order, std::int64_t first, std::int64_t next,
                            Site site) {
  const CallSite call(site);
  const Tensor positions = order.shrink({{first, next}});
  std::vector<Tensor> out;
  for (const Tensor& array : arrays) out.push_back(take(array, positions, 0, Bounds::zero));
  return out;
}

}  // namespace oriel::detail
