#include "runtime/trace.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/escape.hpp"
#include "oriel/error.hpp"

namespace oriel::runtime {

namespace {

struct OwnTrace {
  std::uint64_t number = 0;
  Site site = Site::unknown();
  UnbackedValues* unbacked = nullptr;
  std::vector<graph::NodePtr>* roots = nullptr;
};
constinit thread_local OwnTrace own_trace;
constinit std::atomic<std::uint64_t> traces_begun{0};

}  // namespace

constinit std::atomic<int> Trace::under_way{0};

std::uint64_t Trace::own() noexcept { return own_trace.number; }

UnbackedValues* Trace::unbacked() noexcept { return tracing() ? own_trace.unbacked : nullptr; }

void Trace::add_root(graph::NodePtr root) { own_trace.roots->push_back(std::move(root)); }

Trace::Trace(Site site, UnbackedValues* unbacked) noexcept {
  own_trace = {traces_begun.fetch_add(1, std::memory_order_relaxed) + 1, site, unbacked, &roots_};
  under_way.fetch_add(1, std::memory_order_relaxed);
}

Trace::~Trace() {
  under_way.fetch_sub(1, std::memory_order_relaxed);
  own_trace = {};
  for (const mem::BufferPtr& placeholder : placeholders_) placeholder->bump_version();
}

mem::BufferPtr Trace::placeholder(Device device, std::int64_t bytes) {
  return placeholders_.emplace_back(memoryless(device, bytes));
}

mem::BufferPtr memoryless(Device device, std::int64_t bytes) {
  return std::make_shared<mem::Buffer>(device, nullptr, static_cast<std::size_t>(bytes), std::function<void(void*)>());
}

void check_may_read(std::string_view operation) {
  if (!tracing()) return;
  const Site site = own_trace.site;
  const std::string where = site.file == nullptr ? "" : fmt::format(" made at {}:{}", site.file, site.line);
  throw DataDependentError(
      operation, fmt::format("the captured function{} is being traced, and its tensors have no elements yet: what it "
                             "does may not depend on them, because the trace is run again with other data; return the "
                             "tensor and read it after the call, or choose elements with where()",
                             where));
}

void refuse_placeholder(std::string_view operation) {
  throw ArgumentError(
      operation,
      "the tensor was made while a captured function was traced, and has no elements outside of it; let "
      "the function return it (stand-ins of vmap have none either)");
}

}  // namespace oriel::runtime
