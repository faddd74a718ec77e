// The tensors of a structure as one tensor for each dtype: their elements one after the other.
#pragma once

#include <span>
#include <vector>

#include "oriel/tensor.hpp"

namespace oriel::api {

/// Which parts have one dtype, by their numbers.
struct Group {
  DType dtype;
  std::vector<std::size_t> members;
};
std::vector<Group> groups_of(std::span<const Tensor> parts);

/// The elements of a group, one after the other: the storage itself, if the parts are views of one that has them so.
Tensor flat(const Group& group, std::span<const Tensor> parts);
/// The parts again, as views.
void cut(const Group& group, const Tensor& elements, std::span<const Tensor> like, std::vector<Tensor>& out);

/// f of the elements of each group, as parts again.
template <class F>
std::vector<Tensor> by_group(std::span<const Tensor> parts, F&& f) {
  std::vector<Tensor> out(parts.size());
  for (const Group& group : groups_of(parts)) cut(group, f(group), parts, out);
  return out;
}

/// Throws unless the parts have the shapes and dtypes of `like`.
void check_like(const char* operation, std::span<const Tensor> parts, std::span<const Tensor> like);
/// Throws DTypeError unless all are floats.
void check_floats(const char* operation, std::span<const Tensor> parts);

}  // namespace oriel::api
