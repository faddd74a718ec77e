#include "backend/opencl/binary_exporter.hpp"

#include <utility>

#include "oriel/error.hpp"

namespace oriel::backend::opencl {

void BinaryExporter::add(std::vector<FreshProgram> programs) {
  const std::lock_guard lock(guard_);
  for (FreshProgram& f : programs) exports_.push_back(std::move(f));
  if (!exporter_.joinable()) exporter_ = std::thread([this] { run(); });
  wake_.notify_all();
}

void BinaryExporter::stop() {
  {
    const std::lock_guard lock(guard_);
    stop_ = true;
  }
  wake_.notify_all();
  if (exporter_.joinable()) exporter_.join();
}

void BinaryExporter::wait() {
  std::unique_lock lock(guard_);
  wake_.wait(lock, [&] { return exports_.empty() && !exporting_; });
}

// A program is exported after its kernels ran, so its binary contains what the driver compiled at launch.
void BinaryExporter::run() {
  std::unique_lock lock(guard_);
  while (true) {
    wake_.wait(lock, [&] { return stop_ || !exports_.empty(); });
    if (stop_) return;
    const FreshProgram fresh = std::move(exports_.front());
    exports_.pop_front();
    exporting_ = true;
    lock.unlock();
    try {
      // Export while nothing is launched: PoCL builds what it exports, in files named like those of running kernels.
      queue_.alone([&] { write(fresh); });
    } catch (const DeviceError&) {
      // The failure is reported to whoever reads the results; this program is not exported.
    }
    lock.lock();
    exporting_ = false;
    wake_.notify_all();
  }
}

void BinaryExporter::write(const FreshProgram& fresh) {
  std::size_t bytes = 0;
  if (api_.clGetProgramInfo(fresh.program->get(), CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) !=
          CL_SUCCESS ||
      bytes == 0)
    return;
  std::string binary(bytes, '\0');
  auto* data = reinterpret_cast<unsigned char*>(binary.data());
  if (api_.clGetProgramInfo(fresh.program->get(), CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) != CL_SUCCESS)
    return;
  // Write the program before the entries that name it.
  const std::string key = "program\n" + mem::DiskCache::file_name(context_ + fresh.source);
  if (!cache_.put(key, binary)) return;
  for (const std::string& kernel : fresh.kernels) cache_.put(kernel, key);
  const std::lock_guard lock(guard_);
  ++exported_;
}

std::uint64_t BinaryExporter::exported() const {
  const std::lock_guard lock(guard_);
  return exported_;
}

}  // namespace oriel::backend::opencl
