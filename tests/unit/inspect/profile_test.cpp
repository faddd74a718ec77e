// The recorded profile of launches.
#include "oriel/profile.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "programs.hpp"
#include "runtime/profile.hpp"

namespace profile_test {

using namespace oriel;
using namespace oriel::test;

namespace {

Tensor work(float by) { return exp(data({16, 4}) * by); }

}  // namespace

TEST_CASE("a scope records the launches that run while it lives") {
  const NullDevice null;
  CHECK_FALSE(profile::recording());
  work(1.5f).realize();
  {
    ProfileScope scope;
    CHECK(profile::recording());
    for (int i = 0; i < 3; ++i) work(2.5f + static_cast<float>(i)).realize();
    sum(data({8, 8}), 1).realize();
    const Profile p = scope.take();
    REQUIRE(p.launches.size() == 4);
    REQUIRE(p.kernels.size() == 2);
    const KernelProfile& k = p.kernels[p.kernels[0].launches == 3 ? 0 : 1];
    CHECK(k.launches == 3);
    CHECK(k.kernel == p.launches[0].kernel);
    CHECK(k.bytes == 3 * 2 * 64 * 4);
    CHECK(k.flops == 3 * 2 * 64);
    CHECK(k.seconds >= k.fastest);
    CHECK(k.fastest >= 0);
    CHECK(p.bytes() == k.bytes + (64 + 8) * 4);
    CHECK(scope.take().launches.empty());
  }
  CHECK_FALSE(profile::recording());
  work(9.5f).realize();
  CHECK(profile::take().launches.empty());
}

TEST_CASE("recording goes on until it is stopped") {
  const NullDevice null;
  profile::take();
  profile::start();
  work(3.5f).realize();
  profile::stop();
  work(3.5f).realize();
  CHECK(profile::take().launches.size() == 1);
}

TEST_CASE("rates and the table") {
  profile::take();
  runtime::LaunchStep step;
  step.name = "sum_f32_8";
  step.bytes = 4'000'000;
  step.flops = 1'000'000;
  runtime::add_to_profile(0, step, 0.002);
  runtime::add_to_profile(0, step, 0.001);
  step.name = "a_longer_name_than_that";
  runtime::add_to_profile(0, step, 0.01);
  const Profile p = profile::take();
  REQUIRE(p.kernels.size() == 2);
  CHECK(p.kernels[0].kernel == "a_longer_name_than_that");  // sorted by time, longest first
  CHECK(p.kernels[1].seconds == doctest::Approx(0.003));
  CHECK(p.kernels[1].fastest == doctest::Approx(0.001));
  CHECK(p.kernels[1].gigabytes_per_second() == doctest::Approx(8.0 / 3));
  CHECK(p.kernels[1].gigaflops() == doctest::Approx(2.0 / 3));
  CHECK(p.seconds() == doctest::Approx(0.013));
  CHECK(p.flops() == 3'000'000);
  CHECK(
      p.str() ==
      "kernel                   launches           ms   fastest ms          bytes      GB/s     operations   GFLOP/s\n"
      "a_longer_name_than_that         1      10.0000      10.0000        4000000      0.40        1000000      0.10\n"
      "sum_f32_8                       2       3.0000       1.0000        8000000      2.67        2000000      0.67\n"
      "all                             3      13.0000                    12000000                  3000000\n");
  CHECK(KernelProfile{}.gigabytes_per_second() == 0);
  CHECK(KernelProfile{}.gigaflops() == 0);
}

TEST_CASE("kernels of one name name all their lines, of many the first four") {
  profile::take();
  runtime::LaunchStep step;
  step.name = "k";
  const auto launch = [&](std::initializer_list<int> lines) {
    step.lines.clear();
    for (const int line : lines) step.lines.push_back(Site::here("/folder/a.cpp", line));
    runtime::add_to_profile(0, step, 0.5);
  };
  launch({3, 5});
  launch({5});
  launch({4});
  CHECK(profile::take().kernels[0].site == "a.cpp:3,a.cpp:5,a.cpp:4");
  for (int line = 1; line < 9; ++line) launch({line});
  CHECK(profile::take().kernels[0].site == "a.cpp:1,a.cpp:2,a.cpp:3,a.cpp:4,...");
  launch({});
  CHECK(profile::take().kernels[0].site.empty());
}

TEST_CASE("kernels of a captured function have lines at every size, also if they were planned before the recording") {
  const auto f = function([](const Tensor& x) { return exp(x) * sum(x, 1, true); });
  for (const std::int64_t n : {40, 41, 42}) f(zeros({n, 3}).realize()).realize();
  ProfileScope scope;
  for (const std::int64_t n : {40, 43, 44, 45, 60}) f(zeros({n, 3}).realize()).realize();
  const Profile p = scope.take();
  CHECK(p.launches.size() >= 5);
  const std::string line = "profile_test.cpp:" + std::to_string(__LINE__ - 6);
  for (const KernelProfile& k : p.kernels)
    if (k.kernel.find("exp") != std::string::npos) CHECK(k.site == line);
}

TEST_CASE(
    "a share is of the speed at which so much data is copied, and the next gain is where most time would be saved") {
  const runtime::MachineLimits limits{1e10, 1e12, {{1 << 20, 1e11}, {1 << 26, 1e10}}};
  CHECK(limits.speed(1000) == 1e11);
  CHECK(limits.speed(1 << 25) == 1e11);
  CHECK(limits.speed(1 << 26) == 1e10);
  CHECK(limits.speed(1e12) == 1e10);
  CHECK(limits.seconds(1e5, 1e3) == doctest::Approx(1e-6));
  CHECK(limits.seconds(1e5, 1e9) == doctest::Approx(1e-3));
  // 10^6 bytes in 20 us are 500 % of a copy in memory, and 50 % of one in caches.
  Profile p;
  p.kernels = {{"cached", 100, 82e-4, 2e-5, 100'000'000, 0, "a.cpp:3"},
               {"streamed", 1, 18e-4, 18e-4, 10'000'000, 0, "b.cpp:4"}};
  CHECK(runtime::profile_text(p, limits) ==
        "line     kernel           ms  share  launches bytes of 1    op of 1  of limit\n"
        "a.cpp:3  cached        8.200   82 %       100       1 MB       0 op      50 %\n"
        "b.cpp:4  streamed      1.800   18 %         1      10 MB       0 op       6 %\n"
        "this machine: copies 10 GB/s in memory and up to 100 GB/s in caches, multiply-adds 1 Top/s\n"
        "\n"
        "The next gain: 82 % of the time is cached (a.cpp:3), which takes 2.0 times its limit (1 MB at the speed of a "
        "copy in caches).\n");
  // A kernel at its limit is passed over, and the text says so.
  p.kernels[0].fastest = 0.9e-5;
  const std::string passed = runtime::profile_text(p, limits, [](const std::string& name) { return "why " + name; });
  CHECK(passed.find("     111 %\n") != std::string::npos);
  CHECK(passed.find("more than 100 %: copies bound") != std::string::npos);
  CHECK(passed.ends_with(
      "\n82 % of the time is cached (a.cpp:3), which reaches 111 % of its limit.\n"
      "The next gain: 18 % of the time is streamed (b.cpp:4), which takes 18.0 times its limit (10 MB at "
      "the speed of a copy in caches).\nwhy streamed\n"
      "It ran once: a first launch also waits for new memory. Repeat the work to compare.\n"));
  p.kernels.pop_back();
  CHECK(runtime::profile_text(p, limits).ends_with(
      "Every kernel reaches its limit. Less work, or fewer kernels, would gain.\n"));
}

TEST_CASE("launches beyond the bound are counted, not kept") {
  profile::take();
  runtime::LaunchStep step;
  step.name = "k";
  for (std::size_t i = 0; i < Profile::kMostLaunches + 5; ++i) runtime::add_to_profile(0, step, 0.5);
  const Profile p = profile::take();
  CHECK(p.launches.size() == Profile::kMostLaunches);
  CHECK(p.launches_left_out == 5);
  CHECK(p.kernels[0].launches == static_cast<std::int64_t>(Profile::kMostLaunches) + 5);
}

TEST_CASE("profile: run something" * doctest::skip()) {
  const NullDevice null;
  work(1.5f).realize();  // in a process of its own, with ORIEL_PROFILE
}

TEST_CASE("a profile that nobody read is written when the process ends") {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const char* setting : {"1", "0"}) {
    const std::string command =
        std::string("ORIEL_PROFILE=") + setting + " '" + self + "' --no-skip --test-case='profile: run something' 2>&1";
    std::FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string text;
    std::array<char, 256> part{};
    while (std::fgets(part.data(), part.size(), pipe) != nullptr) text += part.data();
    CHECK(pclose(pipe) == 0);
    const bool told =
        text.find("exp_f32_64_2ops ") != std::string::npos && text.find("of limit") != std::string::npos &&
        text.find("profile_test.cpp:") != std::string::npos && text.find("The next gain: ") != std::string::npos;
    CHECK(told == (setting[0] == '1'));
  }
}

}  // namespace profile_test
