// Names of devices, and the current context's default device. The folders above check whether a device is available.
#pragma once

#include <cstddef>
#include <string_view>

#include "oriel/device.hpp"

namespace oriel::base {

struct DeviceName {
  DeviceKind kind;
  std::string_view name;
  bool numbered;  // are there several devices? Then they are written with a number
};
/// In the order of DeviceKind.
inline constexpr DeviceName kDeviceNames[] = {
    {DeviceKind::eigen, "eigen", false}, {DeviceKind::null, "null", false}, {DeviceKind::opencl, "opencl", true}};
inline constexpr std::size_t kMostDevices = 256;  // of a kind

constexpr const DeviceName& name_of(DeviceKind kind) { return kDeviceNames[static_cast<std::size_t>(kind)]; }

/// Makes `device` the default without checking that it exists.
void store_default_device(Device device) noexcept;

}  // namespace oriel::base
