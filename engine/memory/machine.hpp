// How much memory this process may use.
#pragma once

#include <cstddef>
#include <string>

namespace oriel::mem {

/// The bytes of memory of the machine, or the least limit of this process's control groups if that is smaller.
std::size_t machine_memory();
/// The least limit of this process's control groups, of either version, read from the files below `root` ("" for the
/// system's own); the largest number if there is no limit.
std::size_t group_memory(const std::string& root);

}  // namespace oriel::mem
