// Looks for NaNs and infinities in what kernels store (ORIEL_CHECK, oriel/debug.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/watch.hpp"
#include "oriel/site.hpp"
#include "runtime/compiled.hpp"

namespace oriel::base {
class ContextState;
}

namespace oriel::runtime {

/// Sets the check of a context by ORIEL_CHECK, unless it is known. Throws ArgumentError if the variable has no meaning.
void load_check(base::ContextState& context);

/// A number that is looked for.
struct BadNumber {
  std::size_t argument = 0;  // of the step
  std::int64_t element = 0;
  std::int64_t elements = 0;  // of the argument
  bool nan = false;
};
/// The first one among the arguments of a step that are outputs, or that are not; nullopt if there is none.
/// `skipped`: arguments that are not looked at. Waits for the device.
std::optional<BadNumber> find_bad_number(const LaunchStep& step, std::span<void* const> arguments, base::Watch watch,
                                         bool outputs, const std::vector<bool>& skipped = {});

/// What a message says about the value and the kernel.
struct CheckedValue {
  Site site = Site::unknown();
  std::string text;   // "%4 = Log of %3: float32 (8)"; empty if it is not known
  std::string fused;  // the other operations of its kernel, with their lines
};
/// Throws UserError for a bad result.
[[noreturn]] void refuse_result(const LaunchStep& step, std::span<void* const> arguments, base::Watch watch,
                                const BadNumber& found, const CheckedValue& value);

}  // namespace oriel::runtime
