// Random products of matrices, windows, chains of products and attention, at sizes at which each path of the CPU is
// taken, over views of any kind. All memory lies between inaccessible pages, so an access outside ends the process.
// Each program runs on every instruction set of this machine.
// RC_PARAMS="max_success=10000 seed=7" sets number and seed.
#include <rapidcheck.h>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>

#include "backend/eigen/backend.hpp"
#include "formula/call.hpp"
#include "graph/layout.hpp"
#include "product_case.hpp"
#include "product_paths.hpp"
#include "runtime/compiled.hpp"
#include "runtime/executor.hpp"
#include "runtime/key.hpp"
#include "runtime/plan.hpp"
#include "support/fixed_seed.hpp"
#include "support/guarded.hpp"
#include "support/isa_levels.hpp"
#include "support/sized.hpp"
#include "support/trapped.hpp"

namespace oriel::testing {
namespace {

using backend::eigen::EigenBackend;
using test::Guarded;

bool compiled_tier() { return std::getenv("ORIEL_TEST_COMPILED") != nullptr; }

/// One device for each instruction set; the last one has several threads. With compiled kernels there is only one
/// device.
const std::vector<std::unique_ptr<EigenBackend>>& devices() {
  static const auto all = [] {
    std::vector<std::unique_ptr<EigenBackend>> list;
    if (compiled_tier()) {
      list.push_back(
          std::make_unique<EigenBackend>(backend::eigen::Options{.threads = 1, .isa = "", .tier = EigenTier::compile}));
      return list;
    }
    for (const std::string& isa : test::isa_levels())
      list.push_back(
          std::make_unique<EigenBackend>(backend::eigen::Options{.threads = 1, .isa = isa, .tier = EigenTier::tile}));
    list.push_back(
        std::make_unique<EigenBackend>(backend::eigen::Options{.threads = 3, .isa = "", .tier = EigenTier::tile}));
    return list;
  }();
  return all;
}

std::map<std::string, int>& reached() {
  static std::map<std::string, int> paths;
  return paths;
}

double element(DType dtype, const void* data, std::int64_t at) {
  const auto read = [&](auto zero) {
    std::memcpy(&zero, static_cast<const char*>(data) + at * static_cast<std::int64_t>(sizeof zero), sizeof zero);
    if constexpr (std::is_arithmetic_v<decltype(zero)>)
      return static_cast<double>(zero);
    else
      return static_cast<double>(static_cast<float>(zero));
  };
  switch (dtype) {
    case DType::int8:
      return read(std::int8_t{});
    case DType::int16:
      return read(std::int16_t{});
    case DType::int32:
      return read(std::int32_t{});
    case DType::int64:
      return read(std::int64_t{});
    case DType::uint8:
      return read(std::uint8_t{});
    case DType::uint16:
      return read(std::uint16_t{});
    case DType::uint32:
      return read(std::uint32_t{});
    case DType::uint64:
      return read(std::uint64_t{});
    case DType::float16:
      return read(float16_t{});
    case DType::bfloat16:
      return read(bfloat16_t{});
    case DType::float64:
      return read(double{});
    default:
      return read(float{});
  }
}

/// The elements of a plan's single root in row-major order.
std::vector<double> elements(const graph::Node& root, const void* data) {
  const Ints strides =
      graph::memory_strides(root) != nullptr ? *graph::memory_strides(root) : contiguous_strides(root.shape);
  std::vector<double> values(static_cast<std::size_t>(numel(root.shape).value()));
  for (std::size_t k = 0; k < values.size(); ++k) {
    auto left = static_cast<std::int64_t>(k);
    std::int64_t at = 0;
    for (std::size_t d = root.shape.size(); d-- > 0; left /= root.shape[d].value())
      at += left % root.shape[d].value() * strides[d].value();
    values[k] = element(root.dtype, data, at);
  }
  return values;
}

struct Planned {
  runtime::Key key;
  runtime::Plan plan;
};

/// Launches the kernel of a plan. With `kept`, its leaves are stable arguments.
void launch(const Planned& planned, const runtime::PlannedKernel& k, const backend::Kernel& kernel,
            std::span<void* const> arguments, EigenBackend& device, backend::KeptFactors* kept) {
  if (kept == nullptr) return device.launch(kernel, arguments, planned.key.parameter_values);
  std::vector<backend::StableArgument> stable;
  for (std::size_t i = 0; i < k.arguments.size(); ++i) {
    const runtime::ArgumentSource& a = k.arguments[i];
    if (a.kind == runtime::ArgumentSource::Kind::Leaf)
      stable.push_back({i, &planned.key.leaves[static_cast<std::size_t>(a.index)]});
  }
  device.launch_keeping(kernel, arguments, planned.key.parameter_values, {*kept, device.allocator(), stable});
}

std::vector<double> run(const Planned& planned, const graph::Node& root, EigenBackend& device,
                        backend::KeptFactors* kept = nullptr) {
  const runtime::Plan& plan = planned.plan;
  std::vector<std::unique_ptr<Guarded>> outputs;
  std::vector<std::unique_ptr<Guarded>> blocks;
  const auto add = [](std::vector<std::unique_ptr<Guarded>>& list, std::int64_t bytes) {
    const auto side = list.size() % 2 == 0 ? Guarded::Side::End : Guarded::Side::Begin;
    list.push_back(std::make_unique<Guarded>(static_cast<std::size_t>(bytes), side));
  };
  for (const runtime::PlannedOutput& o : plan.outputs) add(outputs, o.bytes);
  // A block holds values of several dtypes in turn, so it has the alignment of the widest dtype.
  for (const std::int64_t bytes : plan.memory.block_bytes) add(blocks, (bytes + 7) / 8 * 8);
  for (const runtime::PlannedKernel& k : plan.kernels) {
    if (!k.runs) continue;
    std::vector<void*> arguments;
    for (const runtime::ArgumentSource& a : k.arguments) {
      const auto i = static_cast<std::size_t>(a.index);
      arguments.push_back(a.kind == runtime::ArgumentSource::Kind::Leaf ? planned.key.leaves[i]->data()
                          : a.kind == runtime::ArgumentSource::Kind::Output
                              ? outputs[i]->data()
                              : blocks[static_cast<std::size_t>(plan.memory.block_of[i])]->data());
    }
    const std::shared_ptr<const backend::Kernel> kernel = device.compile(k.lowered.program);
    device.prepare({&kernel, 1});
    if (!test::within_memory([&] { launch(planned, k, *kernel, arguments, device, kept); }))
      RC_FAIL(device.capabilities().description + ": an access outside of memory");
    for (const std::string& path : paths_of(static_cast<const backend::eigen::TieredKernel&>(*kernel)))
      ++reached()[path];
  }
  for (const auto* list : {&outputs, &blocks}) {
    for (const auto& memory : *list) {
      if (!memory->intact()) RC_FAIL("memory beside a result was written");
    }
  }
  return elements(root, outputs[static_cast<std::size_t>(plan.output_of_root[0])]->data());
}

void agrees(const ProductCase& c) {
  const BuiltProduct built = build(c);
  const graph::NodePtr root = detail::Access::node(built.result);
  if (root->realized() || numel(root->shape) == 0) return;
  const base::Activity work;
  Planned planned;
  runtime::make_key(work, {&root, 1}, 0, planned.key);
  planned.plan = runtime::make_plan({&root, 1}, planned.key, runtime::limits_of(*devices().front()));
  RC_ASSERT(built.want.size() == static_cast<std::size_t>(numel(root->shape).value()));
  for (const auto& device : devices()) {
    const std::vector<double> got = run(planned, *root, *device);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] == built.want[i] || std::abs(got[i] - built.want[i]) <= built.allowed) continue;
      RC_FAIL(fmt::format("{}: element {} is {}, expected {}", device->capabilities().description, i, got[i],
                          built.want[i]));
    }
    // What is kept of unchanged leaves from the second run on gives the same bits.
    backend::KeptFactors kept;
    for (int again = 0; again < 3; ++again) {
      const std::vector<double> same = run(planned, *root, *device, &kept);
      if (std::memcmp(same.data(), got.data(), got.size() * sizeof(double)) != 0)
        RC_FAIL(fmt::format("{}: other bits with kept panels", device->capabilities().description));
      if (again == 0 && kept.counts().copies > 0) RC_FAIL("panels were kept at first sight");
      if (kept.counts().copies == 0 && again == 1) break;
    }
    if (kept.counts().copies > 0) ++reached()["kept panels"];
  }
}

/// Prints how often each path was taken. If `wanted`, also prints which known paths were never taken, and returns false
/// if there are any.
bool all_reached(bool wanted) {
  bool all = true;
  for (const auto& [path, times] : reached()) std::cout << fmt::format("{:6} {}\n", times, path);
  if (!wanted) return true;
  for (const std::string& path : known_paths()) {
    if (reached().find(path) != reached().end()) continue;
    std::cout << "not reached: " << path << '\n';
    all = false;
  }
  return all;
}

}  // namespace
}  // namespace oriel::testing

namespace rc {

template <>
struct Arbitrary<oriel::testing::ViewStep> {
  static Gen<oriel::testing::ViewStep> arbitrary() {
    using oriel::testing::ViewStep;
    return gen::build<ViewStep>(
        gen::set(&ViewStep::kind, oriel::test::any_of<std::uint32_t>(0, oriel::testing::kViewKinds)),
        gen::set(&ViewStep::dice,
                 gen::container<std::array<std::uint32_t, 3>>(oriel::test::any_of<std::uint32_t>(0, 1000))));
  }
};

template <>
struct Arbitrary<oriel::testing::ProductCase> {
  static Gen<oriel::testing::ProductCase> arbitrary() {
    using oriel::testing::ProductCase;
    using oriel::testing::ViewStep;
    const auto steps = gen::mapcat(oriel::test::any_of(0, 5), [](int n) {
      return gen::container<std::vector<ViewStep>>(static_cast<std::size_t>(n), gen::arbitrary<ViewStep>());
    });
    return gen::build<ProductCase>(
        gen::set(&ProductCase::dice,
                 gen::container<std::array<std::uint32_t, 24>>(oriel::test::any_of<std::uint32_t>(0, 1000))),
        gen::set(&ProductCase::a, steps), gen::set(&ProductCase::b, steps), gen::set(&ProductCase::c, steps));
  }
};

}  // namespace rc

int main() {
  const bool fixed = oriel::test::fix_seed();
  oriel::set_lazy_limits({.nodes = 0, .bytes = 0});
  oriel::set_default_bounds(oriel::Bounds::zero);  // some positions are outside
  // The backends above read the leaves' memory as the CPU's, whatever ORIEL_DEVICE says.
  oriel::set_default_device(oriel::Device::eigen());
  const bool good = rc::check("products of views agree with sums one by one", &oriel::testing::agrees);
  // Few programs, or programs from other seeds, need not take every path.
  const bool few = !fixed || oriel::testing::compiled_tier() || std::getenv("ORIEL_TEST_FEW") != nullptr;
  const bool reached = oriel::testing::all_reached(!few);
  return good && reached ? 0 : 1;
}
