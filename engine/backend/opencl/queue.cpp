#include "backend/opencl/queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "oriel/error.hpp"

namespace oriel::backend::opencl {
namespace {

// Remembered functions. Beyond this number all work is waited for.
constexpr std::size_t kMostGrids = 1024;

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

}  // namespace

std::uint64_t LaunchOutcomes::add(Event event, const std::string& kernel) {
  ++launches_;
  last_ = std::move(event);
  last_name_ = kernel;
  return launches_;
}

void LaunchOutcomes::look(const Api& api, const char* operation, Device device) {
  if (!last_) return;
  cl_int state = CL_COMPLETE;
  const cl_int status =
      api.clGetEventInfo(last_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  last_.reset();
  const std::uint64_t after = std::exchange(finished_, launches_);
  if (state < 0) failed_.emplace_back(after, launches_);
  check(status != CL_SUCCESS ? status : std::min(state, CL_SUCCESS), operation,
        fmt::format("kernel {} on {}", last_name_, device.str()));
}

bool LaunchOutcomes::failed(std::uint64_t launch) const {
  return std::any_of(failed_.begin(), failed_.end(),
                     [&](const auto& range) { return launch > range.first && launch <= range.second; });
}

DeviceQueue::DeviceQueue(const Api& api, const DeviceTable& table, Device device)
    : api_(api),
      id_(table.id),
      device_(device),
      one_grid_(table.one_grid),
      context_(make_context(api, table)),
      queue_(make_queue(api, table.id, context_.get(), table.name, false)) {}

void DeviceQueue::drain() noexcept { api_.clFinish(queue_.get()); }

void DeviceQueue::wait(const char* operation) const {
  check(api_.clFinish(queue_.get()), operation, "work on " + device_.str());
}

void DeviceQueue::check_process(const char* operation) const {
  if (driver_lost()) throw DeviceError(operation, fmt::format("{}: {}", device_.str(), kLost));
}

std::uint64_t DeviceQueue::enqueue(cl_kernel cl, const std::string& kernel, const std::string& function,
                                   const Extents& global, const Extents& local, std::uint64_t* nanoseconds) {
  check_process("launch");
  const std::lock_guard one(launching_);
  if (nanoseconds != nullptr) {
    if (!timed_queue_) timed_queue_ = make_queue(api_, id_, context_.get(), device_.str(), true);
    wait("launch");
    grids_.clear();
  }
  cl_command_queue queue = nanoseconds != nullptr ? timed_queue_.get() : queue_.get();
  if (one_grid_) {
    const auto under_way = grids_.find(function);
    if ((under_way != grids_.end() && under_way->second != global) || grids_.size() >= kMostGrids) {
      wait("launch");
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
  return outcomes_.add(std::move(made), kernel);
}

void DeviceQueue::alone(const std::function<void()>& work) {
  const std::lock_guard one(launching_);
  wait("launch");
  grids_.clear();
  work();
}

void DeviceQueue::flush() {
  check_process("launch");
  check(api_.clFlush(queue_.get()), "launch", "work on " + device_.str());
}

void DeviceQueue::finish(const char* operation) {
  check_process(operation);
  wait(operation);
  const std::lock_guard lock(guard_);
  outcomes_.look(api_, operation, device_);
}

bool DeviceQueue::failed(std::uint64_t launch) const {
  const std::lock_guard lock(guard_);
  return outcomes_.failed(launch);
}

}  // namespace oriel::backend::opencl
