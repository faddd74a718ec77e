// What carries messages between ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shard/exchange.hpp"

namespace oriel::ranks {

/// The messages of a rank in one exchange, ready to be sent again and again.
class Route {
 public:
  virtual ~Route() = default;
  /// Sends from one block and receives into another. Returns when both are done. Throws DeviceError if a rank does not
  /// answer within the time limit, or sends another number of bytes.
  virtual void run(const std::byte* from, std::byte* to) = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::int64_t rank() const = 0;
  virtual std::int64_t ranks() const = 0;
  /// Why there are no more ranks, for errors.
  virtual std::string_view note() const = 0;
  /// All ranks state what they are about to do. Throws DeviceError, which names those that state something else, or
  /// that state nothing within the time limit.
  virtual void agree(std::uint64_t statement, const std::string& what) = 0;
  /// Elements of so many bytes. `statement` tells messages of one exchange from those of another.
  virtual std::unique_ptr<Route> route(const std::vector<shards::Message>& sends,
                                       const std::vector<shards::Message>& receives, std::size_t element,
                                       std::uint64_t statement) = 0;
};

/// That of this process: MPI in a build with it, else one rank alone. MPI starts at the first call and ends with the
/// process.
Transport& transport();

}  // namespace oriel::ranks
