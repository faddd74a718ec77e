// Writes files that describe each new schedule: the bodies of set_dump_directory and ORIEL_DUMP.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oriel/explain.hpp"
#include "runtime/compiled.hpp"
#include "runtime/plan.hpp"

namespace oriel::runtime {

/// Is a dump directory in force?
bool dumping() noexcept;
/// Reads ORIEL_DUMP, unless it was read before or set_dump_directory was called. Throws IoError if it does not name a
/// directory that can be written.
void load_dump();

struct DumpFile {
  std::string name;
  std::string text;
};
/// The files of one schedule: one for each kernel, the helpers that kernels call (unless the files are `whole`), the
/// schedule and the graph. Except for `serial`, nothing in them depends on addresses, times or earlier schedules.
std::vector<DumpFile> dump_files(const Explanation& explanation, const Plan& plan, std::size_t serial, bool whole);
/// Writes all files under temporary names, then renames them one by one. If it throws IoError, it removes the files
/// that were not renamed.
void write_files(std::string_view operation, const std::string& directory, std::span<const DumpFile> files);
/// Writes the files under the next number and returns the number. Does nothing if no directory is set.
std::optional<std::size_t> dump_plan(const Explanation& explanation, const Plan& plan);
/// Writes the devices' reports on the kernels of a schedule beside its dump, after it has run. Times differ from run to
/// run. Does nothing for a schedule that was not dumped.
void dump_reports(const CompiledSchedule& schedule);

}  // namespace oriel::runtime
