// Reads a text file.
#pragma once

#include <string>

namespace oriel::cli {

/// The whole file. Throws IoError, which names the command and the file, if it cannot be read or holds more than 2^24
/// bytes.
std::string read_text(const char* command, const std::string& path);

}  // namespace oriel::cli
