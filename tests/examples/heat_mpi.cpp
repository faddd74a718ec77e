// Heat on a plate with cold edges, on as many processes as mpirun starts:
//
//   mpirun -n 4 build/tests/ranks/heat_mpi 256 100
//
// Each process holds some rows. Before a step they send each other their border rows, because the slices need them.
#include <oriel/create.hpp>
#include <oriel/shard.hpp>

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
  using namespace oriel;
  const std::int64_t n = count > 1 ? std::atoll(arguments[1]) : 256;
  const int steps = count > 2 ? std::atoi(arguments[2]) : 100;
  const Mesh mesh({{"rows", rank_count()}});

  const Tensor x = arange(n).to(DType::float64) / static_cast<double>(n);
  const Tensor start = x.reshape({n, 1}) * (1 - x.reshape({n, 1})) * x.reshape({1, n});
  Sharded u = shard(start, mesh, {"rows", ""});
  const auto inner = [n](const Sharded& plate, std::int64_t down, std::int64_t right) {
    return plate.shrink({{1 + down, n - 1 + down}, {1 + right, n - 1 + right}});
  };
  for (int step = 0; step < steps; ++step) {
    const auto next = [](const Tensor& c, const Tensor& up, const Tensor& down, const Tensor& left,
                         const Tensor& right) { return c + 0.2 * (up + down + left + right - 4.0 * c); };
    u = elementwise(next, inner(u, 0, 0), inner(u, -1, 0), inner(u, 1, 0), inner(u, 0, -1), inner(u, 0, 1))
            .pad({{1, 1}, {1, 1}});
  }
  const double heat = u.sum(0).sum(0).gather().item<double>();
  const Tensor plate = u.gather();
  if (rank() == 0) {
    std::printf("heat %.17g\n", heat);
    for (const double value : plate.data<double>()) std::printf("%a\n", value);
  }
}
