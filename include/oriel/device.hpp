// Where tensors live and kernels run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oriel {

enum class DeviceKind : std::uint8_t {
  eigen,   ///< The CPU, through Eigen: needs neither compiler nor driver. The default.
  null,    ///< Plans everything and computes nothing: for tests of schedules. Reading data from it is a DeviceError.
  opencl,  ///< An OpenCL device, through the ICD loader.
};

/// Names a device of a context; a value. `Device{}` is the CPU in the default context, and so are the names that the
/// functions below give: Context::device (context.hpp) names a device of another context.
struct Device {
  DeviceKind kind = DeviceKind::eigen;
  std::uint8_t index = 0;
  std::uint16_t context = 0;  ///< Context::number; 0: the default context

  static constexpr Device eigen() noexcept { return {DeviceKind::eigen, 0, 0}; }
  static constexpr Device null() noexcept { return {DeviceKind::null, 0, 0}; }
  /// The OpenCL device of that number, from 0 on: `devices()` and `oriel devices` list them.
  static constexpr Device opencl(std::uint8_t index = 0) noexcept { return {DeviceKind::opencl, index, 0}; }

  /// From "eigen", "null", "opencl", "opencl:1". Throws ArgumentError listing the forms.
  static Device parse(std::string_view text);
  /// "eigen", "opencl:0"; with "of context 3" behind it in another context than the default one.
  std::string str() const;

  friend constexpr bool operator==(Device, Device) noexcept = default;
};

/// The device that new tensors of the current context use: what set_default_device said, else ORIEL_DEVICE, else eigen.
Device default_device();
/// Throws DeviceError where that device is not available, or is another context's. A name without a context means the
/// current one's device. Affects the tensors that are made in this context afterwards, in every thread.
void set_default_device(Device device);
/// The devices of this build and machine.
std::vector<Device> devices();

}  // namespace oriel
