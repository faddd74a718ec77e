// Derivatives beside those that PyTorch computes for its own sample inputs (tests/data/torch_derivatives.py).
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "oriel/oriel.hpp"

namespace oriel::testing::recorded_test {
namespace {

using nlohmann::json;
using Inputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Inputs&)>;

/// The function of the inputs, with its other arguments.
using Maker = std::function<Function(const json&)>;

std::int64_t whole(const json& args, const char* name, std::int64_t otherwise) {
  return args.contains(name) && args[name].is_number() ? args[name].get<std::int64_t>() : otherwise;
}
Axes axes(const json& args) {
  if (!args.contains("dim") || args["dim"].is_null()) return {};
  if (args["dim"].is_number()) return Axes(args["dim"].get<std::int64_t>());
  if (args["dim"].empty()) return {};
  return Axes(Ints(args["dim"].get<std::vector<std::int64_t>>()));
}
Ints numbers(const json& args, const char* name) {
  if (args[name].is_number()) return {args[name].get<std::int64_t>()};
  return Ints(args[name].get<std::vector<std::int64_t>>());
}

std::map<std::string, Maker> makers() {
  std::map<std::string, Maker> f;
  const auto unary = [&](const char* name, Tensor (*g)(const Operand&)) {
    f[name] = [g](const json&) { return [g](const Inputs& x) { return g(x[0]); }; };
  };
  const auto binary = [&](const char* name, Tensor (*g)(const Operand&, const Operand&)) {
    f[name] = [g](const json&) { return [g](const Inputs& x) { return g(x[0], x[1]); }; };
  };
  const auto plain = [&](const char* name, Function g) { f[name] = [g](const json&) { return g; }; };
  const auto reduction = [&](const char* name, Tensor (*g)(const Operand&, const Axes&, KeepDim)) {
    f[name] = [g](const json& args) {
      const Axes over = axes(args);
      const bool keep = args.contains("keepdim") && args["keepdim"].is_boolean() && args["keepdim"].get<bool>();
      return [g, over, keep](const Inputs& x) { return g(x[0], over, keep); };
    };
  };
  const auto along = [&](const char* name, std::function<Tensor(const Tensor&, std::int64_t)> g) {
    f[name] = [g](const json& args) {
      const std::int64_t axis = whole(args, "dim", -1);
      return [g, axis](const Inputs& x) { return g(x[0], axis); };
    };
  };
  unary("acos", acos), unary("acosh", acosh), unary("cos", cos), unary("cosh", cosh), unary("digamma", digamma);
  unary("erfc", erfc), unary("exp", exp), unary("exp2", exp2), unary("i0", i0), unary("lgamma", lgamma);
  unary("log", log), unary("log10", log10), unary("log2", log2), unary("reciprocal", reciprocal);
  unary("rsqrt", rsqrt), unary("sigmoid", sigmoid), unary("sinc", sinc), unary("square", square);
  unary("nn.functional.hardswish", hardswish), unary("nn.functional.logsigmoid", logsigmoid);
  unary("nn.functional.mish", mish), unary("nn.functional.relu6", relu6), unary("nn.functional.selu", selu);
  unary("nn.functional.silu", silu), unary("nn.functional.softsign", softsign);
  unary("nn.functional.tanhshrink", tanhshrink);
  plain("logit", [](const Inputs& x) { return logit(x[0]); });
  plain("trace", [](const Inputs& x) { return trace(x[0]); });
  binary("add", operator+), binary("sub", operator-), binary("mul", operator*), binary("atan2", atan2);
  binary("copysign", copysign), binary("fmax", fmax), binary("fmin", fmin), binary("fmod", fmod);
  binary("hypot", hypot), binary("logaddexp", logaddexp), binary("maximum", maximum), binary("minimum", minimum);
  binary("pow", pow), binary("remainder", remainder), binary("xlogy", xlogy);
  plain("dot", [](const Inputs& x) { return dot(x[0], x[1]); });
  plain("inner", [](const Inputs& x) { return inner(x[0], x[1]); });
  plain("outer", [](const Inputs& x) { return outer(x[0], x[1]); });
  plain("mv", [](const Inputs& x) { return mv(x[0], x[1]); });
  plain("matmul", [](const Inputs& x) { return matmul(x[0], x[1]); });
  plain("where", [](const Inputs& x) { return where(x[1], x[0], x[2]); });
  plain("linalg.det", [](const Inputs& x) { return det(x[0]); });
  plain("linalg.inv", [](const Inputs& x) { return inverse(x[0]); });
  plain("linalg.solve", [](const Inputs& x) {
    // A vector for each matrix, where the shapes say so, as linalg.solve of PyTorch has it.
    const bool vectors = x[1].rank() == 1 || (x[1].rank() + 1 == x[0].rank());
    return vectors ? solve(x[0], x[1].unsqueeze(-1)).squeeze(-1) : solve(x[0], x[1]);
  });
  plain("linalg.svdvals", [](const Inputs& x) { return svdvals(x[0]); });
  reduction("sum", [](const Operand& x, const Axes& a, KeepDim k) { return sum(x, a, k); });
  reduction("mean", [](const Operand& x, const Axes& a, KeepDim k) { return mean(x, a, k); });
  reduction("prod", [](const Operand& x, const Axes& a, KeepDim k) { return prod(x, a, k); });
  reduction("amax", [](const Operand& x, const Axes& a, KeepDim k) { return max(x, a, k); });
  reduction("amin", [](const Operand& x, const Axes& a, KeepDim k) { return min(x, a, k); });
  reduction("logsumexp", [](const Operand& x, const Axes& a, KeepDim k) { return logsumexp(x, a, k); });
  along("softmax", [](const Tensor& x, std::int64_t a) { return softmax(x, a); });
  along("log_softmax", [](const Tensor& x, std::int64_t a) { return log_softmax(x, a); });
  along("cumsum", [](const Tensor& x, std::int64_t a) { return cumsum(x, a); });
  along("cumprod", [](const Tensor& x, std::int64_t a) { return cumprod(x, a); });
  f["tril"] = [](const json& a) { return [k = whole(a, "diagonal", 0)](const Inputs& x) { return tril(x[0], k); }; };
  f["triu"] = [](const json& a) { return [k = whole(a, "diagonal", 0)](const Inputs& x) { return triu(x[0], k); }; };
  f["diagonal"] = [](const json& a) {
    return [=](const Inputs& x) {
      return diagonal(x[0], whole(a, "offset", 0), whole(a, "dim1", 0), whole(a, "dim2", 1));
    };
  };
  f["transpose"] = [](const json& a) {
    return [=](const Inputs& x) {
      return x[0].rank() == 0 ? x[0] * 1 : x[0].transpose(whole(a, "dim0", 0), whole(a, "dim1", 1));
    };
  };
  f["unfold"] = [](const json& a) {
    return [=](const Inputs& x) {
      if (x[0].rank() == 0) return x[0].reshape({1}) * 1;
      return unfold(x[0], whole(a, "dimension", 0), whole(a, "size", 1), whole(a, "step", 1));
    };
  };
  f["roll"] = [](const json& a) {
    return [=](const Inputs& x) {
      if (a["dims"].is_null()) return roll(x[0].reshape(-1), numbers(a, "shifts")[0].value(), 0).reshape(x[0].shape());
      Tensor y = x[0];
      const Ints shifts = numbers(a, "shifts"), dims = numbers(a, "dims");
      for (std::size_t k = 0; k < dims.size(); ++k) y = roll(y, shifts[k].value(), dims[k].value());
      return y;
    };
  };
  f["nn.functional.conv2d"] = [](const json& a) {
    return [=](const Inputs& x) {
      ConvOptions options{
          .stride = numbers(a, "stride"), .dilation = numbers(a, "dilation"), .groups = whole(a, "groups", 1)};
      if (a["padding"].is_string())
        options.same = a["padding"] == "same";
      else
        options.padding = numbers(a, "padding");
      return x.size() > 2 ? conv2d(x[0], x[1], x[2], options) : conv2d(x[0], x[1], options);
    };
  };
  return f;
}

Tensor tensor_of(const json& t) {
  std::vector<double> elements;
  for (const json& x : t[1]) elements.push_back(x.is_number() ? x.get<double>() : 0);
  return Tensor::from(elements, Shape(t[0].get<std::vector<std::int64_t>>()))
      .to(t.size() > 2 ? dtype_from_name(t[2].get<std::string>()) : DType::float64)
      .realize();
}

Tensor factors(const Tensor& like) {
  return ((remainder(iota(like.shape()) * 7 + 3, 11).to(DType::float64)) / 4 - 1.25).realize();
}

std::string differs(const Tensor& got, const json& want) {
  if (got.shape() != Shape(want[0].get<std::vector<std::int64_t>>())) return "shape of " + got.str();
  const std::vector<double> have = got.to(DType::float64).to_vector<double>();
  for (std::size_t i = 0; i < have.size(); ++i) {
    const double wanted = want[1][i].get<double>();
    if (std::abs(have[i] - wanted) > 1e-9 * std::max(1.0, std::abs(wanted)))
      return "element " + std::to_string(i) + ": " + std::to_string(have[i]) + ", not " + std::to_string(wanted);
  }
  return {};
}

}  // namespace

TEST_CASE("vjp, jvp and Hessian-vector products are PyTorch's") {
  std::ifstream in(std::string(ORIEL_TEST_DATA) + "/torch_derivatives.json");
  REQUIRE(in);
  const std::map<std::string, Maker> functions = makers();
  std::size_t wrong = 0;
  const json cases = json::parse(in)["cases"];
  for (const json& one : cases) {
    const auto made = functions.find(one[0].get<std::string>());
    REQUIRE_MESSAGE(made != functions.end(), one[0]);
    Inputs inputs;
    for (const json& t : one[1]) inputs.push_back(tensor_of(t));
    const Function f = made->second(one[2]);
    std::vector<std::size_t> floats;
    std::vector<Tensor> by, tangents;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (!is_floating(inputs[k].dtype())) continue;
      floats.push_back(k);
      by.push_back(inputs[k]);
      tangents.push_back(factors(inputs[k]));
    }
    const auto of = [&](const std::vector<Tensor>& x) {
      Inputs all = inputs;
      for (std::size_t k = 0; k < floats.size(); ++k) all[floats[k]] = x[k];
      return f(all);
    };
    std::string fault;
    try {
      const auto at = vjp(of, by);
      const Tensor g = factors(at.value);
      fault = differs(at.value, one[3]);
      const std::vector<Tensor> pulled = at.pull(g);
      const auto product = [&](const std::vector<Tensor>& x) {
        const auto there = vjp(of, x);
        const std::vector<Tensor> shares = there.pull(g);
        Tensor total = zeros({}, DType::float64);
        for (std::size_t k = 0; k < shares.size(); ++k) total = total + sum(shares[k] * tangents[k]);
        return total;
      };
      const std::vector<Tensor> second = grad(product)(by);
      for (std::size_t k = 0; fault.empty() && k < by.size(); ++k) {
        if (!(fault = differs(pulled[k], one[4][k])).empty()) fault = "vjp " + fault;
        if (fault.empty() && !(fault = differs(second[k], one[6][k])).empty()) fault = "hvp " + fault;
      }
      if (fault.empty() && !(fault = differs(at.push(tangents), one[5])).empty()) fault = "jvp " + fault;
    } catch (const Error& error) {
      fault = error.what();
    }
    wrong += fault.empty() ? 0 : 1;
    CHECK_MESSAGE(fault.empty(), one[0], one[2].dump(), " ", one[1].dump().substr(0, 200), ": ", fault);
  }
  CHECK(wrong == 0);
}

}  // namespace oriel::testing::recorded_test
