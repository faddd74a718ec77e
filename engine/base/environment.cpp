#include "base/environment.hpp"

#if defined(__linux__)
#include <sys/auxv.h>
#endif
#include <unistd.h>

#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): <unistd.h> has it with _GNU_SOURCE alone

namespace oriel::base {
namespace {

// A plain pointer, which needs no destructor: settings are also read while the process ends.
thread_local const ThreadEnvironment* innermost = nullptr;

}  // namespace

bool privileged() {
#if defined(__linux__)
  if (getauxval(AT_SECURE) != 0) return true;
#endif
  return geteuid() != getuid() || getegid() != getgid();
}

std::shared_ptr<const Environment> copy_environment() {
  if (auto environment = ThreadEnvironment::current(); environment != nullptr) return environment;
  auto copy = std::make_shared<Environment>();
  if (privileged()) {
    copy->emplace_back("PATH=/usr/local/bin:/usr/bin:/bin");
    return copy;
  }
  for (char** e = environ; e != nullptr && *e != nullptr; ++e) copy->emplace_back(*e);
  return copy;
}

std::optional<std::string> find_variable(const Environment& environment, const std::string& name) {
  const std::string start = name + "=";
  for (const std::string& entry : environment)
    if (entry.starts_with(start)) return entry.substr(start.size());
  return std::nullopt;
}

ThreadEnvironment::ThreadEnvironment(std::shared_ptr<const Environment> environment)
    : environment_(std::move(environment)), outer_(std::exchange(innermost, this)) {}

ThreadEnvironment::~ThreadEnvironment() { innermost = outer_; }

std::shared_ptr<const Environment> ThreadEnvironment::current() noexcept {
  return innermost != nullptr ? innermost->environment_ : nullptr;
}

}  // namespace oriel::base
