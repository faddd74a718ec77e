// Writes files that describe each new schedule: the bodies of set_dump_directory and ORIEL_DUMP.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.hpp"
#include "oriel/explain.hpp"
#include "runtime/compiled.hpp"
#include "runtime/plan.hpp"

namespace oriel::runtime {

/// Sets the context's dump directory from the options, and from ORIEL_DUMP and ORIEL_DUMP_WHOLE what they leave out.
/// Does nothing if it was set before. Throws IoError if the directory cannot be written.
void load_dump(base::ContextState& context, const ContextOptions& options = {});

struct DumpFile {
  std::string name;
  std::string text;
};
/// The files of one schedule: one for each kernel, the helpers that kernels call (unless the files are `whole`), the
/// schedule and the graph. Their names start with `prefix`. Nothing else in them depends on addresses, times or earlier
/// schedules.
std::vector<DumpFile> dump_files(const Explanation& explanation, const Plan& plan, const std::string& prefix,
                                 bool whole);
/// Writes all files under temporary names, then renames them one by one. If it throws IoError, it removes the files
/// that were not renamed.
void write_files(std::string_view operation, const std::string& directory, std::span<const DumpFile> files);
/// Writes the files under the next number of the plan's context and returns the number. Does nothing if the context has
/// no directory.
std::optional<std::size_t> dump_plan(const Explanation& explanation, const Plan& plan);
/// Writes the devices' reports on the kernels of a schedule beside its dump, after it has run. Times differ from run to
/// run. Does nothing for a schedule that was not dumped.
void dump_reports(const CompiledSchedule& schedule);

}  // namespace oriel::runtime
