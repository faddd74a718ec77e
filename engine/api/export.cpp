#include "oriel/export.hpp"

#include <filesystem>

#include "formula/call.hpp"
#include "runtime/dump.hpp"
#include "runtime/export.hpp"

namespace oriel {

ExportedFiles export_cpp(ListOf<Tensor> tensors, const std::string& directory, const ExportOptions& options) {
  const std::vector<graph::NodePtr> roots = detail::Access::nodes(tensors);
  runtime::ExportRequest request{options.name,
                                 {},
                                 options.outputs,
                                 options.embed_bytes,
                                 options.number_arguments,
                                 options.longest_tile,
                                 options.tiles_in_scratch};
  for (const auto& [name, tensor] : options.inputs) request.inputs.emplace_back(name, detail::Access::node(tensor));
  source::cpp::ExportUnit unit = runtime::export_unit(roots, request);
  source::cpp::ExportUnit* const plans[] = {&unit};
  const source::cpp::ExportUnit* const declared[] = {&unit};

  const std::vector<runtime::DumpFile> files{{options.name + ".hpp", source::cpp::export_header(declared)},
                                             {options.name + ".cpp", source::cpp::export_source(plans)}};
  runtime::write_files("export_cpp", directory, files);

  ExportedFiles result;
  result.header = (std::filesystem::path(directory) / files[0].name).string();
  result.source = (std::filesystem::path(directory) / files[1].name).string();
  for (const source::cpp::ExportLeaf& leaf : unit.leaves) {
    if (leaf.kind == source::cpp::ExportLeaf::Kind::embedded) {
      result.embedded_bytes += leaf.tensor.bytes;
    } else {
      result.inputs.push_back(leaf.tensor);
    }
  }
  result.outputs = unit.outputs;
  result.scratch_bytes = unit.scratch_bytes;
  result.tile_bytes = unit.tile_bytes;
  result.kernels = unit.kernels.size();
  result.needs_eigen = unit.needs_eigen;
  return result;
}

}  // namespace oriel
