#include "backend/opencl/memory.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>

#include "base/settings.hpp"
#include "oriel/error.hpp"

namespace oriel::backend::opencl {
namespace {

// Even an empty buffer takes memory, so it has an address.
constexpr std::size_t kSmallest = 256;
// Remembered functions. Beyond this number all work is waited for.
constexpr std::size_t kMostGrids = 1024;

/// Four size classes for each power of two, as on the host.
std::size_t class_bytes(std::size_t bytes) {
  const std::size_t wanted = std::max(bytes, kSmallest);
  const std::size_t base = std::bit_floor(wanted);
  const std::size_t step = base / 4;  // at least kSmallest / 4
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
  return (wanted + step - 1) / step * step;
}

Context make_context(const Api& api, const DeviceTable& table) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(table.platform), 0};
  cl_int status = CL_SUCCESS;
  Context context(api, api.clCreateContext(properties, 1, &table.id, nullptr, nullptr, &status));
  check(status, "opencl", "cannot open " + table.name);
  return context;
}

Queue make_queue(const Api& api, cl_device_id id, cl_context context, const std::string& device, bool timed) {
  cl_int status = CL_SUCCESS;
  Queue queue(api, api.clCreateCommandQueue(context, id, timed ? CL_QUEUE_PROFILING_ENABLE : 0, &status));
  check(status, "opencl", fmt::format("no {}queue on {}", timed ? "timed " : "", device));
  return queue;
}

std::atomic<unsigned> forks{0};

unsigned count_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  static_cast<void>(registered);
  return forks;
}

}  // namespace

DeviceMemory::DeviceMemory(const Api& api, const DeviceTable& table, Device device)
    : api_(api),
      id_(table.id),
      device_(device),
      largest_(table.largest_buffer),
      unified_(table.unified_memory),
      one_grid_(table.one_grid),
      forks_(count_forks()),
      alignment_(table.alignment),
      context_(make_context(api, table)),
      queue_(make_queue(api, table.id, context_.get(), table.name, false)),
      pool_bytes_(static_cast<std::size_t>(
          base::env_count("ORIEL_POOL_BYTES").value_or(std::max<std::int64_t>(table.memory / 2, 0)))) {}

DeviceMemory::~DeviceMemory() {
  if (queue_) api_.clFinish(queue_.get());
}

bool DeviceMemory::forked() const noexcept { return forks != forks_; }

void DeviceMemory::check_process(const char* operation) const {
  if (!forked()) return;
  throw DeviceError(operation,
                    fmt::format("{} was opened before this process was forked, which no driver survives; use "
                                "it in one process, or start the other anew (exec)",
                                device_.str()));
}

void* DeviceMemory::allocate(std::size_t bytes) {
  check_process("allocate");
  const auto refuse = [&](const std::string& why) {
    throw MemoryError("allocate", fmt::format("no memory for {} bytes on {}: {}; {} are in use here", bytes,
                                              device_.str(), why, statistics().live));
  };
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) ||
      (largest_ > 0 && bytes > static_cast<std::size_t>(largest_)))
    refuse(fmt::format("a buffer has at most {}", largest_));
  std::size_t wanted = class_bytes(bytes);
  if (largest_ > 0) wanted = std::min(wanted, static_cast<std::size_t>(largest_));
  const auto handed_out = [&] {
    counts_.live += wanted;
    counts_.peak = std::max(counts_.peak, counts_.live);
  };
  {
    const std::lock_guard lock(guard_);
    ++counts_.requests;
    const auto found = pool_.find(wanted);
    if (found != pool_.end()) {
      Block* const block = found->second.release();
      pool_.erase(found);
      counts_.pooled -= wanted;
      block->launch = 0;
      handed_out();
      return block;
    }
  }
  auto block = std::make_unique<Block>();
  block->bytes = wanted;
  cl_int status = CL_SUCCESS;
  const auto create = [&] {
    block->memory = Memory(api_, api_.clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, wanted, nullptr, &status));
  };
  create();
  if (status != CL_SUCCESS) {
    trim(0);
    create();
  }
  if (status != CL_SUCCESS) refuse(status_name(status));
  const std::lock_guard lock(guard_);
  ++counts_.system_allocations;
  handed_out();
  return block.release();
}

void DeviceMemory::release(void* data, std::size_t) noexcept {
  if (data == nullptr) return;
  std::unique_ptr<Block> block(static_cast<Block*>(data));
  if (forked()) {
    // In a forked child the driver's objects must not be touched.
    const Block* const left = block.release();
    if (left->host != nullptr && left->deleter) left->deleter(left->host);
    return;
  }
  if (block->host != nullptr) {
    // Kernels may still read the host's memory. Its owner may free or change it after this.
    api_.clFinish(queue_.get());
    block->memory.reset();
    if (block->deleter) block->deleter(block->host);
    return;
  }
  const std::lock_guard lock(guard_);
  const std::size_t bytes = block->bytes;
  counts_.live -= bytes;
  if (counts_.pooled + bytes > pool_bytes_) return;
  try {
    pool_.emplace(bytes, std::move(block));
    counts_.pooled += bytes;
  } catch (const std::bad_alloc&) {
    // There is no memory to remember the block: release it to the driver.
  }
}

void DeviceMemory::read(const void* data, void* host, std::size_t bytes) {
  check_process("read");
  const std::string what = fmt::format("{} bytes from {}", bytes, device_.str());
  const auto* block = static_cast<const Block*>(data);
  if (bytes > 0) {
    check(api_.clEnqueueReadBuffer(queue_.get(), block->memory.get(), CL_TRUE, 0, bytes, host, 0, nullptr, nullptr),
          "read", what);
  }
  finish("read");
  const std::lock_guard lock(guard_);
  for (const auto& [after, to] : failed_)
    if (block->launch > after && block->launch <= to)
      throw DeviceError("read", what + ": the kernel that was to write them failed; compute them again");
}

void DeviceMemory::written(void* data, std::uint64_t launch) {
  const std::lock_guard lock(guard_);
  static_cast<Block*>(data)->launch = launch;
}

void DeviceMemory::write(void* data, const void* host, std::size_t bytes) {
  if (bytes == 0) return;
  check_process("write");
  auto* block = static_cast<Block*>(data);
  check(api_.clEnqueueWriteBuffer(queue_.get(), block->memory.get(), CL_TRUE, 0, bytes, host, 0, nullptr, nullptr),
        "write", fmt::format("{} bytes to {}", bytes, device_.str()));
  const std::lock_guard lock(guard_);
  block->launch = 0;
}

void* DeviceMemory::adopt(void* data, std::size_t bytes, std::function<void(void*)> deleter) {
  if (forked() || !unified_ || bytes == 0 || reinterpret_cast<std::uintptr_t>(data) % alignment_ != 0) return nullptr;
  auto block = std::make_unique<Block>();
  cl_int status = CL_SUCCESS;
  block->memory =
      Memory(api_, api_.clCreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, data, &status));
  if (status != CL_SUCCESS) return nullptr;  // the caller copies instead
  block->bytes = bytes;
  block->host = data;
  block->deleter = std::move(deleter);
  return block.release();
}

std::uint64_t DeviceMemory::enqueue(cl_kernel cl, const std::string& kernel, const std::string& function,
                                    const Extents& global, const Extents& local, std::uint64_t* nanoseconds) {
  check_process("launch");
  const std::lock_guard one(launching_);
  if (nanoseconds != nullptr) {
    if (!timed_queue_) timed_queue_ = make_queue(api_, id_, context_.get(), device_.str(), true);
    check(api_.clFinish(queue_.get()), "launch", "work on " + device_.str());
    grids_.clear();
  }
  cl_command_queue queue = nanoseconds != nullptr ? timed_queue_.get() : queue_.get();
  if (one_grid_) {
    const auto under_way = grids_.find(function);
    if ((under_way != grids_.end() && under_way->second != global) || grids_.size() >= kMostGrids) {
      check(api_.clFinish(queue_.get()), "launch", "work on " + device_.str());
      grids_.clear();
    }
    grids_[function] = global;
  }
  cl_event event = nullptr;
  const cl_int status =
      api_.clEnqueueNDRangeKernel(queue, cl, 3, nullptr, global.data(), local.data(), 0, nullptr, &event);
  Event made(api_, event);
  check(status, "launch", fmt::format("kernel {} on {}", kernel, device_.str()));
  if (nanoseconds != nullptr) {
    check(api_.clFinish(queue), "launch", "work on " + device_.str());
    cl_ulong begun = 0, ended = 0;
    api_.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof begun, &begun, nullptr);
    api_.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof ended, &ended, nullptr);
    *nanoseconds = ended > begun ? ended - begun : 0;
    grids_.clear();
  }
  const std::lock_guard lock(guard_);
  ++launches_;
  last_ = std::move(made);
  last_name_ = kernel;
  return launches_;
}

void DeviceMemory::alone(const std::function<void()>& work) {
  const std::lock_guard one(launching_);
  check(api_.clFinish(queue_.get()), "launch", "work on " + device_.str());
  grids_.clear();
  work();
}

void DeviceMemory::flush() {
  check_process("launch");
  check(api_.clFlush(queue_.get()), "launch", "work on " + device_.str());
}

void DeviceMemory::finish(const char* operation) {
  check_process(operation);
  check(api_.clFinish(queue_.get()), operation, "work on " + device_.str());
  const std::lock_guard lock(guard_);
  if (!last_) return;
  cl_int state = CL_COMPLETE;
  const cl_int status =
      api_.clGetEventInfo(last_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  last_.reset();
  const std::uint64_t after = std::exchange(finished_, launches_);
  if (state < 0) failed_.emplace_back(after, launches_);
  check(status != CL_SUCCESS ? status : std::min(state, CL_SUCCESS), operation,
        fmt::format("kernel {} on {}", last_name_, device_.str()));
}

MemoryStatistics DeviceMemory::statistics() const {
  if (forked()) return counts_;
  const std::lock_guard lock(guard_);
  return counts_;
}

void DeviceMemory::trim(std::size_t keep) {
  if (forked()) return;
  const std::lock_guard lock(guard_);
  while (!pool_.empty() && counts_.pooled > keep) {
    const auto largest = std::prev(pool_.end());
    counts_.pooled -= largest->first;
    pool_.erase(largest);
  }
}

void DeviceMemory::reset_peak() {
  if (forked()) return;
  const std::lock_guard lock(guard_);
  counts_.peak = counts_.live;
}

}  // namespace oriel::backend::opencl
