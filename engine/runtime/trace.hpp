// The trace of a captured function (oriel/function.hpp). While a thread traces, it may not read any element.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/node.hpp"
#include "memory/buffer.hpp"
#include "oriel/site.hpp"

namespace oriel::runtime {

/// What a trace does where a size depends on data.
class UnbackedValues {
 public:
  /// A placeholder for the row-major positions where `mask`, a bool node, is true: int64 (u0), where u0 is a symbol
  /// without a hint. They are found at each call, between the kernels before and behind.
  virtual graph::NodePtr positions(graph::NodePtr mask, Site site) = 0;
  /// A symbol without a hint for the only element of `of`, the same symbol each time; `value` is the element as an
  /// int64 node without axes. It is read at each call.
  virtual SymInt element(const graph::NodePtr& of, graph::NodePtr value, Site site) = 0;

 protected:
  ~UnbackedValues() = default;
};

/// A trace in this thread, under way while the object lives. Inputs are placeholders: buffers without memory. When the
/// trace ends, their version changes, so that work that still reads them is refused.
class Trace {
 public:
  /// `site`: the line that made the captured function. The thread must not be tracing already.
  explicit Trace(Site site, UnbackedValues* unbacked = nullptr) noexcept;
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// A buffer without memory, standing for an input of this many bytes.
  mem::BufferPtr placeholder(Device device, std::int64_t bytes);

  /// The trace under way in this thread computes this too, though no result reads it.
  static void add_root(graph::NodePtr root);
  const std::vector<graph::NodePtr>& roots() const noexcept { return roots_; }

  /// The unique number of the trace under way in this thread; 0 if there is none.
  static std::uint64_t current() noexcept { return under_way.load(std::memory_order_relaxed) == 0 ? 0 : own(); }
  /// Of the trace under way in this thread; null if there is none.
  static UnbackedValues* unbacked() noexcept;

 private:
  static std::uint64_t own() noexcept;
  static std::atomic<int> under_way;  // number of traces in all threads: if 0, no thread-local variable is read

  std::vector<mem::BufferPtr> placeholders_;
  std::vector<graph::NodePtr> roots_;
};

inline bool tracing() noexcept { return Trace::current() != 0; }

/// Is this the memory of a placeholder?
inline bool is_placeholder(const mem::Buffer& buffer) noexcept {
  return buffer.data() == nullptr && buffer.bytes() != 0;
}

/// A buffer of so many bytes without memory: work over it can be planned and never runs.
mem::BufferPtr memoryless(Device device, std::int64_t bytes);

/// Throws DataDependentError if this thread traces. `operation` is about to read elements or have them computed.
void check_may_read(std::string_view operation);
/// Throws ArgumentError: the program reads a tensor of a trace that has ended or belongs to another thread.
[[noreturn]] void refuse_placeholder(std::string_view operation);

}  // namespace oriel::runtime
