// Where tensors live and kernels run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oriel {

enum class DeviceKind : std::uint8_t {
  eigen,   ///< The CPU, through Eigen. Needs neither compiler nor driver. The default.
  null,    ///< Plans everything and computes nothing: for tests of schedules. Reading data from it is a DeviceError.
  opencl,  ///< An OpenCL device, through the ICD loader.
};

/// The name of a device, as a value. `Device{}` is the CPU.
struct Device {
  DeviceKind kind = DeviceKind::eigen;
  std::uint8_t index = 0;

  /// The CPU.
  static constexpr Device eigen() noexcept { return {DeviceKind::eigen, 0}; }
  /// The device that plans everything and computes nothing.
  static constexpr Device null() noexcept { return {DeviceKind::null, 0}; }
  /// The OpenCL device of that number, from 0 on: `devices()` and `oriel devices` list them.
  static constexpr Device opencl(std::uint8_t index = 0) noexcept { return {DeviceKind::opencl, index}; }

  /// Parses "eigen", "null", "opencl" or "opencl:1". Throws ArgumentError, which lists the accepted forms, for other
  /// text.
  static Device parse(std::string_view text);
  /// "eigen", "opencl:0".
  std::string str() const;

  friend constexpr bool operator==(Device, Device) noexcept = default;
};

/// The device on which new tensors live: set by set_default_device, else by ORIEL_DEVICE, else eigen.
Device default_device();
/// Sets the default device for all tensors made afterwards, in every thread. Throws DeviceError if the device is not
/// available.
void set_default_device(Device device);
/// The devices of this build and machine.
std::vector<Device> devices();

}  // namespace oriel
