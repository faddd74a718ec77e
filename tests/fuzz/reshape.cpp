// Checks the properties of `oriel fuzz reshape` on cases that the bytes determine. Coverage steers towards merges that
// random cases rarely reach.
#include <memory>
#include <vector>

#include "fuzz/generate.hpp"
#include "fuzz/properties.hpp"
#include "fuzz/report.hpp"
#include "fuzz/shrink.hpp"
#include "fuzz/target.hpp"

using namespace oriel::fuzz;

namespace {

std::vector<Kind> kinds_in_turns() {
  std::vector<Kind> list;
  for (const KindInfo& kind : kinds()) {
    if (!kind.on_own) list.push_back(kind.kind);
  }
  return list;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Kind> all = kinds_in_turns();
  static const std::unique_ptr<Subject> subject = make_engine_subject();
  Choices choices(std::span(data, size));
  const Kind kind = all[choices.below(all.size())];
  const std::int64_t most_elements = choices.between(8, 100);
  const Case found = generate(kind, choices, most_elements);
  const std::optional<Failure> failure = subject->check_one(kind, found);
  if (!failure) return 0;
  const Counterexample smallest = shrink(*subject, kind, found, *failure);
  oriel::fuzzing::fail(describe(kind, smallest, "by coverage, as a " + std::string(info(kind).name) + " case"));
}
