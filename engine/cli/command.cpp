#include "cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <istream>
#include <ostream>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/escape.hpp"
#include "cli/eval_command.hpp"
#include "cli/fuzz_command.hpp"
#include "cli/guards_command.hpp"
#include "cli/inspect_command.hpp"
#include "cli/iterate_command.hpp"
#include "cli/layout_command.hpp"
#include "cli/ranges_command.hpp"
#include "cli/view_command.hpp"
#include "oriel/comprehension.hpp"
#include "oriel/device.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

using Arguments = std::span<const std::string>;

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(Arguments rest, const Streams& streams);  // prints help on `out` if --help is the only argument
  bool own_arguments = false;                          // reads --help itself
};

int run_devices(Arguments rest, const Streams& streams);
int run_help(Arguments rest, const Streams& streams);
int run_version(Arguments rest, const Streams& streams);

constexpr std::array kCommands{
    Command{"eval", "run a comprehension on arrays and pictures from files",
            [](Arguments rest, const Streams& streams) { return run_eval(rest, streams.out, streams.err); }},
    Command{
        "view", "apply movements to a view: its stack, index expressions and table",
        [](Arguments rest, const Streams& streams) { return run_view(rest, streams.in, streams.out, streams.err); }},
    Command{
        "layout", "translate, compare and combine layouts of CuTe, PyTorch, NumPy, tinygrad, ISL",
        [](Arguments rest, const Streams& streams) { return run_layout(rest, streams.in, streams.out, streams.err); }},
    Command{"inspect", "run a program and write a page of its kernels, views, times and sources",
            [](Arguments rest, const Streams& streams) { return run_inspect(rest, streams.out, streams.err); }, true},
    Command{"profile", "run a program and print its kernels by time, with the next gain",
            [](Arguments rest, const Streams& streams) { return run_profile(rest, streams.out, streams.err); }, true},
    Command{"fuzz", "check random views and movements against brute force, for this engine or any other",
            [](Arguments rest, const Streams& streams) { return run_fuzz(rest, streams.out, streams.err); }, true},
    Command{
        "iterate", "compute the joint iteration of layouts, as PyTorch's TensorIterator does",
        [](Arguments rest, const Streams& streams) { return run_iterate(rest, streams.in, streams.out, streams.err); }},
    Command{
        "ranges", "infer the ranges of a comprehension: rounds, views, preconditions",
        [](Arguments rest, const Streams& streams) { return run_ranges(rest, streams.in, streams.out, streams.err); }},
    Command{
        "guards", "answer questions about symbolic sizes: guards, what is learnt, what is known without",
        [](Arguments rest, const Streams& streams) { return run_guards(rest, streams.in, streams.out, streams.err); }},
    Command{"devices", "list the devices of this machine; the default one is marked", run_devices},
    Command{"version", "print the version", run_version},
    Command{"help", "print this text, or the help of a command", run_help, true},
};

std::string usage() {
  std::string text = "usage: oriel COMMAND [ARGUMENTS]\n\n";
  for (const Command& command : kCommands) text += fmt::format("  {:<9}{}\n", command.name, command.summary);
  return text + "\n`oriel help COMMAND` and `oriel COMMAND --help` print details.\n";
}

std::string usage_of(const char* command, const char* what) {
  return fmt::format("usage: oriel {}\n\n{}\n", command, what);
}

const Command* find_command(std::string_view name) {
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int tell(const Streams& streams, std::string_view text) {
  streams.out << text;
  return 0;
}

int refuse(const Streams& streams, std::string_view message) {
  streams.err << "oriel: " << base::escaped(message) << "\n\n" << usage();
  return kUsageError;
}

int run_devices(Arguments rest, const Streams& streams) {
  if (!rest.empty()) {
    const std::string text = usage_of("devices",
                                      "Lists the devices of this machine with their names for ORIEL_DEVICE "
                                      "and --device. The default one is marked.");
    return asks_help(rest[0])
               ? tell(streams, text)
               : usage_error("devices", fmt::format("unexpected argument '{}'; this command takes none", rest[0]), text,
                             streams.err);
  }
  const Device chosen = default_device();
  for (const Device device : devices()) {
    streams.out << device.str() << (device == chosen ? " (default)" : "") << ": "
                << base::escaped(backend::backend_for(device).details()) << '\n';
  }
  return 0;
}

int run_version(Arguments rest, const Streams& streams) {
  if (!rest.empty()) {
    const std::string text = usage_of("version", "Prints the version.");
    return asks_help(rest[0])
               ? tell(streams, text)
               : usage_error("version", fmt::format("unexpected argument '{}'; this command takes none", rest[0]), text,
                             streams.err);
  }
  streams.out << "oriel " << ORIEL_VERSION << '\n';
  return 0;
}

int run_help(Arguments rest, const Streams& streams) {
  if (rest.empty() || asks_help(rest[0]) || rest[0] == "help") return tell(streams, usage());
  const Command* const command = find_command(rest[0]);
  if (command == nullptr) return refuse(streams, fmt::format("unknown command '{}'", rest[0]));
  std::vector<std::string> asked(rest.begin() + 1, rest.end());
  asked.emplace_back("--help");
  return command->run(asked, streams);
}

}  // namespace

int usage_error(std::string_view command, std::string_view message, std::string_view usage, std::ostream& err) {
  err << "oriel " << command << ": " << base::escaped(message) << "\n\n" << usage;
  return kUsageError;
}

int failed(const Error& error, std::ostream& err) {
  const auto* const fault = dynamic_cast<const ComprehensionError*>(&error);
  if (fault == nullptr) err << "oriel: ";
  err << base::escaped(fault != nullptr ? fault->diagnostic() : error.message(), true) << '\n';
  return 1;
}

int run(Arguments arguments, std::istream& in, std::ostream& out, std::ostream& err) {
  const Streams streams{in, out, err};
  if (arguments.empty()) return refuse(streams, "which command?");
  std::string_view name = arguments[0];
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  const Command* const command = find_command(name);
  if (command == nullptr) return refuse(streams, fmt::format("unknown command '{}'", name));
  const Arguments rest = arguments.subspan(1);
  try {
    // --help also counts after other arguments, but for those of another program. The fuzz command has its own parser.
    const bool help = !command->own_arguments && std::any_of(rest.begin(), rest.end(), asks_help);
    const std::array<std::string, 1> ask{"--help"};
    return command->run(help ? Arguments(ask) : rest, streams);
  } catch (const Error& error) {
    return failed(error, err);
  }
}

}  // namespace oriel::cli
