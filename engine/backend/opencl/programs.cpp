#include "backend/opencl/programs.hpp"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <utility>

#include "backend/opencl/builtins.hpp"
#include "base/debug.hpp"
#include "base/settings.hpp"
#include "oriel/error.hpp"
#include "source/opencl/dialect.hpp"

namespace oriel::backend::opencl {

namespace {

// Change this number if the form of sources or of cache entries changes.
constexpr int kFormat = 1;
// Built kernels kept in memory. Schedules hold the kernels that they use, so these survive a clear.
constexpr std::size_t kMostKernels = 4096;
// The longest part of a build log that messages and reports show.
constexpr std::size_t kMostLog = 4000;

std::string identity_of(const Rendered& kernel) {
  std::string text = source::opencl::dialect().prelude(kernel.fp64);
  for (const auto& [name, function] : kernel.helpers) text += function;
  return text + kernel.body;
}

std::string together(std::span<const Rendered* const> kernels) {
  bool fp64 = false;
  for (const Rendered* k : kernels) fp64 = fp64 || k->fp64;
  std::string text = source::opencl::dialect().prelude(fp64);
  std::set<std::string> written;
  for (const Rendered* k : kernels)
    for (const auto& [name, function] : k->helpers)
      if (written.insert(name).second) text += function + "\n";
  for (const Rendered* k : kernels) text += k->body;
  return text;
}

}  // namespace

ProgramStore::ProgramStore(DeviceMemory& memory, const DeviceTable& table, mem::DiskCache& cache)
    : memory_(memory),
      api_(memory.api()),
      device_(table.id),
      cache_(cache),
      options_("-cl-std=CL1.2"),
      declares_builtins_(table.pocl),
      exporter_(api_, memory.queue(), cache, context_) {
  if (table.correct_division) options_ += " -cl-fp32-correctly-rounded-divide-sqrt";
  if (const auto more = base::env_text("ORIEL_OPENCL_OPTIONS")) options_ += " " + *more;
  context_ = fmt::format("opencl {}\n{}\n{}\n{}\n{}\n{}\n", kFormat, table.platform_name, table.name, table.version,
                         table.driver, options_);
}

std::string ProgramStore::build_log(cl_program program) const {
  std::size_t bytes = 0;
  std::string log;
  if (api_.clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) != CL_SUCCESS) return log;
  log.resize(bytes);
  if (api_.clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr) != CL_SUCCESS)
    return {};
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  return log.substr(0, kMostLog);
}

std::shared_ptr<const Program> ProgramStore::build_source(const std::string& source, const std::string& names,
                                                          BuildNote& note) {
  const auto start = std::chrono::steady_clock::now();
  const auto built = [&](const std::string& all, const std::string& options, cl_int& status) {
    const char* text = all.c_str();
    const std::size_t length = all.size();
    auto program = std::make_shared<Program>(
        api_, api_.clCreateProgramWithSource(memory_.queue().context(), 1, &text, &length, &status));
    check(status, "compile", "kernel " + names);
    status = api_.clBuildProgram(program->get(), 1, &device_, options.c_str(), nullptr, nullptr);
    note.log = build_log(program->get());
    return program;
  };
  cl_int status = CL_BUILD_PROGRAM_FAILURE;
  std::shared_ptr<Program> program;
  if (declares_builtins_) program = built(builtin_declarations(source) + source, options_ + kSkipsBuiltins, status);
  if (status != CL_SUCCESS) {
    program = built(source, options_, status);
    if (declares_builtins_ && status == CL_SUCCESS) {
      declares_builtins_ = false;  // another version of the driver may have other names
      ++counts_.undeclared;
    }
  }
  check(status, "compile", fmt::format("kernel {}: the device's compiler says: {}", names, note.log));
  note.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return program;
}

std::shared_ptr<BuiltKernel> ProgramStore::adopt(std::shared_ptr<const Program> program, const Rendered& kernel) {
  auto built = std::make_shared<BuiltKernel>();
  for (const std::string& name : kernel.functions) {
    cl_int status = CL_SUCCESS;
    built->functions.emplace_back(api_, api_.clCreateKernel(program->get(), name.c_str(), &status));
    check(status, "compile", "kernel " + name);
  }
  built->program = std::move(program);
  return built;
}

/// Loads a program's binary from disk. Returns null if there is none or the driver rejects it.
std::shared_ptr<const Program> ProgramStore::load(const std::string& key) {
  if (auto known = loaded_[key].lock()) return known;
  const auto binary = cache_.find(key);
  if (!binary) return nullptr;
  const auto* data = reinterpret_cast<const unsigned char*>(binary->data());
  const std::size_t bytes = binary->size();
  cl_int status = CL_SUCCESS;
  cl_int taken = CL_SUCCESS;
  auto program = std::make_shared<Program>(
      api_, api_.clCreateProgramWithBinary(memory_.queue().context(), 1, &device_, &bytes, &data, &taken, &status));
  if (status != CL_SUCCESS || taken != CL_SUCCESS) return nullptr;
  if (api_.clBuildProgram(program->get(), 1, &device_, options_.c_str(), nullptr, nullptr) != CL_SUCCESS)
    return nullptr;
  ++counts_.loaded;
  loaded_[key] = program;
  return program;
}

/// A kernel's entry on disk names the program that holds it.
std::shared_ptr<BuiltKernel> ProgramStore::find_on_disk(const Rendered& kernel, const std::string& key) {
  const auto program_key = cache_.find(key);
  if (!program_key) return nullptr;
  if (auto program = load(*program_key)) {
    try {
      auto built = adopt(std::move(program), kernel);
      static const auto note = std::make_shared<const BuildNote>(BuildNote{true, 0, 0, {}});
      built->note = note;
      return built;
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
    identities.push_back(identity_of(*k));
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
    for (const Rendered* k : wanted) {
      made.push_back(adopt(program, *k));
      made.back()->note = note;
    }
    for (std::size_t k = 0; k < wanted.size(); ++k) kernels_[identity_of(*wanted[k])] = made[k];
    fresh_.push_back({program, source, keys});
    const std::uint16_t context = memory_.device().context;
    if (base::watch_of(context).debugging(base::Debug::Compile))
      base::debug_say(context, base::Debug::Compile,
                      fmt::format("built an OpenCL program of {} kernels", wanted.size()));
  }
  std::vector<std::shared_ptr<BuiltKernel>> built;
  built.reserve(identities.size());
  for (const std::string& identity : identities) built.push_back(kernels_.at(identity));
  return built;
}

bool ProgramStore::has_new() const {
  const std::lock_guard lock(guard_);
  return !fresh_.empty();
}

void ProgramStore::export_new() {
  const std::lock_guard lock(guard_);
  if (fresh_.empty()) return;
  if (!cache_.usable()) return fresh_.clear();
  exporter_.add(std::exchange(fresh_, {}));
}

void ProgramStore::clear() {
  const std::lock_guard lock(guard_);
  kernels_.clear();
}

ProgramStore::Counts ProgramStore::counts() const {
  const std::lock_guard lock(guard_);
  Counts counts = counts_;
  counts.exported = exporter_.exported();
  return counts;
}

}  // namespace oriel::backend::opencl
