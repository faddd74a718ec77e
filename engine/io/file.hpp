// Reads and writes whole files.
#pragma once

#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "io/pixels.hpp"
#include "oriel/tensor.hpp"

namespace oriel::io {

/// How long a pipe is given to be opened at its other end. Changed by tests alone.
extern double seconds_for_other_end;
/// Most bytes of text from a pipe or device, which may never end. Changed by tests alone.
extern std::size_t most_piped_bytes;

/// A file that is read from its start: a regular file, a pipe or a device.
class InputFile {
 public:
  enum class Kind { any, regular };
  /// Opens the file. Throws IoError, which names the operation, the path and the system's reason. Of Kind::regular it
  /// refuses pipes, which would wait for a writer, and devices, which may never end. Of Kind::any a named pipe is given
  /// `seconds_for_other_end` to get a writer.
  InputFile(const char* operation, const std::string& path, Kind kind = Kind::any);

  /// Reads the next `count` bytes, or fewer if the file ends. Returns how many. Throws IoError.
  std::size_t read(void* to, std::size_t count);
  /// Appends them.
  void read(Bytes& bytes, std::size_t count);
  /// The size of a regular file in bytes, and how many of them were not read yet; nullopt for pipes and devices.
  /// @{
  std::optional<std::size_t> size() const;
  std::optional<std::size_t> rest() const;
  /// @}
  /// Appends the rest of the file. Throws IoError if `bytes` would exceed `limit` bytes, without reading if the file's
  /// size is known. Reads at most `limit` + 1 bytes.
  void read_rest(Bytes& bytes, std::size_t limit);
  /// The bytes of a regular file from its start on, mapped: pages are read when they are touched. What is written to
  /// them goes into copies of pages, never into the file. Null for an empty file. Throws IoError.
  std::shared_ptr<unsigned char> map() const;

 private:
  void wait_for_writer();
  [[noreturn]] void fail(const char* did, int error) const;
  [[noreturn]] void fail_length(std::size_t limit) const;

  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  const char* operation_;
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// x, or a copy of it in memory of the host.
Tensor on_host(const Tensor& x);

/// Replaces the contents of the file by `bytes`: writes a new file beside it and renames it over the old one, so that a
/// reader sees either the old bytes or the new ones. Throws IoError; the old file is then unchanged and the new one
/// removed. Pipes and devices are written directly; if that fails, some bytes may have been written. A pipe is given
/// `seconds_for_other_end` to get a reader.
void replace_file(const char* operation, const std::string& path, ByteSpan bytes);

}  // namespace oriel::io
