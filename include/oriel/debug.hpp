// Lines about what the engine decides, as it decides it; and files that keep the decisions. Both are off until asked
// for.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace oriel {

/// One kind of lines. Level 0 says nothing; each level says what those below it say, and more.
struct DebugCategory {
  std::string_view name;
  int levels = 1;        ///< the highest level that adds something
  std::string_view doc;  ///< what each level says
};

/// The table of categories, in the order in which a schedule passes them.
std::span<const DebugCategory> debug_categories();
/// The table as text: how ORIEL_DEBUG reads, then a line or more for each category.
std::string debug_help();

/// Switches lines on and off: a comma list, read from the left, of `category` (level 1), `category=level` or a bare
/// level from 0 to 9 that sets all categories. Empty text switches everything off. Categories that are not named keep
/// their level. Until the first call ORIEL_DEBUG is in force. Throws ParseError, and changes nothing, where the text is
/// malformed; where ORIEL_DEBUG itself is, the first realize throws it.
///   oriel::set_debug("0,schedule=2,launch");
void set_debug(std::string_view text);
/// The levels in force, as set_debug takes them: "schedule=2,launch=1"; "" where all are off.
std::string debug_text();
/// The level of one category. Throws ArgumentError listing the names.
int debug_level(std::string_view category);

/// Takes one line, without its newline. It is called by whichever thread runs the work, one line at a time, while the
/// work is under way: it must not realise a tensor. Lines of threads that work at the same time come in between each
/// other. What it throws ends the realize that spoke, as a device's failure between two kernels would:
/// what no finished kernel has made stays pending, and nothing is lost.
using DebugSink = std::function<void(std::string_view line)>;
/// Where lines go; an empty function means the standard error stream, which is also the default.
void set_debug_sink(DebugSink sink);

/// Writes the decisions about every schedule made from now on into `directory` (made where it is missing):
///   s000_k01_sum_f32_512_by_1024_7ops.cpp   a kernel: how operands are reached before and after merging, its domain,
///   its source s000_schedule.txt                       which values each kernel holds and why it ends where it ends,
///   the memory plan s000_graph.dot                          the rewritten graph for Graphviz, coloured by kernel
/// and, where a device tells anything of its kernels once they have run (OpenCL: how they were built, the compiler's
/// log, sizes, the device's own times, which differ from run to run), s000_device.txt. Schedules are numbered from 0 in
/// the order in which they are made; one that is found again writes nothing. The same program writes the same bytes
/// otherwise. A file appears whole or not at all; files of that name are replaced. Nothing: no dumps. Until the first
/// call ORIEL_DUMP is in force. Throws IoError where the directory cannot be made or written; a later failure to write
/// ends the realize that met it.
void set_dump_directory(const std::optional<std::string>& directory);
/// The directory in force.
std::optional<std::string> dump_directory();

}  // namespace oriel
