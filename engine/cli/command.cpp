#include "cli/command.hpp"

#include <fmt/format.h>

#include <array>
#include <istream>
#include <ostream>
#include <string_view>

#include "backend/backend.hpp"
#include "cli/eval_command.hpp"
#include "cli/fuzz_command.hpp"
#include "cli/iterate_command.hpp"
#include "cli/ranges_command.hpp"
#include "cli/view_command.hpp"
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
  int (*run)(Arguments rest, const Streams& streams);
};

int run_devices(Arguments rest, const Streams& streams);
int run_help(Arguments rest, const Streams& streams);
int run_version(Arguments rest, const Streams& streams);

constexpr std::array kCommands{
    Command{"eval", "run a comprehension on arrays and pictures from files",
            [](Arguments rest, const Streams& streams) { return run_eval(rest, streams.out, streams.err); }},
    Command{
        "view", "follow a view through movements: its stack, index expressions and table",
        [](Arguments rest, const Streams& streams) { return run_view(rest, streams.in, streams.out, streams.err); }},
    Command{"fuzz", "random views and movements against brute force, for this engine or any other",
            [](Arguments rest, const Streams& streams) { return run_fuzz(rest, streams.out, streams.err); }},
    Command{
        "iterate", "iterate layouts together, as PyTorch's TensorIterator does: order, loops, result",
        [](Arguments rest, const Streams& streams) { return run_iterate(rest, streams.in, streams.out, streams.err); }},
    Command{
        "ranges", "infer the ranges of a comprehension: rounds, views, preconditions",
        [](Arguments rest, const Streams& streams) { return run_ranges(rest, streams.in, streams.out, streams.err); }},
    Command{"devices", "list the devices of this machine; the default one is marked", run_devices},
    Command{"version", "print the version", run_version},
    Command{"help", "print this text", run_help},
};

std::string usage() {
  std::string text = "usage: oriel COMMAND [ARGUMENTS]\n\n";
  for (const Command& command : kCommands) text += fmt::format("  {:<9}{}\n", command.name, command.summary);
  return text +
         "\n`oriel eval --help`, `oriel ranges --help`, `oriel view --help`, `oriel iterate --help` and `oriel fuzz "
         "reshape --help` tell "
         "more.\n";
}

int refuse(const Streams& streams, std::string_view message) {
  streams.err << "oriel: " << message << "\n\n" << usage();
  return kUsageError;
}

int run_devices(Arguments rest, const Streams& streams) {
  if (!rest.empty()) return refuse(streams, fmt::format("devices takes no arguments, but got '{}'", rest[0]));
  const Device chosen = default_device();
  for (const Device device : devices()) {
    streams.out << device.str() << (device == chosen ? " (default)" : "") << ": "
                << backend::backend_for(device).details() << '\n';
  }
  return 0;
}

int run_version(Arguments rest, const Streams& streams) {
  if (!rest.empty()) return refuse(streams, fmt::format("version takes no arguments, but got '{}'", rest[0]));
  streams.out << "oriel " << ORIEL_VERSION << '\n';
  return 0;
}

int run_help(Arguments rest, const Streams& streams) {
  if (!rest.empty()) return refuse(streams, fmt::format("help takes no arguments, but got '{}'", rest[0]));
  streams.out << usage();
  return 0;
}

}  // namespace

int usage_error(std::string_view command, std::string_view message, std::string_view usage, std::ostream& err) {
  err << "oriel " << command << ": " << message << "\n\n" << usage;
  return kUsageError;
}

int run(Arguments arguments, std::istream& in, std::ostream& out, std::ostream& err) {
  const Streams streams{in, out, err};
  if (arguments.empty()) return refuse(streams, "which command?");
  std::string_view name = arguments[0];
  if (name == "--help" || name == "-h") name = "help";
  if (name == "--version") name = "version";
  for (const Command& command : kCommands) {
    if (command.name != name) continue;
    try {
      return command.run(arguments.subspan(1), streams);
    } catch (const Error& error) {
      err << "oriel: " << error.message() << '\n';
      return 1;
    }
  }
  return refuse(streams, fmt::format("unknown command '{}'", name));
}

}  // namespace oriel::cli
