// Pages of reports: their data, what they leave out, what they refuse.
#include "oriel/report.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "inspect/collect.hpp"
#include "inspect/json.hpp"
#include "oriel/oriel.hpp"

namespace report_test {

using namespace oriel;
using Json = nlohmann::json;

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// A folder that is removed with its files.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("oriel_report_" + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

ShapeTracker stack_of(const Json& views) {
  std::string text;
  for (const Json& view : views) text = view.get<std::string>() + (text.empty() ? "" : " over ") + text;
  return layouts::Map::read(text, layouts::Notation::oriel).tracker();
}

/// The data between the tags of the page.
Json data_of(const std::string& page) {
  const std::string open = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

}  // namespace

TEST_CASE("a page holds each kernel with its reasons, and each access as views of the same positions") {
  const Folder folder;
  const Tensor x = iota({6, 8}).to(DType::float32).realize();
  const Tensor y = softmax(pad(x.transpose(), {{1, 1}, {0, 0}}) * 2, {1});
  const Explanation wanted = explain(y);
  report({y}, (folder.path / "y.html").string());
  std::string page = text_of(folder.path / "y.html");
  const Json data = data_of(page);
  CHECK(data == Json::parse(text_of(folder.path / "y.json")));
  CHECK(data["version"] == 1);
  CHECK(data["machine"]["bytes_per_second"] > 1e8);
  CHECK(data["machine"]["flops_per_second"] > 1e8);
  const Json& kernels = data["schedules"][0]["kernels"];
  REQUIRE(kernels.size() == wanted.kernels.size());
  std::size_t views = 0;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const ExplainedKernel& kernel = wanted.kernels[k];
    CHECK(kernels[k]["name"] == kernel.name);
    CHECK(kernels[k]["source"] == kernel.source);
    CHECK(kernels[k]["outputs"][0]["reason"] == kernel.outputs[0].reason);
    CHECK(kernels[k]["outputs"][0]["site"].get<std::string>().starts_with("report_test.cpp:"));
    REQUIRE(kernels[k]["operands"].size() == kernel.operands.size());
    for (std::size_t o = 0; o < kernel.operands.size(); ++o) {
      const Json& operand = kernels[k]["operands"][o];
      const auto same = [&](const char* name, const std::vector<View>& stack) {
        CHECK(operand[name].size() == stack.size());
        if (stack.empty()) return;
        CHECK(stack_of(operand[name]).table() == detail::trusted_stack(stack).table());
        ++views;
      };
      same("written", kernel.operands[o].written);
      same("merged", kernel.operands[o].merged);
      same("normalised", kernel.operands[o].normalised);
      CHECK(operand["index"] == kernel.operands[o].index);
    }
  }
  CHECK(views > 3);
  // The program's text stands beside the kernels.
  REQUIRE(data["sources"]["report_test.cpp"].is_array());
  const std::string site = kernels[0]["outputs"][0]["site"];
  const std::size_t line = std::stoul(site.substr(site.find(':') + 1));
  CHECK(data["sources"]["report_test.cpp"][line - 1].get<std::string>().find("softmax") != std::string::npos);
  CHECK(data["timeline"]["launches"].empty());
  // Generated sources cite where their formulas are from; the page itself names no place.
  page.erase(page.find("id=\"data\">"), page.find("</script>") - page.find("id=\"data\">"));
  CHECK(page.find("http://") == page.find("http://www.w3.org/2000/svg"));  // a name, which nothing fetches
  CHECK(page.find("https://") == std::string::npos);
  CHECK(page.find("src=") == std::string::npos);
}

TEST_CASE("report: run kernels of one name" * doctest::skip()) {
  // In a process of its own, with ORIEL_REPORT.
  const Tensor x = zeros({64}).realize(), y = ones({32, 32}).realize();
  for (int k = 0; k < 2; ++k) exp(x).realize();
  for (int k = 0; k < 3; ++k) realize({exp(x), sum(y, 1)});
}

TEST_CASE("each kernel has its own launches and times, also where several have one name") {
  const Folder folder;
  const std::string page = (folder.path / "same.html").string();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      "ORIEL_REPORT='" + page + "' '" + self + "' --no-skip --test-case='report: run kernels of one name' > /dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  const Json data = Json::parse(text_of(folder.path / "same.json"));
  std::vector<Json> kernels;
  for (const Json& schedule : data["schedules"])
    for (const Json& kernel : schedule["kernels"]) kernels.push_back(kernel);
  std::vector<double> seconds(kernels.size());
  for (const Json& launch : data["timeline"]["launches"]) {
    const auto number = launch[5].get<std::size_t>();
    CHECK(kernels[number]["name"] == data["timeline"]["names"][launch[0].get<std::size_t>()]);
    seconds[number] += launch[2].get<double>();
  }
  std::vector<int> launches;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    CHECK(kernels[k]["seconds"].get<double>() == doctest::Approx(seconds[k]).epsilon(0.01));
    CHECK(kernels[k]["limit"].get<double>() > 0);
    if (kernels[k]["name"].get<std::string>().starts_with("exp_")) launches.push_back(kernels[k]["launches"]);
    if (kernels[k]["name"].get<std::string>().starts_with("sum_")) CHECK(kernels[k]["repeated"] == 2);
  }
  CHECK(launches == std::vector<int>{2, 3});
}

TEST_CASE("no text ends the script in which the data stands") {
  runtime::ReportData data;
  data.title = "</script><script>alert(1)</script>&\xe2\x80\xa8\"\\\n\x01";
  Explanation explanation;
  ExplainedKernel kernel;
  kernel.name = "<!--</SCRIPT>";
  kernel.outputs.push_back({"%1", "<b>", "a</script>.cpp:1", "x", ""});
  explanation.kernels.push_back(kernel);
  data.schedules.push_back(explanation);
  const std::string json = runtime::bounded_json(data);
  CHECK(json.find('<') == std::string::npos);
  CHECK(json.find('>') == std::string::npos);
  CHECK(json.find("\xe2\x80\xa8") == std::string::npos);
  const Json read = data_of(runtime::page_of(json));
  CHECK(read["title"] == data.title);
  CHECK(read["schedules"][0]["kernels"][0]["name"] == kernel.name);
  CHECK(data_of(runtime::views_page("2,3 | </script>"))["program"] == "2,3 | </script>");
}

TEST_CASE("accesses that would make the page larger than its limit are left out, and equal ones are given once") {
  const Tensor x = zeros({64, 64}).realize();
  runtime::ReportData data;
  for (int k = 0; k < 3; ++k) data.schedules.push_back(explain({(x * 2).transpose() + 1}));
  const Json all = Json::parse(runtime::report_json(data, 0));
  const auto kernel = [](const Json& report, int k) { return report["schedules"][k]["kernels"][0]; };
  CHECK(kernel(all, 0)["operands"].is_array());
  CHECK_FALSE(kernel(all, 0).contains("same_as"));
  CHECK(kernel(all, 2)["operands"].is_null());
  CHECK(kernel(all, 2)["same_as"] == 0);
  const Json none = Json::parse(runtime::report_json(data, 0, 0));
  CHECK(kernel(none, 0)["operands"].is_null());
  CHECK_FALSE(kernel(none, 2).contains("same_as"));
}

TEST_CASE("bytes that are no UTF-8 become U+FFFD, and others stay") {
  const auto written = [](std::string_view text) {
    return Json::parse(runtime::JsonWriter().text(text).str()).get<std::string>();
  };
  CHECK(written("caf\xe9") == "caf\xef\xbf\xbd");
  CHECK(written("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80") == "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  for (const char* const wrong : {"\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80"})
    CHECK(written(wrong).find("\xef\xbf\xbd") == 0);
}

TEST_CASE("200 kernels take less than 1 MB: sources of cheap kernels are left out") {
  const Folder folder;
  std::vector<Tensor> results;
  for (int k = 0; k < 200; ++k) {
    Tensor x = zeros({k + 2, 50}).realize();
    for (int op = 0; op < 5 + k % 7; ++op) x = sin(x) * 2 + k;
    results.push_back(sum(x, 1));
  }
  report(results, (folder.path / "many.html").string());
  CHECK(std::filesystem::file_size(folder.path / "many.html") < 1'000'000);
  const Json data = Json::parse(text_of(folder.path / "many.json"));
  CHECK(data["schedules"][0]["kernels"].size() >= 200);
  std::size_t kept = 0;
  for (const Json& kernel : data["schedules"][0]["kernels"]) kept += kernel["source"].is_null() ? 0 : 1;
  CHECK(kept >= 10);
  runtime::ReportData small;
  small.schedules.push_back(explain(results));
  CHECK(runtime::report_json(small, 0).find("\"source\":null") != std::string::npos);
}

TEST_CASE("the answer of a command as a page: texts are escaped, stacks are views, symbolic ones are left out") {
  ShapeEnv environment;
  const SymInt n = environment.symbol("n", 5);
  const View plain = View::make({2, 3}, {1, 2}), open = View::make({n}, {1});
  const Json data = data_of(runtime::answer_page(
      {"</script>", "a < b", {{"T", {"x", "y"}, {{"1", "<2>"}}}}, {{"plain", {plain}}, {"open", {open}}}}));
  CHECK(data["kind"] == "answer");
  CHECK(data["title"] == "</script>");
  CHECK(data["text"] == "a < b");
  CHECK(data["tables"][0]["rows"][0][1] == "<2>");
  CHECK(stack_of(data["stacks"][0]["views"]).table() == ShapeTracker(plain).table());
  CHECK(data["stacks"][1]["views"].empty());
}

TEST_CASE("names that are no pages, and places that cannot be written") {
  const Tensor x = zeros({2});
  CHECK_THROWS_WITH_AS(report({x}, "x.txt"), "report: \"x.txt\" is no name of a page; it ends in .html", ArgumentError);
  CHECK_THROWS_AS(set_report_file("report"), ArgumentError);
  CHECK_THROWS_AS(report({x}, "/dev/null/x.html"), IoError);
}

}  // namespace report_test
