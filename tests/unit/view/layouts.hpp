// Reads recorded layouts and makes random ones, for the tests of layouts.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "oriel/layout.hpp"

namespace random_layouts {

using nlohmann::json;
using oriel::Ints;
using oriel::Layout;
using oriel::Shape;

inline json read_cases(const std::string& name, std::size_t count) {
  std::ifstream file(std::string(ORIEL_TEST_DATA) + "/" + name);
  REQUIRE(file);
  json cases = json::parse(file)["cases"];
  REQUIRE(cases.size() == count);
  return cases;
}

inline Ints read_ints(const json& value) {
  Ints ints;
  for (const json& n : value) ints.push_back(n.get<std::int64_t>());
  return ints;
}

inline Layout read_layout(const json& value) {
  return Layout::make(read_ints(value["shape"]), read_ints(value["strides"]));
}

inline std::int64_t value(oriel::SymInt n) { return n.value(); }

/// Layouts that are often dense in some order, mixed with gaps, repeated elements and odd strides on axes of extent 1.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::int64_t between(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

  Shape shape(std::size_t rank, std::int64_t largest = 4) {
    Shape shape;
    for (std::size_t d = 0; d < rank; ++d) shape.push_back(chance(4) ? 0 : between(1, largest));
    return shape;
  }

  Layout layout(const Shape& shape) {
    std::vector<std::size_t> order(shape.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = order.size() - 1 - k;
    if (chance(70)) std::shuffle(order.begin(), order.end(), engine_);
    Layout layout{shape, Ints(shape.size())};
    std::int64_t next = 1;
    for (const std::size_t d : order) {
      layout.strides[d] = next;
      next *= std::max<std::int64_t>(value(shape[d]), 1) + (chance(15) ? 1 : 0);
      if (chance(10)) layout.strides[d] = 0;
      if (shape[d] <= 1 && chance(40)) layout.strides[d] = between(0, 12);
    }
    return layout;
  }

  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

/// Calls f(index) for every index of `shape`, in row-major order.
template <class F>
void each_index(const Shape& shape, F&& f) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t left = value(oriel::numel(shape)); left > 0; --left) {
    f(index);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}

inline std::int64_t position(const std::vector<std::int64_t>& index, const Ints& strides) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * value(strides[d]);
  return at;
}

}  // namespace random_layouts
