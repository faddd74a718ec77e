// The paths that kernels take on the CPU, and how their factors are read.
#pragma once

#include <string>
#include <vector>

#include "backend/eigen/compiled/native.hpp"

namespace oriel::testing {

/// For example "blocked" and "blocked, right as it lies, step -". A kernel of several parts gives the paths of each.
std::vector<std::string> paths_of(const backend::eigen::TieredKernel& kernel);

/// The paths that random products can take.
std::vector<std::string> known_paths();

}  // namespace oriel::testing
