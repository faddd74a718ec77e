// One rank, in place of mpi.cpp where a build has no MPI.
#include "oriel/error.hpp"
#include "ranks/transport.hpp"

namespace oriel::ranks {
namespace {

class Alone : public Transport {
 public:
  std::int64_t rank() const override { return 0; }
  std::int64_t ranks() const override { return 1; }
  std::string_view note() const override {
    return "this build has no MPI: install it (Debian: libopenmpi-dev openmpi-bin) and configure with -Dmpi=enabled";
  }
  void agree(std::uint64_t /*statement*/, const std::string& /*what*/) override {}
  std::unique_ptr<Route> route(const std::vector<shards::Message>& /*sends*/,
                               const std::vector<shards::Message>& /*receives*/, std::size_t /*element*/,
                               std::uint64_t /*statement*/) override {
    throw InternalError("shard", "one rank has nobody to send to");
  }
};

}  // namespace

Transport& transport() {
  static Alone alone;
  return alone;
}

}  // namespace oriel::ranks
