// In place of exports in the profile small, which renders no sources.
#include "base/absent.hpp"
#include "oriel/export.hpp"
#include "oriel/function_export.hpp"

namespace oriel {

ExportedFiles export_cpp(ListOf<Tensor> /*tensors*/, const std::string& /*directory*/,
                         const ExportOptions& /*options*/) {
  base::throw_absent("export_cpp", "exports");
}

namespace detail {

ExportedFunction export_captured(const Captured& /*captured*/, const std::string& /*directory*/,
                                 const FunctionExportOptions& /*options*/) {
  base::throw_absent("export_cpp", "exports");
}
std::optional<std::size_t> entry_of(const Captured& /*captured*/, const CapturedArguments& /*arguments*/) {
  base::throw_absent("export_cpp", "exports");
}

}  // namespace detail

}  // namespace oriel
