// Exports build and run without Oriel, and give the engine's bits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "backend/eigen/isa/table.hpp"
#include "formula/call.hpp"
#include "graph/build.hpp"
#include "program.hpp"
#include "support/unchecked_positions.hpp"

namespace build_test {

using namespace oriel;
using namespace oriel::test;

namespace {

Tensor wave(const Shape& shape, double step) {
  const Tensor x = iota(shape).to(DType::float32) * step;
  return (sin(x) * 3 - cos(x * 0.37)).realize();
}

bool tiles_in_scratch = false;

Exported exported(const TemporaryFolder& folder, ExportOptions options, std::vector<Tensor> inputs,
                  std::vector<Tensor> outputs, std::string numbers = "") {
  options.tiles_in_scratch = tiles_in_scratch;
  const ExportedFiles files = export_cpp(outputs, folder.path(), options);
  return {options.name, files, std::move(inputs), std::move(outputs), std::move(numbers)};
}

/// Several kernels with temporaries (the flip keeps these apart from the results), Eigen's exp, named inputs and
/// outputs.
Exported attention(const TemporaryFolder& folder) {
  const Tensor q = wave({2, 33, 20}, 0.01);
  const Tensor k = wave({2, 17, 20}, 0.03);
  const Tensor scores = matmul(q, k.transpose()) * 0.223F;
  const Tensor p = softmax(scores, -1);
  Exported e =
      exported(folder, {.name = "attention", .inputs = {{"keys", k}, {"queries", q}}, .outputs = {"weights", "mass"}},
               {q, k}, {flip(p, {0}), sum(p, 1) + max(scores, 1)});
  CHECK(e.files.needs_eigen);
  CHECK(e.files.scratch_bytes > 0);
  CHECK(e.files.kernels > 1);
  CHECK(e.files.inputs[0].name == "queries");  // the graph's order
  return e;
}

/// One kernel of several parts is one kernel in an export.
Exported rows(const TemporaryFolder& folder) {
  const Tensor q = wave({2, 33, 20}, 0.01);
  const Tensor k = wave({2, 17, 20}, 0.03);
  const Tensor v = wave({2, 17, 24}, 0.02);
  Exported e = exported(folder, {.name = "rows"}, {q, k, v}, {matmul(softmax(matmul(q, k.transpose()) * 0.223F), v)});
  CHECK(e.files.kernels == 1);
  CHECK(explain(e.outputs[0]).kernels.size() == 1);
  return e;
}

/// Functions of Eigen or the C library.
Exported functions(const TemporaryFolder& folder) {
  const Tensor x = wave({5, 61}, 0.2);
  const Tensor y = wave({5, 61}, 0.3);
  return exported(
      folder, {.name = "functions"}, {x, y},
      {pow(abs(x) + 0.1F, y), pow(abs(y), 2.5F) + tanh(x), exp(x) * erf(y), log(abs(x) + 0.5F) + sin(y), exp2(y)});
}

/// Temporaries that are live at the same time, and blocks that are reused.
Exported products(const TemporaryFolder& folder) {
  const Tensor x = wave({19, 19}, 0.3);
  const auto last = [&] {  // no value is named outside
    const Tensor a = matmul(x, x.transpose());
    const Tensor b = matmul(x, x) * 0.5F;
    const Tensor c = matmul(a, b) + matmul(b, a).to(DType::float64).to(DType::float32);
    const Tensor d = matmul(c, c) * 1e-3F;
    return matmul(d, d) * 1e-9F;
  };
  Exported e = exported(folder, {.name = "products"}, {x}, {last()});
  const ExplainedMemory memory = explain(e.outputs[0]).memory;
  CHECK(memory.block_bytes.size() > 1);
  CHECK(memory.bytes_without_reuse > memory.peak_bytes);
  CHECK(e.files.scratch_bytes >= memory.peak_bytes);
  return e;
}

/// Products in small tiles. Their depth is packed in several steps, either in equal blocks or in segments.
Exported small_products(const TemporaryFolder& folder) {
  const Tensor x = (wave({21, 700}, 0.3) + 6.0F).realize();
  const Tensor y = (wave({700, 53}, 0.2) + 5.0F).realize();
  const Tensor z = (wave({9000, 3}, 0.1) + 5.0F).realize();
  return exported(folder, {.name = "small_products", .longest_tile = 16}, {x, y, z},
                  {matmul(x, y), matmul(relu(x), x.transpose()) + 1.0F, matmul(z.transpose(), z)});
}

/// Movements and filters: mirrored edges, masks, stacks of views, weights in the source.
Exported picture(const TemporaryFolder& folder) {
  const Tensor x = wave({40, 50}, 0.1);
  const Tensor weights = Tensor::of<float>({0.25F, 0.5F, 0.25F, INFINITY, -0.0F, 1e-42F, 3e38F});
  const Tensor mirrored = pad(x, {{1, 1}, {0, 0}}) + pad(flip(x.shrink({{0, 1}, {0, 50}}), 0), {{0, 41}, {0, 0}});
  Tensor blurred = mirrored.shrink({{0, 40}, {0, 50}}) * weights.select(0, 0);
  for (std::int64_t i = 1; i < 3; ++i) blurred += mirrored.shrink({{i, i + 40}, {0, 50}}) * weights.select(0, i);
  const Tensor half = mean(blurred.reshape({20, 2, 25, 2}), {1, 3}).transpose();
  Exported e = exported(folder, {.name = "picture", .embed_bytes = 64}, {x},
                        {half.flip(1), weights * Tensor::of<float>({1, 1, 1, 1, 1, 1, 1}),
                         blurred.reshape({4, 10, 50}).permute({2, 0, 1}).reshape({100, 20})});
  CHECK(e.files.embedded_bytes == 28 + 28);
  CHECK(!e.files.needs_eigen);
  return e;
}

Exported halves(const TemporaryFolder& folder) {
  const Tensor x = wave({6, 37}, 0.2).to(DType::float16).realize();
  const Tensor y = (wave({6, 37}, 0.7) * 1e-3F).to(DType::bfloat16).realize();
  return exported(folder, {.name = "halves"}, {x, y},
                  {x * x + 0.1F, sum(x, 1), y / 3, x.to(DType::float32) + y.to(DType::float32), x.to(DType::bfloat16),
                   y.to(DType::float16)});
}

Exported integers(const TemporaryFolder& folder) {
  const Tensor a = (iota({7, 29}) * 7919 % 251 - 100).to(DType::int32).realize();
  const Tensor b = (iota({29}) % 13 + 3).to(DType::uint8).realize();
  const Tensor big = (iota({29}) * 1234567890123LL).realize();
  const Tensor odd = ((a & 1) == 1).realize();
  Exported e = exported(
      folder, {.name = "integers", .inputs = {{"a", a}, {"b", b}, {"big", big}, {"odd", odd}}}, {odd, a, b, big},
      {where(odd, a, -a), floor_divide(a, b), sum(big * 3), max(a, 0), b * b, (a << 2) ^ 77, all(odd, 0), argmax(a)});
  CHECK(e.files.inputs[0].name == "odd");
  return e;
}

/// Sizes of 0, no axes, a value requested twice, a tensor already in memory, a leaf that is used twice.
Exported odds(const TemporaryFolder& folder) {
  const Tensor x = wave({5, 4}, 0.3);
  const Tensor y = x + x.transpose().reshape({5, 4}) * 1.5F;
  const Tensor nothing = x.shrink({{2, 2}, {0, 4}});
  return exported(folder, {.name = "odds"}, {x},
                  {sum(y), y, y, x, nothing + 1, sum(nothing, 0), full({3}, 2.5F), x * 1, arange(7), y.transpose()});
}

/// A write goes to a copy: inputs are only read.
Exported writes(const TemporaryFolder& folder) {
  const auto before = [] { return wave({6, 6}, 0.4); };
  Tensor x = before();
  Tensor y = x * 2;
  x.shrink({{1, 3}, {2, 5}}).assign(7.5F);
  y.select(0, 2) += 1;
  x.select(1, 0).assign(x.select(1, 5));
  return exported(folder, {.name = "writes"}, {before()}, {x, y});
}

/// Sorted rows and their positions, with NaN, infinities and zeros of both signs, along either axis.
Exported sorts(const TemporaryFolder& folder) {
  Tensor x = (wave({4, 37}, 0.9) * 5).to(DType::int32).to(DType::float32) * 0.5F;
  x = concat({x, Tensor::of<float>({{NAN, -NAN}, {INFINITY, -INFINITY}, {0.0F, -0.0F}, {-0.0F, 0.0F}})}, 1).realize();
  const Tensor half = x.to(DType::float16).realize();
  const Tensor bytes = (iota({3, 50}) * 37 % 19).to(DType::uint8).realize();
  const Tensor wide = (iota({3, 50}) * 1234567890123LL % 7919 - 4000).realize();
  return exported(folder, {.name = "sorts"}, {x, half, bytes, wide},
                  {sort(x), sort(x, 0, true), argsort(x, 1, true), argsort(x, 0), sort(half, 1, true), argsort(half),
                   sort(bytes), argsort(bytes, -1, true), sort(wide, 0), argsort(wide), sort(x * 2, 1) + 1});
}

/// Sums and products up to each element, along each axis, in runs.
Exported scans(const TemporaryFolder& folder) {
  const Tensor x = (wave({5, 300}, 0.9) * 5).realize();
  const Tensor half = x.to(DType::float16).realize();
  const Tensor bytes = (iota({3, 50, 20}) * 37 % 19).to(DType::uint8).realize();
  // Sums of runs of positive elements.
  const Tensor runs = detail::Access::tensor(
      graph::recurrence(detail::Access::node((x > 0).to(DType::float32)), detail::Access::node(x), 1, {}, true));
  return exported(folder, {.name = "scans"}, {x, half, bytes},
                  {cumsum(x, 1), cumsum(x, 0), cumprod(x, 1), cumsum(half, 1), cumsum(bytes, 1), cumprod(bytes + 1, 2),
                   cumsum(bytes > 3, 0), cumsum(x * 2, 1) + 1, runs});
}

/// Numbers that the caller passes. Kernels that differ only in these are one kernel.
Exported numbers(const TemporaryFolder& folder) {
  const Tensor x = wave({33}, 0.4);
  const Tensor i = arange(9).realize();
  const auto work = [&](float scale, float shift, int step, float cap) {
    const Tensor y = x * scale;
    return std::vector<Tensor>{sum(y) + shift, i * step, x.to(DType::float16) * (scale + 1), minimum(x, cap)};
  };
  const ExportOptions options{.name = "numbers", .number_arguments = true, .tiles_in_scratch = tiles_in_scratch};
  Exported e{"numbers",
             export_cpp(work(3.5F, 1.25F, 7, INFINITY), folder.path(), options),
             {x, i},
             work(-1.75F, 9.5F, 11, 0.625F),
             "numbers.number0 = -1.75f; numbers.number1 = 9.5f; numbers.number2 = 11; numbers.number3 = -0.75f; "
             "numbers.number4 = 0.625f;"};
  return e;
}

/// Large kernels spread their loops over functions. The memory that these share must not come from the heap.
Exported large(const TemporaryFolder& folder) {
  const Tensor x = wave({3, 301}, 0.2);
  Tensor y = x;
  for (int i = 0; i < 70; ++i) y = i % 9 == 4 ? tanh(y) * 2.5F : y * 0.75F + x * (0.1F * static_cast<float>(i + 3));
  Exported e = exported(folder, {.name = "large"}, {x}, {y, sum(exp(y * 0.01F), 1)});
  CHECK(file_text(e.files.source).find("struct Frame") != std::string::npos);
  return e;
}

/// The same work twice, whose kernel is written once; memory in a layout that is not row-major.
Exported memory_formats(const TemporaryFolder& folder) {
  const Tensor a = wave({2, 3, 4, 5}, 0.2).to(MemoryFormat::channels_last).realize();
  const Tensor b = wave({2, 3, 4, 5}, 0.5).to(MemoryFormat::channels_last).realize();
  const auto normal = [](const Tensor& x) { return x - max(x.reshape({2, 60}), 1).reshape({2, 1, 1, 1}); };
  const std::vector<Tensor> both{normal(a), normal(b)};
  CHECK(explain(both).kernels.size() == 2);
  Exported e = exported(folder, {.name = "memory_formats"}, {a, b}, both);
  CHECK(e.files.kernels == 1);
  CHECK(e.files.inputs[0].strides == Ints{60, 1, 15, 3});
  CHECK(e.files.outputs[1].strides == Ints{60, 1, 15, 3});
  return e;
}

template <class T>
Tensor edges(std::initializer_list<T> more = {}) {
  std::vector<T> values{T(0), T(1), std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max(), T(77)};
  values.insert(values.end(), more);
  return Tensor::from(values);
}

/// Arrays of every dtype in the source.
Exported constants(const TemporaryFolder& folder) {
  using F = std::numeric_limits<float>;
  using D = std::numeric_limits<double>;
  const Tensor f = edges<float>({F::min(), F::denorm_min(), -F::infinity(), -0.0F, 1 / 3.0F});
  // NaNs of both signs with payloads, one of them signalling.
  const Tensor nans =
      edges<float>({F::quiet_NaN(), std::bit_cast<float>(0xffc12345U), std::bit_cast<float>(0x7f800001U)});
  std::vector<Tensor> all{edges<std::int8_t>(),
                          edges<std::int16_t>(),
                          edges<std::int32_t>(),
                          edges<std::int64_t>(),
                          edges<std::uint8_t>(),
                          edges<std::uint16_t>(),
                          edges<std::uint32_t>(),
                          edges<std::uint64_t>(),
                          f,
                          nans,
                          edges<double>({D::min(), D::denorm_min(), -D::infinity(), -0.0, 1 / 3.0}),
                          edges<double>({D::quiet_NaN(), std::bit_cast<double>(0xfff8000012345678U)})};
  all.push_back(f.to(DType::float16).realize());
  all.push_back(f.to(DType::bfloat16).realize());
  all.push_back((f > 0).realize());
  std::vector<Tensor> outputs;
  for (const Tensor& x : all) outputs.push_back(x.flip());
  outputs.push_back(all[0]);
  Exported e = exported(folder, {.name = "constants", .embed_bytes = 1 << 20}, {}, outputs);
  CHECK(e.files.embedded_bytes > 0);
  CHECK(file_text(e.files.source).find("4290847557, ") != std::string::npos);
  return e;
}

/// Reads at positions that inputs hold, by a comprehension and by functions: inside, outside, counted from the end.
Exported lookup(const TemporaryFolder& folder) {
  const Tensor table = wave({9, 6}, 0.1);
  const Tensor index = (iota({4, 5}) * 7 % 11 - 1).to(DType::int32).realize();
  const ComprehensionResults read = comprehension(
      "def f(float(V, D) T, int32(B, L) I) -> (Y, S) {"
      " Y(b, l, d) = I(b, l) < 0 ? -1.0 : T(I(b, l), D - 1 - d) * 2  S(b, d) +=! T(max(min(I(b, l), V - 1), 0), d) }")(
      table, index);
  return exported(folder, {.name = "lookup"}, {index, table},
                  {read["Y"], read["S"], take(table, index, 0), gather(table, index.shrink({{0, 4}, {0, 3}}), 1)});
}

/// An export without kernels.
Exported stored(const TemporaryFolder& folder) {
  const Tensor x = edges<std::int64_t>();
  return exported(folder, {.name = "stored", .embed_bytes = 1 << 20}, {}, {x});
}

/// Small tiles, for the build that limits the stack.
Exported small(const TemporaryFolder& folder) {
  const Tensor x = wave({70, 301}, 0.2);
  Tensor y = x;
  for (int i = 0; i < 60; ++i) y = y * 0.75F + x * (0.1F * static_cast<float>(i + 3));
  return exported(
      folder, {.name = "small", .longest_tile = 16}, {x},
      {sum(y, 0), y - mean(y, 1, true), sum(x, 0), max(x.to(DType::float64)) - x.to(DType::float64), sum(y)});
}

constexpr const char* kChecks = R"(
  static_assert(attention::input::queries::kShape[1] == 33 && attention::input::queries::kStrides[0] == 660, "");
  static_assert(attention::output::mass::kBytes == 2 * 17 * 4 && odds::output::out0::kShape.size() == 0, "");
  static_assert(odds::output::out4::kBytes == 0 && odds::kScratchAlignment == 64, "");
  static_assert(noexcept(odds::run(odds::Inputs(), odds::Outputs(), nullptr)), "");
  if (std::strcmp(halves::input::in0::kDType, "float16") != 0) return 2;
  {
    using attention::Status;
    auto* const q = static_cast<const float*>(read(folder + "/attention.queries.in", attention::input::queries::kBytes));
    auto* const k = static_cast<const float*>(read(folder + "/attention.keys.in", attention::input::keys::kBytes));
    auto* const w = static_cast<float*>(memory(attention::output::weights::kBytes));
    auto* const m = static_cast<float*>(memory(attention::output::mass::kBytes));
    auto* const s = static_cast<unsigned char*>(memory(attention::kScratchBytes + 64));
    const float before = w[0];
    if (attention::run({q, k}, {w, m}) != Status::null_pointer) return 3;
    if (attention::run({nullptr, k}, {w, m}, s) != Status::null_pointer) return 4;
    if (attention::run({q, k}, {w, nullptr}, s) != Status::null_pointer) return 5;
    if (attention::run({q, k}, {w, m}, s + 4) != Status::misaligned) return 6;
    const auto* const odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(q) + 2);
    if (attention::run({odd, k}, {w, m}, s) != Status::misaligned) return 7;
    if (attention::run({q, k}, {w, w + 7}, s) != Status::overlapping) return 8;
    if (attention::run({q, w + 1}, {w, m}, s) != Status::overlapping) return 9;
    if (attention::run({q, k}, {w, m}, w) != Status::overlapping) return 10;
    if (std::memcmp(&before, w, sizeof before) != 0) return 11;
    if (attention::run({q, q}, {w, m}, s) != Status::ok) return 12;
  }
)";

void check_close(const Program& program, const Exported& e, std::size_t output) {
  const std::vector<unsigned char> bytes = program.result(e, output);
  const std::vector<float> want = e.outputs[output].to_vector<float>();
  std::vector<float> got(want.size());
  REQUIRE(bytes.size() == got.size() * sizeof(float));
  std::memcpy(got.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-5));
  }
}

void check_bits(const Program& program, const Exported& e) {
  for (std::size_t o = 0; o < e.outputs.size(); ++o) {
    CAPTURE(e.name);
    CAPTURE(o);
    // Here the engine divides by the sum of weights at the end.
    if (e.name == "rows") {
      check_close(program, e, o);
      continue;
    }
    CHECK((program.result(e, o) == bytes_of(e.outputs[o], e.files.outputs[o].bytes)));
  }
}

}  // namespace

TEST_CASE("an export builds by itself and gives the engine's bits") {
  const test::UncheckedPositions unchecked;  // as in exports
  const TemporaryFolder folder;
  Program program(folder);
  for (const auto make : {attention, rows, functions, products, small_products, picture, halves, integers, odds, writes,
                          numbers, large, memory_formats, scans, sorts, constants, lookup, stored, small})
    program.add(make(folder));
  program.add_checks(kChecks);
  program.write();
  for (const char* compiler : {"g++", "clang++"}) {
    if (!has_program(compiler)) continue;
    CAPTURE(compiler);
    program.build(compiler, level_flags());
    program.run();
    for (const Exported& e : program.exports()) check_bits(program, e);
  }
}

TEST_CASE("for 64-bit ARM, where there are its compiler and an emulator") {
  if (!has_program("aarch64-linux-gnu-g++") || !has_program("qemu-aarch64")) return;
  const TemporaryFolder folder;
  Program program(folder);
  // Two sources that call Eigen's pow, compiled as one unit.
  program.add(functions(folder));
  const Tensor x = wave({33}, 0.4);
  program.add(exported(folder, {.name = "power"}, {x}, {pow(abs(x), 2.5F)}));
  program.add(small_products(folder));
  program.write();
  program.build("aarch64-linux-gnu-g++", "-ffp-contract=off -static");
  program.run("qemu-aarch64");
  for (const Exported& e : program.exports()) {
    // This build rounds products and their sums once, in all functions.
    for (std::size_t o = 0; o < e.outputs.size(); ++o) check_close(program, e, o);
  }
}

TEST_CASE("on targets without vectors and with little stack") {
  const TemporaryFolder folder;
  Program program(folder);
  for (const auto make : {attention, small_products, picture, halves, integers, odds, small}) program.add(make(folder));
  program.write();
  program.build("g++", "-DEIGEN_DONT_VECTORIZE", "-Wstack-usage=16384");
  program.run();
  for (const Exported& e : program.exports()) {
    if (!e.files.needs_eigen && e.name != "small_products") {
      check_bits(program, e);
      continue;
    }
    // This build uses the C library's functions instead of Eigen's, which differ in the last place, and rounds products
    // before sums.
    for (std::size_t o = 0; o < e.outputs.size(); ++o) check_close(program, e, o);
  }
}

namespace {

Exported columns(const TemporaryFolder& folder) {
  const Tensor x = wave({40, 4096}, 0.01);
  return exported(folder, {.name = "columns"}, {x}, {sum(x, 0)});
}

}  // namespace

TEST_CASE("tiles, rows and sums lie in scratch where they are asked to, and on the stack is next to nothing") {
  const test::UncheckedPositions unchecked;
  const TemporaryFolder folder;
  Program program(folder);
  struct InScratch {
    InScratch() { tiles_in_scratch = true; }
    ~InScratch() { tiles_in_scratch = false; }
  } in_scratch;
  for (const auto make : {attention, products, small_products, picture, halves, integers, odds, writes, numbers, large,
                          memory_formats, scans, sorts, constants, stored, small, columns})
    program.add(make(folder));
  std::int64_t most = 0;
  for (const Exported& e : program.exports()) {
    CAPTURE(e.name);
    CHECK(e.files.scratch_bytes >= e.files.tile_bytes);
    if (e.files.kernels > 0) CHECK(e.files.tile_bytes > 0);
    most = std::max(most, e.files.tile_bytes);
    const std::string header = file_text(e.files.header);
    CHECK(header.find("kScratchBytes{" + std::to_string(e.files.scratch_bytes) + "};") != std::string::npos);
    CHECK(header.find("kTileBytes{" + std::to_string(e.files.tile_bytes) + "};") != std::string::npos);
  }
  CHECK(most > 16384);  // a small stack could not hold this
  program.add_checks(kChecks);
  program.write();
  for (const char* compiler : {"g++", "clang++"}) {
    if (!has_program(compiler)) continue;
    CAPTURE(compiler);
    // Clang counts the stack of Eigen's functions differently, so only GCC's number is checked.
    program.build(compiler, level_flags(), compiler == std::string("g++") ? "-Wstack-usage=2048" : "");
    program.run();
    for (const Exported& e : program.exports()) check_bits(program, e);
  }
}

}  // namespace build_test
