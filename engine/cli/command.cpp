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
#include "oriel/comprehension.hpp"
#include "oriel/device.hpp"
#include "oriel/error.hpp"

namespace oriel::cli {
namespace {

int run_devices(Arguments rest, const Streams& streams);
int run_help(Arguments rest, const Streams& streams);
int run_version(Arguments rest, const Streams& streams);

std::string usage();

constexpr Command kDevices{
    "devices", "list the devices of this machine; the default one is marked",
    [] {
      return std::string(
          "usage: oriel devices\n\nLists the devices of this machine with their names for ORIEL_DEVICE "
          "and --device. The default one is marked.\n");
    },
    run_devices};
constexpr Command kVersion{"version", "print the version",
                           [] { return std::string("usage: oriel version\n\nPrints the version.\n"); }, run_version};
constexpr Command kHelp{"help", "print this text, or the help of a command", usage, run_help, true};
constexpr std::array kCommands{&kEval,    &kView,   &kLayout, &kShard,  &kInspect, &kProfile, &kFuzz,
                               &kIterate, &kRanges, &kGrad,   &kGuards, &kDevices, &kVersion, &kHelp};

std::string usage() {
  std::string text = "usage: oriel COMMAND [ARGUMENTS]\n\n";
  for (const Command* command : kCommands) text += fmt::format("  {:<9}{}\n", command->name, command->summary);
  return text + "\n`oriel help COMMAND` and `oriel COMMAND --help` print details.\n";
}

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found != kCommands.end() ? *found : nullptr;
}

int refuse(const Streams& streams, std::string_view message) {
  streams.err << "oriel: " << base::escaped(message) << "\n\n" << usage();
  return kUsageError;
}

void take_none(Arguments rest) {
  if (!rest.empty()) throw UsageError(fmt::format("unexpected argument '{}'; this command takes none", rest[0]));
}

int run_devices(Arguments rest, const Streams& streams) {
  take_none(rest);
  const Device chosen = default_device();
  for (const Device device : devices()) {
    streams.out << device.str() << (device == chosen ? " (default)" : "") << ": "
                << base::escaped(backend::backend_for(device).details()) << '\n';
  }
  return 0;
}

int run_version(Arguments rest, const Streams& streams) {
  take_none(rest);
  streams.out << "oriel " << ORIEL_VERSION << '\n';
  return 0;
}

int run_help(Arguments rest, const Streams& streams) {
  const Command* const command = rest.empty() ? &kHelp : find_command(rest[0]);
  if (command == nullptr) return refuse(streams, fmt::format("unknown command '{}'", rest[0]));
  streams.out << command->usage();
  return 0;
}

}  // namespace

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
    // --help also counts after other arguments, but for those of another program.
    const Arguments read = command->help_first ? rest.first(std::min<std::size_t>(rest.size(), 1)) : rest;
    if (std::ranges::none_of(read, asks_help)) return command->run(rest, streams);
    out << command->usage();
    return 0;
  } catch (const UsageError& error) {
    // The forms of the command alone: a page of details would push the error out of sight.
    const std::string usage(command->usage());
    err << "oriel " << name << ": " << base::escaped(error.what()) << "\n\n"
        << usage.substr(0, usage.find("\n\n")) << "\n\n`oriel " << name << " --help` prints details.\n";
    return kUsageError;
  } catch (const Error& error) {
    return failed(error, err);
  }
}

}  // namespace oriel::cli
