// What a HostCall node runs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "oriel/host_call.hpp"

namespace oriel::graph {

/// A function of host memory. Two are the same if their numbers are.
struct HostFunction {
  HostFunction(std::string called, Callback<void(const HostCall&)> body, HostOptions stated, std::string in_files = {})
      : name(std::move(called)), run(std::move(body)), options(std::move(stated)), saved(std::move(in_files)) {
    static std::atomic<std::uint64_t> next{1};
    number = next.fetch_add(1, std::memory_order_relaxed);
  }

  std::string name;
  Callback<void(const HostCall&)> run;
  HostOptions options;
  std::string saved;  // what a file calls it; empty: no file holds it
  std::uint64_t number = 0;
  /// What a batch of operands of these shapes costs; null: as the options say.
  double (*batch_nanoseconds)(std::span<const std::vector<std::int64_t>> shapes) = nullptr;
};
using HostFunctionPtr = std::shared_ptr<const HostFunction>;

/// What a file calls these functions begins with this, which no function of a user has. Behind it stand the operation,
/// the axis, whether -1 is the last position ("end"; else "start"), and what messages need.
inline constexpr std::string_view kPositionCheck = "check_positions";

/// Does the function give true, or throw?
inline bool only_checks(const HostFunction& function) { return function.saved.starts_with(kPositionCheck); }

/// Of a check: is -1 the last position?
inline bool counts_from_end(const HostFunction& check) {
  std::string_view rest = check.saved;
  for (int part = 0; part < 3; ++part) rest.remove_prefix(std::min(rest.find(':'), rest.size() - 1) + 1);
  return rest.starts_with("end:");
}

}  // namespace oriel::graph
