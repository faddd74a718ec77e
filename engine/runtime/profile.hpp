// The recording behind oriel/profile.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "base/context.hpp"
#include "graph/scalar.hpp"
#include "memory/buffer.hpp"
#include "oriel/explain.hpp"
#include "oriel/profile.hpp"
#include "runtime/compiled.hpp"
#include "runtime/machine.hpp"

namespace oriel::runtime {

/// Gives contents of memory numbers. What a launch writes has a number that follows from its kernel, its numbers and
/// the contents that it reads, so equal computations from equal operands are found wherever they lie. Thread safety:
/// one thread at a time.
class Repeats {
 public:
  struct Operand {
    mem::BufferPtr buffer;
    bool written = false;
  };
  /// Takes in a launch of a kernel. Did an earlier launch compute the same? A launch that reads no memory never did.
  bool add(const void* kernel, std::span<const Operand> operands, std::span<const graph::Scalar> numbers);

 private:
  struct Contents {
    std::weak_ptr<const mem::Buffer> buffer;
    std::uint64_t version = 0;
    std::uint64_t number = 0;
  };
  std::uint64_t contents(const mem::BufferPtr& buffer);

  static constexpr std::size_t kMost = 1 << 16;  // of each table; then all is forgotten

  std::unordered_map<const mem::Buffer*, Contents> contents_;
  std::unordered_set<std::uint64_t> computed_;
  std::uint64_t next_ = 1;
};

/// Begins to record in the context if `on` says so, or ORIEL_PROFILE if it is not given. Does nothing if the variable
/// was read before or start or stop was called. Throws ParseError if the variable is malformed.
void load_profile(base::ContextState& context, std::optional<bool> on = std::nullopt);
/// Does nothing if the context has ended.
void add_to_profile(std::uint16_t context, const LaunchStep& step, double seconds, bool repeated = false);
/// Does the launch compute what an earlier launch of the recording has computed, from the same operands? `operands`:
/// the buffers of the step's arguments; `numbers`: its parameters. False if the context has ended.
bool repeats_earlier(std::uint16_t context, const LaunchStep& step, std::span<const Repeats::Operand> operands,
                     std::span<const graph::Scalar> numbers);

/// The lines that built what a kernel stores: "a.cpp:3,a.cpp:5". Of many the first four, then dots.
std::string sites_of(const ExplainedKernel& kernel);
/// Adds lines that are not yet among them, as many as sites_of gives.
void add_sites(std::string& all, std::string_view more);

/// What ORIEL_PROFILE and `oriel profile` print: the kernels by time, each with the share that it reaches of the
/// machine's limits (the larger of bytes at the speed of a copy of so much data and operations at the peak), and where
/// the next gain lies. `hint`: what keeps a kernel from its limit; may be empty.
std::string profile_text(const Profile& profile, const MachineLimits& limits,
                         const std::function<std::string(const std::string& kernel)>& hint = {});

}  // namespace oriel::runtime
