#include "runtime/profile.hpp"

namespace oriel::runtime {

namespace {

std::uint64_t mixed(std::uint64_t h, std::uint64_t v) noexcept {
  h = (h ^ v) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 32);
}

}  // namespace

std::uint64_t Repeats::contents(const mem::BufferPtr& buffer) {
  Contents& known = contents_[buffer.get()];
  if (known.number == 0 || known.version != buffer->version() || known.buffer.lock() != buffer)
    known = {buffer, buffer->version(), next_++ * 2 + 1};
  return known.number;
}

bool Repeats::add(const void* kernel, std::span<const Operand> operands, std::span<const graph::Scalar> numbers) {
  if (contents_.size() > kMost || computed_.size() > kMost) {
    contents_.clear();
    computed_.clear();
  }
  std::uint64_t computation = mixed(1, reinterpret_cast<std::uintptr_t>(kernel));
  for (const graph::Scalar& s : numbers) computation = mixed(computation, static_cast<std::uint64_t>(s.i));
  bool reads = false;
  for (const Operand& o : operands) {
    if (o.written) continue;
    reads = true;
    computation = mixed(computation, contents(o.buffer));
  }
  std::uint64_t place = 0;
  for (const Operand& o : operands)
    if (o.written) contents_[o.buffer.get()] = {o.buffer, o.buffer->version(), mixed(computation, ++place) | 1};
  return !computed_.insert(computation).second && reads;
}

}  // namespace oriel::runtime
