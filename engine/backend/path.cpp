#include "backend/path.hpp"

namespace oriel::backend {

std::string text(KernelPath path) {
  switch (path) {
    case KernelPath::Nothing:
      return "nothing";
    case KernelPath::Elementwise:
      return "elementwise tiles";
    case KernelPath::Reductions:
      return "reductions tile by tile";
    case KernelPath::Windows:
      return "windows";
    case KernelPath::DotProducts:
      return "dot products";
    case KernelPath::Streamed:
      return "streamed products";
    case KernelPath::Blocked:
      return "blocked products";
    case KernelPath::SmallProducts:
      return "small products side by side";
    case KernelPath::Rows:
      return "parts that share rows";
    case KernelPath::Online:
      return "online softmax";
    case KernelPath::Squares:
      return "transposed squares";
    case KernelPath::Sort:
      return "sort";
    case KernelPath::Scan:
      return "scan";
    case KernelPath::Scatter:
      return "scatter";
    case KernelPath::Host:
      return "a host function";
  }
  return "";
}

}  // namespace oriel::backend
