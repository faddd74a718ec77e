// The entry points of the ICD loader, found at run time. A program that never asks for OpenCL needs no loader.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace oriel::backend::opencl {

// Every OpenCL call goes through this table, so that a test can put itself between the engine and a driver.
// clang-format off
#define ORIEL_OPENCL_ENTRIES(X) \
  X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) \
  X(clCreateContext) X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue) \
  X(clCreateBuffer) X(clReleaseMemObject) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer) X(clEnqueueCopyBuffer) \
  X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram) X(clReleaseProgram) \
  X(clGetProgramInfo) X(clGetProgramBuildInfo) \
  X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelWorkGroupInfo) X(clEnqueueNDRangeKernel) \
  X(clFlush) X(clFinish) X(clReleaseEvent) X(clGetEventInfo) X(clGetEventProfilingInfo)
// clang-format on

struct Api {
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member
#define ORIEL_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  ORIEL_OPENCL_ENTRIES(ORIEL_OPENCL_MEMBER)
#undef ORIEL_OPENCL_MEMBER
};

/// Opens the loader's library once per process. Returns null if there is none, or driver_lost(); `why_not` then
/// receives the reason.
const Api* system_api(std::string& why_not);

/// Says that entry points are called from here on.
void use_driver();
/// Was a driver in use before this process was forked? Its threads and locks stayed in the parent: a call may never
/// return.
bool driver_lost() noexcept;
/// What an error then says.
inline constexpr const char* kLost =
    "OpenCL was in use before this process was forked, which no driver survives; use it in one process, or start the "
    "other anew (exec)";

/// Makes system_api return this table from now on (for tests). The table must outlive all devices.
void replace_system_api(const Api* api);

/// For example "CL_OUT_OF_RESOURCES (-5)".
std::string status_name(cl_int status);
/// Throws DeviceError, or MemoryError for a failed allocation, with the message "what: CL_... (-n)".
void check(cl_int status, const char* operation, const std::string& what);

/// Owns an OpenCL object and releases it on destruction.
template <class T, auto Release>
class Handle {
 public:
  Handle() = default;
  Handle(const Api& api, T object) : api_(&api), object_(object) {}
  Handle(Handle&& other) noexcept : api_(other.api_), object_(other.object_) { other.object_ = nullptr; }
  Handle& operator=(Handle&& other) noexcept {
    reset();
    api_ = other.api_;
    object_ = other.object_;
    other.object_ = nullptr;
    return *this;
  }
  ~Handle() { reset(); }
  T get() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void reset() noexcept {
    if (object_ != nullptr) (api_->*Release)(object_);
    object_ = nullptr;
  }

 private:
  const Api* api_ = nullptr;
  T object_ = nullptr;
};

using Context = Handle<cl_context, &Api::clReleaseContext>;
using Queue = Handle<cl_command_queue, &Api::clReleaseCommandQueue>;
using Memory = Handle<cl_mem, &Api::clReleaseMemObject>;
using Program = Handle<cl_program, &Api::clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, &Api::clReleaseKernel>;
using Event = Handle<cl_event, &Api::clReleaseEvent>;

}  // namespace oriel::backend::opencl
