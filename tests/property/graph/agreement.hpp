// Does the engine agree with the oracle on a random program?
#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "formula/call.hpp"
#include "graph/verify.hpp"
#include "oriel/oriel.hpp"
#include "program.hpp"
#include "reference/interpret.hpp"

namespace oriel::testing {

/// Realises two values of the program together and compares them with the oracle. With `held` the program keeps all
/// values. Otherwise it keeps only the results, so the engine may overwrite the memory of other values after their last
/// use.
inline void compare(const Program& program, bool held, CallersMemories& memories) {
  Built built = build(program);
  memories = built.memories;
  if (built.values.empty()) return;
  const auto [last, middle] = testing::results(built);
  const std::vector<Tensor> results{built.values[last], built.values[middle]};
  std::vector<std::vector<reference::Number>> wanted;
  for (const Tensor& tensor : results) {
    const graph::NodePtr node = detail::Access::node(tensor);
    graph::verify({&node, 1});
    wanted.push_back(reference::interpret(tensor));
  }
  if (!held) built = {};
  try {
    realize(results);
  } catch (const Error& error) {
    RC_FAIL(std::string("the engine refused: ") + error.what());
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    const std::string fault = reference::difference(results[k], wanted[k], reference::elements(results[k]));
    if (!fault.empty()) RC_FAIL((k == 0 ? "last value: " : "middle value: ") + fault);
  }
}

/// Throws for RapidCheck unless the engine agrees with the oracle, and the memory of the caller is as it was.
inline void agrees(const Program& program, bool held) {
  CallersMemories memories;
  compare(program, held, memories);  // destroys all tensors of the program
  const std::string fault = fault_of(memories);
  if (!fault.empty()) RC_FAIL(fault);
}

}  // namespace oriel::testing
