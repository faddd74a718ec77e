// What is printed, dumped and profiled, and which rules rewrite, are settings of a context.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/watch.hpp"
#include "oriel/oriel.hpp"
#include "schedule/rule_switches.hpp"

namespace context_settings_test {

using namespace oriel;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "oriel-context-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(path)) names.insert(entry.path().filename().string());
    return names;
  }
};

/// Collects the debug lines of all contexts. The engine passes them one at a time.
struct Lines {
  std::vector<std::string> all;
  Lines() {
    set_debug_sink([this](std::string_view line) { all.emplace_back(line); });
  }
  Lines(const Lines&) = delete;
  ~Lines() { set_debug_sink({}); }
  /// The beginnings, up to the colon, of the lines that a context said: "schedule of context 1".
  std::set<std::string> kinds() const {
    std::set<std::string> out;
    for (const std::string& line : all)
      if (line.starts_with("oriel ")) out.insert(line.substr(6, line.find(':') - 6));
    return out;
  }
};

struct Variable {
  const char* name;
  Variable(const char* variable, const std::string& value) : name(variable) { setenv(name, value.c_str(), 1); }
  Variable(const Variable&) = delete;
  ~Variable() { unsetenv(name); }
};

std::string of(const Context& context) { return " of context " + std::to_string(context.number()); }

/// Work of the current context that one rule rewrites.
Tensor work(std::int64_t size = 5) {
  return exp(Tensor::from(std::vector<float>(static_cast<std::size_t>(size), 0.5F))) * 1.0F;
}

std::set<std::string> rules_that_fire() {
  std::set<std::string> names;
  for (const FiredRule& rule : explain(work(17)).rules) names.insert(rule.name);
  return names;
}

/// All settings of a context that can be read, and how it dumps a schedule.
std::map<std::string, std::string> settings(const Context& context) {
  const ContextScope scope(context);
  std::map<std::string, std::string> out;
  out["debug"] = debug_text();
  out["dump"] = dump_directory().value_or("none");
  out["profile"] = profile::recording() ? "on" : "off";
  for (const std::string& rule : rules_that_fire()) out["rules"] += rule + ";";
  Lines quiet;
  work(19).realize();
  const std::string prefix = "c" + std::to_string(context.number()) + "_";
  if (dump_directory()) {
    for (const auto& entry : fs::directory_iterator(*dump_directory()))
      if (const std::string name = entry.path().filename().string(); name.starts_with(prefix))
        out["file " + name.substr(prefix.size())] = "";
  }
  static_cast<void>(profile::take());
  return out;
}

}  // namespace

TEST_CASE("contexts in threads of their own do not see each other's reports, rules and print options") {
  const Folder first_folder, second_folder;
  Lines lines;
  PrintOptions two_digits;
  two_digits.precision = 2;
  const Context first({.threads = 1,
                       .debug = "schedule",
                       .dump_directory = first_folder.path.string(),
                       .profile = false,
                       .rules_off = {{"all"}},
                       .print = two_digits});
  const Context second({.threads = 1,
                        .debug = "cache,launch",
                        .dump_directory = "",
                        .profile = true,
                        .rules_off = std::vector<std::string>()});
  struct Seen {
    std::string printed;
    std::size_t launches = 0;
    std::set<std::string> rules;
    std::string debug;
  } of_first, of_second;
  const auto run = [](const Context& context, Seen& seen) {
    const ContextScope scope(context);
    seen.rules = rules_that_fire();
    for (int round = 0; round < 20; ++round) seen.printed = to_string(work(4 + round % 3));
    seen.launches = profile::take().launches.size();
    seen.debug = debug_text();
  };
  {
    const std::jthread one([&] { run(first, of_first); }), other([&] { run(second, of_second); });
  }
  CHECK(of_first.printed == "[1.65 1.65 1.65 1.65 1.65]");
  CHECK(of_second.printed == "[1.6487212 1.6487212 1.6487212 1.6487212 1.6487212]");
  CHECK(of_first.launches == 0);
  CHECK(of_second.launches == 20);
  CHECK(of_first.rules.empty());
  CHECK(of_second.rules == std::set<std::string>{"x*1 -> x"});
  CHECK(of_first.debug == "schedule=1");
  CHECK(of_second.debug == "cache=1,launch=1");
  CHECK(lines.kinds() == std::set<std::string>{"schedule" + of(first), "cache" + of(second), "launch" + of(second)});
  const std::string prefix = "c" + std::to_string(first.number()) + "_s00";
  const std::set<std::string> dumped = first_folder.files();
  CHECK(dumped.contains(prefix + "0_schedule.txt"));
  CHECK(dumped.contains(prefix + "2_graph.dot"));
  for (const std::string& name : dumped) CHECK(name.starts_with(prefix));
  CHECK(second_folder.files().empty());
  // The default context has none of all this.
  CHECK(debug_text().empty());
  CHECK_FALSE(dump_directory().has_value());
  CHECK_FALSE(profile::recording());
  CHECK(profile::take().launches.empty());
  CHECK(print_options().precision == 8);
  CHECK(rules_that_fire() == std::set<std::string>{"x*1 -> x"});
}

TEST_CASE("options of a context are what environment variables would be") {
  const Folder folder;
  const std::string path = folder.path.string();
  const Context plain;
  const auto same = [&](const std::vector<std::pair<const char*, std::string>>& environment,
                        const ContextOptions& options) {
    std::map<std::string, std::string> by_environment;
    {
      std::vector<std::unique_ptr<Variable>> variables;
      for (const auto& [name, value] : environment) variables.push_back(std::make_unique<Variable>(name, value));
      const Context context;
      variables.clear();  // read once, when the context was made
      by_environment = settings(context);
    }
    CHECK(by_environment == settings(Context(options)));
    CHECK(by_environment != settings(plain));
    // Options take precedence.
    const Variable debug("ORIEL_DEBUG", "graph=2"), dump("ORIEL_DUMP", path + "/unused"),
        whole("ORIEL_DUMP_WHOLE", "0"), profile("ORIEL_PROFILE", "0"), rules("ORIEL_RULES_OFF", "fold");
    ContextOptions all = options;
    if (!all.debug) all.debug = "";
    if (!all.dump_directory) all.dump_directory = "";
    if (!all.rules_off) all.rules_off.emplace();
    CHECK(by_environment == settings(Context(all)));
  };
  SUBCASE("debug") { same({{"ORIEL_DEBUG", "schedule=2,launch"}}, {.debug = "schedule=2,launch"}); }
  SUBCASE("profile") { same({{"ORIEL_PROFILE", "1"}}, {.profile = true}); }
  SUBCASE("dump") { same({{"ORIEL_DUMP", path}}, {.dump_directory = path}); }
  SUBCASE("dump of whole files") {
    same({{"ORIEL_DUMP", path}, {"ORIEL_DUMP_WHOLE", "1"}}, {.dump_directory = path, .dump_whole_files = true});
  }
  SUBCASE("rules") { same({{"ORIEL_RULES_OFF", "fold;x*1 -> x"}}, {.rules_off = {{"fold", "x*1 -> x"}}}); }
}

TEST_CASE("an option that has no meaning is an error of the context, and leaves nothing behind") {
  const int before = base::detail::watched_contexts;
  CHECK_THROWS_WITH_AS(Context({.debug = "launch,nonsense"}),
                       doctest::Contains("Context: \"nonsense\" names no category; use a comma list"), ParseError);
  CHECK_THROWS_WITH_AS(Context({.debug = "launch", .rules_off = {{"fold", "nonsense"}}}),
                       "Context: no rewrite rule is named 'nonsense'; names are as explain prints them, or 'all'",
                       ArgumentError);
  PrintOptions options;
  options.precision = 65;
  CHECK_THROWS_WITH_AS(Context({.debug = "launch", .print = options}),
                       "Context: a precision of 65; give 0 to 64 digits", ArgumentError);
  CHECK_THROWS_WITH_AS(Context({.debug = "launch", .dump_directory = "/dev/null/dumps", .profile = true}),
                       doctest::Contains("Context: cannot make the directory \"/dev/null/dumps\": "), IoError);
  {
    const Variable profile("ORIEL_PROFILE", "yes");
    CHECK_THROWS_WITH_AS(Context({.debug = "launch"}), "ORIEL_PROFILE: \"yes\" is neither 0 (off) nor 1 (on)",
                         ParseError);
    CHECK_NOTHROW(Context({.profile = false}));
  }
  CHECK(base::detail::watched_contexts == before);
}

TEST_CASE("calls set the settings of the current context") {
  const Context context;
  const Folder folder;
  const std::string before = debug_text();
  {
    const ContextScope scope(context);
    set_debug("memory=2");
    set_dump_directory(folder.path.string());
    PrintOptions options;
    options.sign = '+';
    set_print_options(options);
    profile::start();
    CHECK(debug_text() == "memory=2");
    CHECK(dump_directory() == folder.path.string());
    CHECK(print_options().sign == '+');
    CHECK(profile::recording());
    const ContextScope back(Context::standard());
    CHECK(debug_text() == before);
    CHECK_FALSE(dump_directory().has_value());
    CHECK(print_options().sign == '-');
    CHECK_FALSE(profile::recording());
  }
  const ContextScope scope(context);
  CHECK(debug_level("memory") == 2);
}

TEST_CASE("work is reported by its own context, whichever is current") {
  Lines lines;
  const Context context({.debug = "launch", .profile = true});
  Tensor there;
  {
    const ContextScope scope(context);
    there = work();
  }
  there.realize();
  CHECK(lines.kinds() == std::set<std::string>{"launch" + of(context)});
  CHECK(profile::take().launches.empty());
  {
    const ContextScope scope(context);
    const Tensor here = work().to(Context::standard().device());
    CHECK(profile::take().launches.size() == 1);
    lines.all.clear();
    (here + 1.0F).realize();  // the sum and the copy are the default context's, with the work of the copied value
    CHECK(lines.all.empty());
    CHECK(profile::take().launches.empty());
  }
}

TEST_CASE("a scope of profiling keeps to the context in which it was made") {
  const Context context;
  std::optional<ProfileScope> scope;
  {
    const ContextScope inside(context);
    scope.emplace();
    work().realize();
  }
  work().realize();
  CHECK(scope->take().launches.size() == 1);
  CHECK_FALSE(profile::recording());
  scope.reset();
  const ContextScope inside(context);
  CHECK_FALSE(profile::recording());
}

TEST_CASE("when a context ends, its profile is printed") {
  Lines lines;
  std::string title;
  for (const bool taken : {false, true}) {
    const Context context({.profile = true});
    title = "profile" + of(context);
    const ContextScope scope(context);
    work().realize();
    if (taken) static_cast<void>(profile::take());
  }
  REQUIRE(lines.all.size() == 7);
  CHECK(lines.all[0].starts_with("profile of context "));
  CHECK(lines.all[0] != title);
  CHECK(lines.all[1].starts_with("line "));
  CHECK(lines.all[2].find("context_settings_test.cpp:") != std::string::npos);
  CHECK(lines.all[3].starts_with("this machine: "));
  CHECK(lines.all[5].starts_with("The next gain: "));
}

TEST_CASE("rules that are off in one context make schedules and traces of its own") {
  const Context without({.rules_off = {{"all"}}});
  const auto times_one = oriel::function([](Tensor x) { return exp(x) * 1.0F; });
  const Tensor x = Tensor::from(std::vector<float>{0, 0}).realize();
  CHECK(times_one(x).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(times_one(x.to(without.device())).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(times_one(x).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(times_one.entries().size() == 2);
  // A switch in the context of the arguments counts, whichever context is current.
  const auto switch_rules = [&](bool on) {
    const ContextScope scope(without);
    schedule::set_rule_enabled("x*1 -> x", on);
  };
  switch_rules(true);
  CHECK(times_one(x).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(times_one.entries().size() == 2);
  CHECK(times_one(x.to(without.device())).to_vector<float>() == std::vector<float>{1, 1});
  CHECK(times_one.entries().size() == 3);
}

TEST_CASE("launches of a captured function are in the profile of its context, for sizes without a schedule too") {
  const Context context({.profile = true});
  const auto plus = oriel::function([](Tensor x) { return exp(x) + 1.0F; });
  for (std::int64_t n = 10; n < 20; ++n) {
    std::vector<float> zeros(static_cast<std::size_t>(n));
    static_cast<void>(plus(Tensor::from(zeros).to(context.device())));
  }
  REQUIRE(!plus.entries().empty());
  CHECK(plus.entries().back().scheduled < 9);
  CHECK(profile::take().launches.empty());
  const ContextScope scope(context);
  std::size_t launches = 0;
  for (const ProfiledLaunch& launch : profile::take().launches) launches += launch.kernel.find("copy") != 0 ? 1 : 0;
  CHECK(launches == 10);
}

TEST_CASE("debug lines of captured functions are those of the arguments' context") {
  Lines lines;
  const Context context({.debug = "dynamic"});
  const auto plus = oriel::function([](Tensor x) { return x + 1.0F; });
  const Tensor x = Tensor::from(std::vector<float>{0, 0}).realize();
  static_cast<void>(plus(x));
  CHECK(lines.all.empty());
  static_cast<void>(plus(x.to(context.device())));
  CHECK(lines.kinds() == std::set<std::string>{"dynamic" + of(context)});
}

#ifndef ORIEL_NO_COMPILED
TEST_CASE("compilers' notes are debug lines of the device's context") {
  Lines lines;
  const Context context({.threads = 1, .tier = EigenTier::compile, .debug = "compile=2"});
  const ContextScope scope(context);
  work(64).realize();
  CHECK(lines.kinds() == std::set<std::string>{"compile" + of(context)});
}
#endif

}  // namespace context_settings_test
