#include "io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/escape.hpp"
#include "base/temporary_file.hpp"
#include "oriel/error.hpp"

namespace oriel::io {

double seconds_for_other_end = 5;
std::size_t most_piped_bytes = std::size_t{1} << 30;

namespace {

std::string reason(int error) { return std::generic_category().message(error); }

bool write_all(int descriptor, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

// Writes directly to a pipe, terminal or device, which a new file must not replace.
bool write_through(int descriptor, ByteSpan bytes) {
  const bool written = write_all(descriptor, bytes);
  const int error = errno;
  const bool closed = ::close(descriptor) == 0;
  if (!written) errno = error;
  return written && closed;
}

// How often the other end of a pipe is looked for.
constexpr int kTick = 10;  // ms

class Deadline {
 public:
  bool is_over() const { return std::chrono::steady_clock::now() > end_; }

 private:
  std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                             std::chrono::duration<double>(seconds_for_other_end));
};

// A pipe that stands in a folder. Those of pipe(), which have no name, lose their writers only once.
bool is_named_pipe(int descriptor) {
  struct stat status {};
  struct statfs system {};
  return ::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) &&
         !(::fstatfs(descriptor, &system) == 0 && system.f_type == PIPEFS_MAGIC);
}

// From here on reads and writes wait.
void let_wait(int descriptor) { ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK); }

// Opens a pipe, terminal or device to write. Waits a while for the reader of a pipe; the error is ENXIO without one.
int open_to_write(const std::string& path, bool pipe) {
  for (const Deadline deadline;;) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (descriptor >= 0) let_wait(descriptor);
    if (descriptor >= 0 || errno != ENXIO || !pipe || deadline.is_over()) return descriptor;
    std::this_thread::sleep_for(std::chrono::milliseconds(kTick));
  }
}

// A new file that is removed again unless it was kept. While it is open, a lock shows that it is in use.
class NewFile {
 public:
  explicit NewFile(std::string path)
      : path_(std::move(path)), descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
    if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX | LOCK_NB);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    ::unlink(path_.c_str());
  }

  bool open() const noexcept { return descriptor_ >= 0; }

  bool write(ByteSpan bytes) {
    // fsync before the rename: otherwise a crash could leave an empty file under the new name.
    return write_all(descriptor_, bytes) && (::fsync(descriptor_) == 0 || errno == EINVAL || errno == EROFS);
  }

  bool set_mode(mode_t mode) { return ::fchmod(descriptor_, mode) == 0; }

  bool rename_to(const std::string& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) return false;
    ::close(descriptor_);
    descriptor_ = -1;
    return true;
  }

 private:
  std::string path_;
  int descriptor_;
};

// The final target of symbolic links. Links stay; the file that they name is replaced or created.
std::string resolve(const std::string& path) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::filesystem::path target = path;
  std::error_code error;
  for (int k = 0; k < kMostLinks && std::filesystem::is_symlink(target, error); ++k) {
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;  // gives `next` if it is absolute
  }
  return target.string();
}

}  // namespace

InputFile::InputFile(const char* operation, const std::string& path, Kind kind) : operation_(operation), path_(path) {
  // Without O_NONBLOCK a pipe without a writer would not be opened at all.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) fail("opened", errno);
  file_.reset(::fdopen(descriptor, "rb"));
  if (!file_) {
    const int error = errno;
    ::close(descriptor);
    fail("opened", error);
  }
  if (size()) return;
  if (kind == Kind::regular) {
    throw IoError(operation_, fmt::format("\"{}\" is no regular file: a pipe may wait or go on for ever; write what it "
                                          "gives to a file first",
                                          base::escaped(path_)));
  }
  if (is_named_pipe(descriptor)) wait_for_writer();
  let_wait(descriptor);
}

// A pipe whose writer has opened it is at its end when it has no writer any more; one that never had a writer is not
// told from it by a read.
void InputFile::wait_for_writer() {
  const int descriptor = ::fileno(file_.get());
  for (const Deadline deadline;;) {
    pollfd wait{descriptor, POLLIN, 0};
    if (::poll(&wait, 1, kTick) > 0) return;
    unsigned char byte = 0;
    const ssize_t got = ::read(descriptor, &byte, 1);
    if (got > 0) std::ungetc(byte, file_.get());
    if (got != 0) return;  // there is a writer
    if (deadline.is_over()) {
      throw IoError(operation_,
                    fmt::format("\"{}\" is a pipe that no program has opened to write for {:g} s; start its "
                                "writer, or write to a file",
                                base::escaped(path_), seconds_for_other_end));
    }
  }
}

void InputFile::fail(const char* did, int error) const {
  throw IoError(operation_, fmt::format("\"{}\" cannot be {}: {}; give the path of a file that this program may read",
                                        base::escaped(path_), did, reason(error)));
}

void InputFile::fail_length(std::size_t limit) const {
  throw IoError(operation_, fmt::format("\"{}\" is longer than the {} bytes that are read; cut it into parts",
                                        base::escaped(path_), limit));
}

std::size_t InputFile::read(void* to, std::size_t count) {
  const std::size_t got = std::fread(to, 1, count, file_.get());
  if (got < count && std::ferror(file_.get()) != 0) fail("read", errno);
  return got;
}

void InputFile::read(Bytes& bytes, std::size_t count) {
  const std::size_t old = bytes.size();
  bytes.resize(old + count);
  bytes.resize(old + read(bytes.data() + old, count));
}

std::optional<std::size_t> InputFile::size() const {
  struct stat status {};
  if (::fstat(::fileno(file_.get()), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return static_cast<std::size_t>(status.st_size);
}

std::optional<std::size_t> InputFile::rest() const {
  const std::optional<std::size_t> all = size();
  const long place = all ? std::ftell(file_.get()) : -1;
  if (place < 0) return {};
  return *all - std::min(*all, static_cast<std::size_t>(place));
}

void InputFile::read_rest(Bytes& bytes, std::size_t limit) {
  std::size_t step = std::size_t{1} << 16;
  if (const std::optional<std::size_t> size = this->size()) {
    if (*size > limit) fail_length(limit);
    step = *size + 1;  // one more, so that the first read reaches the end
  }
  for (std::size_t old = bytes.size();; old = bytes.size()) {
    // Reads one byte beyond the limit to detect that there is more.
    step = std::min(step, limit + 1 - std::min(limit, old));
    read(bytes, step);
    if (bytes.size() > limit) fail_length(limit);
    if (bytes.size() < old + step) return;
    step = bytes.size();
  }
}

std::shared_ptr<unsigned char> InputFile::map() const {
  const std::size_t bytes = size().value_or(0);
  if (bytes == 0) return nullptr;
  // Without MAP_NORESERVE a file that is larger than the memory would be refused.
  void* const data =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, ::fileno(file_.get()), 0);
  if (data == MAP_FAILED) fail("mapped", errno);
  return {static_cast<unsigned char*>(data), [bytes](unsigned char* first) { ::munmap(first, bytes); }};
}

Tensor on_host(const Tensor& x) {
  const Device device = x.device();
  if (device.kind == DeviceKind::eigen || device.kind == DeviceKind::null) return x;
  return x.to(Device{DeviceKind::eigen, 0, device.context});
}

void replace_file(const char* operation, const std::string& path, ByteSpan bytes) {
  const std::string target = resolve(path);
  const std::string named = base::escaped(path);
  const auto fail = [&](int error) {
    throw IoError(operation, fmt::format("\"{}\" cannot be written: {}; the old file is unchanged. Give a path in a "
                                         "folder that exists, has room, and that this program may write to",
                                         named, reason(error)));
  };
  if (std::error_code ignored; std::filesystem::is_symlink(target, ignored)) fail(ELOOP);
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    const bool pipe = S_ISFIFO(old.st_mode);
    const int descriptor = open_to_write(target, pipe);
    if (descriptor < 0 && errno == ENXIO && pipe) {
      throw IoError(operation, fmt::format("\"{}\" is a pipe that no program has opened to read for {:g} s; start its "
                                           "reader, or give the path of a file",
                                           named, seconds_for_other_end));
    }
    if (descriptor < 0) fail(errno);
    if (write_through(descriptor, bytes)) return;
    throw IoError(operation, fmt::format("\"{}\", which is no regular file, cannot be written to the end: {}", named,
                                         reason(errno)));
  }
  // A rename needs only the folder's permission. This check also respects the permission of the file itself, even for
  // the superuser, whom the system would let pass.
  if (exists && ((old.st_mode & 0222) == 0 || ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)) {
    throw IoError(operation, fmt::format("\"{}\" cannot be written: it is read-only; the old file is unchanged. "
                                         "Allow writing (chmod u+w), or give another path",
                                         named));
  }
  const std::filesystem::path place = target;
  // Truncated, because a name has at most 255 bytes.
  const std::string stem = place.filename().string().substr(0, 200).append(base::kAside);
  base::remove_stale_files(place.parent_path().string(), stem);
  NewFile file((place.parent_path() / (stem + base::random_digits())).string());
  if (!file.open()) fail(errno);
  if (exists && !file.set_mode(old.st_mode & 07777)) fail(errno);
  if (!file.write(bytes)) fail(errno);
  if (!file.rename_to(target)) fail(errno);
}

}  // namespace oriel::io
