// Exports for processors and systems of other kinds than this one, where ORIEL_EXPORT_TARGETS names them:
// scripts/packaging/exports installs their compilers and runs this.
#include <fstream>

#include "oriel/function.hpp"
#include "symbolic_program.hpp"

namespace targets_test {

using namespace oriel;
using namespace oriel::test;

namespace {

struct Target {
  std::string name, compiler, flags, link, emulator;
};

std::vector<Target> targets(const TemporaryFolder& folder) {
  // node as a host of WebAssembly programs, which see one folder.
  const std::string host = folder / "host.mjs";
  std::ofstream(host) << R"(import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';
const [program, folder] = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args: [program, folder], preopens: { [folder]: folder } });
const { instance } = await WebAssembly.instantiate(readFileSync(program), wasi.getImportObject());
process.exit(wasi.start(instance));
)";
  const std::string arm = "-std=gnu++17 -ffp-contract=off ";
  std::vector<Target> all{
      {"m32", "g++", "-m32 -std=c++17 -ffp-contract=off -msse2 -mfpmath=sse", "", " "},
      {"m32", "clang++", "-m32 -std=c++17 -ffp-contract=off -msse2", "", " "},
      {"arm", "arm-none-eabi-g++", arm + "-mcpu=cortex-a9 -mfpu=neon -mfloat-abi=hard", "--specs=rdimon.specs",
       "qemu-arm"},
      {"arm", "arm-none-eabi-g++", arm + "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard", "--specs=rdimon.specs",
       ""},  // qemu-arm does not run it
      {"wasm", "clang++", "--target=wasm32-wasi -std=c++17", "", has_program("node") ? "node " + host : ""}};
  const char* const asked = std::getenv("ORIEL_EXPORT_TARGETS");
  std::erase_if(all, [&](const Target& t) {
    return asked == nullptr || (" " + std::string(asked) + " ").find(" " + t.name + " ") == std::string::npos;
  });
  if (all.empty()) MESSAGE("skipped: ORIEL_EXPORT_TARGETS names no target");
  return all;
}

/// Small whole numbers, whose sums of products are exact in every order.
Tensor whole(const Shape& shape, int step) {
  const Tensor x = iota(shape) * step;
  return (remainder(x, 7) - 3).to(DType::float32).realize();
}

Exported exported(const TemporaryFolder& folder, const std::string& name, const std::vector<Tensor>& inputs,
                  const std::vector<Tensor>& outputs) {
  return {name, export_cpp(outputs, folder.path(), {.name = name}), inputs, outputs, ""};
}

std::vector<Exported> all_exports(const TemporaryFolder& folder) {
  const Tensor x = whole({33, 20}, 3);
  const Tensor y = whole({20, 41}, 5);
  const Tensor k = (iota({300}) * 7919 - 1000000).realize();
  const Tensor small = (iota({300}) - 150).to(DType::int8).realize();
  const Tensor half = (whole({5, 61}, 1) * 0.3F).to(DType::float16).realize();
  const Tensor wide = whole({37}, 2).to(DType::float64).realize();
  std::vector<Exported> all;
  all.push_back(exported(folder, "product", {x, y}, {relu(matmul(x, y) + 1)}));
  all.push_back(exported(folder, "sums", {x}, {sum(x, 0), sum(x, 1), max(x, 1), argmax(x, 0)}));
  all.push_back(exported(folder, "integers", {k, small},
                         {floor_divide(k, 37) + remainder(k, 1000), small * 3 + (small >> 1), sort(k % 101)}));
  all.push_back(exported(folder, "halves", {half}, {half * 1.5F + 0.25F, half.to(DType::bfloat16)}));
  all.push_back(exported(folder, "moved", {x, y}, {x.transpose().flip({0}), y.shrink({{3, 9}, {0, 41}}) * 2}));
  all.push_back(exported(folder, "doubles", {wide}, {floor(wide / 3) + sqrt(wide * wide), round(wide * 0.5)}));
  return all;
}

Exported functions(const TemporaryFolder& folder) {
  const Tensor x = (whole({5, 61}, 1) * 0.4F).realize();
  return exported(folder, "functions", {x},
                  {softmax(x), tanh(x) + erf(x), sin(x) * cos(x), log1p(exp(x)), pow(abs(x), 1.7F), atan2(x, 2)});
}

}  // namespace

TEST_CASE("exports build and run on other targets") {
  const TemporaryFolder folder;
  for (const Target& target : targets(folder)) {
    CAPTURE(target.compiler);
    CAPTURE(target.flags);
    Program program(folder);
    for (Exported& e : all_exports(folder)) program.add(std::move(e));
    program.add(functions(folder));
    program.write();
    program.build_for(target.compiler, target.flags, target.link);
    if (target.emulator.empty()) continue;
    program.run(target.emulator);
    for (const Exported& e : program.exports()) {
      CAPTURE(e.name);
      for (std::size_t o = 0; o < e.outputs.size(); ++o) {
        CAPTURE(o);
        const std::vector<unsigned char> got = program.result(e, o);
        if (e.name != "functions") {
          CHECK(difference(e.outputs[o].dtype(), got, bytes_of(e.outputs[o], e.files.outputs[o].bytes)) == -1);
          continue;
        }
        // Functions differ in their last places.
        const std::vector<float> want = e.outputs[o].to_vector<float>();
        std::vector<float> numbers(want.size());
        REQUIRE(got.size() == numbers.size() * sizeof(float));
        std::memcpy(numbers.data(), got.data(), got.size());
        for (std::size_t i = 0; i < want.size(); ++i) CHECK(numbers[i] == doctest::Approx(want[i]).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("exports of symbolic sizes build and run on other targets") {
  const FunctionOptions open{.dynamic = Dynamic::yes, .names = {"x", "y"}};
  const auto layer = function([](Tensor x, Tensor y) { return relu(matmul(x, y) + 1); }, open);
  const auto rows = function([](Tensor x) { return flip(x, {0}) + sum(x, 0) - max(x, 1, true); }, open);
  const auto exps = function([](Tensor x) { return softmax(x * 0.5F, 1) + argmax(x, 1, true); }, open);
  const TemporaryFolder folder;
  for (const Target& target : targets(folder)) {
    CAPTURE(target.compiler);
    CAPTURE(target.flags);
    SymbolicProgram program(folder);
    std::vector<std::vector<Tensor>> want(2);
    std::vector<std::size_t> numbers;
    const std::vector<std::int64_t> sizes{5, 31, 129};
    for (const std::int64_t n : sizes) {
      want[0].push_back(layer(whole({n, 24}, 3), whole({24, n + 2}, 5)));
      want[1].push_back(rows(whole({n, n + 1}, 3)));
      static_cast<void>(exps(whole({n, n + 1}, 3)));
    }
    numbers.push_back(program.add("layer", layer.export_cpp(folder.path(), {.name = "layer"})));
    numbers.push_back(program.add("rows", rows.export_cpp(folder.path(), {.name = "rows"})));
    numbers.push_back(program.add("exps", exps.export_cpp(folder.path(), {.name = "exps"})));
    for (const std::int64_t n : sizes) {
      program.add_run(numbers[0], {n, 24, n + 2}, {whole({n, 24}, 3), whole({24, n + 2}, 5)});
      program.add_run(numbers[1], {n, n + 1}, {whole({n, n + 1}, 3)});
      program.add_run(numbers[2], {n, n + 1}, {whole({n, n + 1}, 3)});
    }
    program.build_and_run_for(target.compiler, target.flags + " -O1", target.link, target.emulator);
    if (target.emulator.empty()) continue;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      for (std::size_t f = 0; f < want.size(); ++f) program.check(numbers[f], k, {want[f][k]});
      CHECK(program.run(numbers[2], k).status == "ok");
    }
  }
}

TEST_CASE("exports of symbolic sizes need no type of 128 bits, which 32-bit targets lack") {
  const TemporaryFolder folder;
  const auto f = function([](Tensor x) { return sum(x, 0) - max(x, 1, true); }, {.dynamic = Dynamic::yes});
  static_cast<void>(f(whole({5, 5}, 3)));
  static_cast<void>(f.export_cpp(folder.path(), {.name = "rows"}));
  std::ifstream file(folder / "rows.cpp");
  const std::string source{std::istreambuf_iterator<char>(file), {}};
  CHECK(source.find("struct Wide") != std::string::npos);
  // Where the type is named, another way stands beside it.
  const std::size_t guard = source.find("#if defined(__SIZEOF_INT128__)"), other = source.find("#else", guard);
  REQUIRE(other != std::string::npos);
  CHECK(source.find("times_in_halves(a, b)", other) != std::string::npos);
  CHECK(source.find("__int128") > guard);
  CHECK(source.rfind("__int128") < other);
}

}  // namespace targets_test
