#include "base/subprocess.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "base/environment.hpp"

namespace oriel::base {
namespace {

using Clock = std::chrono::steady_clock;

// How often a wait checks the clock and `cancel`.
constexpr int kTick = 20;  // ms

std::atomic<bool> all_cancelled{false};

/// True if the program has ended. Leaves it as a zombie, so that its process group id is not reused.
bool ended(pid_t pid) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
  return info.si_pid == pid;
}

/// Reads the available output. False at the end of the stream.
bool drain(int from, std::size_t most, std::string& output) {
  std::array<char, 16384> buffer{};
  for (;;) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    output.append(buffer.data(), std::min(static_cast<std::size_t>(got), most - std::min(most, output.size())));
  }
}

void wait_for(pid_t pid, SubprocessResult& result) {
  int status = 0;
  pid_t waited = 0;
  rusage usage{};
  while ((waited = wait4(pid, &status, 0, &usage)) < 0 && errno == EINTR) {
  }
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  if (!result.trouble.empty()) return;
  if (waited < 0) {
    // This process ignores SIGCHLD or waits for all children itself, so the status is unknown. The caller checks the
    // program's output files instead.
    result.status = 0;
  } else if (WIFSIGNALED(status)) {
    result.trouble = fmt::format("ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else {
    result.status = WEXITSTATUS(status);
  }
}

}  // namespace

int start_program(pid_t& pid, std::span<const std::string> given, std::span<const std::string> variables,
                  const std::optional<SubprocessStreams>& streams) {
  const std::shared_ptr<const Environment> inherited = copy_environment();
  std::vector<char*> arguments, environment;
  for (const std::string& a : given) arguments.push_back(const_cast<char*>(a.c_str()));
  for (const std::string& v : variables) environment.push_back(const_cast<char*>(v.c_str()));
  for (const std::string& entry : *inherited) {
    const auto same = [&](const std::string& v) { return entry.starts_with(v.substr(0, v.find('=') + 1)); };
    if (std::none_of(variables.begin(), variables.end(), same)) environment.push_back(const_cast<char*>(entry.c_str()));
  }
  arguments.push_back(nullptr);
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (streams) {
    if (streams->in < 0) posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (streams->in >= 0) posix_spawn_file_actions_adddup2(&actions, streams->in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams->out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, streams->err, STDERR_FILENO);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
#endif
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  const int fault = posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return fault;
}

SubprocessResult run_program(std::span<const std::string> arguments, const SubprocessOptions& options) {
  SubprocessResult result;
  if (all_cancelled) {
    result.cancelled = true;
    result.trouble = "cancelled";
    return result;
  }
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    result.trouble = std::string("no pipe: ") + std::strerror(errno);
    return result;
  }
  fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
  pid_t pid = -1;
  const int fault = start_program(pid, arguments, options.variables, SubprocessStreams{-1, pipe_ends[1], pipe_ends[1]});
  close(pipe_ends[1]);
  if (fault != 0) {
    close(pipe_ends[0]);
    result.trouble = fmt::format("cannot start {}: {}", arguments[0], std::strerror(fault));
    return result;
  }
  // Only raises the niceness. Lowering it could give the program a higher priority than its caller has.
  if (const auto child = static_cast<id_t>(pid); getpriority(PRIO_PROCESS, child) < options.niceness)
    setpriority(PRIO_PROCESS, child, options.niceness);
#if defined(__linux__)
  // If this process is killed meanwhile, the CPU limit still ends a program that hangs.
  const double share = options.cpu_seconds > 0 ? options.cpu_seconds : options.seconds;
  const auto limit = static_cast<rlim_t>(std::ceil(share)) + 1;
  const rlimit cpu{limit, limit};
  prlimit(pid, RLIMIT_CPU, &cpu, nullptr);
#endif
  const Clock::time_point start = Clock::now();
  bool open = true;
  int pause = 1;
  while (!ended(pid)) {
    const std::chrono::duration<double> gone = Clock::now() - start;
    result.cancelled = all_cancelled || (options.cancel != nullptr && options.cancel->load(std::memory_order_relaxed));
    if (result.cancelled || gone.count() > options.seconds) {
      result.trouble = result.cancelled ? "cancelled" : fmt::format("killed after {:g} s", options.seconds);
      break;
    }
    if (open) {
      pollfd wait{pipe_ends[0], POLLIN, 0};
      if (poll(&wait, 1, kTick) > 0) open = drain(pipe_ends[0], options.most_output, result.output);
    } else {
      poll(nullptr, 0, pause);  // it has closed its output, so it is usually about to end
      pause = std::min(2 * pause, kTick);
    }
  }
  kill(-pid, SIGKILL);
  wait_for(pid, result);
  if (open) drain(pipe_ends[0], options.most_output, result.output);
  close(pipe_ends[0]);
  return result;
}

SubprocessResult run_in_place(std::span<const std::string> arguments, std::span<const std::string> variables) {
  SubprocessResult result;
  pid_t pid = 0;
  const int fault = start_program(pid, arguments, variables, std::nullopt);
  if (fault != 0) {
    result.trouble = fmt::format("cannot start {}: {}", arguments[0], std::strerror(fault));
    return result;
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

void cancel_programs() noexcept { all_cancelled = true; }

}  // namespace oriel::base
