// Other programs under the protocol: Oriel's own command and the example adapters pass or fail as they should.
#include "fuzz/external_subject.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "fuzz/campaign.hpp"
#include "fuzz/process.hpp"
#include "fuzz/report.hpp"

namespace external_test {

using namespace oriel;
using namespace oriel::fuzz;

namespace {

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  REQUIRE_MESSAGE(value != nullptr, name << " is not set");
  return value;
}

std::string adapter(const char* name) { return "python3 " + from_environment("ORIEL_ADAPTERS") + "/" + name; }

CampaignResult run(const std::string& command, std::vector<Kind> kinds, std::uint64_t cases, double timeout = 30) {
  CampaignOptions options;
  options.seed = 3;
  options.cases = cases;
  options.kinds = std::move(kinds);
  options.external = true;
  options.make_subject = [command, timeout] {
    return make_external_subject({command, external_properties(), timeout});
  };
  return run_campaign(options);
}

Failure failure_of(const std::string& command, double timeout = 30) {
  const CampaignResult result = run(command, {Kind::Chain}, 128, timeout);
  REQUIRE(result.failure);
  return result.failure->smallest.failure;
}

}  // namespace

TEST_CASE("oriel view --jsonl holds to its own protocol") {
  const CampaignResult result =
      run(from_environment("ORIEL_EXE") + " view --jsonl",
          {Kind::Movement, Kind::Raw, Kind::Accident, Kind::Stack, Kind::Chain, Kind::Deep, Kind::Huge}, 7 * 256);
  if (result.failure) MESSAGE(result.failure->smallest.failure.seen);
  CHECK_FALSE(result.failure);
  CHECK(result.cases == 7 * 256);
  CHECK(result.tallies[static_cast<std::size_t>(Kind::Movement)].one_view > 128);
}

TEST_CASE("the example adapter holds") {
  const CampaignResult result = run(adapter("eager_views.py"), {Kind::Movement, Kind::Chain, Kind::Stack}, 384);
  if (result.failure) MESSAGE(result.failure->smallest.failure.seen);
  CHECK_FALSE(result.failure);
  CHECK(result.cases == 384);
}

TEST_CASE("the wrong adapter is caught, and its fault shrunk to the least") {
  const CampaignResult result = run(adapter("wrong_views.py"), {Kind::Chain, Kind::Deep}, 20'000);
  REQUIRE(result.failure);
  CHECK(result.failure->smallest.failure.property == Property::Soundness);
  CHECK(program_text(result.failure->smallest.smallest) == "1 | pad 0,1 | flip 0");
}

TEST_CASE("the smallest case is printed in the program's own words") {
  const std::string answers =
      "python3 -c '\nimport json,sys\nfor line in sys.stdin:\n q=json.loads(line)\n "
      "a={\"program\":\"paste %s\" % q[\"base_shape\"]} if \"program\" in q else {\"table\":[]}\n "
      "print(json.dumps(a),flush=True)\n'";
  const CampaignResult result = run(answers, {Kind::Chain}, 128);
  REQUIRE(result.failure);
  CHECK(result.failure->smallest.program == "paste []");
  CHECK(describe(*result.failure, {}, "oriel").find("in the program's own words:\npaste []\n") != std::string::npos);
  CHECK(run(adapter("wrong_views.py"), {Kind::Chain}, 20'000).failure->smallest.program.empty());
}

TEST_CASE("views that are wrong, too many, not stable or not canonical are told apart") {
  const auto property_of = [](const std::string& command) {
    const CampaignResult result = run(command, {Kind::Raw}, 2000);
    REQUIRE(result.failure);
    return result.failure->smallest.failure.property;
  };
  // A program that answers with a Python statement about the question q and its views v.
  const auto answering = [&property_of](const std::string& body) {
    return property_of(
        "python3 -c '\nimport json,sys\nfor line in sys.stdin:\n q=json.loads(line)\n v=q.get(\"start_views\")\n " +
        body + "\n print(json.dumps(a),flush=True)\n'");
  };
  CHECK(answering("a={\"views\":v}") ==
        Property::Completeness);  // legal, but it only returns the stack from the question
  CHECK(
      answering("a={\"views\":[{\"shape\":v[-1][\"shape\"],\"strides\":[0]*len(v[-1][\"shape\"]),\"offset\":9999}]}") ==
      Property::Soundness);
  const std::string oriel = from_environment("ORIEL_EXE") + " view --jsonl";
  CHECK(property_of(oriel + " | sed -u 's/\"contiguous\":false/\"contiguous\":true/'") == Property::Contiguity);
  // An answer that depends on when it is asked: every third one writes full masks explicitly.
  const std::string restless =
      oriel +
      " | python3 -c '\nimport json,sys\nfor n,line in enumerate(sys.stdin):\n a=json.loads(line)\n"
      " if n%3==0:\n  for v in a[\"views\"]: v[\"mask\"]=v[\"mask\"] or [[0,e] for e in v[\"shape\"]]\n"
      " print(json.dumps(a),flush=True)\n'";
  for (const Property property : {Property::Idempotence, Property::Canonical}) {
    CampaignOptions options;
    options.cases = 2000;
    options.kinds = {Kind::Raw};
    options.make_subject = [&] { return make_external_subject({restless, {property}, 30}); };
    const CampaignResult result = run_campaign(options);
    REQUIRE(result.failure);
    CHECK(result.failure->smallest.failure.property == property);
  }
}

TEST_CASE("a program that gives no answers is told from one that gives wrong ones") {
  CHECK(failure_of("exit 3").property == Property::Answers);
  CHECK(failure_of("exit 3").seen == "the program ended with status 3");
  CHECK(failure_of("kill -9 $$").seen == "the program ended by signal Killed");
  CHECK(failure_of("sleep 60", .2).seen == "the program gave no answer within 0.2 s");
  CHECK(failure_of("cat").seen == "the program answered neither \"views\" nor \"table\"");
  CHECK(failure_of("sed -u 's/.*/hello/'").seen == "the program answered 'hello', which is no JSON object");
  CHECK(failure_of("sed -u 's/.*/{\"error\":\"no\"}/'").seen == "the program answered the error \"no\"");
  CHECK(failure_of("sed -u 's/.*/{\"views\":5}/'").seen ==
        "the program answered fuzz: views must be an array of views, not number");
  CHECK(failure_of("sed -u 's/.*/{\"table\":\"x\"}/'").property == Property::Answers);
  CHECK(failure_of("sed -u 's/.*/{\"table\":[]}/'").property == Property::Soundness);
}

TEST_CASE("what has no end of a line is no answer, and a program that closed its output is not waited for") {
  const auto trouble = [](const char* command, double seconds) {
    return Process(command).exchange(std::vector<std::string>{"a"}, seconds).trouble;
  };
  CHECK(trouble("while :; do printf x; sleep .02; done", .2) == "gave no answer within 0.2 s");
  CHECK(trouble("cat /dev/zero", 30) == "answered more than 67108864 bytes without the end of a line");
  CHECK(trouble("exec >&-; sleep 60", .2) == "closed its output and did not end within 0.2 s");
  CHECK(trouble("exec >&-; sleep .1; exit 4", 30) == "ended with status 4");
}

TEST_CASE("long lines and many of them do not block") {
  Process process("cat");
  std::vector<std::string> lines;
  for (int k = 0; k < 300; ++k) lines.push_back(std::string(20'000, static_cast<char>('a' + k % 26)));
  for (int round = 0; round < 2; ++round) {
    const Process::Exchange exchange = process.exchange(lines, 30);
    CHECK(exchange.trouble.empty());
    CHECK(exchange.answers == lines);
  }
}

TEST_CASE("a program that dies half way answers what it answered, and is started again") {
  Process process("head -n 2");
  const std::vector<std::string> lines{"a", "b", "c"};
  for (int round = 0; round < 2; ++round) {
    const Process::Exchange exchange = process.exchange(lines, 30);
    CHECK(exchange.answers == std::vector<std::string>{"a", "b"});
    CHECK(exchange.trouble == "ended with status 0");
  }
}

}  // namespace external_test
