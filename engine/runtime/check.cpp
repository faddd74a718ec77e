#include "runtime/check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/by_use.hpp"
#include "base/context.hpp"
#include "base/escape.hpp"
#include "base/fork_lock.hpp"
#include "base/settings.hpp"
#include "oriel/debug.hpp"
#include "oriel/error.hpp"

namespace oriel {

using base::Watch;

void set_result_check(ResultCheck check) {
  by_use::inspection();
  const std::uint64_t bits = check == ResultCheck::off   ? 0
                             : check == ResultCheck::nan ? Watch::kCheckNan
                                                         : Watch::kCheckNan | Watch::kCheckInfinite;
  base::change_watch(base::current_context_state(), Watch::kCheckNan | Watch::kCheckInfinite,
                     bits | Watch::kCheckKnown);
}

ResultCheck result_check() {
  base::ContextState& context = base::current_context_state();
  runtime::load_check(context);
  const Watch watch = base::watch_of(context);
  return watch.has(Watch::kCheckInfinite) ? ResultCheck::infinite
         : watch.has(Watch::kCheckNan)    ? ResultCheck::nan
                                          : ResultCheck::off;
}

namespace runtime {

namespace {

bool is_bad(float x, bool infinities) { return infinities ? !std::isfinite(x) : std::isnan(x); }
bool is_bad(double x, bool infinities) { return infinities ? !std::isfinite(x) : std::isnan(x); }
bool is_bad(float16_t x, bool infinities) { return is_bad(static_cast<float>(x), infinities); }
bool is_bad(bfloat16_t x, bool infinities) { return is_bad(static_cast<float>(x), infinities); }

template <class T>
std::optional<BadNumber> find_in(const void* data, std::int64_t elements, bool infinities) {
  const T* const x = static_cast<const T*>(data);
  for (std::int64_t i = 0; i < elements; ++i)
    if (is_bad(x[i], infinities)) return BadNumber{0, i, elements, std::isnan(static_cast<double>(x[i]))};
  return std::nullopt;
}

std::optional<BadNumber> find_in(const LaunchStep::Floats& floats, const void* data, bool infinities) {
  switch (floats.dtype) {
    case DType::float16:
      return find_in<float16_t>(data, floats.elements, infinities);
    case DType::bfloat16:
      return find_in<bfloat16_t>(data, floats.elements, infinities);
    case DType::float32:
      return find_in<float>(data, floats.elements, infinities);
    default:
      return find_in<double>(data, floats.elements, infinities);
  }
}

}  // namespace

void load_check(base::ContextState& context) {
  if (base::watch_of(context).has(Watch::kCheckKnown)) return;
  const std::lock_guard guard(base::fork_mutex(base::ForkLock::settings));
  const std::string text = base::env_text("ORIEL_CHECK").value_or("off");
  if (text != "off" && text != "nan" && text != "infinite") {
    throw ArgumentError("ORIEL_CHECK", fmt::format("\"{}\" is neither off, nan (a NaN) nor infinite (a NaN or an "
                                                   "infinity)",
                                                   base::escaped(text)));
  }
  std::uint64_t bits = 0;
  if (text != "off") bits |= Watch::kCheckNan;
  if (text == "infinite") bits |= Watch::kCheckInfinite;
  base::begin_watch(context, Watch::kCheckKnown, bits);
}

std::optional<BadNumber> find_bad_number(const LaunchStep& step, std::span<void* const> arguments, base::Watch watch,
                                         bool outputs, const std::vector<bool>& skipped) {
  if (!backend::computes(step.device->device())) return std::nullopt;
  const bool infinities = watch.has(Watch::kCheckInfinite);
  for (const LaunchStep::Floats& floats : step.floats) {
    if (floats.output != outputs || floats.elements == 0) continue;
    if (floats.argument < skipped.size() && skipped[floats.argument]) continue;
    const void* data = arguments[floats.argument];
    std::vector<std::byte> copied;
    step.device->synchronize();
    if (!step.device->allocator()->on_host()) {
      copied.resize(static_cast<std::size_t>(floats.elements) * itemsize(floats.dtype));
      step.device->allocator()->read(data, copied.data(), copied.size());
      data = copied.data();
    }
    std::optional<BadNumber> found = find_in(floats, data, infinities);
    if (!found) continue;
    found->argument = floats.argument;
    return found;
  }
  return std::nullopt;
}

void refuse_result(const LaunchStep& step, std::span<void* const> arguments, base::Watch watch, const BadNumber& found,
                   const CheckedValue& value) {
  const auto number = [](const BadNumber& bad) { return bad.nan ? "NaN" : "infinity"; };
  std::string text =
      fmt::format("{} in element {} of {} (in the order of memory) of {}, which kernel {} stores", number(found),
                  found.element, found.elements, value.text.empty() ? "a result" : value.text, step.name);
  if (const std::optional<BadNumber> read = find_bad_number(step, arguments, watch, false))
    text +=
        fmt::format("; its operand {} holds {} already, in element {}", read->argument, number(*read), read->element);
  else
    text += "; none of its operands in memory holds one";
  if (!value.fused.empty()) text += "; fused into this kernel: " + value.fused;
  const detail::CallSite call(value.site, detail::CallSite::Nesting::inner);
  throw UserError("check", text);
}

}  // namespace runtime

}  // namespace oriel
