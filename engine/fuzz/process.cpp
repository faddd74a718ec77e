#include "fuzz/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "base/subprocess.hpp"
#include "oriel/error.hpp"

namespace oriel::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

// Cases have tables of far fewer numbers.
constexpr std::size_t kLongestAnswer = std::size_t{64} << 20;

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

[[noreturn]] void refuse(const std::string& command, const char* step) {
  throw IoError("fuzz", "cannot start '" + command + "': " + step + ": " + std::generic_category().message(errno));
}

}  // namespace

Process::~Process() { stop(); }

void Process::start() {
  // Uses a socket as standard input: if the process ends during a write, the write fails without a signal.
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0) refuse(command_, "socketpair");
  if (pipe2(out.data(), O_CLOEXEC) != 0) {
    close(in[0]);
    close(in[1]);
    refuse(command_, "pipe");
  }
  const std::vector<std::string> shell{"/bin/sh", "-c", command_};
  const int fault = base::start_program(pid_, shell, {}, base::SubprocessStreams{in[1], out[1], STDERR_FILENO});
  close(in[1]);
  close(out[1]);
  to_ = in[0];
  from_ = out[0];
  unread_.clear();
  if (fault != 0) {
    pid_ = -1;
    close(to_);
    close(from_);
    errno = fault;
    refuse(command_, "posix_spawn");
  }
}

std::string Process::stop(double patience) {
  if (pid_ <= 0) return {};
  close(to_);
  close(from_);
  const auto lives = [&] {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
  };
  const auto until = after(patience);
  while (lives() && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const bool went_on = lives();
  if (went_on || patience <= 0) kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (went_on) return fmt::format("closed its output and did not end within {:g} s", patience);
  if (WIFSIGNALED(status)) return std::string("ended by signal ") + strsignal(WTERMSIG(status));
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

Process::Exchange Process::exchange(std::span<const std::string> lines, double seconds_without_answer) {
  if (pid_ <= 0) start();
  std::string unsent;
  for (const std::string& line : lines) unsent.append(line).push_back('\n');
  std::size_t sent = 0;
  Exchange result;
  std::array<char, 65536> buffer{};
  const auto trouble = [&](std::string what) {
    result.trouble = std::move(what);
    return std::move(result);
  };
  // What it answers without an end of a line is no answer.
  auto until = after(seconds_without_answer);
  while (result.answers.size() < lines.size()) {
    std::array<pollfd, 2> wait{{{from_, POLLIN, 0}, {to_, POLLOUT, 0}}};
    const nfds_t count = sent < unsent.size() ? 2 : 1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    const int ready = left <= 0 ? 0 : poll(wait.data(), count, static_cast<int>(std::min<std::int64_t>(left, 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      stop();
      return trouble(fmt::format("gave no answer within {:g} s", seconds_without_answer));
    }
    if (count == 2 && wait[1].revents != 0) {
      const ssize_t wrote = send(to_, unsent.data() + sent, unsent.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      // If writing fails, the process is about to end. Its earlier answers are still read.
      sent = wrote >= 0 ? sent + static_cast<std::size_t>(wrote) : errno == EAGAIN ? sent : unsent.size();
      if (wrote > 0) until = after(seconds_without_answer);
    }
    if (wait[0].revents == 0) continue;
    const ssize_t got = read(from_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return trouble(stop(seconds_without_answer));
    std::size_t looked = unread_.size();
    unread_.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = unread_.find('\n', looked)) != std::string::npos; begin = looked = end + 1) {
      if (result.answers.size() == lines.size()) {
        stop();
        return trouble("answered more lines than it was asked");
      }
      result.answers.push_back(unread_.substr(begin, end - begin));
      until = after(seconds_without_answer);
    }
    unread_.erase(0, begin);
    if (unread_.size() > kLongestAnswer) {
      stop();
      return trouble(fmt::format("answered more than {} bytes without the end of a line", kLongestAnswer));
    }
  }
  return result;
}

}  // namespace oriel::fuzz
