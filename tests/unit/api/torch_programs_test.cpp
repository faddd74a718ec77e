// Strides in random programs of movements and operations, compared with PyTorch's.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "oriel/oriel.hpp"

namespace oriel::torch_programs_test {
namespace {

using nlohmann::json;

Ints ints(const json& list) {
  Ints out;
  for (const auto& n : list) out.push_back(n.get<std::int64_t>());
  return out;
}

Tensor run(const json& step, const std::vector<Tensor>& values) {
  const auto op = step["op"].get<std::string>();
  const Ints args = ints(step["args"]);
  const auto arg = [&](std::size_t k) { return args[k].value(); };
  const auto operand = [&](std::size_t k) { return values[step["of"][k].get<std::size_t>()]; };
  if (op == "data") return iota(args).to(DType::float32);
  if (op == "zeros") return zeros(args);
  if (op == "ones") return ones(args);
  if (op == "permute") return operand(0).permute(args);
  if (op == "transpose") return operand(0).transpose(arg(0), arg(1));
  if (op == "expand") return operand(0).expand(args);
  if (op == "unsqueeze") return operand(0).unsqueeze(arg(0));
  if (op == "squeeze") return args.empty() ? operand(0).squeeze() : operand(0).squeeze(args);
  if (op == "slice") {
    std::vector<Slice> slices(static_cast<std::size_t>(arg(0)) + 1);
    slices.back() = {arg(1), arg(2), arg(3)};
    return slice(operand(0), slices);
  }
  if (op == "select") return operand(0).select(arg(0), arg(1));
  if (op == "diagonal") return diagonal(operand(0), arg(0), arg(1), arg(2));
  if (op == "unfold") return unfold(operand(0), arg(0), arg(1), arg(2));
  if (op == "reshape") return operand(0).reshape(args);
  if (op == "view") return operand(0).view(args);
  if (op == "channels_last") return operand(0).to(MemoryFormat::channels_last);
  if (op == "contiguous") return operand(0).contiguous();
  if (op == "neg") return -operand(0);
  if (op == "add_number") return operand(0) + 1;
  if (op == "add") return operand(0) + operand(1);
  if (op == "where") return where(operand(0) > 1, operand(1), operand(2));
  if (op == "sum") return sum(operand(0), Ints(args.begin() + 1, args.end()), arg(0) != 0);
  if (op == "sort") return sort(operand(0), arg(0));
  if (op == "zeros_like") return zeros_like(operand(0));
  FAIL("unknown op ", op);
  return {};
}

}  // namespace

TEST_CASE("random programs have PyTorch's strides at every step, pending and realised") {
  // To test more: run tests/data/torch_programs.py FILE 4000 SEED and name FILE here.
  const char* other = std::getenv("ORIEL_TORCH_PROGRAMS");
  std::ifstream file(other != nullptr ? std::string(other) : std::string(ORIEL_TEST_DATA) + "/torch_programs.json");
  REQUIRE(file);
  const json programs = json::parse(file)["programs"];
  std::size_t steps = 0;
  int refused = 0;
  for (const json& program : programs) {
    std::vector<Tensor> values;
    std::string text;
    for (const json& step : program) {
      text += step.dump() + "\n";
      if (step.contains("refused")) {
        CHECK_THROWS_AS_MESSAGE(run(step, values), ShapeError, text);
        values.push_back(values[step["of"][0].get<std::size_t>()]);
        ++refused;
        continue;
      }
      values.push_back(run(step, values));
      const bool same =
          values.back().shape() == ints(step["shape"]) && values.back().strides() == ints(step["strides"]);
      CHECK_MESSAGE(same, text << values.back().layout().str());
      if (!same) break;
      ++steps;
    }
    const Layout before = values.back().layout();
    values.back().realize();
    CHECK_MESSAGE(values.back().layout() == before, text);
  }
  CHECK(steps > 1000);
  CHECK(refused > 5);
}

}  // namespace oriel::torch_programs_test
