#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "base/escape.hpp"
#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/words.hpp"
#include "oriel/oriel.hpp"

namespace oriel::cli {
namespace {

/// Results with at most this many elements are printed if no output file is named.
constexpr std::int64_t kPrinted = 64;

constexpr const char* kEvalUsage =
    R"usage(usage: oriel eval FILE.tc|-e TEXT [--def NAME] [--in NAME=FILE ..] [--set NAME=NUMBER ..]
                  [--out NAME=FILE ..] [--device D] [--dump DIR] [--explain] [--time] [--unchecked] [--quiet]

Runs a definition (the last one, unless --def names another) on files.

  oriel eval tests/examples/tc/matmul.tc --in A=a.npy --in B=b.npy --out C=c.npy
  oriel eval -e 'def neg(uint8(H, W) X) -> (uint8(H, W) Y) { Y(i, j) = uint8(255 - X(i, j)) }' \
      --in X=photo.pgm --out Y=negative.png

  --in NAME=FILE    a parameter: an .npy file, or a PBM, PGM, PPM or PNG image, which is uint8 (uint16 if it has more bits)
  --set NAME=NUMBER a parameter without dimensions; or a size variable, which must then have this value
  --out NAME=FILE   a result; the extension selects .npy, .png, .pgm or .ppm. Without --out, results are printed
  --device D        eigen (the default), or another device from the list of `oriel devices`
  --dump DIR        writes kernels, schedule and graph to files in DIR
  --explain         prints the kernels and why each one ends where it ends
  --time            prints the times of reading, preparing, running and writing
  --unchecked       if an index that is read from a tensor is out of range, the element reads as 0, and none is
                    written. By default one that is out of range is an error
  --quiet           shows no progress. On a terminal a line says what is done if it takes longer than half a second

Warnings are printed on standard error with their place in the text (`oriel ranges --help` lists the kinds).
Exit status: 0 for success, 1 for an error in the program or data, 2 for a wrong command line.
)usage";

struct Named {
  std::string name;
  std::string value;
};

struct EvalRequest {
  std::optional<std::string> file;
  std::optional<std::string> text;
  std::string definition;
  std::vector<Named> inputs;
  std::vector<Named> numbers;
  std::vector<Named> outputs;
  std::string device;
  std::string dump;
  bool explain = false;
  bool time = false;
  bool quiet = false;
  bool checked = true;
};

void read_arguments(Arguments arguments, EvalRequest& request) {
  const auto named = [](std::string_view option, std::string_view what, std::vector<Named>& list) {
    return Option{option, [=, &list](const std::string& value) {
                    const std::size_t sign = value.find('=');
                    if (sign == std::string::npos || sign == 0 || sign + 1 == value.size())
                      throw UsageError(fmt::format("{} takes NAME={}, but got '{}'", option, what, value));
                    const std::string name = value.substr(0, sign);
                    if (std::ranges::find(list, name, &Named::name) != list.end())
                      throw UsageError(fmt::format("{} names '{}' twice", option, name));
                    list.push_back({name, value.substr(sign + 1)});
                  }};
  };
  read_options(arguments,
               {named("--in", "FILE", request.inputs),
                named("--set", "NUMBER", request.numbers),
                named("--out", "FILE", request.outputs),
                {"--def", into(request.definition)},
                {"--device", into(request.device)},
                {"--dump", into(request.dump)},
                {"-e", into(request.text)},
                {"--explain", &request.explain},
                {"--time", &request.time},
                {"--quiet", &request.quiet},
                {"--checked", &request.checked},
                {"--unchecked", &request.checked, {}, false}},
               only(request.file, "one file"));
  if (request.file.has_value() == request.text.has_value()) throw UsageError("one of FILE.tc and -e TEXT is needed");
}

bool ends_on(const std::string& path, std::string_view ending) {
  return path.size() >= ending.size() && path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
}

Tensor read_tensor(const std::string& path) {
  // read_npy gives the more helpful error for an .npz archive.
  return ends_on(path, ".npy") || ends_on(path, ".npz") ? read_npy(path) : read_image(path);
}

void write_tensor(const std::string& path, const Tensor& tensor) {
  if (ends_on(path, ".npy")) {
    write_npy(path, tensor);
  } else {
    write_image(path, tensor);
  }
}

/// Reads a number exactly: as an integer if it is written as one.
Operand read_number(const Named& named) {
  const char* begin = named.value.data();
  const char* end = begin + named.value.size();
  std::int64_t whole = 0;
  if (const auto [stop, error] = std::from_chars(begin, end, whole); error == std::errc{} && stop == end) {
    return Operand(whole);
  }
  double real = 0;
  if (const auto [stop, error] = std::from_chars(begin, end, real); error == std::errc{} && stop == end) {
    return Operand(real);
  }
  throw ArgumentError("eval", fmt::format("'{}' is no number; --set {} takes one", named.value, named.name));
}

class Watch {
 public:
  void lap(const char* what) {
    const auto now = std::chrono::steady_clock::now();
    laps_.emplace_back(what, std::chrono::duration<double, std::milli>(now - last_).count());
    last_ = now;
  }
  std::string str() const {
    std::string text;
    for (const auto& [what, ms] : laps_) text += fmt::format("{:<8}{:10.3f} ms\n", what, ms);
    return text;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::vector<std::pair<const char*, double>> laps_;
};

/// A definition with its arguments, in order.
struct Job {
  Comprehension comprehension;
  std::vector<Tensor> tensors;
  std::vector<Operand> arguments;
};

Job prepare(const EvalRequest& request, Progress& progress) {
  const std::string text = request.text ? *request.text : read_text("eval", *request.file);
  Job job{oriel::comprehension(text, request.definition, request.file ? *request.file : "-e"), {}, {}};
  const std::vector<std::string> parameters = job.comprehension.parameters();
  const auto known = [&](const std::string& name) {
    return std::find(parameters.begin(), parameters.end(), name) != parameters.end();
  };
  for (const Named& input : request.inputs) {
    if (known(input.name)) continue;
    throw ArgumentError("eval", fmt::format("--in {}: no such parameter; {} has {}", input.name,
                                            job.comprehension.name(), fmt::join(parameters, ", ")));
  }
  const std::vector<std::string> results = job.comprehension.results();
  for (const Named& output : request.outputs) {
    if (std::find(results.begin(), results.end(), output.name) != results.end()) continue;
    throw ArgumentError("eval", fmt::format("--out {}: no such result; {} has {}", output.name,
                                            job.comprehension.name(), fmt::join(results, ", ")));
  }
  job.tensors.reserve(parameters.size());  // reserved because the arguments hold pointers to them
  for (const std::string& name : parameters) {
    const auto named = [&](const Named& n) { return n.name == name; };
    const auto file = std::find_if(request.inputs.begin(), request.inputs.end(), named);
    const auto number = std::find_if(request.numbers.begin(), request.numbers.end(), named);
    if (file != request.inputs.end() && number != request.numbers.end()) {
      throw ArgumentError("eval", fmt::format("'{}' is given by --in and by --set; give only one", name));
    }
    if (file != request.inputs.end()) {
      progress.phase("reading " + base::escaped(file->value));
      job.tensors.push_back(read_tensor(file->value));
      job.arguments.emplace_back(job.tensors.back());
    } else if (number != request.numbers.end()) {
      job.arguments.push_back(read_number(*number));
    } else {
      throw ArgumentError("eval", fmt::format("'{}' is missing; give --in {}=FILE or --set {}=NUMBER [missing_input]",
                                              name, name, name));
    }
  }
  for (const Named& number : request.numbers) {
    if (!known(number.name)) job.comprehension.expect_size(number.name, read_number(number), job.arguments);
  }
  return job;
}

std::string elements(const Tensor& tensor) {
  if (tensor.numel() > kPrinted) return {};
  const auto list = [](const auto& values) { return fmt::format(": {}", fmt::join(values, " ")); };
  if (tensor.dtype() == DType::uint64) return list(tensor.to_vector<std::uint64_t>());
  if (is_floating(tensor.dtype())) return list(tensor.to(DType::float64).to_vector<double>());
  return list(tensor.to(DType::int64).to_vector<std::int64_t>());
}

/// Checks the output files before any work is done.
void check_outputs(const EvalRequest& request, const ComprehensionResults& results) {
  for (const Named& output : request.outputs) {
    const DType dtype = results[output.name].dtype();
    if (ends_on(output.value, ".npy") || dtype == DType::uint8 || dtype == DType::uint16) continue;
    if (!ends_on(output.value, ".png") && !ends_on(output.value, ".pgm") && !ends_on(output.value, ".ppm")) {
      throw ArgumentError("eval", fmt::format("--out {}={}: end the file's name on .npy, .png, .pgm or .ppm",
                                              output.name, output.value));
    }
    throw DTypeError("eval", fmt::format("--out {}={}: a picture is uint8 or uint16, but {} is {}; cast it in the "
                                         "definition, as in uint8(min(max(e, 0), 255)), or write .npy",
                                         output.name, output.value, output.name, name(dtype)));
  }
}

void evaluate(const EvalRequest& request, std::ostream& out, std::ostream& err) {
  Watch watch;
  if (!request.device.empty()) set_default_device(Device::parse(request.device));
  if (!request.dump.empty()) set_dump_directory(request.dump);
  Progress progress(err, !request.quiet && is_terminal(err));
  const Job job = prepare(request, progress);
  progress.phase("planning");
  watch.lap("read");
  const ComprehensionResults results =
      job.comprehension.call(job.arguments, {.bounds = request.checked ? Bounds::checked : Bounds::zero});
  progress.clear();
  for (const ComprehensionWarning& warning : results.warnings()) err << warning.diagnostic << '\n';
  check_outputs(request, results);
  watch.lap("prepare");
  std::vector<Tensor> wanted;
  for (std::size_t k = 0; k < results.size(); ++k) wanted.push_back(results[k]);
  if (request.explain || progress.shown()) {
    const Explanation planned = explain(wanted);
    if (request.explain) out << planned.str();
    double nanoseconds = 0;
    for (const ExplainedKernel& kernel : planned.kernels) nanoseconds += kernel.estimated_nanoseconds;
    progress.phase(fmt::format("running {} kernel{}", planned.kernels.size(), planned.kernels.size() == 1 ? "" : "s"),
                   nanoseconds * 1e-9);
  }
  realize(wanted);
  watch.lap("run");
  for (const Named& output : request.outputs) {
    progress.phase("writing " + base::escaped(output.value));
    write_tensor(output.value, results[output.name]);
  }
  watch.lap("write");
  if (request.outputs.empty()) {
    for (std::size_t k = 0; k < results.size(); ++k) {
      out << fmt::format("{}: {} {}{}\n", results.name(k), name(results[k].dtype()), to_string(results[k].shape()),
                         elements(results[k]));
    }
  }
  if (request.time) out << watch.str();
}

int run_eval(Arguments arguments, const Streams& streams) {
  EvalRequest request;
  read_arguments(arguments, request);
  // The default device is restored after this call, because tests run several commands in one process.
  struct Settings {
    Device device = default_device();
    std::optional<std::string> dump = dump_directory();
    ~Settings() {
      set_default_device(device);
      set_dump_directory(dump);
    }
  } const before;
  evaluate(request, streams.out, streams.err);
  return 0;
}

}  // namespace

constexpr Command kEval{"eval", "run a comprehension on arrays and pictures from files",
                        [] { return std::string(kEvalUsage); }, run_eval};

}  // namespace oriel::cli
