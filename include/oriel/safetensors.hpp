// Reads and writes tensors by name in the format safetensors, and the tensors of structures.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "oriel/api.hpp"
#include "oriel/error.hpp"
#include "oriel/grad.hpp"
#include "oriel/tensor.hpp"

namespace ORIEL_API oriel {

/// Values by name, in the order of the names.
template <class T>
class Named {
 public:
  Named() = default;  ///< no entries
  /// Of a name that is given twice the last value counts.
  Named(std::initializer_list<std::pair<std::string, T>> entries) {
    for (const auto& [name, value] : entries) set(name, value);
  }
  /// Replaces a value of this name.
  void set(const std::string& name, T value) {
    const std::size_t at = place(name);
    if (at < entries_.size() && entries_[at].first == name)
      entries_[at].second = std::move(value);
    else
      entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at), {name, std::move(value)});
  }
  /// The value of this name; null if there is none.
  const T* find(const std::string& name) const {
    const std::size_t at = place(name);
    return at < entries_.size() && entries_[at].first == name ? &entries_[at].second : nullptr;
  }
  /// The same. Throws ArgumentError if there is none.
  const T& at(const std::string& name) const {
    if (const T* value = find(name)) return *value;
    throw ArgumentError("at", "there is no entry \"" + name + '"');
  }
  std::size_t size() const noexcept { return entries_.size(); }  ///< the number of entries
  bool empty() const noexcept { return entries_.empty(); }       ///< are there no entries?
  auto begin() const noexcept { return entries_.begin(); }       ///< of pairs of a name and a value
  auto end() const noexcept { return entries_.end(); }           ///< behind the last pair

 private:
  /// The number of names before this one.
  std::size_t place(const std::string& name) const {
    std::size_t low = 0, high = entries_.size();
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (entries_[middle].first < name)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  std::vector<std::pair<std::string, T>> entries_;
};
using NamedTensors = Named<Tensor>;     ///< tensors by name
using NamedTexts = Named<std::string>;  ///< texts by name

/// What a file holds.
struct Safetensors {
  NamedTensors tensors;  ///< by the names of the file, mapped
  NamedTexts metadata;   ///< __metadata__ of the format
};

/// The tensors of a file in the format of https://huggingface.co/docs/safetensors, mapped: pages are read when they are
/// touched, and nothing is copied but tensors that do not lie at a multiple of their elements' size. The file must not
/// change and must not be cut while one of them exists; a write to a tensor leaves it as it is. Dtypes are bool, the
/// integers, float16, bfloat16, float32 and float64. Throws IoError, naming the file and the entry, if it is no such
/// file, is truncated, has another dtype, or if sizes and places do not fit each other: the format has neither gaps nor
/// overlaps. A header has at most 100 MB.
///   Tensor w = read_safetensors("model.safetensors").tensors.at("layer.weight");
[[nodiscard]] Safetensors read_safetensors(const std::string& path, Site site = Site::here());

/// Writes tensors and texts. Runs the pending work. Elements are row-major, those of wide dtypes first, so that all are
/// aligned. The file is either written completely or not at all. Throws ArgumentError for a name that is no UTF-8, or
/// is "__metadata__"; IoError if the file cannot be written.
///   write_safetensors("model.safetensors", {{"w", w}, {"b", b}}, {{"epoch", "12"}});
void write_safetensors(const std::string& path, const NamedTensors& tensors, const NamedTexts& metadata = {},
                       Site site = Site::here());

namespace detail {

/// The entry `name`, whose shape and dtype are those of `like`.
Tensor entry_like(const NamedTensors& tensors, const std::string& name, const Tensor& like, Site site);

/// Names the tensors of a structure by their places in it: "network.0.1".
struct PlaceNames : PartVisitor {
  explicit PlaceNames(std::string of) : name(std::move(of)) {}
  std::string name;
  std::vector<std::string> all = {};
  std::vector<std::size_t> lengths = {};
  void tensor(const Tensor& /*x*/) { all.push_back(name); }
  void part(std::size_t k) {
    lengths.push_back(name.size());
    name += '.' + std::to_string(k);
  }
  void end() {
    name.resize(lengths.back());
    lengths.pop_back();
  }
};
template <class T>
std::vector<std::string> place_names(const std::string& name, const T& x) {
  PlaceNames names{name};
  visit_parts(names, x);
  return names.all;
}

}  // namespace detail

/// The tensors of structures (those that captured functions take) under names: each structure's own and the places of
/// its members, "network.0.1". Numbers and flags in a structure have no entry.
///   write_safetensors("step.safetensors", named("network", network, "state", state));
template <class T, class... Rest>
[[nodiscard]] NamedTensors named(const std::string& name, const T& x, const Rest&... rest) {
  NamedTensors out;
  if constexpr (sizeof...(Rest) > 0) out = named(rest...);
  const std::vector<std::string> names = detail::place_names(name, x);
  const std::vector<Tensor> parts = detail::parts_of(x);
  for (std::size_t k = 0; k < parts.size(); ++k) out.set(names[k], parts[k]);
  return out;
}
/// The structure with the tensors of that name. Throws ArgumentError, ShapeError or DTypeError, naming the entry, if
/// one is missing or is not like the one in `like`.
///   network = restored(file.tensors, "network", network);
template <class T>
[[nodiscard]] T restored(const NamedTensors& tensors, const std::string& name, const T& like,
                         Site site = Site::here()) {
  const std::vector<std::string> names = detail::place_names(name, like);
  std::vector<Tensor> parts = detail::parts_of(like);
  for (std::size_t k = 0; k < parts.size(); ++k) parts[k] = detail::entry_like(tensors, names[k], parts[k], site);
  return detail::with_parts(like, parts);
}

}  // namespace oriel
