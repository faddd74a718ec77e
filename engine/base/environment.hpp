// The environment's variables, for threads that nobody waits for and for programs with rights that their users lack.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oriel::base {

/// Variables, "NAME=value" each.
using Environment = std::vector<std::string>;

/// Does this process have rights that whoever started it lacks (setuid)? Then no variable is read, for it would decide
/// which programs are run with those rights.
bool privileged();

/// A copy of the environment as this thread sees it; in a privileged process a PATH of the system's folders. A program
/// that changes its environment meanwhile races, as with getenv.
std::shared_ptr<const Environment> copy_environment();

/// The variable's value in an environment.
std::optional<std::string> find_variable(const Environment& environment, const std::string& name);

/// While it lives, the thread that made it reads `environment` and hands it to the programs that it runs: a thread of
/// our own never looks at the process's environment, which the program may be changing.
class ThreadEnvironment {
 public:
  explicit ThreadEnvironment(std::shared_ptr<const Environment> environment);
  ThreadEnvironment(const ThreadEnvironment&) = delete;
  ~ThreadEnvironment();
  /// This thread's, or null.
  static std::shared_ptr<const Environment> current() noexcept;

 private:
  std::shared_ptr<const Environment> environment_;
  const ThreadEnvironment* outer_;  // the one before it
};

}  // namespace oriel::base
