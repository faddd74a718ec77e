// Memory of the host for what a call lists: pieces, keys, positions. How many there are is a number of the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

#include "formula/call.hpp"

namespace oriel::api {

/// What a tensor that is a piece of another one takes, with its node and its path: at least so many bytes.
inline constexpr std::size_t kPieceBytes = 256;

/// Throws MemoryError: there is no memory for `count` of `what`.
[[noreturn]] void no_room(const Call& call, std::int64_t count, std::string_view what);
/// Throws it if so many are more than the machine's memory, before any of them is made.
void need_room(const Call& call, std::int64_t count, std::size_t bytes_of_each, std::string_view what);

/// What `make` makes, which takes so much memory.
template <class F>
auto with_room(const Call& call, std::int64_t count, std::size_t bytes_of_each, std::string_view what, F&& make) {
  need_room(call, count, bytes_of_each, what);
  try {
    return std::forward<F>(make)();
  } catch (const std::bad_alloc&) {
    no_room(call, count, what);
  }
}

}  // namespace oriel::api
