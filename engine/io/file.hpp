// Whole files in, whole files out.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "io/pixels.hpp"

namespace oriel::io {

/// A file open for reading from its start: a regular file or anything else that gives bytes.
class InputFile {
 public:
  /// Throws IoError, naming the operation and the path with the system's reason.
  InputFile(const char* operation, const std::string& path);

  /// Appends up to `count` further bytes; fewer only where the file ends. Throws IoError.
  void read(Bytes& bytes, std::size_t count);
  /// The bytes of a regular file; pipes and devices tell nothing.
  std::optional<std::size_t> size() const;
  /// Appends the rest. Throws IoError, at once where the file tells its size, if `bytes` would pass `limit` bytes. No
  /// more than `limit` + 1 bytes are read.
  void read_rest(Bytes& bytes, std::size_t limit);

 private:
  [[noreturn]] void fail(const char* did, int error) const;
  [[noreturn]] void fail_length(std::size_t limit) const;

  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  const char* operation_;
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// Makes the file hold exactly `bytes`: writes them to a new file beside it and renames that over it, so that a reader
/// sees the old bytes or the new ones, never a part. Throws IoError, leaving what stood there untouched and nothing
/// beside it. Pipes and devices are written to where they stand; a part may have reached them when that fails.
void replace_file(const char* operation, const std::string& path, ByteSpan bytes);

}  // namespace oriel::io
