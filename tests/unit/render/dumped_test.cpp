// Whole programs through the public API: the files of a dump are compiled and run on the same buffers, and their
// results are compared with the tile machine's.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>

#include "backend/backend.hpp"
#include "formula/call.hpp"
#include "library.hpp"
#include "oriel/oriel.hpp"
#include "runtime/compiled.hpp"
#include "runtime/executor.hpp"
#include "runtime/key.hpp"
#include "runtime/plan.hpp"

namespace dumped_test {

using namespace oriel;
using namespace oriel::test;

namespace {

struct Case {
  std::string name;
  std::function<std::vector<Tensor>()> build;
  int in_place = 0;  // outputs that should reuse an input's memory
};

Tensor ramp(const Shape& shape) { return (iota(shape).to(DType::float32) * 0.37F - 5.0F).realize(); }

Tensor blur(const Tensor& x) {  // {1, 2, 1} along both axes, with zeros around
  const Tensor p = pad(x, {{1, 1}, {1, 1}});
  const std::int64_t h = x.size(0).value(), w = x.size(1).value();
  const Tensor across =
      p.shrink({{0, h + 2}, {0, w}}) + p.shrink({{0, h + 2}, {1, w + 1}}) * 2 + p.shrink({{0, h + 2}, {2, w + 2}});
  return across.shrink({{0, h}, {0, w}}) + across.shrink({{1, h + 1}, {0, w}}) * 2 +
         across.shrink({{2, h + 2}, {0, w}});
}

std::vector<Case> cases() {
  return {
      {"softmax",
       [] {
         return std::vector{softmax(ramp({7, 33}) * 0.3F)};
       },
       1},
      {"columns",
       [] {
         return std::vector{log_softmax(ramp({37, 19}), 0), sum(ramp({37, 19}), 0)};
       }},
      {"layer norm",
       [] {
         return std::vector{layer_norm(ramp({5, 64}))};
       },
       1},
      {"blur",
       [] {
         return std::vector{blur(tanh(exp(sin(exp(tanh(ramp({20, 31})))))))};
       }},
      {"matmul",
       [] {
         return std::vector{matmul(relu(ramp({9, 17})), ramp({17, 23})) + 1.25F};
       }},
      {"attention, its rows in parts",
       [] {
         const Tensor q = sin(ramp({2, 40, 5})).realize(), k = cos(ramp({2, 70, 5})).realize(),
                      v = sin(ramp({2, 70, 9})).realize();
         return std::vector{matmul(softmax(matmul(q, k.transpose()) * 0.1F), v) + 0.5F};
       }},
      {"layer norm behind a product",
       [] {
         return std::vector{layer_norm(matmul(sin(ramp({80, 4})).realize(), cos(ramp({4, 23})).realize()))};
       }},
      {"padded",
       [] {
         return std::vector{pad(exp(ramp({3, 5}) * 0.1F), {{1, 2}, {0, 3}}).transpose().reshape({48})};
       }},
      {"across rows",
       [] {
         return std::vector{-ramp({6, 7}).transpose().reshape({42}).shrink({{1, 40}})};
       }},
      {"integers",
       [] {
         return std::vector{(iota({4, 9}) * 7919) % 97 + argmax(sin(ramp({4, 9})), 1, true)};
       }},
      {"halves",
       [] {
         return std::vector{sum((ramp({8, 40}) * 0.1F).to(DType::float16) * 1.5F, 1)};
       }},
      {"two outputs",
       [] {
         const Tensor x = ramp({50});
         return std::vector{exp(x * 0.2F), x * x};
       },
       1},
  };
}

// Kernels that overwrite memory that they read.
std::vector<Case> writing_cases() {
  return {
      {"all of it",
       [] {
         Tensor x = ramp({1000});
         x.assign(exp(x * 0.1F) - x);
         return std::vector{x};
       },
       1},
      {"rows read twice, then replaced",
       [] {
         Tensor x = ramp({9, 70});
         x.assign(softmax(x));
         return std::vector{x};
       },
       1},
      {"a part, backwards, from another part",
       [] {
         Tensor x = ramp({8, 12});
         x.shrink({{0, 4}, {1, 11}}).flip(1) += x.shrink({{4, 8}, {0, 10}});
         return std::vector{x};
       },
       1},
      {"a part moved by one, put aside first",
       [] {
         Tensor x = ramp({200});
         x.shrink({{1, 200}}).assign(x.shrink({{0, 199}}) * 1.5F);
         return std::vector{x};
       },
       1},
      {"a reader first, then a chain of writes",
       [] {
         Tensor x = ramp({6, 30});
         const Tensor before = sum(x, 1);
         x.select(1, 3).assign(before * 0.5F);
         x *= 2;
         x.slice({{.step = 2}}) += 1;
         return std::vector{x, before};
       },
       1},
      {"a diagonal of memory in channels-last order",
       [] {
         Tensor x = (ramp({2, 5, 6, 6}).to(MemoryFormat::channels_last) + 1).realize();
         diagonal(x, 0, 2, 3) *= 3;
         return std::vector{x};
       },
       1},
      {"through a view that is no single one",
       [] {
         Tensor x = ramp({4, 6});
         x.transpose().reshape({3, 8}).shrink({{0, 2}, {1, 7}}) -= 4;
         return std::vector{x};
       },
       1},
      {"two exchanged by one kernel",
       [] {
         Tensor a = ramp({300}), b = (ramp({300}) * 3).realize();
         const Tensor old = a + b;
         a.assign(a - b);
         b.assign(old);
         return std::vector{a, b};
       },
       2},
      {"halves",
       [] {
         Tensor x = (ramp({5, 33}) * 0.1F).to(DType::float16).realize();
         x += sum(x, 1, true);
         return std::vector{x};
       },
       1},
      {"integers",
       [] {
         Tensor x = (iota({7, 9}) * 7919).realize();
         x.transpose().select(0, 4).assign(x.select(1, 2) % 97);
         return std::vector{x};
       },
       1},
  };
}

double element(const void* data, DType dtype, std::size_t i) {
  if (dtype == DType::float32) return static_cast<double>(static_cast<const float*>(data)[i]);
  if (dtype == DType::int64) return static_cast<double>(static_cast<const std::int64_t*>(data)[i]);
  REQUIRE(dtype == DType::float16);
  return static_cast<double>(static_cast<float>(static_cast<const float16_t*>(data)[i]));
}

struct Prepared {
  std::string name;
  std::vector<Tensor> tensors;
  Explanation plan;
  std::vector<std::vector<std::byte>> leaves;  // their contents before anything runs
  std::vector<std::int32_t> homes;             // for each output: the leaf whose memory it reuses, or -1
  std::vector<Parameter> parameters;
};

// The data on which the compiled kernels run. It must not hold a tensor's buffer: a buffer that is held elsewhere is
// not overwritten.
Prepared prepare(const Case& c) {
  Prepared p{c.name, c.build(), {}, {}, {}, {}};
  p.plan = explain(p.tensors);
  std::vector<graph::NodePtr> roots;
  for (const Tensor& t : p.tensors) roots.push_back(detail::Access::node(t));
  const base::Activity work;
  runtime::Key key;
  runtime::make_key(work, roots, 0, key);
  for (const mem::BufferPtr& leaf : key.leaves) {
    const auto* data = static_cast<const std::byte*>(leaf->data());
    p.leaves.emplace_back(data, data + leaf->bytes()).resize(leaf->bytes() + 64);
  }
  const auto plan = runtime::make_plan(roots, key, runtime::limits_of(backend::backend_for(Device::eigen())));
  for (const runtime::PlannedOutput& o : plan.outputs) p.homes.push_back(o.home);
  REQUIRE(p.homes.size() == p.tensors.size());
  CHECK(p.homes.size() - static_cast<std::size_t>(std::count(p.homes.begin(), p.homes.end(), -1)) ==
        static_cast<std::size_t>(c.in_place));
  for (const graph::Scalar& s : key.parameter_values) {
    Parameter value{};
    value.i = s.i;
    p.parameters.push_back(value);
  }
  return p;
}

/// For "(4, 6) | (5)" returns 24.
std::int64_t outer_points(const ExplainedKernel& kernel) {
  std::int64_t points = 1;
  const std::string& text = kernel.domain_after;
  for (std::size_t i = 1; i < text.find(')'); ++i) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) continue;
    points *= std::stoll(text.substr(i));
    while (std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0) ++i;
  }
  return points;
}

/// `whole`: each file contains the helpers that it calls. Otherwise these stand in a header beside it.
void check_dumps(const std::vector<Case>& cases, const std::string& flags, bool whole) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("oriel-dumped-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::vector<Prepared> prepared;
  runtime::clear_caches();
  for (const Case& c : cases) {
    CAPTURE(c.name);
    prepared.push_back(prepare(c));
  }
  set_dump_directory(folder.string(), whole);
  for (Prepared& p : prepared) realize(p.tensors);
  set_dump_directory(std::nullopt);

  // A kernel that two programs share is dumped with each program; one copy is compiled.
  std::string unit;
  std::map<std::string, bool> seen;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cpp") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::size_t kernels = 0;
  for (const Prepared& p : prepared) {
    for (const ExplainedKernel& k : p.plan.kernels) {
      REQUIRE(kernels < files.size());
      std::ifstream in(files[kernels++]);
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      // A whole file contains exactly the source that explain shows.
      CHECK((text.find(k.source) != std::string::npos) == (whole || k.source.find("namespace {") == std::string::npos));
      if (!seen.emplace(k.name, true).second) continue;
      unit += text;
    }
  }
  CHECK(kernels == files.size());
  const Library library("g++", flags + " -I" + folder.string(), unit);

  for (const Prepared& p : prepared) {
    CAPTURE(p.name);
    std::map<std::string, std::vector<std::byte>> memory;
    for (std::size_t l = 0; l < p.leaves.size(); ++l) memory["leaf " + std::to_string(l)] = p.leaves[l];
    const auto where = [&](const std::string& name) -> std::vector<std::byte>& {
      if (!name.starts_with("output ")) return memory.at(name);
      const std::int32_t home = p.homes[std::stoul(name.substr(7))];
      return memory.at(home < 0 ? name : "leaf " + std::to_string(home));
    };
    for (std::size_t o = 0; o < p.tensors.size(); ++o)
      memory["output " + std::to_string(o)].resize(static_cast<std::size_t>(p.tensors[o].numel()) * 8 + 64);
    for (std::size_t b = 0; b < p.plan.memory.block_bytes.size(); ++b)
      memory["block " + std::to_string(b)].resize(static_cast<std::size_t>(p.plan.memory.block_bytes[b]) + 64);
    for (const ExplainedKernel& k : p.plan.kernels) {
      std::map<std::pair<bool, int>, void*> arguments;  // the memory of inputs and outputs, by their numbers
      for (const ExplainedOperand& operand : k.operands) {
        if (operand.name.empty() || operand.memory == "cache") continue;
        const bool output = operand.name.starts_with("out");
        arguments[{output, std::stoi(operand.name.substr(output ? 3 : 2))}] = where(operand.memory).data();
      }
      std::vector<void*> list;
      for (const auto& [place, data] : arguments) list.push_back(data);
      library.kernel(k.name)(list.data(), p.parameters.data(), 0, outer_points(k));
    }
    for (std::size_t o = 0; o < p.tensors.size(); ++o) {
      const graph::NodePtr node = detail::Access::node(p.tensors[o]);
      const void* ours = node->buffer->data();
      const void* theirs = where("output " + std::to_string(o)).data();
      for (std::size_t i = 0; i < static_cast<std::size_t>(p.tensors[o].numel()); ++i) {
        const double a = element(ours, node->dtype, i), b = element(theirs, node->dtype, i);
        CAPTURE(i);
        REQUIRE(std::abs(a - b) <= (is_integer(node->dtype) ? 0 : 4e-6 * std::max(1.0, std::abs(a))));
      }
    }
  }
  std::filesystem::remove_all(folder);
}

}  // namespace

TEST_CASE("dumped sources compute what the tile machine computes") { check_dumps(cases(), "-O1", false); }

TEST_CASE("dumped sources of kernels that overwrite what they read compute the same too") {
  check_dumps(writing_cases(), "-O2", true);
}

}  // namespace dumped_test
