// Environment variables, as background threads and setuid programs see them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oriel::base {

/// A list of variables, each "NAME=value".
using Environment = std::vector<std::string>;

/// True if this process has rights that the user who started it lacks (setuid). Oriel then reads no variables, because
/// they choose programs that would run with these rights.
bool privileged();

/// A copy of the environment as this thread sees it. In a privileged process it holds only a PATH of the system's
/// folders. As with getenv, it is a data race if the program changes its environment at the same time.
std::shared_ptr<const Environment> copy_environment();

/// The value of a variable in `environment`, or nullopt if it is not set.
std::optional<std::string> find_variable(const Environment& environment, const std::string& name);

/// During its lifetime the thread that created it reads `environment` and passes it to the programs that it runs.
/// Oriel's background threads use it because the program may change the process's environment at any time.
class ThreadEnvironment {
 public:
  explicit ThreadEnvironment(std::shared_ptr<const Environment> environment);
  ThreadEnvironment(const ThreadEnvironment&) = delete;
  ~ThreadEnvironment();
  /// The innermost environment of this thread, or null.
  static std::shared_ptr<const Environment> current() noexcept;

 private:
  std::shared_ptr<const Environment> environment_;
  const ThreadEnvironment* outer_;  // the enclosing one
};

}  // namespace oriel::base
