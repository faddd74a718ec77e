// OpenCL: the engine beside OpenCL programs written by hand on the same device, in turns within one process, and beside
// OpenBLAS for products. Where this machine has no OpenCL device, rows say so.
//
// Counters: ms and other_ms, medians; ratio, the other's time over the engine's: 1 is as fast, more is faster.
// What differs per row is told where the row is made.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backend/backend.hpp"
#include "backend/opencl/api.hpp"
#include "backend/opencl/device_table.hpp"
#include "codegen/loop_program.hpp"
#include "oriel/oriel.hpp"
#include "turns.hpp"

namespace {

using namespace oriel;
using namespace oriel::backend::opencl;
using bench::Times;

/// A context, a queue and programs of our own.
class Hand {
 public:
  explicit Hand(const Api& api) : api_(api), table_(find_devices(api).at(0)) {
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                                reinterpret_cast<cl_context_properties>(table_.platform), 0};
    cl_int status = CL_SUCCESS;
    context_ = Context(api, api.clCreateContext(properties, 1, &table_.id, nullptr, nullptr, &status));
    check(status, "bench", "context");
    queue_ = Queue(api, api.clCreateCommandQueue(context_.get(), table_.id, 0, &status));
    check(status, "bench", "queue");
  }

  Memory buffer(std::size_t bytes) {
    cl_int status = CL_SUCCESS;
    Memory m(api_, api_.clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status));
    check(status, "bench", "buffer");
    const std::vector<float> numbers(bytes / 4, 0.25F);
    check(api_.clEnqueueWriteBuffer(queue_.get(), m.get(), CL_TRUE, 0, bytes, numbers.data(), 0, nullptr, nullptr),
          "bench", "write");
    return m;
  }
  Program program(const std::string& source) {
    const char* text = source.c_str();
    const std::size_t length = source.size();
    cl_int status = CL_SUCCESS;
    Program p(api_, api_.clCreateProgramWithSource(context_.get(), 1, &text, &length, &status));
    check(status, "bench", "source");
    check(api_.clBuildProgram(p.get(), 1, &table_.id, "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt", nullptr,
                              nullptr),
          "bench", "build");
    return p;
  }
  KernelHandle kernel(const Program& p, const std::string& name) {
    cl_int status = CL_SUCCESS;
    KernelHandle k(api_, api_.clCreateKernel(p.get(), name.c_str(), &status));
    check(status, "bench", name);
    return k;
  }
  void set(const KernelHandle& k, const std::vector<const Memory*>& buffers) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      cl_mem m = buffers[i]->get();
      check(api_.clSetKernelArg(k.get(), static_cast<cl_uint>(i), sizeof m, &m), "bench", "argument");
    }
  }
  void launch(const KernelHandle& k, std::size_t items, std::size_t group) {
    check(api_.clEnqueueNDRangeKernel(queue_.get(), k.get(), 1, nullptr, &items, &group, 0, nullptr, nullptr), "bench",
          "launch");
  }
  void finish() { check(api_.clFinish(queue_.get()), "bench", "finish"); }
  void flush() { check(api_.clFlush(queue_.get()), "bench", "flush"); }
  const DeviceTable& table() const { return table_; }
  const Api& api() const { return api_; }

 private:
  const Api& api_;
  DeviceTable table_;
  Context context_;
  Queue queue_;
};

/// Null where there is no device.
Hand* hand() {
  static Hand* const one = []() -> Hand* {
    std::string why_not;
    const Api* api = system_api(why_not);
    if (api == nullptr || find_devices(*api).empty()) return nullptr;
    return new Hand(*api);  // not taken down after its driver
  }();
  return one;
}

backend::Backend& device() { return backend::backend_for(Device::opencl(0)); }

Tensor numbers(const Shape& shape) {
  std::vector<float> v(static_cast<std::size_t>(numel(shape).value()));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.001F * static_cast<float>(static_cast<int>(i % 2003) - 1000);
  return Tensor::from(v, shape);
}

/// The engine's work, waited for, and the other's, in turns. `scale`: how much more the other does.
void in_turn(benchmark::State& state, double bytes, const std::function<Tensor()>& build,
             const std::function<void()>& other, double scale = 1) {
  Times ours, theirs;
  const auto run = [&] {
    Tensor r = build();
    r.realize();
    device().synchronize();
  };
  for (int turn = 0; turn < 2; ++turn) {
    run();
    other();
  }
  for (auto _ : state) {
    ours.take(run);
    theirs.take(other);
  }
  const double mine = Times::median(ours.wall), others = Times::median(theirs.wall);
  state.counters["ms"] = 1e3 * mine;
  state.counters["other_ms"] = 1e3 * others;
  state.counters["ratio"] = others / scale / mine;
  state.counters["cpu_ratio"] = Times::median(theirs.cpu) / scale / Times::median(ours.cpu);
  if (bytes > 0) state.counters["GB/s"] = 1e-9 * bytes / mine;
}

constexpr std::size_t kMany = std::size_t{1} << 24;

const char* const kHandSource = R"(
__kernel void triad(__global const float* b, __global const float* c, __global float* a) {
  const size_t i = get_global_id(0);
  vstore16(vload16(i, b) + 3.0f * vload16(i, c), i, a);
}
__kernel void copy(__global const float* b, __global float* a) {
  const size_t i = get_global_id(0);
  vstore16(vload16(i, b), i, a);
}
__kernel void chain(__global const float* a, __global const float* b, __global const float* c, __global float* out) {
  const size_t i = get_global_id(0);
  const float16 x = vload16(i, a), y = vload16(i, b), z = vload16(i, c);
  const float16 t = x * y + z;
  vstore16(fmax(t, 0.0f) * exp(-fabs(x)) + 0.5f * tanh(y), i, out);
}
// 64 items, each a run of its own.
__kernel void reading(__global const float* b, __global float* a) {
  const size_t n = (1 << 24) / 64;
  __global const float* p = b + get_global_id(0) * n;
  float16 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  for (size_t i = 0; i < n / 16; i += 4) {
    s0 += vload16(i, p);
    s1 += vload16(i + 1, p);
    s2 += vload16(i + 2, p);
    s3 += vload16(i + 3, p);
  }
  vstore16(s0 + s1 + s2 + s3, get_global_id(0), a);
}
)";

struct Kernels {
  Program program = hand()->program(kHandSource);
  Memory a = hand()->buffer(4 * kMany), b = hand()->buffer(4 * kMany), c = hand()->buffer(4 * kMany),
         d = hand()->buffer(4 * kMany);
};
Kernels& kernels() {
  static auto& k = *new Kernels();
  return k;
}

/// A hand-written kernel over all 2^24 elements, 16 an item.
std::function<void()> by_hand(const char* name, const std::vector<const Memory*>& buffers, std::size_t items,
                              std::size_t group) {
  auto k = std::make_shared<KernelHandle>(hand()->kernel(kernels().program, name));
  hand()->set(*k, buffers);
  return [k, items, group] {
    hand()->launch(*k, items, group);
    hand()->finish();
  };
}
std::function<void()> triad() { return by_hand("triad", {&kernels().b, &kernels().c, &kernels().a}, kMany / 16, 32); }
std::function<void()> copy() { return by_hand("copy", {&kernels().b, &kernels().a}, kMany / 16, 32); }
std::function<void()> reading() { return by_hand("reading", {&kernels().b, &kernels().a}, 64, 1); }

bool missing(benchmark::State& state) {
  if (hand() != nullptr) return false;
  state.SkipWithError("no OpenCL device");
  return true;
}

// --- bandwidth -------------------------------------------------------------------------------------------------------

/// (a*b + c)*2 - a: 4 arrays beside the triad's 3.
void chain_triad(benchmark::State& state) {
  if (missing(state)) return;
  const Tensor a = numbers({static_cast<std::int64_t>(kMany)}), b = numbers({static_cast<std::int64_t>(kMany)}),
               c = numbers({static_cast<std::int64_t>(kMany)});
  in_turn(
      state, 16.0 * kMany, [&] { return (a * b + c) * 2.0F - a; }, triad(), 3.0 / 4.0);
}

void chain_exp_tanh(benchmark::State& state) {
  if (missing(state)) return;
  const Tensor a = numbers({static_cast<std::int64_t>(kMany)}), b = numbers({static_cast<std::int64_t>(kMany)}),
               c = numbers({static_cast<std::int64_t>(kMany)});
  Kernels& k = kernels();
  in_turn(
      state, 16.0 * kMany, [&] { return relu(a * b + c) * exp(-abs(a)) + 0.5F * tanh(b); },
      by_hand("chain", {&k.a, &k.b, &k.c, &k.d}, kMany / 16, 32));
}

/// Reductions beside a kernel that reads as many bytes: 0 all, 1 rows, 2 columns, 3 the columns' maximum.
void reduction(benchmark::State& state) {
  if (missing(state)) return;
  const Tensor x = numbers({4096, 4096});
  const auto what = state.range(0);
  in_turn(
      state, 4.0 * kMany,
      [&] { return what == 0   ? sum(x)
                   : what == 1 ? sum(x, 1)
                   : what == 2 ? sum(x, 0)
                               : max(x, 0); }, reading());
}

/// Beside a plain copy: 0 transposed, 1 with the last of three axes first.
void turned_copy(benchmark::State& state) {
  if (missing(state)) return;
  const Tensor x = state.range(0) == 0 ? numbers({4096, 4096}) : numbers({64, 512, 512});
  in_turn(
      state, 8.0 * kMany,
      [&] {
        return (state.range(0) == 0 ? x.transpose() : x.permute({2, 0, 1})).contiguous();
      },
      copy());
}

BENCHMARK(chain_triad)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(chain_exp_tanh)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(reduction)->DenseRange(0, 3)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(turned_copy)->DenseRange(0, 1)->Unit(benchmark::kMillisecond)->UseRealTime();

// --- products --------------------------------------------------------------------------------------------------------

using Sgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                       const float* b, int ldb, float beta, float* c, int ldc);
constexpr int kRowMajor = 101, kPlain = 111;

/// Null where there is none.
Sgemm blas() {
  static const Sgemm sgemm = []() -> Sgemm {
    setenv("OPENBLAS_NUM_THREADS", std::to_string(std::thread::hardware_concurrency()).c_str(), 1);
    // Version 0.3.21 takes processors that it does not know for the oldest ones.
    if (__builtin_cpu_supports("avx512bw")) setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
    void* library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (library == nullptr) return nullptr;
    Sgemm f = nullptr;
    *reinterpret_cast<void**>(&f) = dlsym(library, "cblas_sgemm");
    return f;
  }();
  return sgemm;
}

/// Beside OpenBLAS on as many threads as the machine has.
void product(benchmark::State& state) {
  if (missing(state)) return;
  if (blas() == nullptr) return state.SkipWithError("no libopenblas.so.0");
  const std::int64_t n = state.range(0);
  const Tensor a = numbers({n, n}), b = numbers({n, n});
  const std::vector<float> x(static_cast<std::size_t>(n * n), 0.5F);
  std::vector<float> y(x.size());
  const int m = static_cast<int>(n);
  in_turn(
      state, 0, [&] { return matmul(a, b); },
      [&] { blas()(kRowMajor, kPlain, kPlain, m, m, m, 1.0F, x.data(), m, x.data(), m, 0.0F, y.data(), m); });
}
BENCHMARK(product)->Arg(512)->Arg(1024)->Arg(2048)->Unit(benchmark::kMillisecond)->UseRealTime();

// --- launches ------------------------------------------------------------------------------------------------------

constexpr int kLaunches = 2000;

/// out = in + in over 16 elements.
codegen::LoopProgram tiny() {
  using codegen::Instr;
  codegen::LoopProgram p;
  p.name = "tiny";
  p.outer = {16};
  p.arguments = {{DType::float32, 16, false, "in0"}, {DType::float32, 16, true, "out0"}};
  p.accesses = {{0, DType::float32, ShapeTracker(Shape{16})}, {1, DType::float32, ShapeTracker(Shape{16})}};
  p.values = {DType::float32, DType::float32};
  Instr load, add, store;
  load.code = codegen::Code::Load;
  load.result = 0;
  load.aux = 0;
  add.op = graph::Op::Add;
  add.result = 1;
  add.a = add.b = 0;
  store.code = codegen::Code::Store;
  store.a = 1;
  store.aux = 1;
  codegen::Stage stage;
  stage.outer = {load, add, store};
  p.stages = {stage};
  return p;
}

/// Cached launches enqueued together and waited for once, beside a loop of clSetKernelArg and clEnqueueNDRangeKernel.
/// own_us: what a launch costs more. 0: the backend's launch; 1: an expression built and realised, each time.
void launches(benchmark::State& state) {
  if (missing(state)) return;
  const Program program = hand()->program(
      "__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void tiny(__global const float* a, __global float* b) {"
      " vstore16(vload16(0, a) + vload16(0, a), 0, b); }");
  const KernelHandle kernel = hand()->kernel(program, "tiny");
  const Memory a = hand()->buffer(64), b = hand()->buffer(64);
  const auto other = [&] {
    for (int k = 0; k < kLaunches; ++k) {
      hand()->set(kernel, {&a, &b});
      hand()->launch(kernel, 1, 1);
    }
    hand()->flush();
    hand()->finish();
  };
  const Tensor x = numbers({16});
  const auto made = device().compile(tiny());
  device().prepare({&made, 1});
  const mem::Buffer in(device().allocator(), 64), out(device().allocator(), 64);
  void* const arguments[] = {const_cast<void*>(in.data()), const_cast<void*>(out.data())};
  const auto ours = [&] {
    for (int k = 0; k < kLaunches; ++k) {
      if (state.range(0) == 0) {
        device().launch(*made, arguments, {});
      } else {
        (x + 1.0F).realize();
      }
    }
    device().submit();
    device().synchronize();
  };
  Times mine, theirs;
  ours();
  other();
  for (auto _ : state) {
    mine.take(ours);
    theirs.take(other);
  }
  const double us = 1e6 / kLaunches;
  state.counters["us"] = us * Times::median(mine.wall);
  state.counters["other_us"] = us * Times::median(theirs.wall);
  state.counters["own_us"] = us * (Times::median(mine.wall) - Times::median(theirs.wall));
  state.counters["own_cpu_us"] = us * (Times::median(mine.cpu) - Times::median(theirs.cpu));
}
BENCHMARK(launches)->DenseRange(0, 1)->Unit(benchmark::kMillisecond)->UseRealTime();

// --- new processes -------------------------------------------------------------------------------------------------

/// What the engine asked of the driver, to be asked again by hand.
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

double now() { return bench::seconds(CLOCK_MONOTONIC); }

/// The engine's first result of twenty kernels over one build of the same source and their first launches, by hand.
int first_of_twenty() {
  std::string why_not;
  const Api* api = system_api(why_not);
  if (api == nullptr || hand() == nullptr) return 1;
  // The first build of a process takes longer whatever it is.
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

/// With a warm disk cache: the engine's first result once the platform is there.
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

/// What a process of this program prints; empty where it failed.
std::vector<double> child(const std::string& mode, const std::string& folder) {
  // Binaries are exported beside what comes next, which would take time from it.
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

/// In processes of their own, each without a disk cache.
void twenty_new_kernels(benchmark::State& state) {
  if (missing(state)) return;
  std::vector<double> ours, others, ratios;
  for (auto _ : state) {
    const Folder folder;
    const std::vector<double> said = child("first", folder.path);
    if (said.size() != 3) return state.SkipWithError("the process failed");
    ours.push_back(said[0]);
    others.push_back(said[1]);
    ratios.push_back(said[0] / said[1]);
    state.counters["launches"] = said[2];
  }
  state.counters["ms"] = Times::median(ours);
  state.counters["other_ms"] = Times::median(others);
  state.counters["over"] = Times::median(ratios);
}

/// In processes of their own that share a disk cache, filled by one before.
void warm_processes(benchmark::State& state) {
  if (missing(state)) return;
  const Folder folder;
  std::vector<double> ours, platform;
  for (int k = 0; k < 2; ++k) child("warm", folder.path);
  for (auto _ : state) {
    const std::vector<double> said = child("warm", folder.path);
    if (said.size() != 2) return state.SkipWithError("the process failed");
    ours.push_back(said[0]);
    platform.push_back(said[1]);
  }
  state.counters["ms"] = Times::median(ours);
  state.counters["platform_ms"] = Times::median(platform);
}
BENCHMARK(twenty_new_kernels)->Iterations(3)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(warm_processes)->Iterations(5)->Unit(benchmark::kMillisecond)->UseRealTime();

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
