#include "host/linalg_functions.hpp"

#include "host/linalg_batch.hpp"

namespace oriel::api {

graph::HostFunctionPtr linalg_function(std::string_view name) {
  static const linalg::Functions parts[] = {linalg::solvers(), linalg::factors(), fft_functions()};
  for (const linalg::Functions& functions : parts)
    for (const graph::HostFunctionPtr& function : functions)
      if (function->saved == name) return function;
  return nullptr;
}

}  // namespace oriel::api
