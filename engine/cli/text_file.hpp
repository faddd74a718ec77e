// A text from a file.
#pragma once

#include <string>

namespace oriel::cli {

/// All of the file. Throws IoError, naming the command and the file; also where it holds more than 2^24 bytes.
std::string read_text(const char* command, const std::string& path);

}  // namespace oriel::cli
