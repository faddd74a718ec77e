#include "backend/items/programs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <utility>

#include "base/debug.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::items {

namespace {

// Change this number if the form of sources or of cache entries changes.
constexpr int kFormat = 1;
// Built kernels kept in memory. Schedules hold the kernels that they use, so these survive a clear.
constexpr std::size_t kMostKernels = 4096;
// The longest part of a build log that messages and reports show.
constexpr std::size_t kMostLog = 4000;

}  // namespace

ProgramStore::ProgramStore(DeviceMemory& memory, const source::Dialect& dialect, mem::DiskCache& cache)
    : memory_(memory),
      driver_(memory.driver()),
      dialect_(dialect),
      cache_(cache),
      context_(fmt::format("{} {}\n{}\n{}\n", driver_.name(), kFormat, driver_.identity(), driver_.options())) {}

/// One program of all kernels. That of a single kernel tells it from others.
std::string ProgramStore::together(std::span<const Rendered* const> kernels) const {
  bool fp64 = false;
  for (const Rendered* k : kernels) fp64 = fp64 || k->fp64;
  std::string text = dialect_.prelude(fp64);
  std::set<std::string> written;
  for (const Rendered* k : kernels)
    for (const auto& [name, function] : k->helpers)
      if (written.insert(name).second) text += function + "\n";
  for (const Rendered* k : kernels) text += k->body;
  return text;
}

Object ProgramStore::build_source(const std::string& source, const std::string& names, BuildNote& note) {
  const auto start = std::chrono::steady_clock::now();
  int status = 0;
  Object program = driver_.build(source, note.log, status);
  while (!note.log.empty() && (note.log.back() == '\0' || note.log.back() == '\n')) note.log.pop_back();
  note.log.resize(std::min(note.log.size(), kMostLog));
  std::string what = "kernel " + names;
  if (program) what += ": the device's compiler says: " + note.log;
  driver_.check(status, "compile", what);
  note.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return program;
}

std::shared_ptr<BuiltKernel> ProgramStore::adopt(const Object& program, const Rendered& kernel,
                                                 std::shared_ptr<const BuildNote> note) {
  auto built = std::make_shared<BuiltKernel>();
  for (const std::string& name : kernel.functions) {
    int status = 0;
    built->functions.push_back(driver_.function_of(program, name, status));
    driver_.check(status, "compile", "kernel " + name);
  }
  built->program = program;
  built->note = std::move(note);
  return built;
}

/// Loads a program's binary from disk. Returns null if there is none or the driver rejects it.
Object ProgramStore::load(const std::string& key) {
  if (auto known = loaded_[key].lock()) return known;
  const auto binary = cache_.find(key);
  if (!binary) return nullptr;
  Object program = driver_.load(*binary);
  if (!program) return nullptr;
  ++counts_.loaded;
  loaded_[key] = program;
  return program;
}

/// A kernel's entry on disk names the program that holds it.
std::shared_ptr<BuiltKernel> ProgramStore::find_on_disk(const Rendered& kernel, const std::string& key) {
  const auto program_key = cache_.find(key);
  if (!program_key) return nullptr;
  if (const Object program = load(*program_key)) {
    try {
      return adopt(program, kernel, std::make_shared<const BuildNote>(BuildNote{.from_disk = true}));
    } catch (const DeviceError&) {
      // The program does not contain the kernel: build it again.
    }
  }
  cache_.drop(*program_key);
  cache_.drop(key);
  return nullptr;
}

std::vector<std::shared_ptr<BuiltKernel>> ProgramStore::build(std::span<const Rendered* const> kernels) {
  const std::lock_guard lock(guard_);
  std::vector<std::string> identities;
  std::vector<const Rendered*> wanted;
  std::vector<std::string> keys;
  std::set<std::string> missing;
  if (kernels_.size() + kernels.size() > kMostKernels) kernels_.clear();
  for (const Rendered* k : kernels) {
    identities.push_back(together({&k, 1}));
    const std::string& identity = identities.back();
    if (kernels_.contains(identity) || missing.contains(identity)) continue;
    const std::string key = "kernel\n" + context_ + identity;
    if (auto found = find_on_disk(*k, key)) {
      kernels_[identity] = std::move(found);
      continue;
    }
    missing.insert(identity);
    wanted.push_back(k);
    keys.push_back(key);
  }
  if (!wanted.empty()) {
    const std::string source = together(wanted);
    std::string names = wanted.front()->functions.front();
    if (wanted.size() > 1) names += fmt::format(" and {} others", wanted.size() - 1);
    const auto note = std::make_shared<BuildNote>();
    note->kernels = wanted.size();
    const auto program = build_source(source, names, *note);
    ++counts_.built;
    std::vector<std::shared_ptr<BuiltKernel>> made;
    made.reserve(wanted.size());
    for (const Rendered* k : wanted) made.push_back(adopt(program, *k, note));
    for (std::size_t k = 0; k < wanted.size(); ++k) kernels_[together({&wanted[k], 1})] = made[k];
    fresh_.push_back({program, source, keys});
    const std::uint16_t context = memory_.device().context;
    if (base::watch_of(context).debugging(base::Debug::Compile))
      base::debug_say(context, base::Debug::Compile,
                      fmt::format("built an {} program of {} kernels", dialect_.name, wanted.size()));
  }
  std::vector<std::shared_ptr<BuiltKernel>> built;
  built.reserve(identities.size());
  for (const std::string& identity : identities) built.push_back(kernels_.at(identity));
  return built;
}

void ProgramStore::export_new() {
  const std::lock_guard lock(guard_);
  if (fresh_.empty()) return;
  if (!cache_.usable()) return fresh_.clear();
  {
    const std::lock_guard exports(export_guard_);
    for (FreshProgram& f : fresh_) exports_.push_back(std::move(f));
    if (!exporter_.joinable()) exporter_ = std::thread([this] { run_exports(); });
  }
  fresh_.clear();
  wake_.notify_all();
}

void ProgramStore::stop() {
  {
    const std::lock_guard lock(export_guard_);
    stop_ = true;
  }
  wake_.notify_all();
  if (exporter_.joinable()) exporter_.join();
}

void ProgramStore::wait_for_exports() {
  std::unique_lock lock(export_guard_);
  wake_.wait(lock, [&] { return exports_.empty() && !exporting_; });
}

// A program is exported after its kernels ran, so its binary contains what the driver compiled at launch.
void ProgramStore::run_exports() {
  std::unique_lock lock(export_guard_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || !exports_.empty(); });
    if (stop_) return;
    const FreshProgram fresh = std::move(exports_.front());
    exports_.pop_front();
    exporting_ = true;
    lock.unlock();
    try {
      // Export while nothing is launched: PoCL builds what it exports, in files named like those of running kernels.
      memory_.queue().alone([&] {
        const std::string binary = driver_.binary_of(fresh.program);
        // Write the program before the entries that name it.
        const std::string key = "program\n" + mem::DiskCache::file_name(context_ + fresh.source);
        if (binary.empty() || !cache_.put(key, binary)) return;
        for (const std::string& kernel : fresh.kernels) cache_.put(kernel, key);
        ++exported_;
      });
    } catch (const DeviceError&) {
      // The failure is reported to whoever reads the results; this program is not exported.
    }
    lock.lock();
    exporting_ = false;
    wake_.notify_all();
  }
}

ProgramStore::Counts ProgramStore::counts() const {
  const std::lock_guard lock(guard_);
  Counts counts = counts_;
  counts.exported = exported_;
  return counts;
}

}  // namespace oriel::backend::items
