#include "fuzz/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/subprocess.hpp"
#include "oriel/error.hpp"

namespace oriel::fuzz {
namespace {

[[noreturn]] void refuse(const std::string& command, const char* step) {
  throw IoError("fuzz", "cannot start '" + command + "': " + step + ": " + std::generic_category().message(errno));
}

}  // namespace

Process::~Process() { stop(true); }

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

std::string Process::stop(bool kill_it) {
  if (pid_ <= 0) return {};
  close(to_);
  close(from_);
  if (kill_it) kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
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
  while (result.answers.size() < lines.size()) {
    std::array<pollfd, 2> wait{{{from_, POLLIN, 0}, {to_, POLLOUT, 0}}};
    const nfds_t count = sent < unsent.size() ? 2 : 1;
    const int ready = poll(wait.data(), count, static_cast<int>(seconds_without_answer * 1000));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      stop(true);
      return trouble(fmt::format("gave no answer within {:g} s", seconds_without_answer));
    }
    if (count == 2 && wait[1].revents != 0) {
      const ssize_t wrote = send(to_, unsent.data() + sent, unsent.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
      // If writing fails, the process is about to end. Its earlier answers are still read.
      sent = wrote >= 0 ? sent + static_cast<std::size_t>(wrote) : errno == EAGAIN ? sent : unsent.size();
    }
    if (wait[0].revents == 0) continue;
    const ssize_t got = read(from_, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return trouble(stop(false));
    unread_.append(buffer.data(), static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = unread_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (result.answers.size() == lines.size()) {
        stop(true);
        return trouble("answered more lines than it was asked");
      }
      result.answers.push_back(unread_.substr(begin, end - begin));
    }
    unread_.erase(0, begin);
  }
  return result;
}

}  // namespace oriel::fuzz
