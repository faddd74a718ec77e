// Definitions that were compiled before.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lang/infer.hpp"
#include "lang/program.hpp"

namespace oriel::lang {

/// What inference found for a definition, by the shapes it was asked for; the least recently used are dropped. An
/// inference holds numbers of variables, accesses and tensors alone, so all definitions of one canonical text share it.
class Inferences {
 public:
  /// As lang::infer. A fault is thrown anew each time, in the words of `program`, which has this canonical text.
  std::shared_ptr<const Inference> get(const Program& program, std::span<const std::optional<Shape>> shapes);
  /// Whether nobody has asked this of the inference yet; true again once it was dropped.
  bool first_call(const Inference& inference);

 private:
  struct Known {
    std::vector<Shape> shapes;
    std::shared_ptr<const Inference> inference;
    bool called = false;
  };
  std::list<Known> known_;
};

/// A definition with its own names and places in its text, and what it shares with those that differ from it in names
/// of indices and clauses, comments and blanks alone.
struct CompiledDefinition {
  ProgramPtr program;
  std::shared_ptr<Inferences> inferences;
};

using CompiledDefinitionPtr = std::shared_ptr<const CompiledDefinition>;

/// As lang::check, but a text that came before is not checked again. From any thread.
std::vector<CompiledDefinitionPtr> compile(std::string_view text, std::string_view name,
                                           std::span<const DType> types = {});
/// A definition with type variables, for these types.
CompiledDefinitionPtr compile(const CompiledDefinition& definition, std::span<const DType> types);

}  // namespace oriel::lang
