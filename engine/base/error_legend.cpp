#include "base/error_legend.hpp"

#include <utility>

namespace oriel::base {

namespace {

constinit thread_local const ErrorLegend* legend_in_force = nullptr;

}  // namespace

ErrorLegend::ErrorLegend(Explain explain)
    : explain_(std::move(explain)), before_(std::exchange(legend_in_force, this)) {}

ErrorLegend::~ErrorLegend() { legend_in_force = before_; }

std::string ErrorLegend::added_to(std::string_view message) {
  std::string text(message);
  if (legend_in_force == nullptr) return text;
  // What explains is not explained.
  const ErrorLegend* const legend = std::exchange(legend_in_force, nullptr);
  const std::string names = legend->explain_(message);
  legend_in_force = legend;
  if (names.empty()) return text;
  const bool lines = text.find('\n') != std::string::npos;
  return text + (!lines ? "; here " : text.back() == '\n' ? "here " : "\nhere ") + names;
}

}  // namespace oriel::base
