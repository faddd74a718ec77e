// The trace of a captured function (oriel/function.hpp): while one is under way in a thread, no element may be read
// there.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "memory/buffer.hpp"
#include "oriel/site.hpp"

namespace oriel::runtime {

/// A trace by this thread, under way while the object lives. Inputs are placeholders: buffers without memory. When the
/// trace ends they get another version, so that work that still reads them afterwards is refused.
class Trace {
 public:
  /// `site`: the line that made the captured function. No other trace may be under way in this thread.
  explicit Trace(Site site) noexcept;
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// A buffer without memory, for an input of so many bytes.
  mem::BufferPtr placeholder(Device device, std::int64_t bytes);

  /// The number of the trace under way in this thread, which no other trace has; 0 for none.
  static std::uint64_t current() noexcept { return under_way.load(std::memory_order_relaxed) == 0 ? 0 : own(); }

 private:
  static std::uint64_t own() noexcept;
  static std::atomic<int> under_way;  // in all threads: without one, nothing of a thread's own is looked up

  std::vector<mem::BufferPtr> placeholders_;
};

inline bool tracing() noexcept { return Trace::current() != 0; }

/// Is this the memory of a placeholder?
inline bool is_placeholder(const mem::Buffer& buffer) noexcept {
  return buffer.data() == nullptr && buffer.bytes() != 0;
}

/// Throws DataDependentError where this thread traces: `operation` would read elements, or have them computed.
void check_may_read(std::string_view operation);
/// Throws ArgumentError: a tensor of a trace that has ended, or is another thread's, was read.
[[noreturn]] void refuse_placeholder(std::string_view operation);

}  // namespace oriel::runtime
