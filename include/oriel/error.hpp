// What Oriel throws. Every error names the operation, what came, and what would have been accepted.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "oriel/site.hpp"

namespace oriel {

namespace detail {
/// " (at main.cpp:12)", on a line of its own where the message has several; empty for an unknown site.
std::string site_suffix(std::string_view message, Site site);
}  // namespace detail

/// Base of all errors that Oriel throws. `what()` reads "operation: message (at main.cpp:12)": the line of the user's
/// call, or, of faults that show when the work runs, the line that asked for the value. Calls that take no Site, and
/// errors that no call made, have none.
/// Three kinds matter to a caller: the caller's own mistake (UserError and its children), a device or system
/// that failed (DeviceError, MemoryError, IoError), and a defect of Oriel itself (InternalError).
class Error : public std::runtime_error {
 public:
  Error(std::string_view operation, std::string_view message)
      : Error(operation, message, detail::CallSite::current()) {}

  /// The operation that refused, e.g. "reshape".
  const std::string& operation() const noexcept { return operation_; }
  /// "operation: message", without the line.
  std::string_view message() const noexcept { return std::string_view(what()).substr(0, length_); }
  /// The line that what() names; its file is null where none is known.
  Site site() const noexcept { return site_; }

 private:
  Error(std::string_view operation, std::string_view message, Site site)
      : std::runtime_error(std::string(operation) + ": " + std::string(message) + detail::site_suffix(message, site)),
        operation_(operation),
        length_(operation.size() + 2 + message.size()),
        site_(site) {}

  std::string operation_;
  std::size_t length_;
  Site site_;
};

/// A mistake in the call: wrong shapes, dtypes, arguments, text.
class UserError : public Error {
 public:
  using Error::Error;
};

/// Shapes, axes or ranges that do not fit the operation.
class ShapeError : public UserError {
 public:
  using UserError::UserError;
};

/// A dtype that the operation does not take.
class DTypeError : public UserError {
 public:
  using UserError::UserError;
};

/// An index read from a tensor that lies outside of what it indexes, where checks were asked for.
class IndexError : public UserError {
 public:
  using UserError::UserError;
};

/// Any other argument out of its domain: null pointers, unknown names, bad settings.
class ArgumentError : public UserError {
 public:
  using UserError::UserError;
};

/// Size arithmetic that does not fit a signed 64-bit integer.
class OverflowError : public UserError {
 public:
  using UserError::UserError;
};

/// A branch on a size that is known only when the work runs: on an unbacked symbol of a ShapeEnv.
class DataDependentError : public UserError {
 public:
  using UserError::UserError;
};

/// Text that does not parse: view programs, JSON lines, settings.
class ParseError : public UserError {
 public:
  using UserError::UserError;
};

/// A file that cannot be read or written, or does not hold what was expected.
class IoError : public Error {
 public:
  using Error::Error;
};

/// A device that is missing, or failed while compiling or running a kernel.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Memory that could not be had; smaller requests may still work.
class MemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// A broken invariant inside Oriel: always a defect worth reporting.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace oriel
