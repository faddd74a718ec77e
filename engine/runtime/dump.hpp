// Files that keep what was decided about each new schedule: the bodies of set_dump_directory and ORIEL_DUMP.
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
/// Reads ORIEL_DUMP unless that, or set_dump_directory, has been done. Throws IoError where it names no directory that
/// can be written.
void load_dump();

struct DumpFile {
  std::string name;
  std::string text;
};
/// The files of one schedule: a kernel each, the helpers that they call unless the files are `whole`, the schedule, the
/// graph. Nothing in them depends on addresses, times or earlier schedules but `serial`.
std::vector<DumpFile> dump_files(const Explanation& explanation, const Plan& plan, std::size_t serial, bool whole);
/// Writes all of them aside, then renames them one by one. Throws IoError; then none of those not yet renamed is left
/// behind.
void write_files(std::string_view operation, const std::string& directory, std::span<const DumpFile> files);
/// Writes the files under the next number, and returns that. Does nothing where no directory is in force.
std::optional<std::size_t> dump_plan(const Explanation& explanation, const Plan& plan);
/// Beside the schedule's dump, once it has run: what the devices told of its kernels, where they told anything. Times
/// differ from run to run. Does nothing for a schedule that was not dumped.
void dump_reports(const CompiledSchedule& schedule);

}  // namespace oriel::runtime
