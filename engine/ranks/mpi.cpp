// Ranks of an MPI job. Messages are nonblocking, and their datatypes are the boxes of the exchange: nothing is packed
// here. The headers of MPI's old C++ interface are not used, and warn.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "oriel/error.hpp"
#include "ranks/transport.hpp"

namespace oriel::ranks {
namespace {

/// Set once an exchange has failed: the other ranks may wait for this one, so the job is ended, not finalised.
bool failed_exchange = false;

[[noreturn]] void fail_exchange(const std::string& message) {
  failed_exchange = true;
  throw DeviceError("shard", message);
}

void check_mpi(int status, const char* what) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  fail_exchange(fmt::format("{}: MPI says: {}", what, std::string_view(text, static_cast<std::size_t>(length))));
}

double time_limit() {
  const char* const text = std::getenv("ORIEL_RANKS_SECONDS");
  if (text == nullptr) return 60;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0)) {
    throw ArgumentError("shard", fmt::format("ORIEL_RANKS_SECONDS is '{}'; it takes a positive number", text));
  }
  return seconds;
}

/// Waits for requests, at most so many seconds. Calls `late` with the numbers of those that are missing then.
template <class Late>
void wait_for(std::vector<MPI_Request>& requests, double seconds, const Late& late) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::vector<MPI_Status> states(requests.size());
  for (int turn = 0;; ++turn) {
    int done = 0;
    const int status = MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, states.data());
    if (status == MPI_ERR_IN_STATUS) {
      for (const MPI_Status& state : states) check_mpi(state.MPI_ERROR, "a message");
    }
    check_mpi(status, "messages");
    if (done != 0) return;
    if (Clock::now() > end) {
      std::vector<std::size_t> missing;
      for (std::size_t k = 0; k < requests.size(); ++k) {
        int complete = 0;
        if (requests[k] != MPI_REQUEST_NULL) {
          MPI_Request_get_status(requests[k], &complete, MPI_STATUS_IGNORE);
          if (complete == 0) missing.push_back(k);
        }
      }
      late(missing);
      return;
    }
    // Ranks may share a processor: after a while this one gives it to those it waits for.
    if (turn > 1000) std::this_thread::sleep_for(std::chrono::microseconds(turn > 20000 ? 1000 : 20));
  }
}

/// A derived datatype for the elements of boxes, in their order.
class BoxType {
 public:
  BoxType(const shards::Boxes& boxes, shards::Column column, std::size_t element) {
    std::vector<MPI_Datatype> types;
    std::vector<MPI_Aint> starts;
    std::vector<int> counts;
    for (const shards::Box& box : boxes) {
      MPI_Datatype type = MPI_DATATYPE_NULL;
      check_mpi(MPI_Type_contiguous(static_cast<int>(element), MPI_BYTE, &type), "a datatype");
      for (std::size_t k = box.loops.size(); k-- > 0;) {
        const shards::Loop& loop = box.loops[k];
        if (loop.count > INT32_MAX) fail_exchange(fmt::format("a loop of {} steps; MPI takes up to 2^31", loop.count));
        MPI_Datatype outer = MPI_DATATYPE_NULL;
        const auto stride = static_cast<MPI_Aint>(loop.step[column]) * static_cast<MPI_Aint>(element);
        check_mpi(MPI_Type_create_hvector(static_cast<int>(loop.count), 1, stride, type, &outer), "a datatype");
        MPI_Type_free(&type);
        type = outer;
      }
      types.push_back(type);
      starts.push_back(static_cast<MPI_Aint>(box.start[column]) * static_cast<MPI_Aint>(element));
      counts.push_back(1);
    }
    check_mpi(
        MPI_Type_create_struct(static_cast<int>(types.size()), counts.data(), starts.data(), types.data(), &type_),
        "a datatype");
    for (MPI_Datatype& type : types) MPI_Type_free(&type);
    check_mpi(MPI_Type_commit(&type_), "a datatype");
  }
  BoxType(const BoxType&) = delete;
  ~BoxType() {
    int over = 0;
    MPI_Finalized(&over);
    if (over == 0) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class MpiRoute : public Route {
 public:
  MpiRoute(const std::vector<shards::Message>& sends, const std::vector<shards::Message>& receives, std::size_t element,
           int tag)
      : tag_(tag) {
    for (const shards::Message& message : receives) {
      receives_.push_back({message.peer, std::make_unique<BoxType>(message.boxes, shards::kOtherLocal, element)});
    }
    for (const shards::Message& message : sends) {
      sends_.push_back({message.peer, std::make_unique<BoxType>(message.boxes, shards::kLocal, element)});
    }
  }

  void run(const std::byte* from, std::byte* to) override {
    std::vector<MPI_Request> requests(receives_.size() + sends_.size(), MPI_REQUEST_NULL);
    for (std::size_t k = 0; k < receives_.size(); ++k) {
      check_mpi(MPI_Irecv(to, 1, receives_[k].type->get(), static_cast<int>(receives_[k].peer), tag_, MPI_COMM_WORLD,
                          &requests[k]),
                "a message");
    }
    for (std::size_t k = 0; k < sends_.size(); ++k) {
      check_mpi(MPI_Isend(from, 1, sends_[k].type->get(), static_cast<int>(sends_[k].peer), tag_, MPI_COMM_WORLD,
                          &requests[receives_.size() + k]),
                "a message");
    }
    wait_for(requests, time_limit(), [&](const std::vector<std::size_t>& missing) {
      std::string text;
      for (const std::size_t k : missing) {
        const bool received = k < receives_.size();
        text += fmt::format("{}{} rank {}", text.empty() ? "" : ", ",
                            received ? "nothing came from" : "nothing was taken by",
                            received ? receives_[k].peer : sends_[k - receives_.size()].peer);
      }
      fail_exchange(fmt::format("{} within {} s (ORIEL_RANKS_SECONDS)", text, time_limit()));
    });
  }

 private:
  struct Peer {
    std::int64_t peer;
    std::unique_ptr<BoxType> type;
  };
  std::vector<Peer> sends_;
  std::vector<Peer> receives_;
  int tag_;
};

class MpiTransport : public Transport {
 public:
  MpiTransport() {
    int running = 0;
    MPI_Initialized(&running);
    if (running == 0) {
      int level = 0;
      MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
      own_ = true;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  }
  MpiTransport(const MpiTransport&) = delete;
  ~MpiTransport() override {
    int over = 0;
    MPI_Finalized(&over);
    if (!own_ || over != 0) return;
    if (failed_exchange) {
      MPI_Abort(MPI_COMM_WORLD, 1);
    } else {
      MPI_Finalize();
    }
  }

  std::int64_t rank() const override { return rank_; }
  std::int64_t ranks() const override { return ranks_; }
  std::string_view note() const override { return "start as many with mpirun -n"; }

  /// Statements go to rank 0, which tells every rank what came of it.
  void agree(std::uint64_t statement, const std::string& what) override {
    if (rank_ == 0) {
      answer(statement, what);
      return;
    }
    Verdict verdict{};
    std::vector<MPI_Request> requests(2, MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(&statement, 1, MPI_UINT64_T, 0, kStatementTag, MPI_COMM_WORLD, &requests[0]), "a plan's check");
    check_mpi(MPI_Irecv(verdict.data(), 2, MPI_INT, 0, kVerdictTag, MPI_COMM_WORLD, &requests[1]), "a plan's check");
    // Rank 0 waits for all ranks first.
    wait_for(requests, 2 * time_limit(), [&](const std::vector<std::size_t>&) {
      fail_exchange(fmt::format("rank 0 did not answer rank {} within {} s (ORIEL_RANKS_SECONDS), which plans {}",
                                rank_, 2 * time_limit(), what));
    });
    judge(verdict, what);
  }

  std::unique_ptr<Route> route(const std::vector<shards::Message>& sends, const std::vector<shards::Message>& receives,
                               std::size_t element, std::uint64_t statement) override {
    // MPI promises tags up to 32767.
    return std::make_unique<MpiRoute>(sends, receives, element, static_cast<int>(statement % 32749));
  }

 private:
  enum Finding { kAgreed, kDiffers, kMissing };
  using Verdict = std::array<int, 2>;  // what was found, and of which rank
  // Beyond the tags of exchanges.
  static constexpr int kStatementTag = 32765;
  static constexpr int kVerdictTag = 32766;

  void answer(std::uint64_t statement, const std::string& what) {
    std::vector<std::uint64_t> stated(static_cast<std::size_t>(ranks_), statement);
    std::vector<MPI_Request> requests(static_cast<std::size_t>(ranks_ - 1), MPI_REQUEST_NULL);
    for (int other = 1; other < ranks_; ++other) {
      const auto k = static_cast<std::size_t>(other);
      check_mpi(MPI_Irecv(&stated[k], 1, MPI_UINT64_T, other, kStatementTag, MPI_COMM_WORLD, &requests[k - 1]),
                "a plan's check");
    }
    Verdict verdict{kAgreed, 0};
    wait_for(requests, time_limit(), [&](const std::vector<std::size_t>& missing) {
      verdict = {kMissing, static_cast<int>(missing.front()) + 1};
    });
    if (verdict[0] == kAgreed) {
      for (int other = 1; other < ranks_; ++other) {
        if (stated[static_cast<std::size_t>(other)] != statement) verdict = {kDiffers, other};
      }
    }
    // So short that MPI does not wait for the receiver.
    for (int other = 1; other < ranks_; ++other) {
      check_mpi(MPI_Send(verdict.data(), 2, MPI_INT, other, kVerdictTag, MPI_COMM_WORLD), "a plan's check");
    }
    judge(verdict, what);
  }

  void judge(const Verdict& verdict, const std::string& what) const {
    if (verdict[0] == kMissing) {
      fail_exchange(fmt::format("rank {} did nothing for {} s (ORIEL_RANKS_SECONDS), while rank {} plans {}",
                                verdict[1], time_limit(), rank_, what));
    }
    if (verdict[0] == kDiffers) {
      fail_exchange(
          fmt::format("ranks 0 and {} plan different exchanges, and all have to run the same program; rank {} "
                      "plans {}",
                      verdict[1], rank_, what));
    }
  }

  int rank_ = 0;
  int ranks_ = 1;
  bool own_ = false;
};

}  // namespace

Transport& transport() {
  static MpiTransport instance;
  return instance;
}

}  // namespace oriel::ranks
