#include "base/error_legend.hpp"
#include "base/escape.hpp"
#include "oriel/error.hpp"
#include "oriel/site.hpp"

namespace oriel::detail {

namespace {

thread_local Site current_call = Site::unknown();

}  // namespace

CallSite::CallSite(Site site, Nesting nesting) noexcept : before_(current_call) {
  if (site.file != nullptr && (nesting == Nesting::inner || before_.file == nullptr)) current_call = site;
}

// Scopes of one thread are nested, so restoring the previous site is enough.
CallSite::~CallSite() { current_call = before_; }

Site CallSite::current() noexcept { return current_call; }

std::string site_suffix(std::string_view message, Site site) {
  if (site.file == nullptr) return {};
  const std::string place = "at " + base::escaped(site.file) + ":" + std::to_string(site.line);
  if (message.find('\n') == std::string_view::npos) return " (" + place + ")";
  return (message.back() == '\n' ? "" : "\n") + place;
}

}  // namespace oriel::detail

namespace oriel {

Error::Text Error::printable(std::string_view operation, std::string_view message) {
  return {base::escaped(operation), base::escaped(base::ErrorLegend::added_to(message), true)};
}

}  // namespace oriel
