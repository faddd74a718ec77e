// Compiles rendered sources with the system's compilers, loads them, and compares their results with the scalar
// meaning.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "../backend/programs.hpp"
#include "reference/loops.hpp"
#include "source/cpp/render.hpp"

namespace oriel::test {

/// An element of the array that a kernel's `parameters` points to.
union Parameter {
  std::int64_t i;
  double f;
};

/// A unit of rendered kernels that is built and loaded.
class Library {
 public:
  using Kernel = void (*)(void* const*, const Parameter*, std::int64_t first, std::int64_t last);

  Library(const std::string& compiler, const std::string& flags, const std::string& source) {
    std::string folder = (std::filesystem::temp_directory_path() / "oriel-render-XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    folder_ = folder;
    std::ofstream(folder_ / "kernels.cpp") << source;
    const std::string command = compiler + " -std=c++17 -Wall -Wextra -Werror -ffp-contract=off -shared -fPIC " +
                                flags + " $(pkg-config --cflags eigen3 | sed 's/-I/-isystem /g') -o " +
                                (folder_ / "kernels.so").string() + " " + (folder_ / "kernels.cpp").string() + " 2> " +
                                (folder_ / "messages").string();
    if (std::system(command.c_str()) != 0) {
      std::ifstream in(folder_ / "messages");
      const std::string messages{std::istreambuf_iterator<char>(in), {}};
      FAIL(command << "\n" << messages.substr(0, 4000));
    }
    handle_ = dlopen((folder_ / "kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE(handle_ != nullptr);
  }
  Library(const Library&) = delete;
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
    std::filesystem::remove_all(folder_);
  }

  Kernel kernel(const std::string& name) const {
    void* symbol = dlsym(handle_, name.c_str());
    REQUIRE(symbol != nullptr);
    return reinterpret_cast<Kernel>(symbol);
  }

 private:
  std::filesystem::path folder_;
  void* handle_ = nullptr;
};

/// The compilers of this machine. A test that finds none fails, because building the Eigen backend takes one.
inline std::vector<std::string> compilers() {
  std::vector<std::string> found;
  for (const char* compiler : {"g++", "clang++"}) {
    if (std::system((std::string("command -v ") + compiler + " > /dev/null").c_str()) == 0)
      found.emplace_back(compiler);
  }
  REQUIRE(!found.empty());
  return found;
}

/// Does `got` agree with `want` for element i of an output?
using Agree = std::function<bool(std::size_t output, std::int64_t i, Word got, Word want)>;

/// A program with its inputs. The test allocates the outputs.
struct Sample {
  LoopProgram program;
  std::vector<Bytes> inputs;  // in the order of the arguments that are not outputs
  std::vector<graph::Scalar> parameters;
  Agree agree;  // null: equal bits, except that NaNs may have any bits
};

inline bool same_number(DType dtype, Word got, Word want) {
  if (got == want) return true;
  if (is_half(dtype) || dtype == DType::float32) return std::isnan(get<float>(got)) && std::isnan(get<float>(want));
  return dtype == DType::float64 && std::isnan(get<double>(got)) && std::isnan(get<double>(want));
}

inline void check_sample(const Sample& sample, Library::Kernel kernel) {
  std::vector<Bytes> got;
  std::vector<Bytes> want;
  std::vector<std::size_t> place;
  got.reserve(sample.program.arguments.size());
  want.reserve(sample.program.arguments.size());
  std::size_t next = 0;
  for (const codegen::Argument& a : sample.program.arguments) {
    if (a.output) {
      got.emplace_back(a.dtype, a.elements.value());
      want.emplace_back(a.dtype, a.elements.value());
    } else {
      got.push_back(sample.inputs.at(next));
      want.push_back(sample.inputs.at(next++));
    }
  }
  std::vector<void*> data;
  std::vector<const Bytes*> arguments;
  for (const Bytes& b : got) data.push_back(b.data());
  for (const Bytes& b : want) arguments.push_back(&b);
  std::vector<Parameter> parameters;
  for (const graph::Scalar& s : sample.parameters) {
    Parameter p;
    p.i = s.i;
    if (is_floating(s.dtype)) p.f = s.f;
    parameters.push_back(p);
  }
  // Runs the outer points in two ranges. Where the first one ends must not matter.
  const std::int64_t points = numel(sample.program.outer, "test").value();
  const std::int64_t middle = points / 3;
  kernel(data.data(), parameters.data(), 0, middle);
  kernel(data.data(), parameters.data(), middle, points);
  interpret(sample.program, arguments, sample.parameters);
  std::size_t output = 0;
  for (std::size_t a = 0; a < got.size(); ++a) {
    if (!sample.program.arguments[a].output) {
      CHECK(got[a].same_bits(want[a]));  // inputs stay unchanged
      continue;
    }
    int bad = 0;
    for (std::int64_t i = 0; i < got[a].elements() && bad < 4; ++i) {
      const Word g = read_element(got[a], i);
      const Word w = read_element(want[a], i);
      const bool fine = sample.agree ? sample.agree(output, i, g, w) : same_number(got[a].dtype(), g, w);
      if (!fine) ++bad;
      INFO(sample.program.name, " output ", output, " element ", i, ": got ", g, ", want ", w);
      CHECK(fine);
    }
    ++output;
  }
}

/// Renders all samples into one unit. Every compiler builds it. The first compiler's build is run, with `run_all` the
/// others' too.
inline void check_samples(std::vector<Sample>& samples, const std::string& flags = "-O1", bool run_all = false) {
  std::string source;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    samples[s].program.name += "_" + std::to_string(s);
    codegen::verify(samples[s].program);
    source += source::cpp::render(samples[s].program) + "\n";
  }
  const std::vector<std::string> all = compilers();
  for (const std::string& compiler : all) {
    CAPTURE(compiler);
    const bool run = run_all || compiler == all.front();
    const Library library(compiler, run ? flags : "-O0", source);
    for (const Sample& sample : samples) {
      const Library::Kernel kernel = library.kernel(sample.program.name);
      if (run) check_sample(sample, kernel);
    }
  }
}

}  // namespace oriel::test
