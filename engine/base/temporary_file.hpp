// Names of temporary files that are written and then renamed to their final name.
#pragma once

#include <string>
#include <string_view>

namespace oriel::base {

/// 16 hexadecimal digits from the system's source of random numbers. Process ids and counters repeat (in containers
/// every program is process 1), so a name made from them could collide with a file that a killed process left behind.
std::string random_digits();

/// Separates the file's name from the digits in the name of a temporary file: "a.npy.oriel-0123456789abcdef".
inline constexpr std::string_view kAside = ".oriel-";

/// Removes temporary files that killed writers left behind: the regular files of this user in `folder` whose names are
/// `stem` plus 16 such digits, if they have not been written to for an hour and no process holds a lock (flock) on
/// them. Files with other names are left alone, because a user may have chosen the name. Examines at most 4096 entries.
/// Never throws.
void remove_stale_files(const std::string& folder, std::string_view stem) noexcept;

}  // namespace oriel::base
