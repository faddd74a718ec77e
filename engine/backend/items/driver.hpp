// What a driver does for work items, and no more: the calls of one library, for one device.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "source/items/device.hpp"

namespace oriel::backend::items {

/// A buffer, program, function or event of a driver. Its last owner releases it.
using Object = std::shared_ptr<void>;
using Extents = std::array<std::size_t, 3>;  // items along the axes

/// The properties of a device: all that code generation, scheduling and memory ask about it.
struct DeviceTable : source::items::DeviceTraits {
  bool unified_memory = false;
  bool one_grid = false;        // launches of one function with different grids must not run at the same time
  std::size_t alignment = 128;  // required of a buffer's first byte
  std::int64_t memory = 0;
  std::int64_t largest_buffer = 0;
};

/// Was a library in use before this process was forked? Its threads and locks stayed in the parent: a call may never
/// return. Each library has one, which lives as long as the process.
class ForkWatch {
 public:
  constexpr explicit ForkWatch(const char* library) : library_(library) {}
  /// Says that the library is called from here on.
  void use();
  bool lost() const noexcept;
  /// What an error then says.
  std::string message() const;

 private:
  static constexpr unsigned kUnused = ~0U;
  const char* const library_;
  std::atomic<unsigned> forks_at_first_use_{kUnused};
};

/// An `int` that a call returns is the library's status, 0 for success. Thread safety: any thread, but the arguments of
/// a function are set and used by one thread at a time.
class Driver {
 public:
  virtual ~Driver() = default;
  /// "opencl", in errors and keys.
  virtual const char* name() const = 0;
  virtual const DeviceTable& table() const = 0;
  /// The device in a line, for people.
  virtual std::string description() const = 0;
  /// Device, version and driver, a line each: a binary of another identity does not fit.
  virtual std::string identity() const = 0;
  /// How programs are built.
  virtual const std::string& options() const = 0;
  virtual const ForkWatch& forks() const = 0;
  /// How many programs were built in a second way, after the first had failed.
  virtual int retried() const noexcept { return 0; }
  virtual std::string status_name(int status) const = 0;
  /// Throws DeviceError, or MemoryError for a failed allocation, with the message "what: NAME".
  virtual void check(int status, const char* operation, const std::string& what) const = 0;

  /// A buffer, over `host` unless that is null.
  virtual Object make_buffer(std::size_t bytes, void* host, int& status) = 0;
  /// Copies between a buffer and the host, and waits for that.
  virtual int read(const Object& buffer, void* host, std::size_t bytes) = 0;
  virtual int write(const Object& buffer, const void* host, std::size_t bytes) = 0;

  /// Null if the library takes no source. `log` receives what the compiler says, also of a program that it built.
  virtual Object build(const std::string& source, std::string& log, int& status) = 0;
  /// Null if the driver rejects the binary.
  virtual Object load(const std::string& binary) = 0;
  /// Empty if the driver does not give it.
  virtual std::string binary_of(const Object& program) = 0;
  virtual Object function_of(const Object& program, const std::string& name, int& status) = 0;

  /// `value`: a buffer's handle, a number, or null for so many bytes of local memory.
  virtual int set_argument(const Object& function, unsigned index, std::size_t bytes, const void* value) = 0;
  /// Makes the queue whose launches are timed, unless it is there.
  virtual int open_timed_queue() = 0;
  virtual int launch(const Object& function, const Extents& global, const Extents& local, bool timed,
                     Object& event) = 0;
  virtual int flush() = 0;
  virtual int finish(bool timed = false) = 0;
  /// `state`: below 0 if the launch, which has ended, failed.
  virtual int outcome(const Object& event, int& state) = 0;
  /// How long a timed launch ran.
  virtual std::uint64_t nanoseconds(const Object& event) = 0;
};

}  // namespace oriel::backend::items
