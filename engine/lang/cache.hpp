// The cache of compiled definitions.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lang/infer.hpp"
#include "lang/syntax/program.hpp"
#include "oriel/shared.hpp"

namespace oriel::lang {

/// The results of inference for a definition, by the shapes of the arguments. The least recently used are dropped. An
/// inference refers to variables, accesses and tensors by number only, so all definitions with one canonical text share
/// it.
class Inferences {
 public:
  /// As lang::infer, but cached. An error is thrown anew each time, with the names of `program`, which has this
  /// canonical text.
  std::shared_ptr<const Inference> get(const Program& program, std::span<const std::optional<Shape>> shapes);
  /// True for the first call with this inference; true again after it was dropped from the cache.
  bool first_call(const Inference& inference);

 private:
  struct Known {
    std::vector<Shape> shapes;
    std::shared_ptr<const Inference> inference;
    bool called = false;
  };
  std::list<Known> known_;
};

/// A definition with its own names and positions in its text, and the inferences that it shares with definitions that
/// differ only in names of indices and clauses, comments and blanks.
struct CompiledDefinition {
  ProgramPtr program;
  std::shared_ptr<Inferences> inferences;
};

using CompiledDefinitionPtr = detail::Shared<const CompiledDefinition>;

/// As lang::check, but a text that was checked before is taken from the cache. Thread safety: any thread.
std::vector<CompiledDefinitionPtr> compile(std::string_view text, std::string_view name,
                                           std::span<const DType> types = {});
/// The definition with its type variables bound to these dtypes.
CompiledDefinitionPtr compile(const CompiledDefinition& definition, std::span<const DType> types);

}  // namespace oriel::lang
