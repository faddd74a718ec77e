#include "backend/eigen/compiled/library_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#if defined(__ELF__)
#include <elf.h>
#include <link.h>
#endif

namespace oriel::backend::eigen {

std::string read_library(const std::string& path, std::string& trouble) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat s {};
  if (fd < 0 || fstat(fd, &s) != 0 || !S_ISREG(s.st_mode)) {
    trouble = fd < 0 && errno == ENOENT ? "left no library behind" : "left something behind that is no regular file";
    if (fd >= 0) close(fd);
    return {};
  }
  std::string bytes(static_cast<std::size_t>(s.st_size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count = read(fd, bytes.data() + got, bytes.size() - got);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  close(fd);
  bytes.resize(got);
  if (bytes.empty()) trouble = "left no library behind";
  return bytes;
}

#if defined(__ELF__)

namespace {

/// Do `count` entries of `each` bytes at `at` lie inside the file?
bool inside(std::uint64_t at, std::uint64_t each, std::uint64_t count, std::uint64_t size) {
  return at <= size && (each == 0 || count <= (size - at) / each);
}

template <class T>
T take(const std::string& bytes, std::uint64_t at) {
  T out;
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

}  // namespace

std::string why_not_whole(const std::string& library) {
  const std::uint64_t size = library.size();
  if (size < sizeof(ElfW(Ehdr)) || std::memcmp(library.data(), ELFMAG, SELFMAG) != 0) return "is no library";
  const auto header = take<ElfW(Ehdr)>(library, 0);
  const unsigned char own = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (header.e_ident[EI_CLASS] != own || header.e_type != ET_DYN) return "is no library of this machine";
  const bool segments =
      header.e_phentsize == sizeof(ElfW(Phdr)) && inside(header.e_phoff, header.e_phentsize, header.e_phnum, size);
  // Linkers write the table of sections last.
  if (!segments || !inside(header.e_shoff, header.e_shentsize, header.e_shnum, size)) return "is cut short";
  for (unsigned k = 0; k < header.e_phnum; ++k) {
    const auto segment = take<ElfW(Phdr)>(library, header.e_phoff + k * sizeof(ElfW(Phdr)));
    if (segment.p_type == PT_LOAD && !inside(segment.p_offset, 1, segment.p_filesz, size)) return "is cut short";
  }
  return {};
}

#else

std::string why_not_whole(const std::string&) { return {}; }

#endif

}  // namespace oriel::backend::eigen
