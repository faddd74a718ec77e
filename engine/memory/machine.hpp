// How much memory there is for this process.
#pragma once

#include <cstddef>
#include <string>

namespace oriel::mem {

/// Bytes of memory that the machine has, or the least limit of the control groups that this process is in.
std::size_t machine_memory();
/// The least limit of those control groups, of either version, as the files below `root` tell ("" for the system's
/// own); the largest number where there is none.
std::size_t group_memory(const std::string& root);

}  // namespace oriel::mem
