// Builds exports into one program without Oriel, runs it, and compares its results with the engine's.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "../../support/temporary_folder.hpp"
#include "compiling.hpp"
#include "formula/call.hpp"
#include "oriel/oriel.hpp"

namespace oriel::test {

inline std::vector<unsigned char> bytes_of(const Tensor& tensor, std::int64_t bytes) {
  tensor.realize();
  const auto* data = static_cast<const unsigned char*>(detail::Access::node(tensor)->buffer->data());
  return bytes == 0 ? std::vector<unsigned char>() : std::vector<unsigned char>(data, data + bytes);
}

inline void write_bytes(const std::string& path, const std::vector<unsigned char>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// An exported function: its name, its files, its inputs and expected outputs.
struct Exported {
  std::string name;
  ExportedFiles files;
  std::vector<Tensor> inputs;   // as in files.inputs
  std::vector<Tensor> outputs;  // as in files.outputs
  std::string numbers;          // a statement that sets `numbers`; empty if the function takes none
  std::string status = "ok";    // what it returns
};

/// Does this machine have the compiler? clang++ may be missing.
inline bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;
}

class Program {
 public:
  explicit Program(const TemporaryFolder& folder) : folder_(folder) {}

  /// Adds an export. Copies the inputs' bytes now, because the engine may overwrite them later.
  void add(Exported exported) {
    REQUIRE(exported.files.inputs.size() == exported.inputs.size());
    REQUIRE(exported.files.outputs.size() == exported.outputs.size());
    for (std::size_t i = 0; i < exported.inputs.size(); ++i) {
      const ExportedTensor& t = exported.files.inputs[i];
      write_bytes(folder_ / (exported.name + "." + t.name + ".in"), bytes_of(exported.inputs[i], t.bytes));
    }
    all_.push_back(std::move(exported));
  }

  /// Adds statements at the end of main, or declarations before it.
  void add_checks(const std::string& statements) { checks_ += statements; }

  /// Writes the program's sources: one unit of all exports, and a main that includes only their headers.
  void write() {
    std::string includes;
    std::string unit;
    std::string body;
    for (const Exported& e : all_) {
      includes = "#include \"" + e.name + ".hpp\"\n" + includes;
      unit += "#include \"" + e.name + ".cpp\"\n";
      body += "  {\n    " + e.name + "::Inputs inputs;\n    " + e.name + "::Outputs outputs;\n";
      for (const ExportedTensor& t : e.files.inputs) {
        body += "    inputs." + t.name + " = static_cast<const " + e.name + "::input::" + t.name +
                "::Element*>(read(folder + \"/" + e.name + "." + t.name + ".in\", " + e.name + "::input::" + t.name +
                "::kBytes));\n";
      }
      std::string saved;
      for (const ExportedTensor& t : e.files.outputs) {
        const std::string constants = e.name + "::output::" + t.name;
        body += "    outputs." + t.name + " = static_cast<" + constants + "::Element*>(memory(" + constants +
                "::kBytes));\n";
        saved += "    write(folder + \"/" + e.name + "." + t.name + ".out\", outputs." + t.name + ", " + constants +
                 "::kBytes);\n";
      }
      body += "    void* scratch = memory(" + e.name + "::kScratchBytes);\n";
      if (!e.numbers.empty()) body += "    " + e.name + "::Numbers numbers;\n    " + e.numbers + "\n";
      body += "    if (" + e.name + "::run(inputs, outputs, " + (e.numbers.empty() ? "" : "numbers, ") +
              "scratch) != " + e.name + "::Status::" + e.status + ") return 1;\n" + saved + "  }\n";
    }
    includes += kProgramFiles;
    std::ofstream(folder_ / "exports.cpp") << unit;
    std::ofstream(folder_ / "main.cpp") << includes
                                        << "int main(int, char** arguments) {\n  const std::string folder = "
                                           "arguments[1];\n"
                                        << body << checks_ << "  return 0;\n}\n";
  }

  /// Builds all exports as one object and checks that it has no symbols of Oriel and does not allocate.
  void build(const std::string& compiler, const std::string& flags, const std::string& of_exports = "") {
    const std::string common =
        compiler + " -std=c++17 -O1 -Wall -Wextra -Wshadow -Wconversion -Werror -fno-exceptions -fno-rtti " + flags +
        " $(pkg-config --cflags eigen3 | sed 's/-I/-isystem /g') ";
    const std::string object = folder_ / "exports.o";
    shell(folder_, common + of_exports + " -c " + (folder_ / "exports.cpp") + " -o " + object);
    shell(folder_, common + (folder_ / "main.cpp") + " " + object + " -o " + (folder_ / "program"));
    shell(folder_, "nm -C " + object + " > " + (folder_ / "symbols"));
    std::ifstream symbols(folder_ / "symbols");
    for (std::string line; std::getline(symbols, line);) {
      CAPTURE(line);
      const std::size_t kind = line.find_first_of("TUWVBDbd", 17);
      if (kind != 17) continue;
      const std::string symbol = line.substr(19);
      if (line[kind] == 'U') {
        for (const char* heap : {"malloc", "free", "operator", "calloc", "realloc", "__cxa", "oriel"})
          CHECK(symbol.find(heap) == std::string::npos);
      } else if (line[kind] == 'T') {
        CHECK(symbol.find("::run(") != std::string::npos);
      } else {
        CHECK(line[kind] != 'B');
        CHECK(line[kind] != 'b');  // a variable: exports keep no state
      }
    }
  }

  /// Builds for a target whose objects nm may not read. `link`: flags of the last step.
  void build_for(const std::string& compiler, const std::string& flags, const std::string& link = "") {
    const std::string common = compiler + " " + flags +
                               " -O1 -Wall -Wextra -Wshadow -Wconversion -Werror -fno-exceptions -fno-rtti"
                               " $(pkg-config --cflags eigen3 | sed 's/-I/-isystem /g') ";
    shell(folder_, common + "-c " + (folder_ / "exports.cpp") + " -o " + (folder_ / "exports.o"));
    shell(folder_, common + (folder_ / "main.cpp") + " " + (folder_ / "exports.o") + " " + link + " -o " +
                       (folder_ / "program"));
  }

  /// `emulator`: a command that runs programs built for another processor.
  void run(const std::string& emulator = "") {
    shell(folder_, emulator + " " + (folder_ / "program") + " " + folder_.path());
  }

  /// The bytes that the program wrote for one output.
  std::vector<unsigned char> result(const Exported& e, std::size_t output) const {
    const std::string text = file_text(folder_ / (e.name + "." + e.files.outputs[output].name + ".out"));
    return {text.begin(), text.end()};
  }

  const std::vector<Exported>& exports() const { return all_; }

 private:
  const TemporaryFolder& folder_;
  std::vector<Exported> all_;
  std::string checks_;
};

}  // namespace oriel::test
