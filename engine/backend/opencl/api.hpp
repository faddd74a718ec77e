// The entry points of the ICD loader, found at run time. A program that never asks for OpenCL needs no loader.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <memory>
#include <string>
#include <type_traits>

#include "backend/items/driver.hpp"

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

/// Opens the loader's library once per process. Returns null if there is none, or it was lost by a fork; `why_not` then
/// receives the reason.
const Api* system_api(std::string& why_not);

items::ForkWatch& fork_watch() noexcept;

/// Makes system_api return this table from now on (for tests). The table must outlive all devices.
void replace_system_api(const Api* api);

/// For example "CL_OUT_OF_RESOURCES (-5)".
std::string status_name(cl_int status);
/// Throws DeviceError, or MemoryError for a failed allocation, with the message "what: CL_... (-n)".
void check(cl_int status, const char* operation, const std::string& what);

/// An OpenCL object, which its last owner releases. `T` is a handle.
template <class T>
using Owned = std::shared_ptr<std::remove_pointer_t<T>>;
template <class T>
Owned<T> own(T object, cl_int (*release)(T)) {
  return object != nullptr ? Owned<T>(object, release) : nullptr;
}

}  // namespace oriel::backend::opencl
