// Random definitions in index notation, compared with enumeration: ranges, kinds of errors, preconditions, views and
// values. A failing definition is shrunk and printed.
#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "affine_program.hpp"
#include "support/fixed_seed.hpp"
#include "support/sized.hpp"

using namespace oriel;
using testing::ProgramCase;
using testing::StatementCase;
using testing::Values;

namespace {

[[maybe_unused]] const bool fixed = test::fix_seed();

constexpr std::size_t kNumbers = 200;  // more than a program takes

std::vector<Tensor> arguments(const ProgramCase& program) {
  std::vector<Tensor> out;
  for (const testing::TensorCase& tensor : program.tensors) {
    if (tensor.kind == testing::TensorCase::Kind::Assigned) continue;
    const DType dtype = tensor.kind == testing::TensorCase::Kind::Table ? DType::int32 : DType::float32;
    const Shape shape(tensor.extents.begin(), tensor.extents.end());
    out.push_back(Tensor::from(tensor.data, shape).to(dtype));
  }
  return out;
}

std::size_t variable(const std::string& name) {
  return static_cast<std::size_t>(
      std::find(std::begin(testing::kVariableNames), std::end(testing::kVariableNames), name) -
      std::begin(testing::kVariableNames));
}

// The affine accesses and what they read, in the order of the text.
struct Read {
  std::size_t statement;
  std::size_t tensor;
  std::vector<testing::Index> indices;
};

std::vector<Read> affine_reads(const ProgramCase& program) {
  std::vector<Read> out;
  std::size_t table = 0;
  while (program.tensors[table].kind != testing::TensorCase::Kind::Table) ++table;
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    for (const testing::Index& index : program.statements[s].positions) {
      testing::Index place;
      place.affine = index.affine;
      if (index.table >= 0) out.push_back({s, table, {place}});
    }
    for (const testing::TensorAccess& access : program.statements[s].accesses) {
      Read read{s, access.tensor, {}};
      bool linear = true;
      for (const testing::Index& index : access.indices) {
        linear = linear && index.linear();
        read.indices.push_back(index);
      }
      if (linear) out.push_back(read);
      for (const testing::Index& index : access.indices) {
        testing::Index place;
        place.affine = index.affine;
        if (index.table >= 0) out.push_back({s, table, {place}});
      }
    }
  }
  return out;
}

// Checks that at each point of the loops the view reads the element that the indices name.
void check_view(const ComprehensionRanges::AccessView& view, const Read& read, const testing::Expected& expected,
                const ComprehensionRanges::Statement& statement, const std::vector<testing::TensorCase>& tensors) {
  RC_ASSERT(view.statement == read.statement);
  RC_ASSERT(view.operand == tensors[read.tensor].name);
  std::vector<std::size_t> loops;
  for (const auto& loop : statement.variables) loops.push_back(variable(loop.name));
  const testing::Ranges& ranges = expected.ranges[read.statement];
  const testing::Ranges& box = expected.boxes[read.tensor];
  Values v(ranges.size(), 0);
  testing::each_point(ranges, loops, v, [&] {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < box.size(); ++d) {
      place = place * (box[d].second - box[d].first) + read.indices[d].at(v) - box[d].first;
    }
    std::int64_t at = view.view.offset.value();
    for (std::size_t d = 0; d < loops.size(); ++d) {
      at += (v[loops[d]] - ranges[loops[d]].first) * view.view.strides[d].value();
    }
    RC_ASSERT(at == place);
  });
}

void check_report(const ComprehensionRanges& got, const ProgramCase& program, const testing::Expected& expected) {
  std::set<std::tuple<std::string, std::size_t, std::string>> preconditions;
  for (const auto& one : got.preconditions) preconditions.emplace(one.tensor, one.dimension, one.status);
  RC_ASSERT(preconditions == expected.preconditions);
  for (std::size_t s = 0; s < got.statements.size(); ++s) {
    for (const auto& loop : got.statements[s].variables) {
      RC_ASSERT(testing::Range(loop.lo, loop.hi) == expected.ranges[s][variable(loop.name)]);
    }
  }
  const std::vector<Read> reads = affine_reads(program);
  RC_ASSERT(got.views.size() == reads.size());
  for (std::size_t k = 0; k < reads.size(); ++k) {
    check_view(got.views[k], reads[k], expected, got.statements[reads[k].statement], program.tensors);
  }
}

void check_values(const ComprehensionResults& results, const ProgramCase& program, const testing::Expected& expected) {
  std::size_t k = 0;
  for (std::size_t t = 0; t < program.tensors.size(); ++t) {
    if (program.tensors[t].kind != testing::TensorCase::Kind::Assigned) continue;
    const std::vector<float> got = results[k++].to_vector<float>();
    const std::vector<double>& want = expected.values[t];
    RC_ASSERT(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const bool same = got[i] == static_cast<float>(want[i]) || std::abs(got[i] - want[i]) <= 1e-5 * std::abs(want[i]);
      if (!same) RC_LOG() << program.tensors[t].name << " at " << i << ": " << got[i] << ", not " << want[i] << '\n';
      RC_ASSERT(same);
    }
  }
}

void check_program(const std::vector<std::uint8_t>& numbers) {
  const ProgramCase program = testing::decode(numbers);
  RC_LOG() << program.text() << '\n';
  for (const Shape& shape : program.shapes()) RC_LOG() << to_string(shape) << '\n';
  const testing::Expected expected = testing::enumerate(program);
  RC_CLASSIFY(expected.large, "too large to try");
  if (expected.large) return;
  std::string error;
  std::optional<Comprehension> f;
  std::optional<ComprehensionRanges> got;
  try {
    f = comprehension(program.text());
    got = f->ranges(program.shapes());
  } catch (const ComprehensionError& e) {
    error = e.kind();
    RC_LOG() << e.diagnostic() << '\n';
  }
  RC_CLASSIFY(!error.empty(), error);
  RC_CLASSIFY(error.empty(), "accepted");
  if (!expected.errors.empty()) {
    RC_ASSERT(expected.errors.contains(error));
    return;
  }
  RC_ASSERT(error.empty());
  check_report(*got, program, expected);
  RC_CLASSIFY(program.statements.size() > 1, "several statements");
  RC_CLASSIFY(!expected.preconditions.empty(), "guards or gathers");
  const std::vector<Tensor> tensors = arguments(program);
  const std::vector<Operand> operands(tensors.begin(), tensors.end());
  check_values(f->call(operands, {.bounds = Bounds::zero}), program, expected);
  bool refused = false;
  try {
    check_values(f->call(operands), program, expected);
  } catch (const IndexError&) {
    refused = true;
  }
  RC_CLASSIFY(refused, "a gather that leaves its tensor");
  // What a later statement replaces is not computed.
  std::set<std::size_t> assigned;
  const bool needed = std::ranges::all_of(program.statements, [&](const testing::StatementCase& s) {
    return s.assign == testing::Assign::Update || assigned.insert(s.target).second;
  });
  RC_ASSERT(refused == expected.leaves || (!needed && !refused));
}

}  // namespace

TEST_CASE("ranges, errors, preconditions, views and values are those of enumeration") {
  try {
    set_default_device(default_device());
  } catch (const DeviceError& error) {
    MESSAGE("skipped: " << error.what());
    return;
  }
  CHECK(rc::check([] {
    check_program(*rc::gen::container<std::vector<std::uint8_t>>(kNumbers, test::any_of<std::uint8_t>(0, 255)));
  }));
}
