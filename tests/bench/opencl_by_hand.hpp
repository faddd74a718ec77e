// The hand-written side of the OpenCL benchmarks: a context, a queue and programs.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/opencl/api.hpp"
#include "backend/opencl/device_table.hpp"
#include "oriel/oriel.hpp"

namespace oriel::bench {

using namespace oriel::backend::opencl;
using Memory = Owned<cl_mem>;
using Program = Owned<cl_program>;
using KernelHandle = Owned<cl_kernel>;

/// A context, a queue and programs of our own.
class Hand {
 public:
  explicit Hand(const Api& api) : api_(api), table_(find_devices(api).at(0)) {
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                reinterpret_cast<cl_context_properties>(table_.platform), 0};
    cl_int status = CL_SUCCESS;
    context_ = own(api.clCreateContext(properties, 1, &table_.id, nullptr, nullptr, &status), api.clReleaseContext);
    check(status, "bench", "context");
    queue_ = own(api.clCreateCommandQueue(context_.get(), table_.id, 0, &status), api.clReleaseCommandQueue);
    check(status, "bench", "queue");
  }

  Memory buffer(std::size_t bytes) {
    cl_int status = CL_SUCCESS;
    Memory m =
        own(api_.clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status), api_.clReleaseMemObject);
    check(status, "bench", "buffer");
    const std::vector<float> numbers(bytes / 4, 0.25F);
    check(api_.clEnqueueWriteBuffer(queue_.get(), m.get(), CL_TRUE, 0, bytes, numbers.data(), 0, nullptr, nullptr),
          "bench", "write");
    return m;
  }
  Program program(const std::string& source) {
    const char* text = source.c_str();
    const std::size_t length = source.size();
    cl_int status = CL_SUCCESS;
    Program p = own(api_.clCreateProgramWithSource(context_.get(), 1, &text, &length, &status), api_.clReleaseProgram);
    check(status, "bench", "source");
    check(api_.clBuildProgram(p.get(), 1, &table_.id, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt", nullptr,
                              nullptr),
          "bench", "build");
    return p;
  }
  KernelHandle kernel(const Program& p, const std::string& name) {
    cl_int status = CL_SUCCESS;
    KernelHandle k = own(api_.clCreateKernel(p.get(), name.c_str(), &status), api_.clReleaseKernel);
    check(status, "bench", name);
    return k;
  }
  void set(const KernelHandle& k, const std::vector<const Memory*>& buffers) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      cl_mem m = buffers[i]->get();
      check(api_.clSetKernelArg(k.get(), static_cast<cl_uint>(i), sizeof m, &m), "bench", "argument");
    }
  }
  void launch(const KernelHandle& k, std::size_t items, std::size_t group) {
    check(api_.clEnqueueNDRangeKernel(queue_.get(), k.get(), 1, nullptr, &items, &group, 0, nullptr, nullptr), "bench",
          "launch");
  }
  void finish() { check(api_.clFinish(queue_.get()), "bench", "finish"); }
  void flush() { check(api_.clFlush(queue_.get()), "bench", "flush"); }
  const DeviceTable& table() const { return table_; }
  const Api& api() const { return api_; }

 private:
  const Api& api_;
  DeviceTable table_;
  Owned<cl_context> context_;
  Owned<cl_command_queue> queue_;
};

/// The process's Hand, or null if there is no device.
inline Hand* hand() {
  static Hand* const one = []() -> Hand* {
    std::string why_not;
    const Api* api = system_api(why_not);
    if (api == nullptr || find_devices(*api).empty()) return nullptr;
    return new Hand(*api);  // never destroyed, because the driver may be unloaded before
  }();
  return one;
}

inline backend::Backend& device() { return backend::backend_for(Device::opencl(0)); }

inline Tensor numbers(const Shape& shape) {
  std::vector<float> v(static_cast<std::size_t>(numel(shape).value()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.001F * static_cast<float>(static_cast<int>(i % 2003) - 1000);
  return Tensor::from(v, shape);
}

/// Skips a benchmark if there is no device.
inline bool missing(benchmark::State& state) {
  if (hand() != nullptr) return false;
  state.SkipWithError("no OpenCL device");
  return true;
}

}  // namespace oriel::bench
