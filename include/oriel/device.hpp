// Where tensors live and kernels run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oriel/api.hpp"

namespace ORIEL_API oriel {

enum class DeviceKind : std::uint8_t {
  eigen,   ///< The CPU, through Eigen. Needs neither compiler nor driver. The default.
  null,    ///< Plans everything and computes nothing: for tests of schedules. Reading data from it is a DeviceError.
  opencl,  ///< An OpenCL device, through the ICD loader.
};

/// The name of a device in a context, as a value. `Device{}` is the CPU in the default context. The functions below
/// name devices of the default context; Context::device (context.hpp) names those of other contexts.
struct Device {
  DeviceKind kind = DeviceKind::eigen;  ///< which backend runs it
  std::uint8_t index = 0;               ///< its number among the devices of this kind
  std::uint16_t context = 0;            ///< Context::number; 0: the default context

  /// The CPU.
  static constexpr Device eigen() noexcept { return {DeviceKind::eigen, 0, 0}; }
  /// The device that plans everything and computes nothing.
  static constexpr Device null() noexcept { return {DeviceKind::null, 0, 0}; }
  /// The OpenCL device of that number, from 0 on: `devices()` and `oriel devices` list them.
  static constexpr Device opencl(std::uint8_t index = 0) noexcept { return {DeviceKind::opencl, index, 0}; }

  /// Parses "eigen", "null", "opencl" or "opencl:1". Throws ArgumentError, which lists the accepted forms, for other
  /// text.
  static Device parse(std::string_view text);
  /// "eigen", "opencl:0"; with "of context 3" behind it in another context than the default one.
  std::string str() const;

  /// Do both name one device?
  friend constexpr bool operator==(Device, Device) noexcept = default;
};

/// The device on which new tensors of the current context live: set by set_default_device, else by ORIEL_DEVICE, else
/// eigen.
Device default_device();
/// Sets the default device for all tensors made afterwards in the current context, in every thread. A name of the
/// default context stands for the current context's device of that name. Throws DeviceError if the device is not
/// available or belongs to another context.
void set_default_device(Device device);
/// The devices of this build and machine.
std::vector<Device> devices();

}  // namespace oriel
