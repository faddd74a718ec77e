#include "formula/room.hpp"

#include <fmt/format.h>

#include "memory/machine.hpp"
#include "oriel/error.hpp"

namespace oriel::api {

void no_room(const Call& call, std::int64_t count, std::string_view what) {
  throw MemoryError(call.operation(),
                    fmt::format("there is no memory for {} {}; ask for fewer at a time", count, what));
}

void need_room(const Call& call, std::int64_t count, std::size_t bytes_of_each, std::string_view what) {
  if (static_cast<std::uint64_t>(count) > mem::machine_memory() / bytes_of_each) no_room(call, count, what);
}

}  // namespace oriel::api
