// Checks a file that a compiler wrote before the loader opens it.
#pragma once

#include <string>

namespace oriel::backend::eigen {

/// The bytes of a regular file. Empty for anything else, with the reason in `trouble`. It never waits, as reading from
/// a pipe in place of the file would.
std::string read_library(const std::string& path, std::string& trouble);

/// Why these bytes are not a complete library for this machine's loader; nothing if they are. The loader maps as many
/// bytes as the headers state and is killed (SIGBUS) if the file is shorter. Only ELF files are checked; on other
/// systems all files pass.
std::string why_not_whole(const std::string& library);

}  // namespace oriel::backend::eigen
