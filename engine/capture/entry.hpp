// One trace of a captured function: guards, launches, and how inputs and results bind to them.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/call_key.hpp"
#include "capture/plan_table.hpp"
#include "capture/stage.hpp"
#include "capture/symbols.hpp"
#include "graph/make.hpp"
#include "oriel/captured.hpp"
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
    bool is_view = false;                   // also for a view that changes nothing
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

/// Tensors that stand for the arguments of a traced call, without elements: a trace of them is that of the call.
class OriginCall {
 public:
  /// `signature`: that of the call's arguments. `origin` must outlive it.
  OriginCall(const CapturedOrigin& origin, const void* signature);
  OriginCall(const OriginCall&) = delete;
  OriginCall& operator=(const OriginCall&) = delete;

  detail::CapturedArguments arguments;
  CapturedInputs inputs;
  CallKey key;

 private:
  std::vector<detail::CellPtr> storages_;
  std::vector<Tensor> tensors_;
};
/// The movements one after the other.
detail::Path moved_by(std::vector<graph::NodePtr> movements);

std::unique_ptr<CapturedOrigin> record_origin(const detail::CapturedArguments& arguments, const CapturedInputs& inputs,
                                              const detail::CapturedNames& names,
                                              const std::vector<SizeChoice>& choices, detail::CapturedForm form);

/// The guard key[fact] == value.
struct CapturedGuard {
  std::int32_t fact = 0;
  std::int64_t value = 0;
};

/// What a result names: a storage or an argument, seen through the movements of the plan.
struct CapturedResult {
  enum class Kind : std::uint8_t { argument, input, fresh } kind = Kind::fresh;
  std::size_t index = 0;  // of the call's tensor, of its storage, or of a new storage
};

/// Immutable once it is complete. Thread safety: any thread.
struct CapturedEntry {
  explicit CapturedEntry(SizeSymbols its_symbols) : symbols(std::move(its_symbols)) {}

  SizeSymbols symbols;  // owns the environment, so it is destroyed last
  std::vector<CapturedGuard> guards;
  std::size_t facts = 0;  // of the key of a call that can pass
  CallKey traced;         // the key of the traced call

  std::optional<SizeGuards> size_guards;
  TracedGraph graph;
  /// In the order in which they run. Between a stage and the next one the positions of `graph.unbacked` are found.
  std::deque<CapturedStage> stages;
  std::vector<graph::NodePtr> constants;
  Device number_device;               // where the tensors of numbers live
  mutable backend::KeptFactors kept;  // weights in the layout of the kernels

  struct Write {
    std::size_t storage = 0;  // a storage of the call
    CapturedValue value;
  };
  std::vector<Write> writes;
  std::vector<CapturedValue> fresh;  // the contents of each new storage
  std::vector<CapturedResult> results;
  ResultSizes result_sizes;
  detail::Shared<const void> like;

  // For files.
  std::unique_ptr<const CapturedOrigin> origin;

  // For reports.
  std::vector<FactName> names;  // of the facts
  std::vector<Shape> shapes;    // of the tensors of the call, with symbols; empty if there are none
  std::vector<std::string> inputs;
  std::vector<FunctionMiss> misses;

  /// Takes the guards on symbols, and the graph, which it divides into stages. The names of facts are known.
  void take(TracedGraph traced_graph);
  /// Does it serve several sets of sizes?
  bool symbolic() const noexcept { return symbols.any() || !graph.unbacked.empty(); }
  /// Checks the guards in order.
  bool holds(const CallKey& call) const {
    if (call.size() != facts) return false;
    const std::int64_t* const values = call.data();
    for (const CapturedGuard& g : guards)
      if (values[g.fact] != g.value) return false;
    return size_guards->hold(values);
  }
  /// Why a call does not pass: the first guard that fails.
  FunctionMiss first_miss(const CallKey& call, std::size_t number) const;
  /// Runs the kernels, writes what the function writes, and makes the results. Throws as realize does; then nothing has
  /// changed.
  void run(const CapturedInputs& call, const CallKey& call_key, const detail::CapturedArguments& arguments,
           detail::CapturedResults& out) const;
  /// Has the context ended that it was traced for? Then it serves no call.
  bool ended() const noexcept;
  std::uint64_t runs() const noexcept { return stages.front().plans().runs(); }
  /// For reports: of each stage any plan, the kernels for one set of sizes.
  std::vector<const CapturedPlan*> some_plans() const;
  /// All guards as text, in the order in which they are checked.
  std::vector<std::string> guard_texts() const;

 private:
  class Call;
  void finish(Call& call, const CapturedPlan& last, detail::CapturedResults& out) const;
};

/// Runs the callable on placeholders and schedules its results. `inputs`, `key` and `names` are those of the call;
/// `choices` are the sizes that become symbols.
std::unique_ptr<CapturedEntry> trace(const detail::CapturedArguments& arguments, const CapturedInputs& inputs,
                                     const CallKey& key, std::vector<FactName> names,
                                     const std::vector<SizeChoice>& choices, const detail::TracerBase& tracer,
                                     Site site, std::optional<std::size_t> guards_per_size = {});

}  // namespace oriel::api
