// Exports of entries with symbolic sizes build without Oriel, give the bits of the captured function at all sizes that
// their guards admit, and refuse others.
#include <algorithm>
#include <cstring>
#include <functional>

#include "oriel/function.hpp"
#include "symbolic_program.hpp"

namespace symbolic_test {

using namespace oriel;
using namespace oriel::test;

namespace {

Tensor ramp(const Shape& shape, double step) {
  const Tensor x = iota(shape).to(DType::float32) * step;
  return (x - floor(x * 0.125) * 8 - 3.5).realize();
}

using Sizes = std::vector<std::int64_t>;
using Checks = std::vector<std::function<void()>>;

/// Exports the function, and adds a run for each set of sizes. `inputs` gives the arguments of a call, which is `call`.
template <class F, class Inputs, class Call>
void export_runs(SymbolicProgram& program, Checks& checks, const TemporaryFolder& folder, const F& f,
                 FunctionExportOptions options, const Inputs& inputs, const Call& call,
                 const std::vector<Sizes>& sizes) {
  std::vector<Tensor> want;
  for (const Sizes& s : sizes) want.push_back(call(inputs(s)));
  options.serve = sizes;
  const std::size_t number = program.add(options.name, f.export_cpp(folder.path(), options));
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::size_t run = program.add_run(number, sizes[k], inputs(sizes[k]));
    checks.push_back([&program, number, run, x = want[k]] { program.check(number, run, {x}); });
  }
}

std::vector<Tensor> matrix(const Sizes& s) { return {ramp({s[0], s[1]}, 0.3)}; }

}  // namespace

TEST_CASE("exports of symbolic sizes give the bits of the captured function") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  Checks checks;
  const FunctionOptions open{.dynamic = Dynamic::yes, .names = {"x", "y"}};

  // Few products, blocks of the depth, segments of it, one row.
  const auto layer = function([](Tensor x, Tensor y) { return relu(matmul(x, y) + 0.5F); }, open);
  const auto two = [](const Sizes& s) {
    return std::vector<Tensor>{ramp({s[0], s[1]}, 0.37), ramp({s[1], s[2]}, 0.11)};
  };
  const auto run_layer = [&](const std::vector<Tensor>& t) { return layer(t[0], t[1]); };
  run_layer(two({5, 24, 40}));
  export_runs(program, checks, folder, layer, {.name = "layer"}, two, run_layer,
              {{2, 3, 4},
               {5, 24, 40},
               {31, 383, 37},
               {17, 384, 53},
               {17, 385, 53},
               {3, 1000, 2},
               {64, 9001, 3},
               {129, 20, 511}});

  const auto rows = function(
      [](Tensor x) {
        const Tensor p = softmax(x * 2, 1);
        return flip(p, {0}) + sum(p, 0) - mean(x, 1, true);
      },
      open);
  const auto run_rows = [&](const std::vector<Tensor>& t) { return rows(t[0]); };
  run_rows(matrix({6, 11}));
  export_runs(program, checks, folder, rows, {.name = "rows"}, matrix, run_rows,
              {{2, 2}, {3, 7}, {7, 3}, {101, 1023}, {1024, 33}, {5, 40001}, {1500, 2}});

  const auto filter = function(
      [](Tensor x) {
        const SymInt h = x.size(0), w = x.size(1);
        const Tensor right = pad(x, {{0, 0}, {1, 1}}).shrink({{0, h}, {2, w + 2}});
        return concat({right, x.flip(0) * h}, 1) + w;
      },
      open);
  const auto run_filter = [&](const std::vector<Tensor>& t) { return filter(t[0]); };
  run_filter(matrix({6, 11}));
  export_runs(program, checks, folder, filter, {.name = "filter"}, matrix, run_filter,
              {{2, 3}, {3, 7}, {64, 5}, {67, 257}});

  const auto chosen = function(
      [](Tensor x, Tensor y) {
        const Tensor at = (y * 3 + arange(y.size(0))) % x.size(0);
        return take(sort(x, 1), at, 0).to(DType::float16) / 3 + sum(at);
      },
      open);
  const auto table = [](const Sizes& s) {
    return std::vector<Tensor>{ramp({s[0], s[1]}, 0.77), (iota({s[2]}) * 7).realize()};
  };
  const auto run_chosen = [&](const std::vector<Tensor>& t) { return chosen(t[0], t[1]); };
  run_chosen(table({5, 24, 40}));
  export_runs(program, checks, folder, chosen, {.name = "chosen", .tiles_in_scratch = true}, table, run_chosen,
              {{2, 3, 4}, {37, 5, 2}, {11, 1025, 301}});

  // Sizes without a value while the function is traced: 0 and 1 are served, too.
  const auto any = function([](Tensor x) { return sum(x * x + 1, 0); }, {.dynamic = Dynamic::unbacked, .names = {"x"}});
  const auto run_any = [&](const std::vector<Tensor>& t) { return any(t[0]); };
  const auto column = [](const Sizes& s) { return matrix({s[0], 3}); };
  for (const std::int64_t n : {6, 8, 9}) run_any(column({n}));
  export_runs(program, checks, folder, any, {.name = "any", .longest_tile = 16}, column, run_any,
              {{0}, {1}, {2}, {97}, {1024}, {100003}});

  program.build_and_run();
  for (const auto& check : checks) check();
}

TEST_CASE("exports check the positions that the captured function checks") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  const FunctionOptions open{.dynamic = Dynamic::yes, .names = {"x", "at"}};
  const auto read = function([](Tensor x, Tensor at) { return take(x, at, 0) + 1; }, open);
  const auto counted = function([](Tensor x, Tensor at) { return segment_sum(x, at, 4); }, open);
  const auto unchecked = function([](Tensor x, Tensor at) { return take(x, at, 0, Bounds::zero) + 1; }, open);
  const Tensor x = ramp({6, 3}, 0.7), table = ramp({50, 3}, 0.3);
  const auto index = [](std::vector<int> list) { return Tensor::from(list, {static_cast<std::int64_t>(list.size())}); };
  const Tensor first = index({0, -1, 2, 1, 3}), most = index({49, -50, 0}), past = index({1, 50, 2, 4});
  const Tensor below = index({-51, 3, 3, 3}), groups = index({3, 0, 1, 1, 0, 2}), wrong = index({3, 0, 4, 1, 0, 2});
  read(x, first), unchecked(x, first), counted(x, groups);
  const std::size_t r = program.add("lookup", read.export_cpp(folder.path(), {.name = "lookup"}));
  unchecked.export_cpp(folder.path(), {.name = "unchecked"});
  const std::size_t c = program.add("counted", counted.export_cpp(folder.path(), {.name = "counted"}));
  program.add_run(r, {50, 3, 3}, {table, most});
  program.add_run(r, {50, 3, 4}, {table, past});
  program.add_run(r, {50, 3, 4}, {table, below});
  program.add_run(c, {6, 3}, {x, groups});
  program.add_run(c, {6, 3}, {x, wrong});
  program.build_and_run();
  program.check(r, 0, {read(table, most)});
  program.check(c, 0, {counted(x, groups)});
  for (const std::size_t run : {1, 2}) CHECK(program.run(r, run).status == "position");
  CHECK(program.run(c, 1).status == "position");
  CHECK(file_text(folder / "unchecked.cpp").find("return Status::position") == std::string::npos);
}

TEST_CASE("exports of symbolic sizes refuse sizes that break a guard, and say which") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  const auto blocks = function(
      [](Tensor x, auto k) {
        if (x.size(0) % 4 == 0) return sum(x.reshape({x.size(0) / 4, 4}), 1) * k;
        return x * k;
      },
      {.dynamic = Dynamic::yes, .names = {"x", "k"}});
  blocks(ramp({8}, 0.5), 2.0F);
  const ExportedFunction files =
      blocks.export_cpp(folder.path(), {.name = "blocks", .sizes = {"n"}, .outputs = {"sums"}});
  const std::string guard = "n % 4 == 0";
  CHECK(files.sizes == std::vector<std::string>{"n"});
  CHECK(std::ranges::find(files.guards.at(0), guard) != files.guards.at(0).end());
  CHECK(files.numbers == std::vector<std::string>{"k"});
  CHECK(files.inputs[0].shape == std::vector<std::string>{"n"});
  CHECK(files.outputs[0].name == "sums");
  CHECK(file_text(files.header).find("///   " + guard + "\n") != std::string::npos);

  const std::size_t number = program.add("blocks", files);
  const Tensor x = ramp({400}, 0.5);
  const std::size_t good = program.add_run(number, {400}, {x}, "numbers.k = 0.25f;");
  const std::size_t odd = program.add_run(number, {10}, {});
  const std::size_t one = program.add_run(number, {1}, {});
  const std::size_t none = program.add_run(number, {0}, {});
  const std::size_t large = program.add_run(number, {std::int64_t{1} << 62}, {});
  program.build_and_run("g++", "-std=c++17");
  program.check(number, good, {blocks(x, 0.25F)});
  CHECK(program.run(number, good).shape == std::vector<std::int64_t>{100});
  CHECK(program.run(number, odd).status == "blocks needs " + guard + "; n = 10 (x.size(0))");
  CHECK(program.run(number, one).status == "blocks needs n >= 8; n = 1 (x.size(0))");
  CHECK(program.run(number, none).status == "blocks needs n >= 8; n = 0 (x.size(0))");
  CHECK(program.run(number, large).status == "blocks needs sizes of values that fit a signed 64-bit integer");
  CHECK(program.run(number, odd).scratch == 0);
}

TEST_CASE("steps of an axis are exported for symbolic sizes, with the question whether they lie densely") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  const auto pairs = function(
      [](Tensor x) {
        return x.slice({{.step = 2}}) + x.slice({{1, {}, 2}});
      },
      {.dynamic = Dynamic::yes, .names = {"x"}});
  pairs(ramp({8, 3}, 0.5));
  pairs(ramp({12, 5}, 0.5));
  const std::size_t number = program.add("pairs", pairs.export_cpp(folder.path(), {.name = "pairs"}));
  const Tensor x = ramp({20, 7}, 0.5), y = ramp({6, 4}, 0.25);
  const std::size_t long_run = program.add_run(number, {20, 7}, {x}), short_run = program.add_run(number, {6, 4}, {y});
  program.build_and_run("g++", "-std=c++17");
  program.check(number, long_run, {pairs(x)});
  program.check(number, short_run, {pairs(y)});
}

TEST_CASE("an export serves sizes that no plan was made for") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  const auto layer =
      function([](Tensor x, Tensor w) { return relu(matmul(x, w)); }, {.dynamic = Dynamic::yes, .names = {"x", "w"}});
  layer(ramp({6, 4}, 0.5), ramp({4, 5}, 0.25));
  const auto softmaxes =
      function([](Tensor x) { return softmax(x, 1) + sum(x, 0); }, {.dynamic = Dynamic::yes, .names = {"x"}});
  softmaxes(ramp({6, 5}, 0.5));
  const std::size_t products = program.add("layer", layer.export_cpp(folder.path(), {.name = "layer"}));
  const std::size_t small = program.add(
      "small", layer.export_cpp(folder.path(), {.name = "small", .longest_tile = 32, .tiles_in_scratch = true}));
  const std::size_t rows = program.add("rows", softmaxes.export_cpp(folder.path(), {.name = "rows"}));
  const std::vector<Sizes> sizes = {{2, 2, 3},    {64, 64, 65},    {7, 385, 101}, {2, 3000, 9},
                                    {300, 40, 3}, {129, 800, 257}, {3, 20000, 3}};
  std::vector<std::pair<Tensor, Tensor>> operands;
  for (const Sizes& s : sizes) {
    const auto& [x, w] = operands.emplace_back(ramp({s[0], s[1]}, 0.37), ramp({s[1], s[2]}, 0.11));
    program.add_run(products, s, {x, w});
    program.add_run(small, s, {x, w});
    program.add_run(rows, {s[0], s[1]}, {x});
  }
  program.build_and_run("g++", "-std=c++17");
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const auto& [x, w] = operands[k];
    CAPTURE(k);
    program.check(products, k, {layer(x, w)});
    program.check(small, k, {layer(x, w)});
    program.check(rows, k, {softmaxes(x)});
  }
}

TEST_CASE("an export serves squares, few rows and odd sizes, whatever sizes were met") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  Checks checks;
  const FunctionOptions open{.dynamic = Dynamic::yes, .names = {"x", "y"}};
  const auto one = [](const Sizes& s) { return std::vector<Tensor>{ramp(Shape(s.begin(), s.end()), 0.3)}; };
  const auto of_one = [](const auto& f, const std::vector<Tensor>& t) { return f(t[0]); };
  const auto of_two = [](const auto& f, const std::vector<Tensor>& t) { return f(t[0], t[1]); };
  const auto add = [&](const char* name, const auto& f, const auto& of, const Sizes& met,
                       const std::vector<Sizes>& sizes, const auto& inputs) {
    const auto call = [&](const std::vector<Tensor>& t) { return of(f, t); };
    call(inputs(met));
    const ExportedFunction files = f.export_cpp(folder.path(), {.name = name});
    const std::size_t number = program.add(name, files);
    for (const Sizes& s : sizes) {
      const std::size_t run = program.add_run(number, s, inputs(s));
      checks.push_back([&program, number, run, want = call(inputs(s))] { program.check(number, run, {want}); });
    }
    return files.guards.back().size();  // of the plan that asks least
  };

  const auto turned = function([](Tensor x) { return x.transpose(0, 1).contiguous() + 1.0F; }, open);
  CHECK(add("turned", turned, of_one, {40, 30}, {{7, 7}, {3, 90}}, one) == 0);
  const auto norm = function([](Tensor x) { return layer_norm(x, {1}); }, open);
  CHECK(add("norm", norm, of_one, {40, 30}, {{5, 4}, {2, 300}}, one) == 0);
  // Odd heights and widths lose their last row and column, which makes other views.
  const auto pool = function([](Tensor x) { return avg_pool2d(x, {2, 2}); }, open);
  add("pool", pool, of_one, {2, 3, 40, 30}, {{2, 3, 41, 30}, {3, 2, 40, 31}, {2, 2, 7, 7}, {2, 3, 16, 16}}, one);

  // Neighbours along two axes, beyond whose edges is 0, the other end or a mirror. Of two rows a roll moves one, which
  // it asks.
  const auto heat = function(
      [](Tensor x) {
        const Tensor p = pad(x, {{1, 1}, {1, 1}});
        const auto at = [&](int i, int j) { return p.slice({{i, x.size(0) + i}, {j, x.size(1) + j}}); };
        return x + 0.1F * (at(0, 1) + at(2, 1) + at(1, 0) + at(1, 2) - 4 * x);
      },
      open);
  CHECK(add("heat", heat, of_one, {40, 30}, {{7, 7}, {2, 90}, {300, 3}}, one) == 0);
  const auto rolled = function([](Tensor x) { return x + roll(x, {1, -2}, {0, 1}) * 0.5F; }, open);
  CHECK(add("rolled", rolled, of_one, {40, 30}, {{7, 7}, {3, 90}, {300, 3}}, one) <= 1);
  const auto mirrored = function([](Tensor x) { return pad(x, {{1, 2}, {2, 1}}, PadMode::reflect); }, open);
  add("mirrored", mirrored, of_one, {40, 30}, {{7, 7}, {4, 90}, {300, 5}}, one);

  const auto product = function([](Tensor x, Tensor y) { return matmul(x, y); }, open);
  const auto factors = [](const Sizes& s) {
    return std::vector<Tensor>{ramp({s[0], s[1]}, 0.37), ramp({s[1], s[2]}, 0.11)};
  };
  CHECK(add("product", product, of_two, {50, 70, 33}, {{3, 4, 4}, {70, 70, 70}, {2, 9, 300}}, factors) == 0);
  const auto gram = function([](Tensor x, Tensor y) { return matmul(x, x.transpose(0, 1)) + sum(y); }, open);
  const auto both = [](const Sizes& s) {
    return std::vector<Tensor>{ramp({s[0], s[1]}, 0.37), ramp({s[2], s[3]}, 0.11)};
  };
  CHECK(add("gram", gram, of_two, {40, 30, 3, 5}, {{6, 9, 6, 9}, {2, 2, 2, 2}, {5, 70, 30, 40}}, both) == 0);

  program.build_and_run();
  for (const auto& check : checks) check();
}

TEST_CASE("attention is exported as one kernel, whatever sizes were met") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  const auto attention = [](Tensor q, Tensor k, Tensor v) {
    return matmul(softmax(matmul(q, k.transpose()) * 0.25F), v);
  };
  const FunctionOptions open{.dynamic = Dynamic::yes, .names = {"q", "k", "v"}};
  const auto f = function(attention, open), met = function(attention, open);
  const auto heads = [](const Sizes& s) {
    return std::vector<Tensor>{ramp({s[0], s[1], 16}, 0.37), ramp({s[0], s[2], 16}, 0.11), ramp({s[0], s[2], 16}, 0.3)};
  };
  const auto call = [&](const auto& function, const Sizes& s) {
    const std::vector<Tensor> t = heads(s);
    return function(t[0], t[1], t[2]);
  };
  call(f, {3, 70, 96});
  for (const Sizes& s : std::vector<Sizes>{{3, 70, 96}, {2, 300, 33}, {5, 8, 900}, {4, 513, 64}}) call(met, s);
  const ExportedFunction files = f.export_cpp(folder.path(), {.name = "attention"});
  const std::string source = file_text(files.source);
  CHECK(file_text(met.export_cpp(folder.path(), {.name = "attention"}).source) == source);
  CHECK(source.find("parts that run for some rows at a time") != std::string::npos);
  CHECK(export_cpp({call(attention, {3, 70, 96})}, folder.path(), {.name = "fixed"}).kernels == 1);
  const std::size_t number = program.add("attention", files);
  const std::size_t small = program.add(
      "small", f.export_cpp(folder.path(), {.name = "small", .longest_tile = 32, .tiles_in_scratch = true}));
  const std::vector<Sizes> sizes = {{3, 70, 96}, {2, 300, 33}, {2, 520, 64}, {4, 9, 130}};
  REQUIRE(files.sizes.size() == 4);
  for (const Sizes& s : sizes)
    for (const std::size_t which : {number, small}) program.add_run(which, {s[0], s[1], 16, s[2]}, heads(s));
  program.build_and_run();
  // The engine adds the weights of a row in another order, block by block.
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const std::vector<float> want = call(attention, sizes[k]).to_vector<float>();
    for (const std::size_t which : {number, small}) {
      CHECK(program.run(which, k).status == "ok");
      const std::vector<unsigned char> bytes = program.result(which, k, 0);
      std::vector<float> got(want.size());
      REQUIRE(bytes.size() == got.size() * sizeof(float));
      std::memcpy(got.data(), bytes.data(), bytes.size());
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-5));
    }
  }
}

TEST_CASE("exports of symbolic sizes need the scratch memory that the memory plan says") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  const auto work = [](const Tensor& x, const Tensor& y) {
    const Tensor a = matmul(x, y), b = matmul(a, x), c = matmul(b, y);
    return flip(matmul(c.transpose(), a), {0}) + sum(b);
  };
  const auto f = function(
      [](Tensor x, Tensor y) {
        const Tensor a = matmul(x, y), b = matmul(a, x), c = matmul(b, y);
        return flip(matmul(c.transpose(), a), {0}) + sum(b);
      },
      {.dynamic = Dynamic::yes, .names = {"x", "y"}});
  f(ramp({30, 40}, 0.5), ramp({40, 30}, 0.25));
  const std::size_t number =
      program.add("products", f.export_cpp(folder.path(), {.name = "products", .serve = {{64, 64}, {200, 20}}}));
  std::vector<std::int64_t> scratch;
  std::vector<Tensor> want;
  for (const auto& [m, n] : {std::pair{30, 40}, {200, 20}, {17, 300}, {64, 64}}) {
    const Tensor x = ramp({m, n}, 0.5), y = ramp({n, m}, 0.25);
    program.add_run(number, {m, n}, {x, y});
    scratch.push_back(export_cpp({work(x, y)}, folder.path(), {.name = "fixed"}).scratch_bytes);
    want.push_back(f(x, y));
  }
  CHECK(scratch[0] != scratch[1]);
  program.build_and_run();
  for (std::size_t k = 0; k < scratch.size(); ++k) {
    // Symbols that are equal by chance do not let a value reuse the memory of another.
    if (k + 1 == scratch.size()) {
      CHECK(program.run(number, k).scratch > scratch[k]);
    } else {
      CHECK(program.run(number, k).scratch == scratch[k]);
    }
    program.check(number, k, {want[k]});
  }
}

TEST_CASE("exports of symbolic sizes write arguments to outputs, copy inputs, and take views and constants") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  const auto f = function(
      [](Tensor x, Tensor y, auto k) {
        y += x * k;
        return std::tuple(x, y, x.flip(), y * Tensor::of<float>({1, 2, 4}));
      },
      {.dynamic = Dynamic::yes, .names = {"x", "y", "k"}});
  const auto call = [&](std::int64_t n) {
    Tensor x = ramp({n, 3}, 0.5), y = ramp({n, 3}, 0.25);
    return std::pair(f(x, y, 3.0), y);
  };
  call(5);
  const ExportedFunction files = f.export_cpp(folder.path(), {.name = "written", .outputs = {"a", "b", "c", "d", "y"}});
  const std::size_t number = program.add("written", files);
  for (const std::int64_t n : {2, 301}) {
    const auto [results, y] = call(n);
    const std::size_t run = program.add_run(number, {n, 3}, {ramp({n, 3}, 0.5), ramp({n, 3}, 0.25)}, "numbers.k = 3;");
    static_cast<void>(run);
  }
  // Results that no kernel computes: the argument, and a view of it.
  const auto views = function([](Tensor x) { return std::pair(x, slice(x.reshape({-1}), {{1}}).flip(0)); },
                              {.dynamic = Dynamic::yes, .names = {"x"}});
  views(ramp({6, 5}, 0.5));
  const std::size_t seen = program.add("views", views.export_cpp(folder.path(), {.name = "views"}));
  const Tensor whole = ramp({33, 7}, 0.5);
  program.add_run(seen, {33, 7}, {whole});
  // A batch of an array: where it starts is a size of the call, too.
  const auto batch = function([](Tensor x) { return x * 2; }, {.dynamic = Dynamic::yes, .names = {"x"}});
  const Tensor all = ramp({40, 5}, 0.5);
  batch(slice(all, {{3, 11}}));
  const ExportedFunction slices = batch.export_cpp(folder.path(), {.name = "batch"});
  CHECK(slices.sizes.size() == 4);
  program.build_and_run();
  program.check(seen, 0, {whole, views(whole).second});
  for (std::size_t k = 0; k < 2; ++k) {
    const auto [results, y] = call(k == 0 ? 2 : 301);
    program.check(number, k,
                  {std::get<0>(results), std::get<1>(results), std::get<2>(results), std::get<3>(results), y});
  }
}

TEST_CASE("views of one result are exported in its dtype, and names stay in their comments") {
  const TemporaryFolder folder;
  SymbolicProgram program(folder);
  const auto f = function(
      [](Tensor x) {
        const Tensor m = sum(x, 1);
        return std::tuple(m.unsqueeze(1), m, m.unsqueeze(0).unsqueeze(0));
      },
      {.dynamic = Dynamic::yes, .names = {"x\nint injected = 1;"}});
  f(ramp({5, 4}, 0.5));
  const ExportedFunction files = f.export_cpp(folder.path(), {.name = "sums"});
  for (const ExportedArgument& output : files.outputs) CHECK(output.dtype == DType::float32);
  CHECK(file_text(files.header).find("\nint injected") == std::string::npos);
  CHECK(file_text(files.source).find("\nint injected") == std::string::npos);
  const std::size_t number = program.add("sums", files);
  const Tensor x = ramp({7, 3}, 0.5);
  const std::size_t run = program.add_run(number, {7, 3}, {x});
  program.build_and_run();
  const auto [column, row, deep] = f(x);
  program.check(number, run, {column, row, deep});
}

}  // namespace symbolic_test
