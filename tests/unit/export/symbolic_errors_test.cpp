// What an export of a captured function refuses.
#include <doctest/doctest.h>

#include <string>

#include "../../support/temporary_folder.hpp"
#include "oriel/oriel.hpp"

namespace symbolic_errors_test {

using namespace oriel;

namespace {

template <class F>
std::string refusal(const F& f, const FunctionExportOptions& options = {}) {
  const test::TemporaryFolder folder;
  try {
    f.export_cpp(folder.path(), options);
  } catch (const ArgumentError& error) {
    return std::string(error.message());
  }
  return {};
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an export of a captured function needs an entry with symbolic sizes") {
  const auto fixed = function([](Tensor x) { return x + 1; }, {.dynamic = Dynamic::no});
  CHECK(says(refusal(fixed),
             "has symbolic sizes; call the function with other sizes first, mark sizes with mark_dynamic"));
  fixed(ones({3}));
  CHECK(says(refusal(fixed, {.entry = 0}), "entry 0 of the captured function of symbolic_errors_test.cpp:"));
  CHECK(says(refusal(fixed, {.entry = 7}), "has 1 entry; there is no entry 7"));

  const auto open = function([](Tensor x) { return x + 1; }, {.dynamic = Dynamic::yes});
  open(ones({3}));
  open(ones({3, 4}));
  CHECK(says(refusal(open), "2 entries of"));
  CHECK(open.entry_of(ones({9, 8})) == 1);
  CHECK(!open.entry_of(ones({9, 8, 7})));
  CHECK(refusal(open, {.entry = open.entry_of(ones({9, 8}))}).empty());
}

TEST_CASE("an export of a captured function checks names and tiles") {
  const auto f = function([](Tensor x) { return x + 1; }, {.dynamic = Dynamic::yes});
  f(ones({3, 4}));
  CHECK(says(refusal(f, {.name = "class"}), "cannot be the name of the export"));
  CHECK(says(refusal(f, {.sizes = {"n"}}), "1 names for 2 sizes; give one for each, or none"));
  CHECK(says(refusal(f, {.sizes = {"n", "n"}}), "two sizes are named n"));
  CHECK(says(refusal(f, {.sizes = {"n", "1"}}), "cannot be the name of a size"));
  CHECK(says(refusal(f, {.outputs = {"a", "b"}}), "2 names for 1 results and written arguments"));
  CHECK(says(refusal(f, {.longest_tile = 17}), "tiles of 17 elements"));
  CHECK(says(refusal(f, {.serve = {{3}}}), "a set of 1 sizes to serve; the entry has 2 sizes"));
  CHECK(says(refusal(f, {.serve = {{3, 1}}}), "it needs arg0.size(1) >= 2; they have 1"));
  CHECK(refusal(f, {.serve = {{3, 2}}, .sizes = {"rows", "columns"}}).empty());
}

TEST_CASE("an export of a captured function refuses what needs the engine") {
  const auto counted = function([](Tensor x) { return sum(masked_select(x, x > 0)); }, {.dynamic = Dynamic::yes});
  counted(ones({3, 4}));
  CHECK(says(refusal(counted), "finds sizes in its data (nonzero, masked_select, unique)"));

  const auto view = function([](Tensor x) { return x; }, {.dynamic = Dynamic::yes});
  const Tensor all = ones({9, 4}).realize();
  view(slice(all, {{2, 5}}));
  CHECK(says(refusal(view), "result 0 is an argument that is a view"));

  // Components that wrap around: no strides of (s0, 3) read them.
  const auto stacked = function(
      [](Tensor x) {
        return cross(x.slice({{}, {0, 3}}), x.slice({{}, {1, 4}}));
      },
      {.dynamic = Dynamic::yes});
  stacked(ones({7, 9}));
  const std::string several = refusal(stacked);
  CAPTURE(several);
  CHECK(says(
      several,
      "entry 0 cannot be planned for symbolic sizes: the kernel that computes sub (s0, 3) (symbolic_errors_test.cpp:"));
  CHECK(says(several, "an operand with symbolic sizes is read through several stacked views"));
  CHECK(says(several, "export the computation at one size (export_cpp of tensors)"));

  const test::TemporaryFolder folder;
  const auto f = function([](Tensor x) { return x + 1; }, {.dynamic = Dynamic::yes});
  f(ones({3, 4}));
  f.save(folder / "f.oriel");
  const auto same = function([](Tensor x) { return x + 1; });
  same.load<Tensor>(folder / "f.oriel");
  CHECK(says(refusal(same), "entry 0 comes from a file"));
}

}  // namespace symbolic_errors_test
