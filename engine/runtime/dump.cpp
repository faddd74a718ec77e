#include "runtime/dump.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "base/by_use.hpp"
#include "base/context.hpp"
#include "base/escape.hpp"
#include "base/fork_lock.hpp"
#include "base/parts.hpp"
#include "base/settings.hpp"
#include "base/temporary_file.hpp"
#include "base/watch.hpp"
#include "oriel/debug.hpp"
#include "oriel/error.hpp"
#include "runtime/explain.hpp"
#include "schedule/describe.hpp"
#include "source/shared_helpers.hpp"

namespace oriel {

namespace {

using base::fork_mutex;
using base::ForkLock;
using base::Watch;

/// Guarded by ForkLock::dump.
struct DumpState : base::ContextPart {
  std::optional<std::string> directory;
  bool whole = false;    // does each kernel's file contain the helpers that it calls?
  std::size_t next = 0;  // the number of the next schedule
};

DumpState& dump_state(base::ContextState& context) {
  return context.part<DumpState>(base::ContextSlot::dump, [] { return std::make_unique<DumpState>(); });
}

[[noreturn]] void fail(std::string_view operation, std::string_view what, const std::string& path, int code) {
  throw IoError(operation, fmt::format("cannot {} \"{}\": {}; name a directory that can be written", what,
                                       base::escaped(path), std::strerror(code)));
}

// Makes the directory and tests, by writing a file, that it is writable.
void prepare(std::string_view operation, const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error && !std::filesystem::is_directory(directory))
    fail(operation, "make the directory", directory, error.value());
  const std::string probe =
      (std::filesystem::path(directory) / fmt::format("{}{}", base::kAside, base::random_digits())).string();
  std::FILE* file = std::fopen(probe.c_str(), "wbx");
  if (file == nullptr) fail(operation, "write into", directory, errno);
  std::fclose(file);
  std::filesystem::remove(probe, error);
}

// The caller holds the guard.
void set_locked(base::ContextState& context, std::string_view operation, const std::optional<std::string>& directory,
                bool whole) {
  if (directory) prepare(operation, *directory);
  DumpState& s = dump_state(context);
  s.directory = directory;
  s.whole = whole;
  s.next = 0;
  base::change_watch(context, Watch::kDump, (directory ? Watch::kDump : 0) | Watch::kDumpKnown);
}

bool whole_files_wanted() {
  const auto text = base::env_text("ORIEL_DUMP_WHOLE");
  if (!text || *text == "0") return false;
  if (*text == "1") return true;
  throw ArgumentError(
      "ORIEL_DUMP_WHOLE",
      fmt::format("\"{}\" is neither 0 (helpers in a header beside the kernels) nor 1 (in each file)", *text));
}

/// How the names of a schedule's files begin. Contexts may share a directory.
std::string file_prefix(std::uint16_t context, std::size_t serial) {
  return context == 0 ? fmt::format("s{:03}_", serial) : fmt::format("c{}_s{:03}_", context, serial);
}

// Cuts long names: they are made from shapes, and a shape may have any rank.
std::string short_name(const std::string& name) { return name.substr(0, 100); }

std::string as_comment(std::string_view text) { return runtime::indented(text, "// "); }

}  // namespace

void set_dump_directory(const std::optional<std::string>& directory, bool whole_files) {
  if (directory && directory->empty())
    throw ArgumentError("set_dump_directory", "the name is empty; give a directory, or nothing for no dumps");
  base::ContextState& context = base::current_context_state();
  const std::lock_guard guard(fork_mutex(ForkLock::dump, context.number()));
  by_use::inspection();
  set_locked(context, "set_dump_directory", directory, whole_files);
}

std::optional<std::string> dump_directory() {
  base::ContextState& context = base::current_context_state();
  runtime::load_dump(context);
  const std::lock_guard guard(fork_mutex(ForkLock::dump, context.number()));
  return dump_state(context).directory;
}

namespace runtime {

void load_dump(base::ContextState& context, const ContextOptions& options) {
  if (base::watch_of(context).has(Watch::kDumpKnown)) return;
  const std::lock_guard guard(fork_mutex(ForkLock::dump, context.number()));
  if (base::watch_of(context).has(Watch::kDumpKnown)) return;
  std::optional<std::string> directory = options.dump_directory ? options.dump_directory : base::env_text("ORIEL_DUMP");
  if (directory && directory->empty()) directory.reset();
  const bool whole = options.dump_whole_files ? *options.dump_whole_files : whole_files_wanted();
  set_locked(context, options.dump_directory ? "Context" : "ORIEL_DUMP", directory, whole);
}

std::vector<DumpFile> dump_files(const Explanation& explanation, const Plan& plan, const std::string& prefix,
                                 bool whole) {
  std::map<std::string_view, source::SharedHelpers> helpers;  // by the end of their file's name
  const auto source_of = [&](std::size_t step, const ExplainedKernel& k) {
    if (whole && k.source != k.program) return k.source;
    const backend::Backend& device = backend::backend_for(k.device);
    const std::string_view end = device.capabilities().helpers;
    auto& shared = helpers.try_emplace(end, fmt::format("{}helpers.{}", prefix, end), prefix + "helpers").first->second;
    return device.source_beside(plan.kernels[step].lowered.program, shared);
  };
  std::vector<DumpFile> files;
  for (std::size_t step = 0; step < explanation.kernels.size(); ++step) {
    const ExplainedKernel& k = explanation.kernels[step];
    if (!k.runs || k.copied_from) continue;
    std::string text = as_comment(kernel_text(k, step, Detail::views));
    if (k.source != k.program) text += "//\n" + as_comment(k.program);
    text += "\n" + source_of(step, k);
    if (!text.ends_with('\n')) text += '\n';
    const char* const end = backend::backend_for(k.device).capabilities().source;
    files.push_back({fmt::format("{}k{:02}_{}.{}", prefix, step, short_name(k.name), end), std::move(text)});
  }
  for (const auto& [end, shared] : helpers)
    if (!shared.empty()) files.push_back({shared.file(), shared.text()});
  files.push_back({prefix + "schedule.txt", explanation.str(Detail::views)});
  files.push_back({prefix + "graph.dot", schedule::graph_dot(*plan.arena, plan.graph)});
  return files;
}

void write_files(std::string_view operation, const std::string& directory, std::span<const DumpFile> files) {
  const std::filesystem::path folder = directory;
  const std::string digits = base::random_digits();
  const auto aside = [&](const DumpFile& f) {
    return (folder / fmt::format(".{}{}{}", f.name, base::kAside, digits)).string();
  };
  struct Cleanup {
    std::vector<std::string> paths;
    ~Cleanup() {
      for (const std::string& p : paths) std::remove(p.c_str());
    }
  } cleanup;
  for (const DumpFile& f : files) {
    base::remove_stale_files(directory, fmt::format(".{}{}", f.name, base::kAside));
    cleanup.paths.push_back(aside(f));
    std::FILE* file = std::fopen(cleanup.paths.back().c_str(), "wbx");
    if (file == nullptr) fail(operation, "write into", directory, errno);
    const bool written = std::fwrite(f.text.data(), 1, f.text.size(), file) == f.text.size();
    const int fault = errno;
    if (std::fclose(file) != 0 || !written)
      fail(operation, "write", (folder / f.name).string(), written ? errno : fault);
  }
  for (const DumpFile& f : files) {
    const std::string path = (folder / f.name).string();
    if (std::rename(aside(f).c_str(), path.c_str()) != 0) fail(operation, "write", path, errno);
  }
  cleanup.paths.clear();
}

std::optional<std::size_t> dump_plan(const Explanation& explanation, const Plan& plan) {
  const std::uint16_t number = plan.arena->home().context;
  if (!base::watch_of(number).dumping()) return std::nullopt;
  base::need<base::kSources>("ORIEL_DUMP");
  DumpState& s = dump_state(base::context_state(number));
  const std::lock_guard guard(fork_mutex(ForkLock::dump, number));
  if (!s.directory) return std::nullopt;
  write_files("dump", *s.directory, dump_files(explanation, plan, file_prefix(number, s.next), s.whole));
  return s.next++;
}

void dump_reports(const CompiledSchedule& schedule) {
  if (!schedule.dumped) return;
  base::need<base::kSources>("ORIEL_DUMP");
  std::string text;
  for (const LaunchStep& step : schedule.steps) {
    if (step.kernel == nullptr) continue;
    if (const std::string told = step.device->report(*step.kernel); !told.empty())
      text += step.name + "\n" + told + "\n";
  }
  DumpState& s = dump_state(base::context_state(schedule.context));
  const std::lock_guard guard(fork_mutex(ForkLock::dump, schedule.context));
  if (text.empty() || !s.directory || *schedule.dumped >= s.next) return;
  const DumpFile file{file_prefix(schedule.context, *schedule.dumped) + "device.txt", text};
  write_files("dump", *s.directory, {&file, 1});
}

}  // namespace runtime

}  // namespace oriel
