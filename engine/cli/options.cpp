#include "cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace oriel::cli {

ReadValue only(std::optional<std::string>& place, std::string_view what) {
  return [&place, what](const std::string& value) {
    if (place) throw UsageError(fmt::format("unexpected argument '{}'; this command takes {}", value, what));
    place = value;
  };
}

void read_options(Arguments arguments, const std::vector<Option>& options, const ReadValue& other) {
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string& argument = arguments[k];
    if (!argument.starts_with("-")) {
      other(argument);
      continue;
    }
    const std::size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
    const auto option = std::ranges::find(options, std::string_view(argument).substr(0, equals), &Option::name);
    const ReadValue* const read = option != options.end() ? std::get_if<ReadValue>(&option->target) : nullptr;
    if (option == options.end() || (read == nullptr && equals != std::string::npos))
      throw UsageError(fmt::format("unknown option '{}'", argument));
    if (read == nullptr)
      *std::get<bool*>(option->target) = option->on;
    else if (equals != std::string::npos)
      (*read)(argument.substr(equals + 1));
    else if (++k == arguments.size())
      throw UsageError(fmt::format("{} {}", argument, option->missing));
    else
      (*read)(arguments[k]);
  }
}

}  // namespace oriel::cli
