// Shardings as views, their movements, and what is refused.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

#include "oriel/error.hpp"
#include "oriel/shape_env.hpp"
#include "shard/collective.hpp"
#include "shard/exchange.hpp"

namespace sharding_test {

namespace {

using namespace oriel::shards;
using oriel::Ints;
using oriel::Ranges;
using oriel::Shape;

const Mesh kRows({{"rows", 4}});
const Mesh kGrid({{"rows", 2}, {"cols", 2}});

Sharding rows(const Shape& shape) {
  std::vector<AxisShards> axes(shape.size());
  axes[0].mesh_axes = {"rows"};
  return Sharding::make(kRows, shape, axes);
}

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const oriel::UserError& error) {
    return std::string(error.message());
  }
  return "no error";
}

}  // namespace

TEST_CASE("rows, replicas, halos and uneven parts in the notation of views") {
  CHECK(rows({8, 6}).str() == "(4,2,6):(12,6,1)");
  CHECK(Sharding::make(kRows, {8, 6}, {{}, {}}).str() == "(4,8,6):(0,6,1)");
  CHECK(Sharding::make(kRows, {8, 6}, {{{"rows"}, 1, 1}, {}}).str() == "(4,4,6):(12,6,1) over (10,6):(6,1)-6[1:9,0:6)");
  CHECK(rows({10}).str() == "(4,3):(3,1) over (12):(1)[0:10)");
  CHECK(Sharding::make(kGrid, {8, 6}, {{{"rows", "cols"}}, {}}).str() == "(2,2,2,6):(24,12,6,1)");
  CHECK(Sharding::make(kGrid, {8, 6}, {{{"cols"}}, {}}, {"rows"}).str() == "(2,2,4,6):(0,24,6,1)[0:1,0:2,0:4,0:6)");
}

TEST_CASE("an axis that a reshape splits or joins needs nothing") {
  const Sharding x = rows({8, 6});
  CHECK(x.reshape({2, 4, 6}).str() == x.str());
  CHECK(x.reshape({48}).str() == x.str());
  CHECK(x.reshape({2, 24}).permute({1, 0}).reshape({48}).permute({0}).str() == "(4,2,6):(12,6,1) over (2,24):(1,2)");
}

TEST_CASE("movements send nothing and compose") {
  const Sharding x = rows({8, 6});
  CHECK(x.permute({1, 0}).str() == "(4,2,6):(2,1,8)");
  CHECK(x.flip({0}).str() == "(4,2,6):(-12,-6,1)+42");
  CHECK(count(x.shrink(Ranges{{3, 8}, {0, 6}}).held(1)) == 6);
  CHECK(count(x.shrink(Ranges{{4, 8}, {0, 6}}).held(1)) == 0);
  CHECK(count(x.pad(Ranges{{1, 0}, {0, 2}}).boxes()) == 48);
  const Sharding wide = x.reshape({8, 1, 6}).expand({8, 5, 6});
  CHECK(count(wide.held(2)) == 60);
  CHECK(wide.local_count() == 12);
}

TEST_CASE("sums along a divided axis are pending, along another one they are not") {
  const Sharding x = rows({8, 6});
  CHECK(x.sum(1).str() == "(4,2,1):(2,1,0)");
  CHECK(x.sum(0).str() == "(4,1,6):(0,0,1) pending rows");
  CHECK(x.sum(0).contributions().shape() == Shape{4, 6});
  // A slice whose first part begins in its middle.
  CHECK(x.shrink(Ranges{{1, 8}, {0, 6}}).sum(0).is_pending());
}

TEST_CASE("an exchange of a program that splits, transposes and reshards is exact and of a few boxes") {
  const Sharding source = rows({8, 6}).permute({1, 0}).reshape({48});
  const Sharding target = Sharding::make(kGrid, {48}, {{{"rows", "cols"}}});
  const Exchange exchange(source, target);
  const Traffic all = traffic(exchange, {0, 1, 2, 3});
  CHECK(all.sent == 36);
  CHECK(all.messages == 12);
  CHECK(recognise(exchange, {0, 1, 2, 3}).str() == "all-to-all along rows");
  for (const Message& message : exchange.sends(0)) CHECK(message.boxes.size() <= 2);
}

TEST_CASE("each collective by its name") {
  const std::vector<std::int64_t> ranks{0, 1, 2, 3};
  const auto named = [&](const Sharding& from, const Sharding& to) { return recognise({from, to}, ranks).str(); };
  const Sharding x = rows({8, 8});
  const Sharding columns = Sharding::make(kRows, {8, 8}, {{}, {{"rows"}}});
  const Sharding everywhere = Sharding::make(kRows, {8, 8}, {{}, {}});
  const Sharding root = Sharding::make(kRows, {8, 8}, {{}, {}}, {"rows"});
  CHECK(named(x, x) == "nothing to send");
  CHECK(named(everywhere, x) == "nothing to send");
  CHECK(named(x, columns) == "all-to-all along rows");
  CHECK(named(x, everywhere) == "all-gather along rows");
  CHECK(named(root, everywhere) == "broadcast along rows");
  CHECK(named(root, columns) == "scatter along rows");
  CHECK(named(columns, root) == "gather along rows");
  CHECK(named(x, Sharding::make(kRows, {8, 8}, {{{"rows"}, 1, 1}, {}})) == "shift along rows");
  CHECK(named(rows({9, 8}).shrink(Ranges{{1, 9}, {0, 8}}), x) == "shift along rows");
  CHECK(named(x.flip({0}), x) == "exchange along rows");
  const auto reduced = [&](const Sharding& to) { return plan_reduction(rows({8, 8, 8}).sum(0), to).what.str(); };
  CHECK(reduced(x) == "reduce-scatter along rows");
  CHECK(reduced(columns) == "reduce-scatter along rows");
  CHECK(reduced(everywhere) == "all-reduce along rows");
  CHECK(reduced(root) == "reduce along rows");
  // On a grid groups lie along one axis.
  const Sharding tile = Sharding::make(kGrid, {8, 8}, {{{"rows"}}, {{"cols"}}});
  CHECK(named(tile, Sharding::make(kGrid, {8, 8}, {{{"rows"}}, {}})) == "all-gather along cols");
}

TEST_CASE("an all-reduce sends twice what a reduce-scatter sends, and no more") {
  const Sharding partial = rows({8, 12}).sum(0);
  const auto sent = [&](const Sharding& to) {
    const Reduction plan = plan_reduction(partial, to);
    return traffic(plan.contributions, {0, 1, 2, 3}).sent + traffic(plan.sums, {0, 1, 2, 3}).sent;
  };
  CHECK(sent(Sharding::make(kRows, {12}, {{{"rows"}}})) == 3 * 12);
  CHECK(sent(Sharding::make(kRows, {12}, {{}})) == 2 * 3 * 12);
  CHECK(sent(Sharding::make(kRows, {12}, {{}}, {"rows"})) == 3 * 12);
}

TEST_CASE("neither the ranks nor the extents make the plan of a stencil longer") {
  constexpr std::int64_t kSize = std::int64_t{1} << 20;
  const Mesh mesh({{"rows", 64}, {"cols", 64}});
  const Sharding tiles = Sharding::make(mesh, {kSize, kSize}, {{{"rows"}}, {{"cols"}}});
  std::vector<oriel::ShapeTracker> reads{tiles.place()};
  for (const std::int64_t axis : {0, 1}) {
    for (const std::int64_t shift : {-1, 1}) {
      Ranges padding{{0, 0}, {0, 0}};
      Ranges slice{{0, kSize}, {0, kSize}};
      const auto d = static_cast<std::size_t>(axis);
      padding[d] = shift < 0 ? oriel::Range{1, 0} : oriel::Range{0, 1};
      if (shift > 0) slice[d] = {1, kSize + 1};
      reads.push_back(tiles.place().over(oriel::ShapeTracker(tiles.shape()).pad(padding).shrink(slice)));
    }
  }
  const Exchange exchange(tiles, mesh, reads);
  const std::int64_t middle = 64 * 32 + 32;
  const std::vector<Message> sends = exchange.sends(middle);
  REQUIRE(sends.size() == 4);
  const std::int64_t neighbours[] = {middle - 64, middle - 1, middle + 1, middle + 64};
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(sends[k].peer == neighbours[k]);
    CHECK(sends[k].boxes.size() == 1);
    CHECK(sends[k].elements() == kSize / 64);
  }
  CHECK(exchange.receives(middle).size() == 4);
  CHECK(exchange.receives(0).size() == 2);
}

TEST_CASE("planning looks at the ranks that a rank talks to, however many hold the same") {
  // A thousand million ranks: rows over 1,024 of them, each row on a million.
  const Mesh mesh({{"rows", 1 << 10}, {"copies", 1 << 20}});
  const Sharding rows = Sharding::make(mesh, {1 << 20, 8}, {{{"rows"}}, {}});
  const Exchange halo(rows, Sharding::make(mesh, {1 << 20, 8}, {{{"rows"}, 1, 1}, {}}));
  const std::int64_t copies = 1 << 20;
  const std::int64_t rank = 100 * copies + 4711;
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Message> sends = halo.sends(rank);
  REQUIRE(sends.size() == 2);
  CHECK(sends[0].peer == rank - copies);
  CHECK(sends[1].peer == rank + copies);
  CHECK(halo.receives(rank).size() == 2);
  const Exchange gathered(rows, Sharding::make(mesh, {1 << 20, 8}, {{}, {}}));
  CHECK(gathered.sends(rank).size() == 1023);
  CHECK(gathered.receives(rank).size() == 1023);
  // Some milliseconds. The ranks that need the same rows are a million times as many.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

TEST_CASE("what is wrong is named, with what would do") {
  const Sharding x = rows({8, 6});
  CHECK(error_of([] { Mesh({{"a", 0}}); }) == "mesh: axis 'a' has 0 ranks; it needs at least 1");
  CHECK(error_of([] { Mesh({{"", 2}}); }) == "mesh: an axis has no name; each needs one, such as rows=4");
  CHECK(error_of([] { Mesh({{"a", 2}, {"a", 2}}); }) == "mesh: two axes are named 'a'; names must differ");
  CHECK(error_of([] { Mesh({{"a", 1 << 20}, {"b", 1 << 20}}); }).find("more than 2^31 ranks") != std::string::npos);
  CHECK(error_of([] { Sharding::make(kRows, {8}, {}); }) ==
        "shard: 0 entries for the 1 axes of (8); give one for each");
  CHECK(error_of([] { Sharding::make(kRows, {8}, {{{"cols"}}}); }) ==
        "shard: the mesh has no axis 'cols'; it is rows=4");
  CHECK(error_of([] {
          Sharding::make(kRows, {8, 6}, {{{"rows"}}, {{"rows"}}});
        }) == "shard: mesh axis 'rows' is used twice; it can divide one axis");
  CHECK(error_of([] {
          Sharding::make(kRows, {8}, {{{"rows"}, -1, 0}});
        }) == "shard: a halo of -1,0 along axis 0; its widths are at least 0");
  CHECK(error_of([] { Sharding::make(kRows, {-8}, {{}}); }) == "shard: (-8) has a negative extent");
  CHECK(error_of([&] { Exchange(x, rows({6, 8})); }) == "shard: from (8, 6) to (6, 8); both shapes must be equal");
  CHECK(error_of([&] {
          Exchange(x, Sharding::make(Mesh({{"a", 3}}), {8, 6}, {{}, {}}));
        }) == "shard: from mesh rows=4 of 4 ranks to mesh a=3 of 3; both need the same ranks");
  CHECK(error_of([&] { Exchange(x.sum(0), rows({6})); }).find("an exchange does not add") != std::string::npos);
  CHECK(error_of([&] { plan_reduction(x, x); }).find("has no partial sums") != std::string::npos);
  CHECK(error_of([&] {
          Exchange(rows({8, 5}), rows({8, 1}).expand({8, 5}));
        }).find("stores one element for the 5 positions") != std::string::npos);
  CHECK(error_of([&] { x.sum(2); }) == "sum: axis 2 of (8, 6); its axes are 0 to 1");
  // A rank's part of 12 is one row and a half of (6, 8).
  CHECK(error_of([&] { x.reshape({6, 8}).sum(1); }).find("reshard first") != std::string::npos);
  CHECK(error_of([] {
          Sharding::make(kRows, {8}, {{{"rows"}, 1, 0}}).sum(0);
        }).find("would be added twice") != std::string::npos);
  CHECK(error_of([&] {
          Exchange(x, Mesh({{"a", 3}}), {});
        }) == "shard: a reader on 3 ranks of a tensor on 4; both need the same ranks");
  CHECK(error_of([] { Sharding::make(kRows, {std::int64_t{1} << 61}, {{{"rows"}}}); }).find("exceed 2^60") !=
        std::string::npos);
  oriel::ShapeEnv environment;
  const oriel::SymInt size = environment.symbol("s0", 8);
  CHECK(error_of([&] { Sharding::make(kRows, {size}, {{{"rows"}}}); }) ==
        "shard: (s0) has symbols; shardings need numbers");
  CHECK(error_of([&] { x.reshape({7, 7}); }).find("reshape") == 0);
}

}  // namespace sharding_test
