// Debug lines, which report the engine's decisions as it makes them, and dumps, which are files of these decisions.
// Both are off by default. Each context has levels and a dump directory of its own, for the work that belongs to it.
// The functions read and set those of the thread's current context (context.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oriel/api.hpp"
#include "oriel/callback.hpp"

namespace ORIEL_API oriel {

/// One kind of debug lines. Level 0 prints nothing; each level prints what the lower ones print, and more.
struct DebugCategory {
  std::string_view name;  ///< as ORIEL_DEBUG names it
  int levels = 1;         ///< the highest level that adds something
  std::string_view doc;   ///< what each level prints
};

/// The table of categories, in the order of the stages of scheduling and running.
std::span<const DebugCategory> debug_categories();
/// The table as text: the syntax of ORIEL_DEBUG, then one or more lines per category.
std::string debug_help();

/// Sets the levels. The text is a comma-separated list, read from the left, of `category` (level 1), `category=level`,
/// a bare level from 0 to 9 that sets all categories, or `help`, which prints the table to the sink. Categories that
/// are not named keep their level. Empty text switches everything off. ORIEL_DEBUG applies until the first call. Throws
/// ParseError, and changes nothing, if the text is malformed. If ORIEL_DEBUG is malformed, the first realize throws the
/// error.
///   oriel::set_debug("0,schedule=2,launch");
void set_debug(std::string_view text);
/// The levels in force, in the syntax of set_debug: "schedule=2,launch=1"; "" if all are off.
std::string debug_text();
/// The level of one category. Throws ArgumentError listing the names.
int debug_level(std::string_view category);

/// Receives one line, without its newline: "oriel schedule: ...", or from a context other than the default one "oriel
/// schedule of context 1: ...". The thread that runs the work calls it, and only one thread at a time. Lines
/// of different threads may alternate. The work is under way, so a sink must not realise a tensor. An exception from
/// the sink ends the realize, as a device failure between two kernels would: values that no finished kernel has
/// computed stay pending, and nothing is lost.
using DebugSink = Callback<void(std::string_view line)>;
/// Sets the sink of the debug lines of all contexts. The default, and the meaning of an empty function, is the standard
/// error stream.
void set_debug_sink(DebugSink sink);

/// What is looked for in the results of each kernel.
enum class ResultCheck : std::uint8_t {
  off,       ///< nothing
  nan,       ///< a NaN
  infinite,  ///< a NaN or an infinity
};
/// Looks at the floats that each kernel stores, from now on, for work of the current context. The first one that is
/// looked for is a UserError, which names the line and the text of the value, the element, and the lines of the
/// operations that were fused into the kernel, and says whether an operand held such a number already. The work ends
/// there, as with a sink that throws. Each launch is waited for and its results are read, so programs run slower.
/// ORIEL_CHECK (`nan`, `infinite` or `off`) applies until the first call. If it has another value, the first realize
/// throws the ArgumentError.
void set_result_check(ResultCheck check);
/// The check in force.
ResultCheck result_check();

/// Writes the decisions about every schedule made from now on into `directory`, which is created if it is missing:
///   s000_k01_sum_f32_512_by_1024_7ops.cpp   one file per kernel: its source, its domain, and the operands' views
///                                           before and after merging
///   s000_helpers.hpp                        the functions that these sources call, once (OpenCL: s000_helpers.cl)
///   s000_schedule.txt                       which values each kernel holds, why it ends where it ends, the memory plan
///   s000_graph.dot                          the rewritten graph for Graphviz, coloured by kernel
/// Devices that report on kernels after they ran also write s000_device.txt (OpenCL: build options, the compiler's log,
/// sizes, and the device's own times, which differ from run to run). Schedules are numbered from 0 in the order in
/// which they are made. The names of a context other than the default one start with its number, as in
/// c1_s000_graph.dot, so contexts may share a directory. A schedule that is reused from the cache writes nothing.
/// Except for s000_device.txt, the same program writes the same bytes. A file is either written completely or not at
/// all; existing files of the same name are replaced. With `whole_files` the file of each kernel also holds what it
/// calls, and there is no header. nullopt switches dumps off. ORIEL_DUMP and ORIEL_DUMP_WHOLE apply until the first
/// call. Throws IoError if the directory
/// cannot be created or written. If a later write fails, the realize that made the schedule throws the IoError.
void set_dump_directory(const std::optional<std::string>& directory, bool whole_files = false);
/// The directory in force.
std::optional<std::string> dump_directory();

}  // namespace oriel
