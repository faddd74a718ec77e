// Reads the options of a command. All that is wrong with them is a UsageError.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/command.hpp"

namespace oriel::cli {

using ReadValue = std::function<void(const std::string& value)>;

/// A flag, or an option with a value: the next argument, or what stands behind a = in the same one.
struct Option {
  std::string_view name;
  std::variant<bool*, ReadValue> target;
  std::string_view missing = "takes a value";  // said of an option without its value
  bool on = true;                              // what the flag becomes
};

/// Keeps the value as it stands.
ReadValue into(auto& place) {
  return [&place](const std::string& value) { place = value; };
}
/// Keeps one value and refuses a second: "this command takes `what`".
ReadValue only(std::optional<std::string>& place, std::string_view what);

/// Reads the options where they stand, and each argument that does not begin with - by `other`.
void read_options(Arguments arguments, const std::vector<Option>& options, const ReadValue& other);

}  // namespace oriel::cli
