// Names of notations, trees of numbers and swizzles, which need no layout.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oriel/error.hpp"
#include "oriel/layouts.hpp"

namespace oriel::layouts {

namespace {

constexpr std::array<std::string_view, 7> kNames{"cute", "torch", "numpy", "tinygrad", "oriel", "linear", "isl"};

}  // namespace

std::string_view name(Notation notation) noexcept { return kNames[static_cast<std::size_t>(notation)]; }

Notation notation_named(std::string_view wanted) {
  for (std::size_t k = 0; k < kNames.size(); ++k) {
    if (kNames[k] == wanted) return static_cast<Notation>(k);
  }
  throw ArgumentError("layout", fmt::format("no notation is named '{}'; there are cute, torch, numpy, tinygrad, oriel, "
                                            "linear and isl",
                                            wanted));
}

SymInt IntTuple::product() const {
  if (!list) return value;
  SymInt all = 1;
  for (const IntTuple& part : parts) all = all * part.product();
  return all;
}

Ints IntTuple::leaves() const {
  if (!list) return Ints{value};
  Ints all;
  for (const IntTuple& part : parts) {
    for (const SymInt leaf : part.leaves()) all.push_back(leaf);
  }
  return all;
}

std::int64_t Swizzle::operator()(std::int64_t position) const noexcept {
  const std::int64_t mask = (std::int64_t{1} << bits) - 1;
  const std::int64_t source = position & (mask << (base + std::max(shift, 0)));
  return position ^ (shift >= 0 ? source >> shift : source << -shift);
}

std::string IntTuple::str() const {
  if (!list) return std::to_string(value.value());
  std::string text;
  for (const IntTuple& part : parts) text += (text.empty() ? "" : ",") + part.str();
  return "(" + text + ")";
}

std::string Swizzle::str() const { return fmt::format("Sw<{},{},{}>", bits, base, shift); }

}  // namespace oriel::layouts
