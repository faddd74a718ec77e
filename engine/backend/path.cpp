#include "backend/path.hpp"

#include <fmt/format.h>

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

namespace {

std::string_view text(PathObstacle obstacle) {
  switch (obstacle) {
    case PathObstacle::SharedKernel:
      return "other reductions or loops share its kernel";
    case PathObstacle::Padded:
      return "it is one part of a concat or pad, and its kernel also loops over the other parts";
    case PathObstacle::Converted:
      return "its products are converted before they are summed: sum them first, or convert the factors";
    case PathObstacle::DTypeWithout:
      return "its dtype has no register blocks";
  }
  return "";
}

std::string times(double factor) { return fmt::format("{:.{}f}", factor, factor < 10 ? 1 : 0); }

}  // namespace

std::string text(const PathMiss& miss) {
  const std::string alike = miss.times > 1 ? fmt::format(", {} alike", miss.times) : "";
  const std::string factor = miss.factor > 0 ? fmt::format(": about {} times as long", times(miss.factor)) : "";
  return fmt::format("not on {} ({}{}) because {}{}", text(miss.path), miss.what, alike, text(miss.obstacle), factor);
}

std::string warning(const PathReport& report) {
  if (report.over_limit() < kFarFromLimit || report.nanoseconds < kWarnNanoseconds) return {};
  std::string why;
  if (!report.missed.empty()) why = fmt::format("it is not on {}", text(report.missed.front().path));
  for (const std::string& slow : report.slow) why += (why.empty() ? "" : ", and ") + slow;
  return fmt::format("warning: about {} times as long as its arithmetic and memory need{}", times(report.over_limit()),
                     why.empty() ? why : ": " + why);
}

}  // namespace oriel::backend
