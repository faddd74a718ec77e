// Turns an invalid memory access into a test failure that can be shrunk, instead of ending the process.
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

/// Runs `f` on this thread. Returns false if it accessed invalid memory; its resources are then leaked. An invalid
/// access on another thread ends the process as usual, as it does under the address sanitizer, whose report says more.
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
