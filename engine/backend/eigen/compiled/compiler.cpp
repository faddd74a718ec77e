#include "backend/eigen/compiled/compiler.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "backend/eigen/compiled/library_file.hpp"
#include "base/fork_lock.hpp"
#include "base/per_process.hpp"
#include "base/settings.hpp"
#include "base/subprocess.hpp"
#include "oriel/error.hpp"

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
