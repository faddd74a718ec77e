// Contexts have devices, caches and settings of their own.
#include "oriel/context.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "oriel/oriel.hpp"
#include "runtime/executor.hpp"

namespace context_test {

using namespace oriel;

TEST_CASE("the default context is there from the start and is current in every thread") {
  CHECK(Context::standard().number() == 0);
  CHECK(Context::standard().device() == default_device());
  CHECK(current_context() == 0);
  const Context context;
  CHECK(context.number() > 0);
  const ContextScope scope(context);
  CHECK(current_context() == context.number());
  std::thread([] { CHECK(current_context() == 0); }).join();
  {
    const ContextScope back(Context::standard());
    CHECK(current_context() == 0);
  }
  CHECK(current_context() == context.number());
}

TEST_CASE("tensors belong to the context in which they are made, and so does what is computed from them") {
  const Context context({.threads = 1});
  Tensor a;
  {
    const ContextScope scope(context);
    a = iota({3}).to(DType::float32).realize();
    CHECK(a.device() == context.device());
    CHECK(a.device() != Device::eigen());
    CHECK(default_device() == context.device());
    CHECK(Tensor::of<float>({1, 2}).device() == context.device());
    CHECK(Tensor::borrow(std::vector<float>{1}.data(), {0}).device() == context.device());
  }
  CHECK(a.device().str() == "eigen of context " + std::to_string(context.number()));
  const Tensor b = exp(a * 0.0F) + a;
  CHECK(b.device() == context.device());
  CHECK(b.to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(memory(context.device()).live > 0);
  CHECK(context.device(Device::null()) != Device::null());
}

TEST_CASE("operands of two contexts are an error that says what would do, and to() copies across") {
  const Context context;
  const Tensor here = iota({4}).to(DType::float32).realize();
  Tensor there;
  {
    const ContextScope scope(context);
    there = Tensor::of<float>({2, 2, 2, 2});
  }
  const std::string name = "eigen of context " + std::to_string(context.number());
  const std::string says = ": operands belong to two contexts: they live on eigen and " + name +
                           "; copy one of them across with to(device of the other context)";
  CHECK_THROWS_WITH_AS(here + there, doctest::Contains(says.c_str()), DeviceError);
  CHECK_THROWS_WITH_AS(matmul(here.reshape({1, 4}), there.reshape({4, 1})), doctest::Contains(says.c_str()),
                       DeviceError);
  Tensor target = full({4}, 0.0F).realize();
  CHECK_THROWS_WITH_AS(target.assign(there),
                       doctest::Contains("operands belong to two contexts: the value lives on eigen of context"),
                       DeviceError);
  CHECK((here + there.to(Device::eigen())).to_vector<float>() == std::vector<float>{2, 3, 4, 5});
  const Tensor across = here.to(context.device()) * there;
  CHECK(across.device() == context.device());
  CHECK(across.to_vector<float>() == std::vector<float>{0, 2, 4, 6});
  // A pending value goes back and forth; numbers belong to the device that reads them.
  const Tensor round = ((here + 1.0F).to(context.device()) * there).to(Device::eigen()) + here;
  CHECK(round.to_vector<float>() == std::vector<float>{2, 5, 8, 11});
  CHECK((there * 3.0F).to_vector<float>() == std::vector<float>(4, 6.0F));
  CHECK((there + ones({4})).device() == context.device());
  CHECK_THROWS_AS(set_default_device(context.device()), DeviceError);
}

TEST_CASE("each context has settings of its own") {
  const LazyLimits before = lazy_limits();
  const Context context({.threads = 1,
                         .lazy_limits = LazyLimits{.nodes = 10, .bytes = 0},
                         .bounds = Bounds::zero,
                         .tier = EigenTier::tile,
                         .memory = MemoryOptions{.pool_bytes = 1 << 20, .pool_seconds = 5}});
  CHECK(lazy_limits().nodes == before.nodes);
  const ContextScope scope(context);
  CHECK(lazy_limits().nodes == 10);
  CHECK(default_bounds() == Bounds::zero);
  CHECK(eigen_tier() == EigenTier::tile);
  CHECK(memory_options().pool_bytes == 1 << 20);
  set_lazy_limits({.nodes = 20, .bytes = 0});
  set_default_bounds(Bounds::checked);
  MemoryOptions options = memory_options();
  options.pool_bytes = 2 << 20;
  set_memory_options(options);
  {
    const ContextScope back(Context::standard());
    CHECK(lazy_limits().nodes == before.nodes);
    CHECK(memory_options().pool_bytes != 2 << 20);
  }
  CHECK(lazy_limits().nodes == 20);
  CHECK(default_bounds() == Bounds::checked);
  // The limits of the tensor's own context apply, whichever context is current.
  Tensor x = full({4}, 1.0F).realize();
  const ContextScope back(Context::standard());
  const auto launched = [&] {
    const ContextScope own(context);
    return runtime::counters().kernels_launched;
  };
  const std::uint64_t start = launched();
  for (int k = 0; k < 50; ++k) x = x + 1.0F;
  CHECK(launched() > start);
  CHECK(x.to_vector<float>() == std::vector<float>(4, 51.0F));
}

TEST_CASE("the environment is read once a context") {
  setenv("ORIEL_LAZY_NODES", "33", 1);
  const Context first;
  setenv("ORIEL_LAZY_NODES", "44", 1);
  const Context second;
  unsetenv("ORIEL_LAZY_NODES");
  const auto nodes = [](const Context& context) {
    const ContextScope scope(context);
    return lazy_limits().nodes;
  };
  CHECK(nodes(first) == 33);
  CHECK(nodes(second) == 44);
  setenv("ORIEL_DEVICE", "nowhere", 1);
  CHECK_THROWS_AS(Context(), ArgumentError);
  unsetenv("ORIEL_DEVICE");
  CHECK_THROWS_WITH_AS(Context({.threads = 0}), "Context: 0 threads; accepted is a whole number from 1 to 1024",
                       ArgumentError);
  CHECK_THROWS_AS(Context({.lazy_limits = LazyLimits{.nodes = -1}}), ArgumentError);
}

TEST_CASE("each context has caches of its own") {
  const Context context;
  const ContextScope scope(context);
  const Tensor x = full({7, 3}, 1.0F).realize();
  const runtime::Counters before = runtime::counters();
  static_cast<void>(((x + 1.0F) * x).to_vector<float>());
  static_cast<void>(((x + 1.0F) * x).to_vector<float>());
  CHECK(runtime::counters().schedules_built == before.schedules_built + 1);
  CHECK(runtime::counters().schedules_reused == before.schedules_reused + 1);
  const ContextScope back(Context::standard());
  const runtime::Counters standard = runtime::counters();
  const Tensor y = full({7, 3}, 1.0F).realize();
  static_cast<void>(((y + 1.0F) * y).to_vector<float>());
  CHECK(runtime::counters().schedules_built > standard.schedules_built);
}

TEST_CASE("tensors of an ended context can be read, but not computed with") {
  Tensor x, y;
  int number = 0;
  {
    const Context context;
    number = context.number();
    const ContextScope scope(context);
    x = iota({3}).to(DType::float32).realize();
    y = x + 1.0F;
  }
  CHECK(x.to_vector<float>() == std::vector<float>{0, 1, 2});
  const std::string says = "there is no context " + std::to_string(number) + ": it has ended";
  CHECK_THROWS_WITH_AS(x.to(Device{DeviceKind::eigen, 3, 0}),
                       doctest::Contains("there is no device eigen with index 3; there are eigen, null"), DeviceError);
  CHECK_THROWS_WITH_AS(y.realize(), doctest::Contains(says.c_str()), DeviceError);
  CHECK_THROWS_WITH_AS(x.to(Device::eigen()).realize(), doctest::Contains(says.c_str()), DeviceError);
  const Context next;
  CHECK(next.number() > number);
}

TEST_CASE("views of tensors of an ended context can be read") {
  std::vector<Tensor> views;
  Tensor columns;
  Tensor pending;
  {
    const Context context;
    const ContextScope scope(context);
    const Tensor x = iota({4, 3}).to(DType::float32).realize();
    views = {x.select(1, 1), x.transpose(), x.slice({{1, 3}}).flip(1), x.reshape({2, 6}).select(0, 1)};
    columns = x.transpose().to(DType::int32).realize();
    pending = (x + 1.0F).transpose();
  }
  CHECK(views[0].to_vector<float>() == std::vector<float>{1, 4, 7, 10});
  CHECK(views[1].to_vector<float>() == std::vector<float>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
  CHECK(views[2].to_vector<float>() == std::vector<float>{5, 4, 3, 8, 7, 6});
  CHECK(views[3].to_vector<float>() == std::vector<float>{6, 7, 8, 9, 10, 11});
  CHECK(views[0].select(0, 2).item<float>() == 7);
  CHECK(columns.to_vector<int>() == std::vector<int>{0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
  CHECK(columns.select(0, 1).to_vector<int>() == std::vector<int>{1, 4, 7, 10});
  CHECK_THROWS_AS(pending.to_vector<float>(), DeviceError);
}

TEST_CASE("threads with a context each, and copies between them") {
  const Tensor shared = iota({500}).to(DType::float32).realize();
  const double want = sum(shared * 2.0F).item<float>();
  std::vector<std::jthread> threads;
  std::atomic<int> good{0};
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5; ++round) {
        const Context context({.threads = 2});
        const ContextScope scope(context);
        const Tensor x = shared.to(context.device());
        const Tensor y = sum(x + x);
        if (y.to(Device::eigen()).item<float>() == want) ++good;
      }
    });
  }
  threads.clear();
  CHECK(good == 20);
}

}  // namespace context_test
