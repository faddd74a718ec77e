// What each rank of ranks_check.py runs: `values` compares results on sharded tensors with the same on whole ones; the
// others are programs with a fault on rank 1.
#include <oriel/create.hpp>
#include <oriel/error.hpp>
#include <oriel/movement.hpp>
#include <oriel/ops.hpp>
#include <oriel/products.hpp>
#include <oriel/reduce.hpp>
#include <oriel/shard.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace oriel;

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "rank %d of %d: %s\n", static_cast<int>(rank()), static_cast<int>(rank_count()), what);
  ++failures;
}

template <class T>
bool equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() &&
         a.to(dtype_of<T>).template to_vector<T>() == b.to(dtype_of<T>).template to_vector<T>();
}

template <class T>
void check_values() {
  const Mesh mesh({{"rows", rank_count()}});
  const bool grid = rank_count() % 2 == 0;
  const Mesh square = grid ? Mesh({{"a", 2}, {"b", rank_count() / 2}}) : mesh;
  const Tensor x = (arange(7 * 10) * 37 % 64).to(dtype_of<T>).reshape({7, 10});
  const Sharded s = shard(x, mesh, {"rows", ""});
  expect(equal<T>(s.gather(), x), "gathers what was divided");
  expect(equal<T>(s.to(mesh, {"", "rows"}).gather(), x), "rows to columns");
  expect(equal<T>(s.to(square, {square.axes[0].name, grid ? "b" : ""}).gather(), x), "another mesh");
  expect(equal<T>(s.permute({1, 0}).gather(), transpose(x)), "transposed");
  expect(equal<T>(s.reshape({10, 7}).to(mesh, {"rows", ""}).gather(), x.reshape({10, 7})), "reshaped across parts");
  expect(equal<T>(s.flip({0, 1}).gather(), flip(x, Axes{0, 1})), "flipped");
  const Tensor slice = shrink(x, Ranges{{1, 6}, {2, 9}});
  expect(equal<T>(s.shrink({{1, 6}, {2, 9}}).gather(), slice), "sliced");
  expect(equal<T>(s.shrink({{1, 6}, {2, 9}}).pad({{2, 1}, {0, 3}}).gather(), pad(slice, Ranges{{2, 1}, {0, 3}})),
         "padded");
  // Where no rank holds an element, it is zero, also for functions of it.
  const auto plus_one = [](const Tensor& one) { return one + 1; };
  const Tensor padded = pad(x, Ranges{{1, 1}, {0, 0}});
  expect(equal<T>(elementwise(plus_one, s.pad({{1, 1}, {0, 0}})).gather(), padded + 1), "a function of padding");
  expect(
      equal<T>((s.pad({{1, 1}, {0, 0}}) + shard(padded, square, {"", square.axes[0].name})).gather(), padded + padded),
      "operands on two meshes");
  expect(equal<T>((s - s.flip({0})).gather(), x - flip(x, Axes{0})), "an operand from other ranks");
  expect(equal<T>(s.sum(1).gather(), sum(x, Axes(1))), "sums within a rank");
  expect(equal<T>(s.sum(0).gather(), sum(x, Axes(0))), "sums across ranks");
  expect(equal<T>((s.sum(0) + shard(x, mesh, {"rows", ""}).sum(0)).gather(), sum(x, Axes(0)) * 2),
         "partial sums in an operation");
  expect(equal<T>(s.sum(0).to(mesh, {"rows"}).gather(), sum(x, Axes(0))), "sums to their owners");
  expect(equal<T>(s.shrink({{1, 6}, {2, 9}}).sum(0).gather(), sum(slice, Axes(0))), "sums of a slice");
  expect(equal<T>(s.sum(0).sum(0).gather(), sum(x)), "the sum of all");
}

/// Products in tiles, and with the summed axis divided.
void check_products() {
  const Mesh mesh(
      {{"a", rank_count() % 2 == 0 ? 2 : 1}, {"b", rank_count() % 2 == 0 ? rank_count() / 2 : rank_count()}});
  const Tensor x = (arange(7 * 5) * 11 % 16).to(DType::float64).reshape({7, 5});
  const Tensor w = (arange(5 * 9) * 7 % 16).to(DType::float64).reshape({5, 9});
  const Sharded rows = shard(x, mesh, {"a", ""});
  const Sharded columns = shard(w, mesh, {"", "b"});
  const Tensor product = matmul(x, w);
  expect(equal<double>(matmul(rows, columns, mesh, {"a", "b"}).gather(), product), "a product in tiles");
  expect(equal<double>(
             matmul(columns.to(mesh, {"b", ""}).permute({1, 0}), rows.permute({1, 0}), mesh, {"b", "a"}).gather(),
             transpose(product)),
         "a product of transposed operands");
  expect(equal<double>(matmul(rows, columns, mesh, {"a", ""}, "b").gather(), product),
         "a product with its sum divided");
  // Two layers: the first one's columns are divided, so the second one's sum is.
  const auto relu = [](const Tensor& t) { return maximum(t, 0); };
  const Tensor back = transpose(w);
  const Sharded hidden =
      elementwise(relu, matmul(rows, columns, mesh, {"a", "b"}) + matmul(rows, columns, mesh, {"a", "b"}));
  expect(equal<double>(matmul(hidden, shard(back, mesh, {"b", ""}), mesh, {"a", ""}, "b").gather(),
                       matmul(product + product, back)),
         "two layers");
}

std::int64_t axes_of(const Tensor& x) { return static_cast<std::int64_t>(x.shape().size()); }

/// Random movements, reshardings and sums, the same on each rank, beside those of the whole tensor.
void check_random(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(n));
  };
  const Mesh line({{"r", rank_count()}});
  const Mesh grid(
      {{"a", rank_count() % 2 == 0 ? 2 : 1}, {"b", rank_count() % 2 == 0 ? rank_count() / 2 : rank_count()}});
  const std::int64_t n = 1 + below(8);
  const std::int64_t m = 1 + below(8);
  Tensor whole = (arange(n * m) * 29 % 97).to(DType::int64).reshape({n, m});
  const auto names = [&](const Mesh& mesh, std::size_t axes) {
    std::vector<std::string> result(axes);
    for (const MeshAxis& axis : mesh.axes) {
      const auto d = static_cast<std::size_t>(below(static_cast<std::int64_t>(axes)));
      if (result[d].empty() && below(4) > 0) result[d] = axis.name;
    }
    return result;
  };
  Sharded parts = shard(whole, line, names(line, 2));
  for (int step = 0; step < 6 && axes_of(whole) > 0; ++step) {
    const auto axes = static_cast<std::size_t>(axes_of(whole));
    const std::int64_t axis = below(axes_of(whole));
    Ranges ranges;
    switch (below(7)) {
      case 0: {
        Ints order;
        for (std::size_t d = axes; d-- > 0;) order.push_back(static_cast<std::int64_t>(d));
        whole = permute(whole, order);
        parts = parts.permute(order);
        break;
      }
      case 1: {
        const Shape flat = below(2) == 0 ? Shape{whole.numel()} : Shape{1, whole.numel()};
        whole = whole.reshape(flat);
        parts = parts.reshape(flat);
        break;
      }
      case 2:
        whole = flip(whole, Axes(axis));
        parts = parts.flip({axis});
        break;
      case 3:
        for (std::size_t d = 0; d < axes; ++d) {
          const std::int64_t first = below(whole.extent(static_cast<std::int64_t>(d)) + 1) / 2;
          ranges.push_back({first, whole.size(static_cast<std::int64_t>(d))});
        }
        whole = shrink(whole, ranges);
        parts = parts.shrink(ranges);
        break;
      case 4:
        for (std::size_t d = 0; d < axes; ++d) ranges.push_back({below(3), below(3)});
        whole = pad(whole, ranges);
        parts = parts.pad(ranges);
        break;
      case 5: {
        const Mesh& mesh = below(2) == 0 ? line : grid;
        parts = parts.to(mesh, names(mesh, axes));
        break;
      }
      default:
        whole = whole + flip(whole, Axes(axis)) * 2;
        parts = parts + 2. * parts.flip({axis}).to(line, names(line, axes));
        whole = whole.to(DType::int64);
        parts = elementwise([](const Tensor& t) { return t.to(DType::int64); }, parts);
    }
    if (step == 3) {
      try {
        parts = parts.sum(static_cast<std::size_t>(axis % axes_of(whole)));
        whole = sum(whole, Axes(axis % axes_of(whole)));
      } catch (const ShapeError&) {
        // a rank's part is a piece of several rows
      }
    }
  }
  if (!equal<std::int64_t>(parts.gather(), whole)) {
    expect(false, ("random program of seed " + std::to_string(seed) + ", placed as " + parts.placement()).c_str());
  }
}

template <class Call>
void expect_error(const Call& call, const std::string& part) {
  try {
    call();
    expect(false, ("no error: " + part).c_str());
  } catch (const Error& error) {
    if (std::string(error.message()).find(part) == std::string::npos) {
      expect(false, (std::string(error.message()) + ", not: " + part).c_str());
    }
  }
}

int values() {
  check_values<float>();
  check_values<double>();
  check_values<std::int32_t>();
  check_values<std::int64_t>();
  check_products();
  for (std::uint32_t seed = 1; seed <= 60; ++seed) check_random(seed);
  const Mesh mesh({{"rows", rank_count()}});
  // Sums of floats within a rank have the same bits as on one rank.
  const Tensor x = sin(arange(6 * 1000).to(DType::float32)).reshape({6, 1000});
  expect(equal<float>(shard(x, mesh, {"rows", ""}).sum(1).gather(), sum(x, Axes(1))), "bits of sums within a rank");
  expect_error(
      [] {
        (void)shard(zeros({4}), Mesh({{"rows", 64}}), {"rows"});
      },
      "mesh rows=64 has 64 ranks and this program ");
  expect_error([&] { (void)(shard(zeros({4}), mesh, {"rows"}) + shard(zeros({5}), mesh, {"rows"})); },
               "operands of shapes (4) and (5)");
  expect_error([&] { (void)shard(zeros({4}, DType::bool_), mesh, {"rows"}); }, "bool tensors are not sent");
  expect_error(
      [&] {
        (void)matmul(shard(zeros({4, 3}), mesh, {"", ""}), shard(zeros({4, 3}), mesh, {"", ""}), mesh, {"", ""});
      },
      "it takes matrices (n, k) and (k, m)");
  expect_error(
      [&] {
        (void)matmul(shard(zeros({4, 4}), mesh, {"", ""}), shard(zeros({4, 4}), mesh, {"", ""}), mesh, {""});
      },
      "1 names for the two axes");
  expect_error([&] { (void)shard(zeros({4}), mesh, {"cols"}); }, "the mesh has no axis 'cols'");
  return failures == 0 ? 0 : 1;
}

/// Rank 1 does something else than the others.
int fault(const std::function<void()>& on_rank_1) {
  const Mesh mesh({{"rows", rank_count()}});
  const Sharded x = shard(arange(64).to(DType::float32), mesh, {"rows"});
  expect(equal<float>(x.gather(), arange(64).to(DType::float32)), "gathers before the fault");
  if (rank() == 1) on_rank_1();
  (void)x.flip({0}).to(mesh, {"rows"}).gather();
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "values";
  try {
    if (mode == "values") return values();
    if (mode == "two_ranks") {
      (void)shard(zeros({4}), Mesh({{"rows", 2}}), {"rows"});
      return 0;
    }
    if (mode == "dies") return fault([] { std::abort(); });
    if (mode == "late") return fault([] { std::this_thread::sleep_for(std::chrono::seconds(100)); });
    if (mode == "leaves") return fault([] { std::exit(0); });
    if (mode == "late_again") {
      // The exchange is known, so nothing is compared any more: the message itself is missing.
      const Mesh mesh({{"rows", rank_count()}});
      const Sharded x = shard(arange(64).to(DType::float32), mesh, {"rows"});
      (void)x.flip({0}).to(mesh, {"rows"});
      return fault([] { std::this_thread::sleep_for(std::chrono::seconds(100)); });
    }
    if (mode == "other_shape") {
      return fault([] {
        const Mesh mesh({{"rows", rank_count()}});
        (void)shard(arange(60).to(DType::float32), mesh, {"rows"}).flip({0}).to(mesh, {"rows"});
      });
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "rank %d: %s\n", static_cast<int>(rank()), error.what());
    return 1;
  }
  std::fprintf(stderr, "unknown mode %s\n", mode.c_str());
  return 2;
}
