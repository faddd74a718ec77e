// The main function of every doctest executable. A run that finds no test case, as after a change of its filters,
// fails. With `--apart` the cases run in a second thread, and the first one only makes data: programs whose first
// thread runs no work of the engine are programs, too.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "oriel/error.hpp"
#include "oriel/tensor.hpp"

// Assertions about messages are about what is said, not about the line of the test.
REGISTER_EXCEPTION_TRANSLATOR(const oriel::Error& error) { return std::string(error.message()).c_str(); }

namespace {

unsigned found = 0;

struct Counter : doctest::IReporter {
  explicit Counter(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& stats) override { found = stats.numTestCasesPassingFilters; }
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
REGISTER_LISTENER("counter", 1, Counter);

}  // namespace

int main(int argc, char** argv) {
  // A kernel that is to be compiled is: else the tile machine would be compared with itself.
  setenv("ORIEL_COMPILE_STRICT", "1", 0);
  doctest::Context context(argc, argv);
  int status = 0;
  if (std::any_of(argv, argv + argc, [](const char* argument) { return std::string_view(argument) == "--apart"; })) {
    const oriel::Tensor data = oriel::Tensor::of<float>({1, 2});
    std::thread([&] { status = context.run(); }).join();
  } else {
    status = context.run();
  }
  if (context.shouldExit() || found > 0) return status;
  std::fputs("no test case passes the filters\n", stderr);
  return 1;
}
