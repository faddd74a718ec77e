// Graphs that users write, each of which can run fused or with its values realised one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::bench {

/// Marks the values of a program: those that it names or that one call of the API returns. In the unfused run a marked
/// value is realised at once; in the fused run marking does nothing. Movements are not marked, because they compute
/// nothing.
class Each {
 public:
  /// With `explained`, what is realised is explained before, for its kernels' estimated times.
  explicit Each(bool apart, std::vector<ExplainedKernel>* explained = nullptr) noexcept
      : apart_(apart), explained_(explained) {}
  Tensor operator()(Tensor value) const {
    if (!apart_) return value;
    if (explained_ != nullptr)
      for (ExplainedKernel& k : explain({&value, 1}).kernels) explained_->push_back(std::move(k));
    value.realize();
    return value;
  }

 private:
  bool apart_;
  std::vector<ExplainedKernel>* explained_;
};

using Roots = std::vector<Tensor>;
/// Builds the graph from inputs in memory and returns the requested results.
using Build = std::function<Roots(const Each& each)>;

/// Makes the inputs of a graph: the same for the same seed.
class Inputs {
 public:
  explicit Inputs(std::uint64_t seed) noexcept : state_(seed * 2 + 1) {}
  /// A float32 tensor with elements in (-scale, scale).
  Tensor operator()(const Shape& shape, float scale = 1);
  /// A float32 tensor with elements in [low, high).
  Tensor between(const Shape& shape, float low, float high);
  /// An int64 tensor of positions in [0, end).
  Tensor positions(const Shape& shape, std::int64_t end);

 private:
  std::uint64_t next() noexcept;
  std::uint64_t state_;
};

struct GraphCase {
  std::string name;
  std::function<Build(Inputs& in)> prepare;
  double tolerance = 1e-4;  // largest accepted difference between both sides, relative to the largest element
};

/// All cases, in the order in which they are added.
class Cases {
 public:
  void add(std::string name, std::function<Build(Inputs& in)> prepare, double tolerance = 1e-4) {
    list_.push_back({std::move(name), std::move(prepare), tolerance});
  }
  const std::vector<GraphCase>& list() const noexcept { return list_; }

 private:
  std::vector<GraphCase> list_;
};

// One function per source file.
void add_products(Cases& cases);
void add_layers(Cases& cases);
void add_training(Cases& cases);
void add_attention(Cases& cases);
void add_images(Cases& cases);
void add_statistics(Cases& cases);
void add_arrays(Cases& cases);
void add_simulations(Cases& cases);

}  // namespace oriel::bench
