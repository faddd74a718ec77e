// The reverse pass: cotangents from results to variables.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "grad/mark.hpp"

namespace oriel::derive {

/// The nodes between results and variables. What it passes through stays, even if it is realised later. Immutable.
class Way {
 public:
  Way(std::span<const NodePtr> results, std::span<const NodePtr> variables);
  ~Way();
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  /// For each variable its cotangent: the sum over the results of the products of their cotangents with the derivatives
  /// by it; null where no derivative goes from the results to it. A null cotangent is 0. What comes back is a pending
  /// expression over the nodes of the way, so that it may be differentiated again.
  std::vector<NodePtr> pull(const Call& call, std::span<const NodePtr> cotangents) const;

 private:
  class Builder;
  struct Places;
  std::unique_ptr<const Places> places_;
};

/// Below a node: the line of a value that was computed and has let go of what it was computed from, as "main.cpp:12";
/// empty if there is none beside the variables.
std::string computed_line(const NodePtr& result, std::span<const NodePtr> variables);

}  // namespace oriel::derive
