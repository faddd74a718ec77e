#include "backend/eigen/compiled/compiler.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "base/fork_lock.hpp"
#include "base/per_process.hpp"
#include "base/settings.hpp"
#include "base/subprocess.hpp"
#include "oriel/error.hpp"
#if defined(__ELF__)
#include <elf.h>
#include <link.h>
#endif

namespace oriel::backend::eigen {
namespace {

constexpr double kSeconds = 60;         // for a unit, unless ORIEL_COMPILE_SECONDS says otherwise
constexpr double kUnbounded = 1e9;      // thirty years
constexpr double kProbeSeconds = 20;    // for a small unit
constexpr double kPatience = 10;        // this many times as long, if the compiler has low priority on a busy machine
constexpr std::size_t kMessage = 2000;  // characters of the compiler's output that are kept

/// A temporary folder that only this user can read. It is removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = base::env_text("TMPDIR").value_or("/tmp") + "/oriel-XXXXXX";
    if (mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
  }
  bool made() const noexcept { return !folder_.empty(); }
  const std::string& folder() const noexcept { return folder_; }
  std::string path(const char* name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

bool write_file(const std::string& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return static_cast<bool>(out);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Finds a program as execvp would, but never in the current folder.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const std::string path = base::env_text("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    std::string file = path.substr(begin, end - begin) + "/" + name;
    if (file.front() == '/' && end > begin && access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file))
      return file;
    begin = end + 1;
  }
  return "";
}

constexpr const char* kProbe = R"(#include <cmath>
#include <cstdint>
extern "C" double oriel_probe(const double* x, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += std::sqrt(x[i]);
  return sum;
}
)";

/// Path, size and time of change, as text.
std::string file_state(const std::string& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) return path + " is gone";
  return fmt::format("{} {} bytes, changed {}.{:09}", path, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

/// The key under which the version of a compiler that has passed its trial is stored.
std::string record_key(const std::string& path) { return "compiler\n" + file_state(path); }

// The bytes of a regular file that a compiler wrote. Empty for anything else, with the reason in `trouble`. It never
// waits, as reading from a pipe in place of the file would.
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

// Why these bytes are not a complete library for this machine's loader; nothing if they are. The loader maps as many
// bytes as the headers state and is killed (SIGBUS) if the file is shorter. Only ELF files are checked; on other
// systems all files pass.
#if defined(__ELF__)

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

}  // namespace

LoadedUnit::~LoadedUnit() {
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::units));
  dlclose(handle_);
}

void* LoadedUnit::symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

std::shared_ptr<const LoadedUnit> load_unit(const std::string& library, std::string& trouble) {
  if (trouble = why_not_whole(library); !trouble.empty()) return nullptr;
  // Each unit has a unique name, because the loader identifies libraries by name.
  const TemporaryFolder scratch;
  const std::string path = scratch.path("unit.so");
  if (!scratch.made() || !write_file(path, library)) {
    trouble = "no room in the folder for temporary files";
    return nullptr;
  }
  // Prevents forks while the loader works: a child would find it in the middle of loading.
  const std::lock_guard lock(base::fork_mutex(base::ForkLock::units));
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    trouble = fmt::format("cannot be loaded: {}", dlerror());
    return nullptr;
  }
  return std::make_shared<const LoadedUnit>(handle);
}

Compiler::Compiler(std::vector<std::string> candidates, double seconds, mem::DiskCache* records)
    : candidates_(std::move(candidates)), seconds_(seconds > 0 ? seconds : kUnbounded), records_(records) {
  if (records_ == nullptr) {
    settle();
    return;
  }
  for (const std::string& candidate : candidates_) {
    const std::string path = find_program(candidate);
    if (path.empty()) continue;
    // Look only at the first program that is found: without a record it may still pass its trial.
    const auto version = records_->find(record_key(path));
    if (version) take(path, *version);
    break;
  }
}

void Compiler::take(const std::string& path, const std::string& version) const {
  path_ = path;
  version_ = version;
  description_ = fmt::format("{} ({})", path_, first_line(version_));
  settled_.store(true, std::memory_order_release);
}

void Compiler::settle() const {
  const std::lock_guard lock(settling_);
  if (settled_.load(std::memory_order_relaxed)) return;
  std::string troubles;
  for (const std::string& candidate : candidates_) {
    const std::string path = find_program(candidate);
    const std::string key = path.empty() || records_ == nullptr ? "" : record_key(path);
    if (records_ != nullptr && !key.empty()) {
      if (const auto version = records_->find(key)) return take(path, *version);
    }
    const std::string trouble = path.empty() ? "is not there" : try_out(path);
    if (trouble.empty()) {
      if (records_ != nullptr && !key.empty()) records_->put(key, version_);
      return take(path_, version_);
    }
    troubles += fmt::format("{}{}: {}", troubles.empty() ? "" : "; ", candidate, trouble);
  }
  path_.clear();
  description_ = "no compiler: " + troubles;
  settled_.store(true, std::memory_order_release);
}

bool Compiler::usable() const {
  if (!settled_.load(std::memory_order_acquire)) settle();
  return !path_.empty();
}

const std::string& Compiler::description() const {
  static_cast<void>(usable());
  return description_;
}

namespace {

constinit base::PerProcessForever<Compiler> system_compiler;

}  // namespace

Compiler& Compiler::system() {
  return system_compiler.get([] {
    std::vector<std::string> candidates{"c++", "g++", "clang++"};
    if (const auto named = base::env_text("ORIEL_CXX")) candidates = {*named};
    const auto seconds = base::env_count("ORIEL_COMPILE_SECONDS");
    return std::make_unique<Compiler>(std::move(candidates), seconds ? static_cast<double>(*seconds) : kSeconds,
                                      &mem::DiskCache::shared());
  });
}

std::string describe_compiler(const Compiler* compiler, const mem::DiskCache* cache) {
  const Compiler& asked = compiler != nullptr ? *compiler : Compiler::system();
  const mem::DiskCache& disk = cache != nullptr ? *cache : mem::DiskCache::shared();
  return (asked.usable() ? "compiler " : "") + asked.description() + "; disk cache " + disk.state();
}

std::string Compiler::try_out(const std::string& path) const {
  const std::vector<std::string> ask{path, "--version"};
  const base::SubprocessResult said =
      base::run_program(ask, {.seconds = std::min(seconds_, kProbeSeconds), .variables = {"LC_ALL=C"}});
  if (!said.ok()) return said.trouble.empty() ? fmt::format("--version gave status {}", said.status) : said.trouble;
  path_ = path;
  version_ = said.output;
  return trial();
}

std::string Compiler::trial() const {
  const Built built = build(kProbe, "baseline");
  if (built.library.empty()) return built.trouble;
  std::string trouble;
  const auto unit = load_unit(built.library, trouble);
  if (unit == nullptr) return "what it builds " + trouble;
  const auto probe = reinterpret_cast<double (*)(const double*, std::int64_t)>(unit->symbol("oriel_probe"));
  const double numbers[] = {1, 4, 9};
  return probe != nullptr && probe(numbers, 3) == 6 ? "" : "its test kernel gives a wrong result";
}

std::string Compiler::identity() const { return file_state(path_) + '\n' + version_; }

std::vector<std::string> Compiler::flags(const std::string& level) const {
  // The flags with which the loops over elements are built. No flag here changes a number.
  std::vector<std::string> flags{"-std=c++17",
                                 "-O3",
                                 "-fPIC",
                                 "-shared",
                                 "-w",
                                 "-fno-math-errno",
                                 "-fno-trapping-math",
                                 "-ffp-contract=off",
                                 "-fno-strict-aliasing"};
  if (level == "avx2" || level == "avx512") flags.insert(flags.end(), {"-mavx2", "-mfma", "-mf16c"});
  if (level == "avx512") {
    flags.insert(flags.end(), {"-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mprefer-vector-width=512"});
  }
  flags.emplace_back("-I" ORIEL_EIGEN_FOLDER);
  return flags;
}

Built Compiler::build(const std::string& source, const std::string& level, int niceness,
                      const std::atomic<bool>* cancel) const {
  const auto start = std::chrono::steady_clock::now();
  Built built;
  const TemporaryFolder scratch;
  if (!scratch.made() || !write_file(scratch.path("unit.cpp"), source)) {
    built.trouble = "no room in the folder for temporary files";
    return built;
  }
  std::vector<std::string> command = flags(level);
  command.insert(command.begin(), path_);
  command.insert(command.end(), {"-o", scratch.path("unit.so"), scratch.path("unit.cpp")});
  const base::SubprocessResult ran =
      base::run_program(command, {.seconds = niceness > 0 ? kPatience * seconds_ : seconds_,
                                  .cpu_seconds = seconds_,
                                  .niceness = niceness,
                                  .cancel = cancel,
                                  .variables = {"TMPDIR=" + scratch.folder(), "LC_ALL=C"}});
  built.cpu_seconds = ran.cpu_seconds;
  built.refused = ran.trouble.empty() && ran.status != 0;
  if (ran.ok()) {
    built.library = read_library(scratch.path("unit.so"), built.trouble);
    if (!built.library.empty()) {
      if (const std::string fault = why_not_whole(built.library); !fault.empty()) {
        built.library.clear();
        built.trouble = "left a file behind that " + fault;
      }
    }
  } else {
    built.trouble = !ran.trouble.empty() ? ran.trouble : fmt::format("ended with status {}", ran.status);
  }
  if (built.library.empty()) {
    if (!ran.output.empty()) built.trouble += ", saying: " + ran.output.substr(0, kMessage);
  }
  built.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return built;
}

}  // namespace oriel::backend::eigen
