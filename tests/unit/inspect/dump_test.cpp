// The files of a dump: their names, that they are the same each time, and what happens if they cannot be written.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "programs.hpp"
#include "runtime/executor.hpp"

namespace dump_test {

using namespace oriel;
using namespace oriel::test;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "oriel-dump-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

struct Undumped {
  ~Undumped() { set_dump_directory({}); }
};

std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files[entry.path().filename().string()] = text.str();
  }
  return files;
}

void run_program() {
  const NullDevice null;
  moved_sum().realize();
  several_kernels().realize();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return std::string(e.message());
  }
  return "";
}

}  // namespace

TEST_CASE("dump: run the program" * doctest::skip()) {
  run_program();  // in a process of its own, with ORIEL_DUMP
}

TEST_CASE("a schedule leaves its kernels, itself and its graph") {
  const Folder folder;
  const Undumped undumped;
  runtime::clear_caches();
  set_dump_directory(folder.path.string());
  CHECK(dump_directory() == folder.path.string());
  run_program();
  const auto files = files_in(folder.path);
  REQUIRE(files.count("s000_schedule.txt") == 1);
  REQUIRE(files.count("s000_graph.dot") == 1);
  REQUIRE(files.count("s001_schedule.txt") == 1);
  std::size_t kernels = 0;
  for (const auto& file : files) {
    const std::string &name = file.first, &text = file.second;
    INFO(name);
    CHECK_FALSE(text.empty());
    if (!has(name, "_k")) continue;
    ++kernels;
    CHECK(name.ends_with(".txt"));  // the null device's source is the loop program
    CHECK(has(text, "//   load in0: "));
    CHECK(has(text, "//     written    "));
    CHECK(has(text, "//     merged     "));
    CHECK(has(text, "//     normalised "));
    CHECK(has(text, "//     index      "));
    CHECK(has(text, "//   loops "));
    CHECK(has(text, "//     because "));
  }
  CHECK(kernels > 2);
  CHECK(has(files.at("s000_schedule.txt"), "because its value was asked for"));
  const std::string& dot = files.at("s000_graph.dot");
  CHECK(dot.starts_with("digraph oriel {"));
  CHECK(has(dot, "Sum over (2)"));
  CHECK(has(dot, "stored: its value was asked for"));
  CHECK(has(dot, " -> "));

  // The schedule is found in the cache, so nothing is dumped again.
  run_program();
  CHECK(files_in(folder.path) == files);
}

TEST_CASE("on the CPU a kernel's file is its C++ source below a comment") {
  const Folder folder;
  const Undumped undumped;
  const Tensor y = sum(exp(data({6, 4}).transpose() * 4.75f), 1);
  const Explanation e = explain(y);
  REQUIRE(e.kernels.size() == 1);
  set_dump_directory(folder.path.string(), true);
  runtime::clear_caches();
  CHECK(y.to_vector<float>() == std::vector<float>(4, 6.0f));
  const auto files = files_in(folder.path);
  const auto file = files.find("s000_k00_" + e.kernels[0].name + ".cpp");
  REQUIRE(file != files.end());
  const std::size_t code = file->second.find(e.kernels[0].source);
  REQUIRE(code != std::string::npos);
  std::istringstream comment(file->second.substr(0, code));
  for (std::string line; std::getline(comment, line);) CHECK((line.empty() || line.starts_with("//")));
}

TEST_CASE("unless files are whole, what kernels call stands once, in a header beside them") {
  const Folder folder;
  const Undumped undumped;
  const Tensor y = sum(exp(data({6, 4}).transpose() * 4.75f), 1), z = exp(data({50}) - 2) + 1;
  set_dump_directory(folder.path.string());
  runtime::clear_caches();
  realize({y, z});
  const auto files = files_in(folder.path);
  REQUIRE(files.count("s000_helpers.hpp") == 1);
  const std::string& header = files.at("s000_helpers.hpp");
  const std::size_t helper = header.find("\nstruct Exp {");
  REQUIRE(helper != std::string::npos);
  CHECK(header.find("\nstruct Exp {", helper + 1) == std::string::npos);
  std::size_t kernels = 0;
  for (const auto& [name, text] : files) {
    if (!has(name, "_k")) continue;
    INFO(name);
    ++kernels;
    CHECK(has(text, "#include \"s000_helpers.hpp\"\n"));
    CHECK(has(text, "for (Int left = last - first; left > 0;) {"));
    CHECK_FALSE(has(text, "struct Exp"));
    CHECK_FALSE(has(text, "template <class F"));
  }
  CHECK(kernels == 2);
}

TEST_CASE("a large kernel's loops come before the functions that they call") {
  const Folder folder;
  const Undumped undumped;
  Tensor y = data({100});
  for (int i = 0; i < 40; ++i) y = maximum(y * 1.5f, data({100}));
  set_dump_directory(folder.path.string());
  runtime::clear_caches();
  y.realize();
  std::size_t kernels = 0;
  for (const auto& [name, text] : files_in(folder.path)) {
    if (!has(name, "_k")) continue;
    ++kernels;
    INFO(text);
    const std::size_t loops = text.find("void run(Frame& f, Int first, Int last) {");
    REQUIRE(loops != std::string::npos);
    CHECK(loops < text.find("void stage0_outer_0([[maybe_unused]] Frame& f) {"));
    CHECK(has(text.substr(loops), "void stage0_outer_0([[maybe_unused]] Frame& f) {"));
  }
  CHECK(kernels == 1);
}

TEST_CASE("the same program writes the same bytes") {
  const Folder a, b;
  const Undumped undumped;
  for (const Folder* f : {&a, &b}) {
    runtime::clear_caches();
    set_dump_directory(f->path.string());
    run_program();
  }
  CHECK(files_in(a.path).size() > 6);
  CHECK(files_in(a.path) == files_in(b.path));
}

TEST_CASE("two processes write the same bytes") {
  const Folder a, b;
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  for (const Folder* f : {&a, &b}) {
    const std::string command =
        "ORIEL_DUMP='" + f->path.string() + "' '" + self + "' --no-skip --test-case='dump: run the program' >/dev/null";
    REQUIRE(std::system(command.c_str()) == 0);
  }
  CHECK(files_in(a.path).size() > 6);
  CHECK(files_in(a.path) == files_in(b.path));
}

TEST_CASE("what a killed process left aside blocks nothing, and goes after an hour") {
  const Folder folder;
  const Undumped off;
  const fs::path stale = folder.path / ".s000_graph.dot.oriel-0123456789abcdef";
  const fs::path numbered = folder.path / (".s000_graph.dot." + std::to_string(getpid()) + "-0");
  for (const fs::path& left : {stale, numbered}) std::ofstream(left) << "half";
  fs::last_write_time(stale, fs::file_time_type::clock::now() - std::chrono::hours(2));
  set_dump_directory(folder.path.string());
  runtime::clear_caches();
  run_program();
  set_dump_directory({});
  CHECK(fs::exists(folder.path / "s000_graph.dot"));
  CHECK_FALSE(fs::exists(stale));
  CHECK(fs::exists(numbered));
}

TEST_CASE("a directory that is missing is made") {
  const Folder folder;
  const Undumped undumped;
  set_dump_directory((folder.path / "deep" / "er").string());
  CHECK(fs::is_directory(folder.path / "deep" / "er"));
  CHECK(fs::is_empty(folder.path / "deep" / "er"));
}

TEST_CASE("a directory that cannot be had is refused by name") {
  const Undumped undumped;
  const std::string text = message_of<IoError>([] { set_dump_directory("/dev/null/dumps"); });
  CHECK(has(text, "set_dump_directory: cannot make the directory \"/dev/null/dumps\": "));
  CHECK(has(text, "; name a directory that can be written"));
  CHECK(has(message_of<IoError>([] { set_dump_directory("/dev/null"); }), "set_dump_directory: cannot "));
  CHECK(has(message_of<IoError>([] { set_dump_directory("/proc/self"); }),
            "set_dump_directory: cannot write into \"/proc/self\": "));
  CHECK(message_of<ArgumentError>([] { set_dump_directory(""); }) ==
        "set_dump_directory: the name is empty; give a directory, or nothing for no dumps");
  CHECK_FALSE(dump_directory().has_value());
}

TEST_CASE("a directory that goes away ends the realize that met it, and only that") {
  const NullDevice null;
  const Undumped undumped;
  const Tensor y = exp(data({3, 5}) * 2.75f);
  {
    const Folder folder;
    set_dump_directory(folder.path.string());
    fs::remove_all(folder.path);
    runtime::clear_caches();
    const std::string text = message_of<IoError>([&] { y.realize(); });
    CHECK(has(text, "dump: cannot write into \"" + folder.path.string() + "\": "));
    CHECK_FALSE(y.realized());
    // When the folder is back, the same schedule gets the first number, and no temporary file is left.
    fs::create_directories(folder.path);
    fs::create_directories(folder.path / "s000_graph.dot" / "in the way");
    CHECK(has(message_of<IoError>([&] { y.realize(); }),
              "dump: cannot write \"" + (folder.path / "s000_graph.dot").string() + "\": "));
    for (const auto& entry : fs::directory_iterator(folder.path))
      CHECK_FALSE(entry.path().filename().string().starts_with("."));
    fs::remove_all(folder.path / "s000_graph.dot");
    y.realize();
    CHECK(fs::is_regular_file(folder.path / "s000_graph.dot"));
  }
  CHECK(y.realized());
}

}  // namespace dump_test
