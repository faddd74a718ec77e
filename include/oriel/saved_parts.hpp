// How a captured function's file meets the types of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "oriel/api.hpp"
#include "oriel/captured_parts.hpp"
#include "oriel/error.hpp"
#include "oriel/shared.hpp"
#include "oriel/site.hpp"

namespace ORIEL_API oriel {  // NOLINT(modernize-concat-nested-namespaces): it has an attribute
namespace detail {

/// The values of a result's parts, in order.
class SavedValues {
 public:
  explicit SavedValues(std::span<const std::int64_t> values) : values_(values) {}
  std::int64_t next() {
    if (at_ == values_.size()) throw IoError("load_function", "the file holds too few values of the result");
    return values_[at_++];
  }
  std::size_t next_size() {
    const std::int64_t n = next();
    if (n < 0 || n > kMostParts)
      throw IoError("load_function", "a list length in the file is negative or above the limit");
    return static_cast<std::size_t>(n);
  }
  bool at_end() const noexcept { return at_ == values_.size(); }

 private:
  static constexpr std::int64_t kMostParts = 1 << 20;
  std::span<const std::int64_t> values_;
  std::size_t at_ = 0;
};

/// Sets all parts of x that are no tensors, in the order of visit_parts.
template <class T>
void restore_parts(SavedValues& from, T& x) {
  const auto parts = [&](auto&... part) { (restore_parts(from, part), ...); };
  if constexpr (std::same_as<T, Tensor>) {
    return;
  } else if constexpr (std::is_floating_point_v<T>) {
    x = static_cast<T>(__builtin_bit_cast(double, from.next()));
  } else if constexpr (std::same_as<T, bool>) {
    x = from.next() != 0;
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    x = static_cast<T>(from.next());
  } else if constexpr (std::same_as<T, SymInt>) {
    x = SymInt(from.next());
  } else if constexpr (std::same_as<T, SymBool>) {
    x = SymBool(from.next() != 0);
  } else if constexpr (std::same_as<T, Device>) {
    x = unpacked(from.next());
  } else if constexpr (HasMembers<T>) {
    std::apply(parts, oriel_members(x));
  } else if constexpr (TupleLike<T>) {
    std::apply(parts, x);
  } else if constexpr (OptionalLike<T>) {
    x.reset();
    if (from.next() != 0) restore_parts(from, x.emplace());
  } else {
    x.resize(from.next_size());
    for (auto& element : x) restore_parts(from, element);
  }
}

/// The types with which a program loads a captured function.
struct SavedSignature {
  const void* signature;  // as in CapturedArguments
  std::string arguments;
  std::string result;
  /// A result with these values, and so many empty tensors and sizes; null if it is a tensor or nothing. Throws IoError
  /// if they do not fit.
  Shared<void> (*like)(std::span<const std::int64_t> values, std::size_t tensors, std::size_t sizes);
};

template <class Result>
Shared<void> saved_like(std::span<const std::int64_t> values, std::size_t tensors, std::size_t sizes) {
  SavedValues from(values);
  CapturedResults results;
  Shared<void> like;
  if constexpr (std::same_as<Result, Tensor>) {
    results.tensors.resize(1);
  } else if constexpr (!std::is_void_v<Result>) {
    static_assert(std::is_default_constructible_v<Result>, "a result that is loaded must have a default constructor");
    auto made = Shared<Result>::make();
    restore_parts(from, *made);
    Collector collector{results};
    visit_parts(collector, std::as_const(*made));
    like = std::move(made);
  }
  if (!from.at_end() || results.tensors.size() != tensors || results.sizes.size() != sizes)
    throw IoError("load_function", "the file's result has other parts than its type states");
  return like;
}

template <class Result, class... Args>
SavedSignature saved_signature() {
  return {signature<Args...>(), type_text<std::tuple<Args...>>(), type_text<Result>(), &saved_like<Result>};
}

void save_captured(const Captured& captured, const std::string& path, Site site);
/// Adds the entries of a file. Returns their number.
std::size_t load_captured(Captured& captured, const std::string& path, const SavedSignature& signature,
                          const LoadOptions& options, Site site);
/// A captured function of the entries of a file.
Shared<Captured> load_captured(const std::string& path, const SavedSignature& signature, const LoadOptions& options,
                               Site site);

}  // namespace detail
}  // namespace oriel
