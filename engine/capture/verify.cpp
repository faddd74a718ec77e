#include "capture/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backend/backend.hpp"
#include "formula/call.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"

namespace oriel::api {

using detail::CapturedArguments;
using detail::CapturedResults;
using detail::Cell;
using detail::CellPtr;

namespace {

/// Tensors like these in storages of their own, with the same elements. Two that share a storage share one again.
std::vector<Tensor> apart(const CapturedArguments& arguments, const CapturedInputs& inputs) {
  std::vector<CellPtr> storages;
  for (const CapturedInputs::Storage& s : inputs.storages) storages.push_back(Cell::make_storage(s.node));
  std::vector<Tensor> out;
  for (std::size_t k = 0; k < arguments.tensors.size(); ++k) {
    std::vector<const detail::ViewCell*> views;
    for (Cell* cell = &Access::cell(*arguments.tensors[k]); cell->view_cell() != nullptr;
         cell = cell->view_cell()->parent().get())
      views.push_back(cell->view_cell());
    CellPtr cell = storages[static_cast<std::size_t>(inputs.storage_of[k])];
    for (std::size_t p = views.size(); p-- > 0;) cell = Cell::make_view(std::move(cell), views[p]->path());
    out.push_back(Access::naming(std::move(cell)));
  }
  return out;
}

std::string element_text(const Tensor& x, std::int64_t position) {
  const Tensor element = x.reshape({-1}).select(0, position);
  if (is_floating(x.dtype())) return fmt::format("{}", element.to(DType::float64).item<double>());
  if (x.dtype() == DType::bool_) return element.item<bool>() ? "true" : "false";
  if (x.dtype() == DType::uint64) return fmt::format("{}", element.item<std::uint64_t>());
  return fmt::format("{}", element.to(DType::int64).item<std::int64_t>());
}

std::string index_text(const Shape& shape, std::int64_t position) {
  Ints index(shape.size());
  for (std::size_t d = shape.size(); d-- > 0; position /= shape[d].value()) index[d] = position % shape[d].value();
  return to_string(index);
}

/// How far an element may differ, as a part of the largest one. A plan for many sizes, and another device's, may add in
/// another order: sums of products lose about as many roundings as the root of their terms, 16-bit floats one.
double tolerance(DType dtype) {
  constexpr double kRoundings = 256;
  switch (dtype) {
    case DType::float64:
      return kRoundings * std::numeric_limits<double>::epsilon();
    case DType::float32:
      return kRoundings * static_cast<double>(std::numeric_limits<float>::epsilon());
    case DType::float16:
      return 0x1p-9;
    default:
      return 0x1p-6;
  }
}

/// The first element of floats that differs by more than other schedules explain; -1 if none does.
std::int64_t first_apart(const Tensor& got, const Tensor& want) {
  const std::vector<double> x = got.to(DType::float64).to_vector<double>();
  const std::vector<double> y = want.to(DType::float64).to_vector<double>();
  double largest = 0;
  for (const double number : y)
    if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
  const double most = tolerance(got.dtype()) * largest;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const bool same = x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k])) || std::abs(x[k] - y[k]) <= most;
    if (!same) return static_cast<std::int64_t>(k);
  }
  return -1;
}

}  // namespace

Expected::Expected(const detail::Captured& captured, const CapturedArguments& arguments, const CapturedInputs& inputs,
                   const CallKey& key, const detail::TracerBase& tracer)
    : captured_(captured), tracer_(tracer), own_(apart(arguments, inputs)) {
  const std::unique_ptr<CapturedEntry> fresh = trace(
      arguments, inputs, key, name_facts(arguments, inputs, tracer.names(captured.options)), {}, tracer, captured.site);
  CapturedArguments on_own = arguments;
  on_own.tensors.clear();
  for (const Tensor& x : own_) on_own.tensors.push_back(&x);
  CallKey own_facts;
  CapturedInputs own_inputs;
  gather(on_own, own_inputs, own_facts);
  fresh->run(own_inputs, own_facts, on_own, results_);
}

void Expected::refuse(const std::string& difference) const {
  throw ArgumentError(
      "function", fmt::format("{} does not give what its callable gives: {}. What the callable reads besides its "
                              "arguments, such as a global variable, has changed since it was traced; pass it as an "
                              "argument, or bind it with oriel::bind",
                              called(captured_), difference));
}

void Expected::compare_tensors(const std::string& what, const Tensor& got, const Tensor& want) const {
  if (got.dtype() != want.dtype())
    refuse(fmt::format("{} is {}, and should be {}", what, name(got.dtype()), name(want.dtype())));
  if (got.shape() != want.shape())
    refuse(
        fmt::format("{} has the shape {}, and should have {}", what, to_string(got.shape()), to_string(want.shape())));
  const Device host = backend::host_device(got.device().context);
  const auto elements = [&](const Tensor& x) { return Access::elements(x.contiguous().to(host), "function"); };
  const auto a = elements(got), b = elements(want);
  const std::size_t item = itemsize(got.dtype());
  const auto* x = static_cast<const char*>(a.get());
  const auto* y = static_cast<const char*>(b.get());
  const std::int64_t count = got.numel().value();
  if (count == 0 || std::memcmp(x, y, static_cast<std::size_t>(count) * item) == 0) return;
  std::int64_t k = 0;
  if (is_floating(got.dtype()))
    k = first_apart(got, want);
  else
    while (std::memcmp(x + static_cast<std::size_t>(k) * item, y + static_cast<std::size_t>(k) * item, item) == 0) ++k;
  if (k < 0) return;
  refuse(fmt::format("element {} of {} is {}, and should be {}", index_text(got.shape(), k), what, element_text(got, k),
                     element_text(want, k)));
}

void Expected::compare(const CapturedArguments& arguments, const CapturedResults& results) const {
  if (results.tensors.size() != results_.tensors.size())
    refuse(fmt::format("it has {} tensors as results, and should have {}", results.tensors.size(),
                       results_.tensors.size()));
  const bool one = results.tensors.size() == 1;
  for (std::size_t k = 0; k < results.tensors.size(); ++k)
    compare_tensors(one ? "the result" : fmt::format("result {}", k), results.tensors[k], results_.tensors[k]);
  const auto compare_numbers = [&](std::string_view what, const auto& got, const auto& want) {
    if (got.size() != want.size())
      refuse(fmt::format("it has {} {}s as results, and should have {}", got.size(), what, want.size()));
    for (std::size_t k = 0; k < got.size(); ++k)
      if (got[k] != want[k])
        refuse(fmt::format("{} {} of the result is {}, and should be {}", what, k, to_string(SymInt(got[k])),
                           to_string(SymInt(want[k]))));
  };
  compare_numbers("size", results.sizes, results_.sizes);
  if (results.like && results_.like)
    compare_numbers("number", tracer_.form(results.like.get()).values, tracer_.form(results_.like.get()).values);
  const detail::CapturedNames names = tracer_.names(captured_.options);
  for (std::size_t k = 0; k < own_.size(); ++k)
    compare_tensors("the argument " + names.tensors[k] + " after the call", *arguments.tensors[k], own_[k]);
}

}  // namespace oriel::api
