// The calls of OpenCL for one device.
#include <fmt/format.h>

#include <atomic>

#include "backend/opencl/builtins.hpp"
#include "backend/opencl/device_table.hpp"
#include "base/settings.hpp"

namespace oriel::backend::opencl {
namespace {

using items::Extents;
using items::Object;

/// The handle of an object, which is a cl_mem, cl_program, cl_kernel or cl_event.
template <class T>
T handle_of(const Object& object) {
  return static_cast<T>(object.get());
}

class OpenClDriver final : public items::Driver {
 public:
  OpenClDriver(const Api& api, const DeviceTable& table)
      : api_(api), table_(table), options_("-cl-std=CL1.2"), declares_builtins_(table.pocl) {
    if (table.correct_division) options_ += " -cl-fp32-correctly-rounded-divide-sqrt";
    if (const auto more = base::env_text("ORIEL_OPENCL_OPTIONS")) options_ += " " + *more;
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                reinterpret_cast<cl_context_properties>(table.platform), 0};
    cl_int status = CL_SUCCESS;
    context_ = own(api.clCreateContext(properties, 1, &table.id, nullptr, nullptr, &status), api.clReleaseContext);
    check(status, name(), "cannot open " + table.name);
    queue_ = own(api.clCreateCommandQueue(context_.get(), table.id, 0, &status), api.clReleaseCommandQueue);
    check(status, name(), "no queue on " + table.name);
  }
  const char* name() const override { return "opencl"; }
  const DeviceTable& table() const override { return table_; }
  std::string description() const override { return table_.describe(); }
  const std::string& options() const override { return options_; }
  const items::ForkWatch& forks() const override { return fork_watch(); }
  int retried() const noexcept override { return undeclared_; }
  std::string status_name(int status) const override { return opencl::status_name(status); }
  void check(int status, const char* operation, const std::string& what) const override {
    opencl::check(status, operation, what);
  }
  std::string identity() const override {
    return fmt::format("{}\n{}\n{}\n{}", table_.platform_name, table_.name, table_.version, table_.driver);
  }
  Object make_buffer(std::size_t bytes, void* host, int& status) override {
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (host != nullptr ? CL_MEM_USE_HOST_PTR : 0);
    return own(api_.clCreateBuffer(context_.get(), flags, bytes, host, &status), api_.clReleaseMemObject);
  }
  int read(const Object& buffer, void* host, std::size_t bytes) override {
    return api_.clEnqueueReadBuffer(queue_.get(), handle_of<cl_mem>(buffer), CL_TRUE, 0, bytes, host, 0, nullptr,
                                    nullptr);
  }
  int write(const Object& buffer, const void* host, std::size_t bytes) override {
    return api_.clEnqueueWriteBuffer(queue_.get(), handle_of<cl_mem>(buffer), CL_TRUE, 0, bytes, host, 0, nullptr,
                                     nullptr);
  }
  Object build(const std::string& source, std::string& log, int& status) override {
    if (declares_builtins_) {
      Object program = built(builtin_declarations(source) + source, options_ + kSkipsBuiltins, log, status);
      if (status == CL_SUCCESS || !program) return program;
    }
    Object program = built(source, options_, log, status);
    if (declares_builtins_ && status == CL_SUCCESS) {
      declares_builtins_ = false;  // another version of the driver may have other names
      ++undeclared_;
    }
    return program;
  }
  Object load(const std::string& binary) override {
    const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t bytes = binary.size();
    cl_int status = CL_SUCCESS, taken = CL_SUCCESS;
    Object program = own(api_.clCreateProgramWithBinary(context_.get(), 1, &table_.id, &bytes, &data, &taken, &status),
                         api_.clReleaseProgram);
    if (status != CL_SUCCESS || taken != CL_SUCCESS ||
        api_.clBuildProgram(handle_of<cl_program>(program), 1, &table_.id, options_.c_str(), nullptr, nullptr) !=
            CL_SUCCESS)
      return nullptr;
    return program;
  }
  std::string binary_of(const Object& program) override {
    auto* const handle = handle_of<cl_program>(program);
    std::size_t bytes = 0;
    if (api_.clGetProgramInfo(handle, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) return {};
    std::string binary(bytes, '\0');
    auto* data = reinterpret_cast<unsigned char*>(binary.data());
    if (bytes == 0 || api_.clGetProgramInfo(handle, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) != CL_SUCCESS)
      return {};
    return binary;
  }
  Object function_of(const Object& program, const std::string& name, int& status) override {
    return own(api_.clCreateKernel(handle_of<cl_program>(program), name.c_str(), &status), api_.clReleaseKernel);
  }
  int set_argument(const Object& function, unsigned index, std::size_t bytes, const void* value) override {
    return api_.clSetKernelArg(handle_of<cl_kernel>(function), index, bytes, value);
  }
  int open_timed_queue() override {
    cl_int status = CL_SUCCESS;
    if (!timed_queue_)
      timed_queue_ = own(api_.clCreateCommandQueue(context_.get(), table_.id, CL_QUEUE_PROFILING_ENABLE, &status),
                         api_.clReleaseCommandQueue);
    return status;
  }
  int launch(const Object& function, const Extents& global, const Extents& local, bool timed, Object& event) override {
    cl_event made = nullptr;
    const cl_int status =
        api_.clEnqueueNDRangeKernel((timed ? timed_queue_ : queue_).get(), handle_of<cl_kernel>(function), 3, nullptr,
                                    global.data(), local.data(), 0, nullptr, &made);
    event = own(made, api_.clReleaseEvent);
    return status;
  }
  int outcome(const Object& event, int& state) override {
    return api_.clGetEventInfo(handle_of<cl_event>(event), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state,
                               nullptr);
  }
  std::uint64_t nanoseconds(const Object& event) override {
    cl_ulong begun = 0, ended = 0;
    auto* const handle = handle_of<cl_event>(event);
    api_.clGetEventProfilingInfo(handle, CL_PROFILING_COMMAND_START, sizeof begun, &begun, nullptr);
    api_.clGetEventProfilingInfo(handle, CL_PROFILING_COMMAND_END, sizeof ended, &ended, nullptr);
    return ended > begun ? ended - begun : 0;
  }
  int flush() override { return api_.clFlush(queue_.get()); }
  int finish(bool timed) override { return api_.clFinish((timed ? timed_queue_ : queue_).get()); }

 private:
  Object built(const std::string& source, const std::string& options, std::string& log, int& status) const {
    const char* text = source.c_str();
    const std::size_t length = source.size();
    Object program =
        own(api_.clCreateProgramWithSource(context_.get(), 1, &text, &length, &status), api_.clReleaseProgram);
    if (status != CL_SUCCESS) return nullptr;
    auto* const handle = handle_of<cl_program>(program);
    status = api_.clBuildProgram(handle, 1, &table_.id, options.c_str(), nullptr, nullptr);
    std::size_t bytes = 0;
    log.clear();
    if (api_.clGetProgramBuildInfo(handle, table_.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) != CL_SUCCESS)
      return program;
    log.resize(bytes);
    if (api_.clGetProgramBuildInfo(handle, table_.id, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr) != CL_SUCCESS)
      log.clear();
    return program;
  }

  const Api& api_;
  const DeviceTable table_;
  std::string options_;
  bool declares_builtins_;  // are programs built with builtin_declarations? Small kernels take PoCL a third of the time
  std::atomic<int> undeclared_{0};  // programs that were built only with the driver's own declarations
  Owned<cl_context> context_;
  Owned<cl_command_queue> queue_;
  Owned<cl_command_queue>
      timed_queue_;  // made when a launch is first timed, so that the other queue needs no profiling
};

}  // namespace

std::unique_ptr<items::Driver> open_driver(const Api& api, const DeviceTable& table) {
  return std::make_unique<OpenClDriver>(api, table);
}

}  // namespace oriel::backend::opencl
