#include "cli/text_file.hpp"

#include "io/file.hpp"

namespace oriel::cli {

std::string read_text(const char* command, const std::string& path) {
  constexpr std::size_t kLimit = std::size_t{1} << 24;
  io::Bytes bytes;
  io::InputFile(command, path).read_rest(bytes, kLimit);
  return {bytes.begin(), bytes.end()};
}

}  // namespace oriel::cli
