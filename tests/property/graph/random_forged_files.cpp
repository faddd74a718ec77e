// Files of captured functions of random programs, in which bytes are changed and the checksum is right again: each one
// is refused with an error, or serves calls without reading or writing outside of memory. RC_PARAMS as for
// random_programs.
#include <rapidcheck.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dynamic_program.hpp"
#include "oriel/error.hpp"
#include "oriel/oriel.hpp"
#include "support/guarded.hpp"
#include "support/property_main.hpp"
#include "support/saved_file.hpp"
#include "support/sized.hpp"
#include "support/temporary_folder.hpp"

namespace oriel::testing {
namespace {

using Results = std::tuple<Tensor, Tensor, Tensor, SymInt>;
using Leaves = std::vector<Tensor>;

/// Results, one of which is a view of another one, and a size.
Results results_of(const Leaves& leaves) {
  const auto [last, middle] = run(leaves);
  const Tensor view = last.rank() > 0 ? last.flip(0).unsqueeze(0) : last;
  return {last, middle, view, last.numel() + 1};
}

/// Memory of leaves, between pages that cannot be read.
class GuardedLeaves {
 public:
  Tensor leaf(const Shape& shape, std::uint32_t seed) {
    const std::vector<float> elements = testing::leaf(shape, seed).to_vector<float>();
    const std::size_t bytes = elements.size() * sizeof(float);
    const auto side = seed % 2 == 0 ? test::Guarded::Side::End : test::Guarded::Side::Begin;
    auto memory = std::make_shared<test::Guarded>(bytes, side);
    if (bytes != 0) std::memcpy(memory->data(), elements.data(), bytes);
    float* const data = static_cast<float*>(memory->data());
    return Tensor::adopt(data, shape, [memory](void*) {});
  }
  /// Row-major, or a view of several movements.
  Tensor passed(std::int64_t n, std::int64_t m, std::uint32_t seed, std::uint32_t view) {
    switch (view % 4) {
      case 0:
        return leaf({m, n}, seed).transpose();
      case 1:
        return leaf({m + 3, n, 2}, seed).select(2, 1).transpose().slice({{}, {2, 2 + m}}).flip(0);
      case 2:
        return leaf({n + 5, m}, seed).slice({{3, 3 + n}});
      default:
        return leaf({n, m}, seed);
    }
  }
};

Leaves leaves_of(const Program& program, const std::array<std::int64_t, kSizes>& sizes, GuardedLeaves& memory) {
  Leaves leaves;
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    leaves.push_back(memory.passed(sizes[program.leaves[k][0]], sizes[program.leaves[k][1]],
                                   static_cast<std::uint32_t>(k), program.views[k]));
  return leaves;
}

/// Changes some bytes behind the header: bits, numbers of 8 and of 4 bytes, or a piece that is copied from elsewhere.
std::string forged(std::string bytes) {
  const auto below = [](std::size_t end) { return *test::any_of<std::size_t>(0, end); };
  const std::size_t body = bytes.size() - test::kBodyAt;
  for (std::size_t n = 1 + below(3); n > 0; --n) {
    const std::size_t at = test::kBodyAt + below(body - 32);
    switch (below(4)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1: {
        constexpr std::array<std::int64_t, 8> numbers{-1, 0, 1, 2, INT64_MAX, INT64_MIN, 1LL << 40, -(1LL << 40)};
        std::int64_t number = 0;
        std::memcpy(&number, bytes.data() + at, sizeof number);
        number = below(2) == 0 ? numbers.at(below(numbers.size()))
                               : static_cast<std::int64_t>(static_cast<std::uint64_t>(number) + below(9) - 4);
        std::memcpy(bytes.data() + at, &number, sizeof number);
        break;
      }
      case 2: {
        const auto number = static_cast<std::uint32_t>(below(12));
        std::memcpy(bytes.data() + at, &number, sizeof number);
        break;
      }
      default:
        std::memmove(bytes.data() + at, bytes.data() + test::kBodyAt + below(body - 32), 1 + below(24));
    }
  }
  return test::sealed(std::move(bytes));
}

/// Returns whether the file was loaded.
bool try_file(const std::string& path, const std::vector<Leaves>& calls) {
  try {
    const auto loaded = load_function<Results(Leaves)>(path);
    static_cast<void>(loaded.explain());
    for (const Leaves& leaves : calls) {
      try {
        const auto [last, middle, view, count] = loaded(leaves);
        static_cast<void>(to_string(count));
        for (const Tensor& x : {last, middle, view})
          if (x.dtype() == DType::float32) static_cast<void>(x.to_vector<float>());
      } catch (const Error&) {  // the other calls may be served
      }
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

void holds(const Program& program) {
  current = &program;
  FunctionOptions options;
  options.dynamic = program.automatic ? Dynamic::automatic : Dynamic::yes;
  options.traces = 1 << 30;
  const auto f = oriel::function([](const Leaves& leaves) { return results_of(leaves); }, options);
  GuardedLeaves memory;
  std::vector<Leaves> calls;
  for (const std::array<std::int64_t, kSizes>& sizes :
       {std::array<std::int64_t, kSizes>{5, 6, 7}, {4, 9, 6}, {7, 3, 12}}) {
    calls.push_back(leaves_of(program, sizes, memory));
    try {
      f(calls.back());
    } catch (const Error&) {
    }
  }
  if (f.entries().empty()) return;
  const test::TemporaryFolder folder;
  const std::string path = folder / "f";
  f.save(path);
  const std::string bytes = test::file_text(path);
  std::size_t loaded = 0;
  constexpr std::size_t kForged = 30;
  for (std::size_t k = 0; k < kForged; ++k) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << forged(bytes);
    loaded += try_file(path, calls) ? 1 : 0;
  }
  RC_CLASSIFY(loaded > 0, "some are loaded");
  RC_CLASSIFY(loaded < kForged / 2, "most are refused");
}

}  // namespace
}  // namespace oriel::testing

namespace rc {

template <>
struct Arbitrary<oriel::testing::Program> {
  static Gen<oriel::testing::Program> arbitrary() {
    using oriel::testing::Program;
    using oriel::testing::Step;
    const auto dice = oriel::test::any_of<std::uint32_t>(0, 1000);
    const auto step = gen::build<Step>(gen::set(&Step::kind, dice),
                                       gen::set(&Step::dice, gen::container<std::array<std::uint32_t, 4>>(dice)));
    const auto axis = oriel::test::any_of<std::uint32_t>(0, oriel::testing::kSizes);
    return gen::build<Program>(gen::set(&Program::steps, gen::resize(6, gen::container<std::vector<Step>>(step))),
                               gen::set(&Program::leaves, gen::container<std::array<std::array<std::uint32_t, 2>, 3>>(
                                                              gen::container<std::array<std::uint32_t, 2>>(axis))),
                               gen::set(&Program::views, gen::container<std::array<std::uint32_t, 3>>(
                                                             oriel::test::any_of<std::uint32_t>(0, 9))),
                               gen::set(&Program::automatic, gen::arbitrary<bool>()));
  }
};

}  // namespace rc

namespace oriel::testing {

// RapidCheck finds it by its argument.
void showValue(const Program& program, std::ostream& out) {
  out << (program.automatic ? "automatic" : "dynamic") << "; leaves";
  for (std::size_t k = 0; k < program.leaves.size(); ++k)
    out << " (" << program.leaves[k][0] << ", " << program.leaves[k][1] << ") as " << program.views[k] % 4;
  for (const Step& step : program.steps) {
    out << "; " << step.kind;
    for (const std::uint32_t d : step.dice) out << ' ' << d;
  }
}

}  // namespace oriel::testing

int main() {
  if (!oriel::test::begin_property()) return oriel::test::kSkipped;
  return rc::check("a forged file of a captured function is refused or harmless",
                   [](const oriel::testing::Program& program) { oriel::testing::holds(program); })
             ? 0
             : 1;
}
