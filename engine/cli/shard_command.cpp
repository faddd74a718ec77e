#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/shard_page.hpp"
#include "cli/shard_program.hpp"
#include "cli/words.hpp"

namespace oriel::cli {
namespace {

constexpr const char* kShardUsage = R"usage(usage: oriel shard [--bytes N] [--messages] PROGRAM
       oriel shard --html [--bytes N] PROGRAM > FILE.html

Shows how a tensor lies on several ranks, and what they send each other. It plans only: it needs no MPI.

  oriel shard "(8,6) rows=4 | transpose | reshape 48 | to cols=2,rows=2"

A program starts with the shape of the whole tensor and the mesh, whose axes have names and sizes. NAME=SIZE@AXIS says which
axis of the tensor a mesh axis divides; NAME=SIZE@all: none, so each rank along it holds everything; NAME=SIZE@root: only the
first rank along it holds anything. Without @ the first mesh axis divides the first axis, the second one the second, and those
beyond the last axis divide that further. Parts of an axis that does not divide evenly are masked at its end. Behind the mesh,
"halo 1,1 0,0" gives each rank that many elements more, before and after its part, for each axis.

Steps follow, separated by bars:
  reshape, permute, expand, flip, shrink, pad    as in `oriel view`; nothing is sent
  transpose                                      reverses the axes
  sum AXIS                                       each rank adds what it holds; "pending" names the mesh axes along which
                                                 the sums are still to be added
  to MESH                                        sends what the ranks lack, on this or another mesh of as many ranks

Each line shows the view from (mesh coordinates, local index) to positions in the whole tensor. Behind `to` stands what the
exchange is, and what ranks send: exactly the elements that a rank needs and does not hold, each once.

  --bytes N     bytes of an element (4)
  --messages    also list each message: from, to, elements and its boxes, as position in the block + count x step
  --html        print a page with the positions of the last tensor before and after each exchange, coloured by rank
)usage";

std::string bytes_text(std::int64_t bytes) {
  std::string digits = std::to_string(bytes);
  for (std::size_t k = digits.size(); k > 3; k -= 3) digits.insert(k - 3, ",");
  return digits;
}

std::string messages_text(const shards::Exchange& exchange, const std::vector<std::int64_t>& ranks) {
  std::string text;
  for (const std::int64_t rank : ranks) {
    for (const shards::Message& message : exchange.sends(rank)) {
      text += fmt::format("  {} to {}: {} element{}, {} to {}\n", rank, message.peer, message.elements(),
                          message.elements() == 1 ? "" : "s", str(message.boxes, shards::kLocal),
                          str(message.boxes, shards::kOtherLocal));
    }
  }
  return text;
}

/// What a step sends: "all-to-all along rows: a rank sends up to 36 bytes in 3 messages; 144 bytes in all".
std::string transfer_text(const ShardStep& step, std::int64_t bytes) {
  const std::vector<std::int64_t> ranks = shards::sample_of_ranks(step.sharding.mesh());
  const bool all = static_cast<std::int64_t>(ranks.size()) == step.sharding.mesh().ranks();
  std::int64_t most = 0;
  std::int64_t messages = 0;
  std::int64_t sent = 0;
  for (const shards::Exchange& exchange : step.transfer->exchanges) {
    const shards::Traffic traffic = shards::traffic(exchange, ranks);
    most += traffic.most_sent;
    messages += traffic.most_messages;
    sent += traffic.sent;
  }
  std::string text = step.transfer->what.str();
  if (sent == 0) return text;
  text += fmt::format(": a rank sends up to {} bytes in {} message{}", bytes_text(most * bytes), messages,
                      messages == 1 ? "" : "s");
  return text + (all ? fmt::format("; {} bytes in all", bytes_text(sent * bytes))
                     : fmt::format("; judged by {} of {} ranks", ranks.size(), step.sharding.mesh().ranks()));
}

std::string shard_answer(const std::vector<ShardStep>& steps, std::int64_t bytes, bool messages) {
  std::size_t width = 0;
  for (const ShardStep& step : steps) width = std::max(width, step.text.size());
  std::string answer;
  for (const ShardStep& step : steps) {
    answer += fmt::format("{:<{}}  {}\n", step.text, width, step.sharding.str());
    if (!step.transfer) continue;
    answer += fmt::format("{:<{}}  {}\n", "", width, transfer_text(step, bytes));
    if (!messages) continue;
    for (const shards::Exchange& exchange : step.transfer->exchanges) {
      answer += messages_text(exchange, shards::sample_of_ranks(step.sharding.mesh()));
    }
  }
  const shards::Sharding& last = steps.back().sharding;
  return answer + fmt::format("memory: {} of {} bytes a rank\n", bytes_text(last.local_count() * bytes),
                              bytes_text(numel(last.shape()).value() * bytes));
}

int run_shard(Arguments arguments, const Streams& streams) {
  bool messages = false;
  bool html = false;
  std::string bytes = "4";
  std::optional<std::string> program;
  read_options(arguments, {{"--bytes", into(bytes)}, {"--messages", &messages}, {"--html", &html}},
               only(program, "one program, so quote it as a whole"));
  if (!program) throw UsageError("a program is missing");
  if (html && messages) throw UsageError("--html takes no --messages");
  const std::int64_t size = parse_number(bytes, "--bytes", "shard");
  if (size < 1 || size > 1024) throw UsageError(fmt::format("--bytes: {} is not from 1 to 1024", size));
  const std::vector<ShardStep> steps = run_shard_program(*program);
  const std::string text = shard_answer(steps, size, messages);
  streams.out << (html ? shard_page(*program, steps, text) : text);
  return 0;
}

}  // namespace

constexpr Command kShard{"shard", "how a tensor lies on several ranks, and what they send each other",
                         [] { return std::string(kShardUsage); }, run_shard};

}  // namespace oriel::cli
