// Random programs on several threads, which share inputs and pending values: each thread gets the oracle's answers.
// RC_PARAMS as for random_programs. The first thread makes data and runs no work, until programs in which it does run
// some.
#include <rapidcheck.h>

#include <atomic>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "arbitrary_program.hpp"
#include "oriel/oriel.hpp"
#include "reference/interpret.hpp"
#include "support/fixed_seed.hpp"

namespace oriel::testing {
namespace {

/// What a thread does with the shared values.
struct Task {
  enum class Kind : std::uint8_t {
    read,     // the value itself: several threads may realise one value
    several,  // two values at once
    negated,  // a further operation on a value
    written,  // assigned to a tensor of the thread
    count
  };
  Kind kind = Kind::read;
  std::size_t value = 0;
  std::size_t other = 0;
};

std::vector<Tensor> carry_out(const Task& task, const std::vector<Tensor>& values) {
  const Tensor& x = values[task.value];
  switch (task.kind) {
    case Task::Kind::several:
      return {x, values[task.other]};
    case Task::Kind::negated:
      return {x.dtype() == DType::bool_ ? logical_not(x) : -x};
    case Task::Kind::written: {
      Tensor own = full(x.shape(), 0, x.dtype()).realize();
      own.assign(x);
      return {own};
    }
    default:
      return {x};
  }
}

using Numbers = std::vector<std::vector<reference::Number>>;

Numbers oracle(const Task& task, const std::vector<Tensor>& values) {
  Numbers wanted;
  for (const Tensor& t : carry_out(task, values)) wanted.push_back(reference::interpret(t));
  return wanted;
}

void agree(const Program& program, std::uint32_t seed, std::size_t threads) {
  CallersMemories memories;
  Built built = build(program);
  memories = built.memories;
  if (built.values.empty()) return;
  constexpr std::size_t kTasks = 4;
  std::vector<std::vector<Task>> tasks(threads);
  std::vector<std::vector<Numbers>> wanted(threads);
  const auto roll = [&](std::size_t below) {
    seed = seed * 1664525 + 1013904223;
    return static_cast<std::size_t>(seed >> 8) % below;
  };
  for (std::size_t t = 0; t < threads; ++t) {
    for (std::size_t k = 0; k < kTasks; ++k) {
      const Task task{static_cast<Task::Kind>(roll(static_cast<std::size_t>(Task::Kind::count))),
                      roll(built.values.size()), roll(built.values.size())};
      tasks[t].push_back(task);
      wanted[t].push_back(oracle(task, built.values));
    }
  }
  std::mutex guard;
  std::string fault;
  std::atomic<std::size_t> ready{0};
  {
    std::vector<std::jthread> team;
    for (std::size_t t = 0; t < threads; ++t) {
      team.emplace_back([&, t, values = built.values] {
        ++ready;
        while (ready < threads) std::this_thread::yield();
        for (std::size_t k = 0; k < kTasks; ++k) {
          std::string found;
          try {
            const std::vector<Tensor> results = carry_out(tasks[t][k], values);
            realize(results);
            for (std::size_t r = 0; r < results.size() && found.empty(); ++r)
              found = reference::difference(results[r], wanted[t][k][r], reference::elements(results[r]));
          } catch (const Error& error) {
            found = std::string("the engine refused: ") + error.what();
          }
          const std::lock_guard lock(guard);
          if (!found.empty() && fault.empty())
            fault = "thread " + std::to_string(t) + ", task " + std::to_string(k) + " of kind " +
                    std::to_string(static_cast<int>(tasks[t][k].kind)) + " on value " +
                    std::to_string(tasks[t][k].value) + ": " + found;
        }
      });
    }
    built = {};  // only the threads hold the values now: memory may be overwritten
  }
  if (fault.empty()) fault = fault_of(memories);
  if (!fault.empty()) RC_FAIL(fault);
}

}  // namespace
}  // namespace oriel::testing

int main() {
  oriel::test::fix_seed();
  oriel::set_lazy_limits({.nodes = 0, .bytes = 0});
  oriel::set_default_bounds(oriel::Bounds::zero);  // some positions are outside
  using oriel::testing::Program;
  const oriel::Tensor data = oriel::Tensor::of<float>({1, 2});
  bool good = true;
  const auto check = [&] {
    good = good && rc::check("threads that share the values of a random program agree with the oracle",
                             [](const Program& program, std::uint32_t seed) {
                               oriel::testing::agree(program, seed, 2 + seed % 3);
                             });
  };
  std::thread(check).join();
  check();
  return good ? 0 : 1;
}
