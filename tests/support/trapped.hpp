// An access outside of memory as a failure that can be shrunk, in place of the end of the process.
#pragma once

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#if defined(__SANITIZE_ADDRESS__)
#define ORIEL_TEST_TRAPS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ORIEL_TEST_TRAPS 0
#endif
#endif
#ifndef ORIEL_TEST_TRAPS
#define ORIEL_TEST_TRAPS 1
#endif

namespace oriel::test {

/// Runs `f` on this thread. False where it touched memory that nobody may touch; what it held then is leaked. On
/// another thread the process ends as always, and so it does under the address sanitizer, which has more to say.
template <class F>
bool within_memory(F&& f) {
#if !ORIEL_TEST_TRAPS
  f();
  return true;
#else
  static sigjmp_buf back;
  static pthread_t thread;
  thread = pthread_self();
  struct sigaction trap = {};
  struct sigaction before = {};
  trap.sa_handler = [](int signal) {
    if (pthread_equal(thread, pthread_self()) != 0) siglongjmp(back, 1);
    ::signal(signal, SIG_DFL);
    raise(signal);
  };
  sigaction(SIGSEGV, &trap, &before);
  const bool inside = sigsetjmp(back, 1) == 0;
  if (inside) f();
  sigaction(SIGSEGV, &before, nullptr);
  return inside;
#endif
}

}  // namespace oriel::test
