// What a compiler left behind, before the loader sees it.
#pragma once

#include <string>

namespace oriel::backend::eigen {

/// The bytes of a regular file; empty, with the reason in `trouble`, for what is none. Waits for nothing: a pipe in its
/// place would never end.
std::string read_library(const std::string& path, std::string& trouble);

/// Why these bytes are no whole library for this machine's loader, or nothing. The loader maps what the headers promise
/// and is killed (SIGBUS) where the file is shorter. Only ELF files are looked into; on other systems all pass.
std::string why_not_whole(const std::string& library);

}  // namespace oriel::backend::eigen
