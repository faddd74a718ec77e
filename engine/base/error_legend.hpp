// Explains names in the messages of errors.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace oriel::base {

/// While it lives, messages of errors that this thread throws end in "; here " and what `explain` says of the names in
/// them, if it says anything. The innermost legend of a thread is in force.
class ErrorLegend {
 public:
  using Explain = std::function<std::string(std::string_view message)>;
  explicit ErrorLegend(Explain explain);
  ~ErrorLegend();
  ErrorLegend(const ErrorLegend&) = delete;
  ErrorLegend& operator=(const ErrorLegend&) = delete;

  /// The message with its legend.
  static std::string added_to(std::string_view message);

 private:
  Explain explain_;
  const ErrorLegend* before_;
};

}  // namespace oriel::base
