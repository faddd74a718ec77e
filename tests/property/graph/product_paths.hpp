// Which of the CPU's ways to run a kernel a kernel takes, and how its factors are read.
#pragma once

#include <string>
#include <vector>

#include "backend/eigen/compiled/native.hpp"

namespace oriel::testing {

/// For example "blocked" and "blocked, right as it lies, step -". A kernel of several parts gives the paths of each.
std::vector<std::string> paths_of(const backend::eigen::TieredKernel& kernel);

/// Those that random products reach.
std::vector<std::string> known_paths();

}  // namespace oriel::testing
