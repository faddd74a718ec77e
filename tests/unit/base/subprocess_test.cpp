// Runs another program to its end.
#include "base/subprocess.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <thread>

#include "../../support/temporary_folder.hpp"

namespace subprocess_test {

using namespace oriel;
using base::run_program;

namespace {

base::SubprocessResult run(const std::string& script, base::SubprocessOptions options = {}) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> command{folder.script("program", script), "first", "two words"};
  const base::SubprocessResult result = run_program(command, options);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left, not even a zombie
  CHECK(errno == ECHILD);
  return result;
}

double seconds(const std::function<void()>& f) {
  const auto start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("in place, a program has this process's streams and a status as in a shell") {
  const auto status = [](const char* script) {
    const std::vector<std::string> command{"sh", "-c", script}, variables{"NAME=value"};
    const base::SubprocessResult done = base::run_in_place(command, variables);
    CHECK(done.trouble.empty());
    return done.status;
  };
  CHECK(status("test \"$NAME\" = value") == 0);
  CHECK(status("exit 3") == 3);
  CHECK(status("kill -9 $$") == 128 + 9);
  const std::vector<std::string> none{"/nowhere/program"};
  CHECK(base::run_in_place(none, {}).trouble == "cannot start /nowhere/program: No such file or directory");
}

TEST_CASE("a program's output, arguments, environment and status come back") {
  const base::SubprocessResult r = run("echo \"$2\"; echo to-stderr >&2; echo $NAME; read x || echo no input; exit 3",
                                       {.variables = {"NAME=value"}});
  CHECK(r.output == "two words\nto-stderr\nvalue\nno input\n");
  CHECK(r.status == 3);
  CHECK(r.trouble.empty());
  CHECK_FALSE(r.ok());
  CHECK(run("true").ok());
  CHECK(run("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").cpu_seconds > 0.01);
}

TEST_CASE("a program that is not there, or that a signal ends") {
  const std::vector<std::string> none{"/nowhere/program"};
  CHECK(run_program(none, {}).trouble == "cannot start /nowhere/program: No such file or directory");
  CHECK(run("kill -SEGV $$").trouble.find("ended by signal 11") == 0);
}

TEST_CASE("a program that hangs is killed with all that it started") {
  const test::TemporaryFolder folder;
  const std::string mark = folder / "mark";
  base::SubprocessResult r;
  const double took = seconds([&] { r = run("(sleep 2; echo late > " + mark + ") & sleep 60", {.seconds = 0.3}); });
  CHECK(r.trouble == "killed after 0.3 s");
  CHECK(took < 10);
  std::this_thread::sleep_for(std::chrono::milliseconds(2300));
  CHECK(access(mark.c_str(), F_OK) != 0);
}

TEST_CASE("a program that computes without end is stopped by its share of time") {
  CHECK(run("while :; do :; done", {.seconds = 300, .cpu_seconds = 0.1}).trouble.find("ended by signal") == 0);
}

TEST_CASE("what a program leaves in the background does not hold the caller") {
  const double took = seconds([&] { CHECK(run("sleep 60 & exit 0").ok()); });
  CHECK(took < 10);
}

TEST_CASE("megabytes of output are read and dropped beyond a bound") {
  const base::SubprocessResult r = run("head -c 5000000 /dev/zero", {.most_output = 1000});
  CHECK(r.ok());
  CHECK(r.output.size() == 1000);
}

TEST_CASE("a run can be cancelled from another thread") {
  std::atomic<bool> cancel{false};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    cancel = true;
  });
  base::SubprocessResult r;
  CHECK(seconds([&] { r = run("sleep 60", {.cancel = &cancel}); }) < 10);
  other.join();
  CHECK(r.cancelled);
  CHECK(r.trouble == "cancelled");
}

TEST_CASE("a program's priority is as low as asked for, and never above its caller's") {
  const int own = getpriority(PRIO_PROCESS, 0);
  // The niceness may be set shortly after the program has begun, so the program sleeps first.
  CHECK(run("sleep 0.2; nice", {.niceness = 19}).output == "19\n");
  CHECK(run("sleep 0.2; nice").output == std::to_string(own) + "\n");
  std::string lowered;
  std::thread other([&] {
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19);
    lowered = run("sleep 0.2; nice", {.niceness = 10}).output;
  });
  other.join();
  CHECK(lowered == "19\n");
}

}  // namespace subprocess_test
