// The call for which a captured function was traced, kept so that its entry can be written to a file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "capture/call_key.hpp"
#include "capture/symbols.hpp"
#include "graph/make.hpp"
#include "oriel/settings.hpp"

namespace oriel::api {

/// What a traced call's arguments were, without their elements.
struct CapturedOrigin {
  struct Storage {
    graph::RealizedKind kind;
    Device device;
  };
  struct Argument {
    std::size_t storage = 0;
    std::vector<graph::NodePtr> movements;  // of a view, from its storage on; over other memory
    bool viewed = false;                    // also for a view that changes nothing
  };
  std::vector<Storage> storages;
  std::vector<Argument> tensors;
  std::vector<detail::CapturedArguments::Number> numbers;
  std::vector<std::int64_t> values;
  detail::CapturedNames names;
  detail::CapturedForm form;
  std::vector<SizeChoice> choices;
  Bounds bounds = Bounds::zero;
};

std::unique_ptr<CapturedOrigin> record_origin(const detail::CapturedArguments& arguments, const CapturedInputs& inputs,
                                              const detail::CapturedNames& names,
                                              const std::vector<SizeChoice>& choices, detail::CapturedForm form);

}  // namespace oriel::api
