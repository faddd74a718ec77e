#include "ranks/blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include "oriel/create.hpp"
#include "oriel/error.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "ranks/known.hpp"
#include "ranks/transport.hpp"
#include "shard/collective.hpp"

namespace oriel::ranks {
namespace {

/// FNV-1a, which is the same in every process.
std::uint64_t checksum(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

/// Copies elements within a rank.
void copy_boxes(const shards::Boxes& boxes, const std::byte* from, std::byte* to, std::size_t element) {
  const auto bytes = static_cast<std::int64_t>(element);
  for (const shards::Box& box : boxes) {
    // A loop that walks both blocks in order is one run of memory.
    shards::Box outer = box;
    std::int64_t run = 1;
    for (std::size_t k = 0; k < outer.loops.size(); ++k) {
      const shards::Loop loop = outer.loops[k];
      if (loop.step[shards::kLocal] != 1 || loop.step[shards::kOtherLocal] != 1) continue;
      run = loop.count;
      outer.loops.erase(outer.loops.begin() + k);
      break;
    }
    shards::for_each(outer, [&](const shards::Row& row) {
      std::memcpy(to + row[shards::kOtherLocal] * bytes, from + row[shards::kLocal] * bytes,
                  static_cast<std::size_t>(run * bytes));
    });
  }
}

/// An exchange of this rank, planned.
struct PlannedExchange {
  shards::Boxes kept;
  std::unique_ptr<Route> route;
  bool silent = false;  // nobody sends
};

PlannedExchange planned(const shards::Exchange& exchange, std::size_t element, const std::string& what) {
  Transport& all = transport();
  PlannedExchange plan;
  plan.kept = exchange.kept(all.rank());
  if (all.ranks() == 1) {
    plan.silent = true;
    return plan;
  }
  const std::uint64_t statement = checksum(what);
  all.agree(statement, what);
  const auto sends = exchange.sends(all.rank());
  const auto receives = exchange.receives(all.rank());
  plan.silent = sends.empty() && receives.empty();
  if (!plan.silent) plan.route = all.route(sends, receives, element, statement);
  return plan;
}

/// Plans by what they are about. Programs repeat their exchanges, so they are few; a program that never does forgets
/// them, all ranks at the same call.
constexpr std::size_t kMostPlans = 4096;
PlannedExchange& plan_for(const std::string& what, const std::function<shards::Exchange()>& exchange,
                          std::size_t element) {
  static std::map<std::string, PlannedExchange> plans;
  const auto found = plans.find(what);
  if (found != plans.end()) return found->second;
  if (plans.size() >= kMostPlans) plans.clear();
  return plans.emplace(what, planned(exchange(), element, what)).first->second;
}

template <class T>
Tensor run_plan(PlannedExchange& plan, const Tensor& local, const shards::Sharding& target) {
  const Elements<T> from = local.data<T>();
  std::vector<T> to(static_cast<std::size_t>(target.local_count()));
  const auto* const source = reinterpret_cast<const std::byte*>(from.data());
  auto* const result = reinterpret_cast<std::byte*>(to.data());
  copy_boxes(plan.kept, source, result, sizeof(T));
  if (!plan.silent) plan.route->run(source, result);
  return Tensor::from(to, target.local_shape());
}

/// Calls `f` with a value of the C++ type of the dtype.
template <class F>
auto with_type(DType dtype, const F& f) -> decltype(f(float{})) {
  switch (dtype) {
    case DType::float32:
      return f(float{});
    case DType::float64:
      return f(double{});
    case DType::int32:
      return f(std::int32_t{});
    case DType::int64:
      return f(std::int64_t{});
    default:
      throw DTypeError("shard",
                       fmt::format("{} tensors are not sent; float32, float64, int32 and int64 are", name(dtype)));
  }
}

/// One thread at a time plans and sends: MPI is started for that.
std::recursive_mutex& exchange_lock() {
  static std::recursive_mutex lock;
  return lock;
}

Tensor run_exchange(const Tensor& local, const std::string& what, const std::function<shards::Exchange()>& exchange,
                    const shards::Sharding& target) {
  const std::lock_guard guard(exchange_lock());
  return with_type(local.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::string named = fmt::format("{} {}", name(local.dtype()), what);
    return run_plan<T>(plan_for(named, exchange, sizeof(T)), local, target);
  });
}

}  // namespace

void check_dtype(DType dtype) {
  with_type(dtype, [](auto) {});
}

bool same_blocks(const shards::Sharding& a, const shards::Sharding& b) {
  return a.mesh().ranks() == b.mesh().ranks() && key_of(a) == key_of(b);
}

Tensor exchanged(const Tensor& local, const shards::Sharding& source, const shards::Sharding& target) {
  const std::string what = fmt::format("{} to {}", key_of(source), key_of(target));
  return run_exchange(
      local, what, [&] { return shards::Exchange(source, target); }, target);
}

Tensor reduced(const Tensor& local, const shards::Sharding& source, const shards::Sharding& target) {
  const std::lock_guard guard(exchange_lock());
  static std::map<std::string, shards::Reduction> plans;
  const std::string what = fmt::format("sums of {} to {}", key_of(source), key_of(target));
  auto found = plans.find(what);
  if (found == plans.end()) {
    if (plans.size() >= kMostPlans) plans.clear();
    found = plans.emplace(what, plan_reduction(source, target)).first;
  }
  const shards::Reduction& plan = found->second;
  Shape parts;
  SymInt count = 1;
  for (std::size_t k = 0; k < source.pending().size(); ++k) {
    if (!source.pending()[k]) continue;
    parts.push_back(source.mesh().axes()[k].size);
    count *= parts.back();
  }
  const shards::Sharding stacked = plan.between.stacked(parts);
  Tensor all = run_exchange(
      local, what, [&] { return plan.contributions; }, stacked);
  Shape flat{count};
  for (const SymInt extent : plan.between.local_shape()) flat.push_back(extent);
  all = reshape(all, flat);
  Tensor sum = select(all, 0, 0);
  for (std::int64_t k = 1; k < count.value(); ++k) sum = sum + select(all, 0, k);
  return exchanged(sum, plan.between, target);
}

Tensor without_gaps(const Tensor& local, const shards::Sharding& sharding) {
  const shards::Boxes held = sharding.held(transport().rank());
  if (count(held) == sharding.local_count()) return local;
  std::vector<bool> holds(static_cast<std::size_t>(sharding.local_count()));
  for (const shards::Box& box : held) {
    shards::for_each(box, [&](const shards::Row& row) { holds[static_cast<std::size_t>(row[shards::kLocal])] = true; });
  }
  return where(Tensor::from(holds, sharding.local_shape()), local, zeros_like(local));
}

}  // namespace oriel::ranks
