#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "base/escape.hpp"
#include "base/settings.hpp"
#include "memory/host.hpp"
#include "memory/machine.hpp"
#include "memory/size_class.hpp"
#include "oriel/error.hpp"

namespace oriel::mem {

MemoryOptions default_options() {
  MemoryOptions options;
  options.pool_bytes = machine_memory() / 2;
  return options;
}

MemoryOptions options_from_environment() {
  MemoryOptions options = default_options();
  const auto number = [](const char* name, auto& value, auto most) {
    const std::optional<std::string> text = base::env_text(name);
    if (!text) return;
    const char* end = text->data() + text->size();
    auto read = value;
    const auto [stop, fault] = std::from_chars(text->data(), end, read);
    if (fault != std::errc{} || stop != end || !(read >= 0) || read > most) {
      throw ArgumentError(name, fmt::format("\"{}\" is not a number from 0 to {}", base::escaped(*text), most));
    }
    value = read;
  };
  number("ORIEL_POOL_BYTES", options.pool_bytes, kLargestBlock);
  number("ORIEL_POOL_SECONDS", options.pool_seconds, kMostSeconds);
  if (const std::optional<std::string> text = base::env_text("ORIEL_HUGE_PAGES")) {
    if (*text == "off")
      options.huge_pages = HugePages::off;
    else if (*text == "advise")
      options.huge_pages = HugePages::advise;
    else if (*text == "reserved")
      options.huge_pages = HugePages::reserved;
    else
      throw ArgumentError("ORIEL_HUGE_PAGES",
                          fmt::format("\"{}\" is none of off, advise, reserved", base::escaped(*text)));
  }
  return options;
}

}  // namespace oriel::mem
