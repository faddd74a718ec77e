#include "base/environment.hpp"

#if defined(__linux__)
#include <sys/auxv.h>
#endif
#include <unistd.h>

#include <utility>

extern char** environ;

namespace oriel::base {
namespace {

std::shared_ptr<const Environment>& of_thread() noexcept {
  thread_local std::shared_ptr<const Environment> environment;
  return environment;
}

}  // namespace

bool privileged() {
#if defined(__linux__)
  if (getauxval(AT_SECURE) != 0) return true;
#endif
  return geteuid() != getuid() || getegid() != getgid();
}

std::shared_ptr<const Environment> copy_environment() {
  if (of_thread() != nullptr) return of_thread();
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
    : before_(std::exchange(of_thread(), std::move(environment))) {}

ThreadEnvironment::~ThreadEnvironment() { of_thread() = std::move(before_); }

const std::shared_ptr<const Environment>& ThreadEnvironment::current() noexcept { return of_thread(); }

}  // namespace oriel::base
