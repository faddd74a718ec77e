// Builds exported entries of captured functions into one program without Oriel, and runs it at many sets of sizes.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

namespace oriel::test {

class SymbolicProgram {
 public:
  /// What the program said of one run.
  struct Run {
    std::string status;  // "ok", or what explain() wrote
    std::int64_t scratch = 0;
    std::vector<std::int64_t> shape;  // of the first output
  };

  explicit SymbolicProgram(const TemporaryFolder& folder) : folder_(folder) {}

  /// Adds an exported function. Returns its number.
  std::size_t add(const std::string& name, ExportedFunction files) {
    exports_.push_back({name, std::move(files), {}});
    return exports_.size() - 1;
  }
  /// Adds a run at these sizes. `numbers`: statements that set `numbers`. Returns its number.
  std::size_t add_run(std::size_t of, const std::vector<std::int64_t>& sizes, const std::vector<Tensor>& inputs,
                      const std::string& numbers = "") {
    Export& e = exports_[of];
    REQUIRE(sizes.size() == e.files.sizes.size());
    const std::size_t number = e.runs.size();
    std::string list;
    for (const std::int64_t n : sizes) list += (list.empty() ? "" : ", ") + std::to_string(n);
    e.runs.push_back({list, numbers});
    if (inputs.empty()) return number;
    REQUIRE(inputs.size() == e.files.inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      write_bytes(folder_ / (place(e, number) + e.files.inputs[i].name + ".in"),
                  bytes_of(inputs[i],
                           numel(inputs[i].shape()).value() * static_cast<std::int64_t>(itemsize(inputs[i].dtype()))));
    return number;
  }

  void build_and_run(const std::string& compiler = "g++", const std::string& standard = "-std=c++20",
                     const std::string& more = "-O1") {
    build_and_run_for(compiler, standard + " " + more + " " + level_flags(), "", " ");
  }
  /// For any target. `emulator`: a command that runs its programs, " " for this machine; empty: they are not run.
  void build_and_run_for(const std::string& compiler, const std::string& flags, const std::string& link,
                         const std::string& emulator) {
    write();
    const std::string common = compiler + " " + flags +
                               " -Wall -Wextra -Wshadow -Wconversion -Werror -fno-exceptions -fno-rtti"
                               " $(pkg-config --cflags eigen3 | sed 's/-I/-isystem /g') ";
    shell(folder_, common + (folder_ / "symbolic_main.cpp") + " " + link + " -o " + (folder_ / "symbolic_program"));
    if (emulator.empty()) return;
    shell(folder_, emulator + " " + (folder_ / "symbolic_program") + " " + folder_.path() + " > " + (folder_ / "log"));
    std::ifstream log(folder_ / "log");
    for (std::string line; std::getline(log, line);) {
      std::istringstream words(line);
      std::string at;
      Run run;
      std::int64_t rank = 0;
      words >> at >> run.scratch >> rank;
      for (std::int64_t n = 0; rank-- > 0 && words >> n;) run.shape.push_back(n);
      std::getline(words >> std::ws, run.status);
      runs_[at] = run;
    }
  }

  const Run& run(std::size_t of, std::size_t number) const { return runs_.at(place(exports_[of], number)); }
  std::vector<unsigned char> result(std::size_t of, std::size_t number, std::size_t output) const {
    const Export& e = exports_[of];
    const std::string text = file_text(folder_ / (place(e, number) + e.files.outputs[output].name + ".out"));
    return {text.begin(), text.end()};
  }
  /// Compares the outputs of a run, whose elements lie in the order that the engine's have.
  void check(std::size_t of, std::size_t number, const std::vector<Tensor>& want) const {
    const Export& e = exports_[of];
    CAPTURE(place(e, number));
    CAPTURE(e.runs[number].sizes);
    CHECK(run(of, number).status == "ok");
    if (run(of, number).status != "ok") return;
    REQUIRE(want.size() == e.files.outputs.size());
    for (std::size_t o = 0; o < want.size(); ++o) {
      CAPTURE(o);
      const Tensor& x = want[o];
      const std::int64_t bytes = numel(x.shape()).value() * static_cast<std::int64_t>(itemsize(x.dtype()));
      CHECK(difference(x.dtype(), result(of, number, o), bytes_of(x, bytes)) == -1);
    }
  }

 private:
  struct OneRun {
    std::string sizes;
    std::string numbers;
  };
  struct Export {
    std::string name;
    ExportedFunction files;
    std::vector<OneRun> runs;
  };

  static std::string place(const Export& e, std::size_t number) { return e.name + "." + std::to_string(number) + "."; }

  void write() {
    std::string sources;
    std::string text;
    std::string body;
    for (const Export& e : exports_) {
      sources += "#include \"" + e.name + ".cpp\"\n";
      const bool numbers = !e.files.numbers.empty();
      text += "static void run_" + e.name + "(const std::string& folder, const std::string& at, const " + e.name +
              "::Sizes& sizes" + (numbers ? ", const " + e.name + "::Numbers& numbers" : "") +
              ") {\n  namespace f = " + e.name + ";\n";
      text += R"(  char why[2000] = "ok";
  if (f::check_sizes(sizes) != f::Status::ok) {
    f::explain(sizes, why, sizeof why);
    std::printf("%s %lld 0 %s\n", at.c_str(), static_cast<long long>(f::scratch_bytes(sizes)), why);
    return;
  }
  f::Inputs inputs;
  f::Outputs outputs;
)";
      for (const ExportedArgument& t : e.files.inputs)
        text += "  inputs." + t.name + " = static_cast<const f::input::" + t.name +
                "::Element*>(read(folder + \"/\" + at + \"" + t.name + ".in\", f::input::" + t.name +
                "::bytes(sizes)));\n";
      for (const ExportedArgument& t : e.files.outputs)
        text += "  outputs." + t.name + " = static_cast<f::output::" + t.name +
                "::Element*>(memory(f::output::" + t.name + "::bytes(sizes)));\n";
      text +=
          std::string(
              "  void* const scratch = memory(f::scratch_bytes(sizes));\n  const f::Status status = f::run(sizes, "
              "inputs, outputs, ") +
          (numbers ? "numbers, " : "") + "scratch);\n  const auto shape = f::output::" + e.files.outputs[0].name +
          "::shape(sizes);\n  std::printf(\"%s %lld %d\", at.c_str(), static_cast<long long>(f::scratch_bytes(sizes)), "
          "static_cast<int>(shape.size()));\n  for (const auto n : shape) std::printf(\" %lld\", static_cast<long "
          "long>(n));\n  std::printf(\" %s\\n\", status == f::Status::ok ? \"ok\" : status == "
          "f::Status::position ? \"position\" : \"refused\");\n";
      for (const ExportedArgument& t : e.files.outputs)
        text += "  write(folder + \"/\" + at + \"" + t.name + ".out\", outputs." + t.name + ", f::output::" + t.name +
                "::bytes(sizes));\n  std::free(outputs." + t.name + ");\n";
      for (const ExportedArgument& t : e.files.inputs)
        text += "  std::free(const_cast<f::input::" + t.name + "::Element*>(inputs." + t.name + "));\n";
      text += "  std::free(scratch);\n}\n";
      for (std::size_t r = 0; r < e.runs.size(); ++r) {
        body += "  {\n    " +
                (numbers ? e.name + "::Numbers numbers;\n    " + e.runs[r].numbers + "\n    " : std::string()) +
                "run_" + e.name + "(folder, \"" + place(e, r) + "\", {" + e.runs[r].sizes + "}" +
                (numbers ? ", numbers" : "") + ");\n  }\n";
      }
    }
    std::ofstream(folder_ / "symbolic_main.cpp")
        << sources << kProgramFiles << text
        << "int main(int, char** arguments) {\n  const std::string folder = arguments[1];\n"
        << body << "  return 0;\n}\n";
  }

  const TemporaryFolder& folder_;
  std::vector<Export> exports_;
  std::map<std::string, Run> runs_;
};

}  // namespace oriel::test
