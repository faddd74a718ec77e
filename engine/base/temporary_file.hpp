// Names for files that are written aside and then renamed.
#pragma once

#include <string>
#include <string_view>

namespace oriel::base {

/// 16 hexadecimal digits from the system's source of random numbers. Process ids and counters repeat (in containers
/// every program is process 1), so a name made of them may be taken by what a killed process left behind.
std::string random_digits();

/// What stands between a file's name and the digits while it is written aside: "a.npy.oriel-0123456789abcdef".
inline constexpr std::string_view kAside = ".oriel-";

/// Removes what killed writers left: the regular files of this user in `folder` whose names are `stem` and 16 such
/// digits, if nothing has written to them for an hour and no process holds a lock (flock) on them. No other name is
/// touched, since a user may have chosen it. Looks at 4096 entries at most. Never throws.
void remove_stale_files(const std::string& folder, std::string_view stem) noexcept;

}  // namespace oriel::base
