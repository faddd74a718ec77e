#include "backend/eigen/tile/processor.hpp"

#include <unistd.h>

namespace oriel::backend::eigen {
namespace {

bool is_amd() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_is("amd") != 0;
#else
  return false;
#endif
}

std::int64_t second_cache() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  return sysconf(_SC_LEVEL2_CACHE_SIZE);
#else
  return 0;
#endif
}

Processor find() {
  Processor p;
  if (!is_amd()) return p;
  p.follows_streams = true;
  p.read_tile = 4096;
  p.widest_columns = 4096;
  if (const std::int64_t bytes = second_cache(); bytes > 0) p.lane_bytes = bytes / 2;
  return p;
}

}  // namespace

const Processor& processor() {
  static const Processor p = find();
  return p;
}

}  // namespace oriel::backend::eigen
