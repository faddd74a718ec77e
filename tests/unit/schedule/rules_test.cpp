// Each rewrite rule with an example on which it fires. The values with and without the rule must be equal.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "graph/make.hpp"
#include "graph/movements.hpp"
#include "oriel/error.hpp"
#include "runtime/executor.hpp"
#include "schedule/rules.hpp"
#include "support/planning.hpp"

namespace rules_test {

using namespace oriel;
using namespace oriel::test;
using graph::NodePtr;
using graph::Op;
using graph::Scalar;

namespace {

NodePtr number(double v, const NodePtr& like) { return graph::constant(Scalar::of_float(like->dtype, v), like->shape); }
NodePtr negative_zero(const NodePtr& like) { return number(-0.0, like); }
NodePtr un(Op op, const NodePtr& x) { return graph::unary(op, x); }
NodePtr bin(Op op, const NodePtr& a, const NodePtr& b) { return graph::binary(op, a, b); }

struct Example {
  std::string rule;
  std::function<NodePtr()> build;
};

// A constant that the builders do not fold, so that folding is left to the rules.
NodePtr constant_op(Op op, DType dtype = DType::float32) {
  const NodePtr like = counting({2}, dtype);
  return graph::row(op).arity == 1 ? un(op, number(3, like)) : bin(op, number(3, like), number(5, like));
}

/// A tag that holds nothing.
class NoTag final : public graph::Tag {
 public:
  void release(std::vector<NodePtr>& /*dropped*/) const override {}
};

std::vector<Example> examples() {
  const auto f = [] { return counting({2, 3}); };
  const auto i = [] { return counting({2, 3}, DType::int32); };
  const auto b = [] { return bin(Op::Lt, counting({2, 3}), number(3, counting({2, 3}))); };
  std::vector<Example> list{
      {"x+0 -> x", [=] { return bin(Op::Add, f(), negative_zero(f())); }},
      {"mark(x) -> x",
       [=] {
         NodePtr x = bin(Op::Add, f(), f());
         return graph::make_node(Op::Mark, x->dtype, x->shape, graph::TagPtr(std::make_shared<NoTag>()), {&x, 1}, {});
       }},
      {"x-0 -> x", [=] { return bin(Op::Sub, f(), number(0, f())); }},
      {"x-x -> 0 (integers)",
       [=] {
         const NodePtr x = i();
         return bin(Op::Sub, x, x);
       }},
      {"x*1 -> x", [=] { return bin(Op::Mul, number(1, f()), f()); }},
      {"x*0 -> 0 (integers)", [=] { return bin(Op::Mul, i(), number(0, i())); }},
      {"x/1 -> x", [=] { return bin(Op::Div, f(), number(1, f())); }},
      {"x//1 -> x (integers)", [=] { return bin(Op::FloorDiv, i(), number(1, i())); }},
      {"x^1 -> x", [=] { return bin(Op::Pow, f(), number(1, f())); }},
      {"x^2 -> x*x", [=] { return bin(Op::Pow, f(), number(2, f())); }},
      {"min(x,x) -> x",
       [=] {
         const NodePtr x = f();
         return bin(Op::Min, x, x);
       }},
      {"max(x,x) -> x",
       [=] {
         const NodePtr x = f();
         return bin(Op::Max, x, x);
       }},
      {"x&x -> x",
       [=] {
         const NodePtr x = i();
         return bin(Op::And, x, x);
       }},
      {"x&0 -> 0", [=] { return bin(Op::And, i(), number(0, i())); }},
      {"x&true -> x", [=] { return bin(Op::And, b(), number(1, b())); }},
      {"x|x -> x",
       [=] {
         const NodePtr x = i();
         return bin(Op::Or, x, x);
       }},
      {"x|0 -> x", [=] { return bin(Op::Or, i(), number(0, i())); }},
      {"x^^0 -> x", [=] { return bin(Op::Xor, i(), number(0, i())); }},
      {"x^^x -> 0",
       [=] {
         const NodePtr x = i();
         return bin(Op::Xor, x, x);
       }},
      {"x<<0 -> x", [=] { return bin(Op::Shl, i(), number(0, i())); }},
      {"x>>0 -> x", [=] { return bin(Op::Shr, i(), number(0, i())); }},
      {"-(-x) -> x", [=] { return un(Op::Neg, un(Op::Neg, f())); }},
      {"~~x -> x", [=] { return un(Op::Not, un(Op::Not, i())); }},
      {"abs(abs(x)) -> abs(x)", [=] { return un(Op::Abs, un(Op::Abs, f())); }},
      {"floor(integer) -> integer", [=] { return un(Op::Floor, i()); }},
      {"ceil(integer) -> integer", [=] { return un(Op::Ceil, i()); }},
      {"round(integer) -> integer", [=] { return un(Op::Round, i()); }},
      {"trunc(integer) -> integer", [=] { return un(Op::Trunc, i()); }},
      {"where(constant) -> side",
       [=] {
         return graph::where(graph::constant(Scalar::of_int(DType::bool_, 1), {2, 3}), f(), number(9.5, f()));
       }},
      {"where(c,x,x) -> x",
       [=] {
         const NodePtr x = f();
         return graph::where(b(), x, x);
       }},
      {"where(!c,x,y) -> where(c,y,x)", [=] { return graph::where(un(Op::Not, b()), f(), number(9.5, f())); }},
      {"cast back -> x", [=] { return graph::cast(graph::cast(i(), DType::int64), DType::int32); }},
      {"movement(movement) -> movement",
       [=] {
         const NodePtr x = graph::permute(graph::permute(graph::reshape(f(), {3, 2}), {1, 0}), {1, 0});
         return graph::reshape(x, {6});
       }},
      {"movement(movement) -> movement",
       [=] {
         return graph::expand(graph::expand(counting({2, 1, 1}), {2, 3, 1}), {2, 3, 4});
       }},
      {"movement(movement) -> movement",
       [=] {
         return graph::permute(graph::permute(counting({2, 3, 4}), {1, 2, 0}), {0, 2, 1});
       }},
      {"movement(movement) -> movement",
       [=] {
         return graph::flip(graph::flip(f(), Ints{0}), Ints{0, 1});
       }},
      {"movement(movement) -> movement",
       [=] {
         return graph::shrink(graph::pad(f(), Ranges{{1, 0}, {0, 2}}), Ranges{{1, 3}, {0, 3}});
       }},
      {"movement(movement) -> movement",
       [=] {
         return graph::shrink(graph::shrink(f(), Ranges{{0, 2}, {1, 3}}), Ranges{{1, 2}, {0, 2}});
       }},
      {"movement(movement) -> movement",
       [=] {
         return graph::pad(graph::pad(f(), Ranges{{1, 0}, {0, 2}}), Ranges{{0, 1}, {3, 0}});
       }},
      {"movement(movement) -> movement",
       [=] {
         const Ints two{2, 1}, three{1, 3};
         const NodePtr x = graph::move(counting({5, 7}), {Op::Every, two, &two});
         return graph::move(graph::move(x, {Op::Every, two, &two}), {Op::Every, three, &three});
       }},
      {"16 movements -> views",
       [=] {
         NodePtr x = counting({8});
         for (int k = 0; k < 8; ++k) x = graph::pad(graph::shrink(x, Ranges{{1, 8}}), Ranges{{0, 1}});
         return un(Op::Neg, x);
       }},
      {"16 movements -> views",
       [=] {
         NodePtr x = counting({4, 6});
         for (int k = 0; k < 6; ++k) {
           x = graph::flip(graph::pad(graph::shrink(x, Ranges{{0, 4}, {1, 6}}), Ranges{{0, 0}, {0, 1}}), Ints{k % 2});
           if (k == 2) x = graph::reshape(graph::permute(x, {1, 0}), {4, 6});  // two views
         }
         return un(Op::Neg, x);
       }},
      {"sum of products -> products in turn",
       [=] {
         const auto at = [](std::int64_t rows, std::int64_t columns, std::int64_t depth) {
           return graph::expand(counting({rows, columns, depth}, DType::int32), {32, 32, 32});
         };
         const NodePtr xy = bin(Op::Mul, at(32, 32, 1), at(1, 32, 32));
         const NodePtr z = graph::expand(counting({1, 1, 32, 32}, DType::int32), {32, 32, 32, 32});
         const NodePtr wide = graph::expand(graph::reshape(xy, {32, 32, 32, 1}), {32, 32, 32, 32});
         return graph::reduce(Op::Sum, bin(Op::Mul, wide, z), {1, 2});
       }},
      {"copy(copy) -> copy",
       [=] {
         const NodePtr wide = graph::expand(counting({2, 1}), {2, 3});  // a copy of it has another layout
         return graph::copy(graph::copy(wide, Device::null()), Device::eigen());
       }},
      {"copy(movement) -> movement(copy)",
       [=] {
         return graph::flip(graph::copy(graph::permute(f(), {1, 0}), Device::null()), Ints{0});
       }},
  };
  for (const graph::OpRow& row : graph::kOpTable) {
    if (row.op_class != graph::OpClass::Elementwise || row.op == Op::Where || row.op == Op::Cast ||
        row.op == Op::Bitcast)
      continue;
    if (ops::gives_bool(row.op)) continue;
    for (const DType dtype : {DType::float32, DType::int32, DType::uint64}) {
      if (!ops::takes(row.op, dtype) || (row.functor == ops::FunctorKind::Function && is_floating(dtype))) continue;
      list.push_back({"fold", [=, op = row.op] { return constant_op(op, dtype); }});
    }
  }
  return list;
}

std::map<std::string, int> fired(const NodePtr& root) {
  std::map<std::string, int> names;
  const auto p = plan({root});
  for (const auto& [name, times] : p.arena->fired()) names[name] += times;
  return names;
}

}  // namespace

TEST_CASE("each rule fires on its example and changes no value") {
  for (const Example& e : examples()) {
    CAPTURE(e.rule);
    const NodePtr root = e.build();
    CHECK(fired(root)[e.rule] > 0);
    const auto with = interpret({root});
    schedule::set_rule_enabled("all", false);
    CHECK(fired(root).empty());
    CHECK(interpret({root}) == with);
    schedule::set_rule_enabled("all", true);
  }
}

TEST_CASE("every rule has an example, but for those that the builders leave nothing to do") {
  std::set<std::string> shown{"cast(x) -> x", "movement(same) -> x"};
  for (const Example& e : examples()) shown.insert(e.rule);
  for (const schedule::Rule& r : schedule::rules()) CHECK_MESSAGE(shown.contains(std::string(r.name)), r.name);
}

TEST_CASE("floats keep expressions that look like an identity but are not") {
  const NodePtr x = counting({3});
  CHECK(fired(bin(Op::Add, x, number(0, x))).empty());  // -0 + 0 is 0
  CHECK(fired(bin(Op::Mul, x, number(0, x))).empty());  // NaN * 0 is NaN
  CHECK(fired(bin(Op::Sub, x, x)).empty());             // inf - inf is NaN
}

TEST_CASE("an unknown rule is refused") {
  CHECK_THROWS_WITH_AS(schedule::set_rule_enabled("x+1 -> y", false),
                       "rules: no rewrite rule is named 'x+1 -> y'; names are as explain prints them, or 'all'",
                       ArgumentError);
}

TEST_CASE("a switch makes schedules anew") {
  const auto before = schedule::rules_version(0);
  schedule::set_rule_enabled("fold", false);
  const auto off = schedule::rules_version(0);
  CHECK(off != before);
  schedule::set_rule_enabled("fuse rows", false);
  CHECK(schedule::rules_version(0) != off);
  schedule::set_rule_enabled("all", true);
  CHECK(schedule::rules_version(0) == before);  // schedules under all rules are used again
}

TEST_CASE("a power of float constants is left to a kernel, whose bits it has") {
  CHECK(fired(constant_op(Op::Pow)).count("fold") == 0);
  CHECK(fired(constant_op(Op::Pow, DType::int32)).count("fold") == 1);
}

}  // namespace rules_test
