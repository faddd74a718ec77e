// Where writes go: to the same memory if nothing still reads the old elements, otherwise to new memory, and nowhere if
// the work fails.
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>

#include "formula/call.hpp"
#include "memory/host.hpp"
#include "oriel/debug.hpp"
#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"
#include "support/counted.hpp"
#include "support/failing.hpp"

namespace in_place_test {

using namespace oriel;
using test::counted;
using test::Failing;
using Floats = std::vector<float>;

namespace {

Floats values(const Tensor& x) { return x.to_vector<float>(); }
const void* address(const Tensor& x) {
  x.realize();
  return detail::Access::node(x)->buffer->data();
}
std::uint64_t version(const Tensor& x) {
  x.realize();
  return detail::Access::node(x)->buffer->version();
}
std::string where(const Tensor& x) {
  std::string text;
  for (const ExplainedKernel& k : explain(x).kernels)
    for (const ExplainedOutput& o : k.outputs) text += o.where + ";";
  return text;
}
}  // namespace

TEST_CASE("memory that nothing else reads is overwritten") {
  Tensor x = counted({1000});
  const void* at = address(x);
  const std::size_t live = mem::host_allocator()->statistics().live;
  mem::host_allocator()->reset_peak();
  x += 1;
  CHECK(where(x) == "in place of %0;");
  x.realize();
  x.shrink({{10, 20}}) *= 2;
  CHECK(where(x) == "in place of %0;");
  CHECK(address(x) == at);
  CHECK(version(x) == 2);
  CHECK(mem::host_allocator()->statistics().peak == live);
  CHECK(values(x)[9] == 10);
  CHECK(values(x)[10] == 22);
}

TEST_CASE("a chain of writes stays in one memory") {
  Tensor x = counted({64});
  const void* at = address(x);
  x.shrink({{0, 8}}).assign(1);
  x.shrink({{4, 12}}) += 5;
  x *= 2;
  x.select(0, 63).assign(-1);
  CHECK(address(x) == at);
  CHECK(values(x)[3] == 2);
  CHECK(values(x)[4] == 12);
  CHECK(values(x)[8] == 26);
  CHECK(values(x)[63] == -1);
}

TEST_CASE("a part is written over a write of all in the memory of both") {
  Tensor x = counted({60});
  const void* at = address(x);
  x *= 2;
  x.slice({{.step = 2}}) += 1;  // also needs the products, which the first write stores elsewhere
  CHECK(where(x) == ";in place of %0, its value put aside first;in place of %0, its value put aside first;");
  CHECK(address(x) == at);
  CHECK(values(x)[3] == 6);
  CHECK(values(x)[4] == 9);
}

TEST_CASE("a reader in the same work comes first, and nothing is copied") {
  Tensor x = counted({100});
  const void* at = address(x);
  const Tensor before = sum(x * 2);
  x.shrink({{0, 50}}).assign(0);
  realize({before, x});
  CHECK(address(x) == at);
  CHECK(before.item<float>() == 9900);
  CHECK(sum(x).item<float>() == 3725);
}

TEST_CASE("a reader that would share the kernel of the write gets its own, and runs first") {
  Tensor x = counted({100});
  const void* at = address(x);
  const Tensor before = x.flip() * 2;
  x += 1;
  const Explanation plan = explain({before, x});
  REQUIRE(plan.kernels.size() == 2);
  CHECK(plan.kernels[1].outputs[0].where == "in place of %0");
  realize({before, x});
  CHECK(address(x) == at);
  CHECK(values(before)[0] == 198);
  CHECK(values(x)[99] == 100);

  // A value that reads what the write reads stays in the write's kernel; splitting the kernel would gain nothing.
  const Tensor beside = x * 2;
  x += 1;
  CHECK(explain({beside, x}).kernels.size() == 1);
  realize({beside, x});
  CHECK(address(x) == at);
  const Tensor turned = x.flip() * 2;
  x.assign(x.flip() + 1);
  CHECK(explain({turned, x}).kernels.size() == 1);
  realize({turned, x});
  CHECK(address(x) != at);
  CHECK(values(turned)[0] == 202);
  CHECK(values(x)[0] == 102);
}

TEST_CASE("an old reader that still waits keeps the old elements") {
  Tensor x = counted({4});
  const void* at = address(x);
  const Tensor before = x * 2;
  x += 1;
  CHECK(where(x) == "not in place: %0 can still be read from elsewhere;");
  CHECK(address(x) != at);
  CHECK(values(before) == Floats{0, 2, 4, 6});
  CHECK(values(x) == Floats{1, 2, 3, 4});
}

TEST_CASE("a held value that the write needs anyway is kept, and reads before it") {
  Tensor x = counted({1000});
  const void* at = address(x);
  const Tensor step = exp(x * 0.001F);
  x -= step * 0.5F;
  CHECK(where(x) == "in place of %0;;");
  CHECK(explain(x).str().find(
            "because a tensor still names it, and a write of this work overwrites elements that it reads") !=
        std::string::npos);
  CHECK_FALSE(step.realized());
  CHECK(address(x) == at);
  CHECK(step.realized());
  CHECK(values(x)[0] == -0.5F);
  CHECK(values(step)[0] == 1);

  // `second` reads `first`, and the write to a part reads `second`.
  const Tensor first = x.shrink({{0, 500}}) + 0.5F, second = first * 2;
  x.shrink({{0, 500}}).assign(second * 2);
  CHECK(address(x) == at);
  CHECK(first.realized());
  CHECK_FALSE(second.realized());  // it reads the first one and no longer x
  CHECK(values(first)[0] == 0);
  CHECK(values(x)[1] == values(first)[1] * 4);
  CHECK(values(second)[1] == values(first)[1] * 2);
}

TEST_CASE("a held value stays lazy where it is larger than what is written, or only a part of it is needed") {
  Tensor x = counted({40});
  const Tensor table = x.reshape({40, 1}) * counted({1, 2});
  x += sum(table, 1);
  CHECK(where(x) == "not in place: %0 is still read by pending tensors that the program holds; realise them first;");
  x.realize();
  CHECK_FALSE(table.realized());
  const Tensor powers = exp(x * 0.01F);
  x.select(0, 3).assign(powers.select(0, 5));
  CHECK(where(x).find("is still read by pending tensors that the program holds") != std::string::npos);
  x.realize();
  CHECK_FALSE(powers.realized());
  CHECK(values(x)[2] == 4);
  CHECK(values(x)[3] == values(powers)[5]);
  CHECK(values(table)[79] == 39);
}

TEST_CASE("a result that needs the old and the new elements makes the write go elsewhere") {
  Tensor x = counted({4});
  Tensor both;
  {
    const Tensor old = x.flip() + 0.5F;
    x.select(0, 0).assign(9);
    both = x + old;
  }
  CHECK(explain(both).str().find("not in place: %0 is read after the write") != std::string::npos);
  CHECK(values(both) == Floats{12.5F, 3.5F, 3.5F, 3.5F});
  CHECK(values(x) == Floats{9, 1, 2, 3});
}

TEST_CASE("a write that reads elsewhere in what it changes puts its value aside") {
  Tensor x = counted({6});
  const void* at = address(x);
  x.shrink({{1, 6}}).assign(x.shrink({{0, 5}}) * 1.5F);
  CHECK(where(x) == ";in place of %0, its value put aside first;");
  CHECK(address(x) == at);
  x.assign(x.flip());
  CHECK(where(x) == "not in place: one point of its kernel reads an element of %0 that another point overwrites;");
  x.realize();
  x.shrink({{0, 3}}).assign(x.shrink({{3, 6}}));  // the parts are disjoint, so nothing is copied first
  CHECK(where(x) == "in place of %0;");
  CHECK(values(x) == Floats{1.5F, 0, 0, 1.5F, 0, 0});
}

TEST_CASE("a row is read and replaced in one kernel, at every size and in halves") {
  for (const DType dtype : {DType::float32, DType::float16}) {
    for (const auto& [rows, columns] : {std::pair{3, 5}, {64, 64}, {300, 1000}, {2, 200'000}, {5000, 4}}) {
      const Tensor data = sin(iota({rows, columns})).to(dtype).realize();
      const auto want = softmax(data, 1).to(DType::float32).to_vector<float>();
      Tensor x = +data;
      x = (x * 1).to(DType::float64).to(dtype);  // gives x a buffer of its own
      const void* at = address(x);
      x.assign(softmax(x, 1));
      CHECK(where(x) == "in place of %0;");
      CHECK(address(x) == at);
      CHECK(x.to(DType::float32).to_vector<float>() == want);
    }
  }
}

TEST_CASE("two tensors exchanged in one kernel") {
  Tensor a = counted({4096}), b = (counted({4096}) + 0.5F).realize();
  const void* at = address(a);
  {
    const Tensor old = a + b;
    a.assign(a - b);
    b.assign(old);
  }
  realize({a, b});
  CHECK(address(a) == at);
  CHECK(values(a) == Floats(4096, -0.5F));
  CHECK(values(b)[100] == 200.5F);
}

TEST_CASE("if memory runs out, the work fails before anything is written") {
  Tensor x = counted({4});
  x += 1;
  const Tensor huge = exp(broadcast_to(x.reshape({4, 1}), {4, std::int64_t{1} << 44}) + 1.5F);
  CHECK_THROWS_AS(realize({x, huge}), MemoryError);
  CHECK_FALSE(x.realized());
  CHECK(values(x) == Floats{1, 2, 3, 4});
}

TEST_CASE("a kernel that fails before the first write leaves all as it was") {
  Tensor x = counted({40});
  const Tensor row = exp(sum(x.reshape({4, 10}), 1));
  const Tensor before = sum(exp(exp(exp(exp(exp(broadcast_to(row.reshape({4, 1}), {4, 300})))))), 1) * 0;
  x.shrink({{0, 2}}).assign(5);
  {
    const Failing failing(0);
    CHECK_THROWS_AS(realize({before, x}), std::runtime_error);
  }
  CHECK_FALSE(before.realized());
  CHECK_FALSE(x.realized());
  CHECK(values(x)[1] == 5);
  CHECK(before.to_vector<float>().size() == 4);
}

TEST_CASE("results finished before a failure are kept; reading a half-written one is an error") {
  Tensor x = counted({40}), y = counted({30});
  const Tensor before = sum(x);
  x.shrink({{0, 2}}).assign(5);  // one kernel for each
  y.shrink({{0, 2}}).assign(6);
  y.shrink({{1, 3}}).assign(7);
  {
    const Failing failing(2);  // allows the sum and the first write, then fails in y's first
    CHECK_THROWS_AS(realize({before, x, y}), std::runtime_error);
  }
  CHECK(before.item<float>() == 780);
  CHECK(values(x)[1] == 5);
  CHECK_THROWS_WITH_AS(y.realize(),
                       "realize: the elements of float32 (30) were being overwritten when the device failed; make the "
                       "tensor anew",
                       DeviceError);
  y = counted({30});
  CHECK(values(y)[2] == 2);
}

TEST_CASE("schedules found again tell who may be overwritten") {
  for (int round = 0; round < 3; ++round) {
    Tensor x = counted({16});
    const void* at = address(x);
    const Tensor held = x * 3;
    x += 2;
    CHECK((address(x) == at) == false);
    Tensor z = counted({16});
    const void* there = address(z);
    z += 2;
    CHECK(address(z) == there);
    CHECK(values(held)[5] == 15);
  }
}

TEST_CASE("a write separates equal results that share memory") {
  const Tensor data = counted({8});
  Tensor a = data + 1.5F, b = data + 1.5F;
  realize({a, b});
  a += 1;
  CHECK(values(a)[0] == 2.5F);
  CHECK(values(b)[0] == 1.5F);
}

}  // namespace in_place_test
