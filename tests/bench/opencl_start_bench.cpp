// The start-up time of OpenCL: new kernels, and new processes with a warm disk cache, compared with the same driver
// calls by hand. Each measurement is a process of its own, and the row is the time that it says. If this machine has no
// OpenCL device, the rows say so.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "opencl_by_hand.hpp"
#include "turns.hpp"

namespace {

using namespace oriel;
using namespace oriel::bench;

/// The engine's driver calls, recorded so that they can be repeated by hand.
struct Recorded {
  Api real;
  std::string source;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  cl_command_queue queue = nullptr;
  std::string options;
  std::map<cl_kernel, std::string> names;
  std::map<cl_kernel, std::map<cl_uint, std::string>> arguments;
  struct Launch {
    cl_kernel kernel;
    std::map<cl_uint, std::string> arguments;
    std::size_t global[3], local[3];
  };
  std::vector<Launch> launches;
};
Recorded& recorded() {
  static auto& r = *new Recorded();
  return r;
}

Api recording(const Api& real) {
  recorded().real = real;
  Api t = real;
  t.clCreateProgramWithSource = [](auto c, auto n, auto text, auto lengths, auto e) {
    recorded().context = c;
    recorded().source.assign(text[0], lengths[0]);
    return recorded().real.clCreateProgramWithSource(c, n, text, lengths, e);
  };
  t.clBuildProgram = [](auto p, auto n, auto devices, auto options, auto f, auto u) {
    recorded().device = devices[0];
    recorded().options = options;
    return recorded().real.clBuildProgram(p, n, devices, options, f, u);
  };
  t.clCreateKernel = [](auto p, auto name, auto e) {
    cl_kernel k = recorded().real.clCreateKernel(p, name, e);
    recorded().names[k] = name;
    return k;
  };
  t.clSetKernelArg = [](auto k, auto i, auto n, auto value) {
    recorded().arguments[k][i] =
        value == nullptr ? std::string(n, '\0') : std::string(static_cast<const char*>(value), n);
    return recorded().real.clSetKernelArg(k, i, n, value);
  };
  t.clEnqueueNDRangeKernel = [](auto q, auto k, auto d, auto o, auto g, auto l, auto n, auto w, auto e) {
    Recorded& r = recorded();
    r.queue = q;
    r.launches.push_back({k, r.arguments[k], {g[0], g[1], g[2]}, {l[0], l[1], l[2]}});
    return r.real.clEnqueueNDRangeKernel(q, k, d, o, g, l, n, w, e);
  };
  return t;
}

double now() { return seconds(CLOCK_MONOTONIC); }

/// Times the engine's first result of twenty kernels, and by hand one build of the same source with their first
/// launches.
int first_of_twenty() {
  std::string why_not;
  const Api* api = system_api(why_not);
  if (api == nullptr || hand() == nullptr) return 1;
  // The first build of a process always takes longer.
  const Program warm = hand()->program("__kernel void warm(__global float* a) { a[0] = exp(a[1]); }");
  static const Api shim = recording(*api);
  replace_system_api(&shim);
  set_default_device(Device::opencl(0));
  std::vector<Tensor> in, out;
  for (int k = 0; k < 20; ++k) in.push_back(numbers({1000 + 16 * k}));
  const double begun = now();
  for (int k = 0; k < 20; ++k) {
    Tensor y = in[static_cast<std::size_t>(k)];
    for (int j = 0; j <= k; ++j) y = j % 3 == 0 ? exp(y * 0.5F) : j % 3 == 1 ? y * y + 1.0F : sqrt(abs(y)) - y;
    out.push_back(y);
  }
  realize(out);
  device().synchronize();
  const double ours = now() - begun;
  Recorded& r = recorded();
  std::string source = r.source;
  for (const auto& [kernel, name] : r.names)
    for (std::size_t at = 0; (at = source.find(name + "(", at)) != std::string::npos; at += name.size() + 2)
      source.replace(at, name.size(), name + "_h");
  const double again = now();
  const char* text = source.c_str();
  const std::size_t length = source.size();
  cl_int status = CL_SUCCESS;
  cl_program program = r.real.clCreateProgramWithSource(r.context, 1, &text, &length, &status);
  status |= r.real.clBuildProgram(program, 1, &r.device, r.options.c_str(), nullptr, nullptr);
  for (const Recorded::Launch& l : r.launches) {
    cl_kernel kernel = r.real.clCreateKernel(program, (r.names[l.kernel] + "_h").c_str(), &status);
    for (const auto& [i, bytes] : l.arguments) status |= r.real.clSetKernelArg(kernel, i, bytes.size(), bytes.data());
    status |= r.real.clEnqueueNDRangeKernel(r.queue, kernel, 3, nullptr, l.global, l.local, 0, nullptr, nullptr);
  }
  status |= r.real.clFinish(r.queue);
  if (status != CL_SUCCESS) return 1;
  std::printf("%g %g %zu\n", 1e3 * ours, 1e3 * (now() - again), r.launches.size());
  return 0;
}

/// Times the engine's first result with a warm disk cache, after the platform is initialised.
int warm_process() {
  const double begun = now();
  if (hand() == nullptr) return 1;
  hand()->finish();
  const double platform = now() - begun;
  const double start = now();
  set_default_device(Device::opencl(0));
  const Tensor x = numbers({64, 1000});
  const std::vector<float> y = sum(exp(x) * x, 1).to_vector<float>();
  const std::vector<float> z = (softmax(x, 1) + relu(x)).to_vector<float>();
  std::printf("%g %g\n", 1e3 * (now() - start), 1e3 * platform);
  return y.empty() || z.empty() ? 1 : 0;
}

/// The numbers that a child process of this program prints; empty if it failed.
std::vector<double> child(const std::string& mode, const std::string& folder) {
  // The cache is off for "first", because exporting binaries in the background would take time from the measurement.
  const std::string cache = mode == "first" ? "off" : folder + "/oriel";
  const std::string command = "POCL_CACHE_DIR='" + folder + "/pocl' ORIEL_CACHE='" + cache + "' '" +
                              std::filesystem::read_symlink("/proc/self/exe").string() + "' --" + mode;
  std::filesystem::create_directories(folder + "/pocl");
  std::vector<double> said;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return said;
  double value = 0;
  while (std::fscanf(pipe, "%lf", &value) == 1) said.push_back(value);
  if (pclose(pipe) != 0) said.clear();
  return said;
}

struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "oriel-bench-XXXXXX").string();
  Folder() { path = mkdtemp(path.data()); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// Twenty new kernels, in separate processes without a disk cache.
void twenty_new_kernels(benchmark::State& state) {
  if (missing(state)) return;
  std::vector<double> ours, others, ratios;
  for (auto _ : state) {
    const Folder folder;
    const std::vector<double> said = child("first", folder.path);
    if (said.size() != 3) return state.SkipWithError("the process failed");
    state.SetIterationTime(1e-3 * said[0]);
    ours.push_back(said[0]);
    others.push_back(said[1]);
    ratios.push_back(said[0] / said[1]);
    state.counters["launches"] = said[2];
  }
  state.counters["ms"] = Times::median(ours);
  state.counters["other_ms"] = Times::median(others);
  state.counters["over"] = Times::median(ratios);
}

/// Separate processes that share a disk cache, which an earlier process has filled.
void warm_processes(benchmark::State& state) {
  if (missing(state)) return;
  const Folder folder;
  std::vector<double> ours, platform;
  for (int k = 0; k < 2; ++k) child("warm", folder.path);
  for (auto _ : state) {
    const std::vector<double> said = child("warm", folder.path);
    if (said.size() != 2) return state.SkipWithError("the process failed");
    state.SetIterationTime(1e-3 * said[0]);
    ours.push_back(said[0]);
    platform.push_back(said[1]);
  }
  state.counters["ms"] = Times::median(ours);
  state.counters["platform_ms"] = Times::median(platform);
}
BENCHMARK(twenty_new_kernels)->Iterations(3)->Unit(benchmark::kMillisecond)->UseManualTime();
BENCHMARK(warm_processes)->Iterations(5)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--first") return first_of_twenty();
  if (argc == 2 && std::string_view(argv[1]) == "--warm") return warm_process();
  set_default_device(hand() != nullptr ? Device::opencl(0) : Device::eigen());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
