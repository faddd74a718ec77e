// Panels of a right factor that are kept from launch to launch, such as those of a weight.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "backend/eigen/products/contraction_plan.hpp"
#include "backend/eigen/products/packer.hpp"
#include "backend/eigen/tile/threads.hpp"
#include "backend/kept_factors.hpp"

namespace oriel::backend::eigen {

/// The panels of all columns, batch after batch. Without memory there are none.
struct KeptPanels {
  KeptFactors::Copy memory;
  PanelLayout layout;
  std::int64_t batch_bytes = 0;

  explicit operator bool() const noexcept { return memory != nullptr; }
  const char* at(std::int64_t batch) const noexcept {
    return static_cast<const char*>(memory->data()) + batch * batch_bytes;
  }
};

/// The number of the argument whose elements the contraction packs as they lie in memory; -1 if there is none.
std::int32_t packed_argument(const ContractionPlan& plan);

/// The panels of the right factor that are kept. If it is time to keep them, they are packed here.
KeptPanels kept_panels(const ContractionPlan& plan, const Team& threads, std::span<void* const> arguments,
                       std::span<const graph::Scalar> parameters, const Keeping* keeping);

}  // namespace oriel::backend::eigen
