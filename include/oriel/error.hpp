// The exceptions that Oriel throws. Every message names the operation, what it was given, and what it accepts.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "oriel/api.hpp"
#include "oriel/site.hpp"

namespace ORIEL_API oriel {

namespace detail {
/// " (at main.cpp:12)"; on a line of its own if the message has several lines; empty for an unknown site.
std::string site_suffix(std::string_view message, Site site);
}  // namespace detail

/// Base of all errors that Oriel throws. `what()` reads "operation: message (at main.cpp:12)". The line is that of the
/// user's call. If the fault shows only when the work runs, it is the line that built the value. Functions that take no
/// Site name no line. Three kinds matter to a caller: the caller's own mistake (UserError and its subclasses), a device
/// or system that failed (DeviceError, MemoryError, IoError), and a defect of Oriel itself (InternalError). Bytes that
/// could affect a terminal are written as `\\xNN`, wherever the text comes from.
class Error : public std::runtime_error {
 public:
  /// Names the line of the call under way.
  Error(std::string_view operation, std::string_view message)
      : Error(printable(operation, message), detail::CallSite::current()) {}

  /// The operation that failed, e.g. "reshape".
  const std::string& operation() const noexcept { return operation_; }
  /// "operation: message", without the line.
  std::string_view message() const noexcept { return std::string_view(what()).substr(0, length_); }
  /// message() without the operation.
  std::string_view reason() const noexcept { return message().substr(operation_.size() + 2); }
  /// The line that what() names; its file is null if no line is known.
  Site site() const noexcept { return site_; }

 private:
  struct Text {
    std::string operation;
    std::string message;
  };
  static Text printable(std::string_view operation, std::string_view message);
  Error(Text text, Site site)
      : std::runtime_error(text.operation + ": " + text.message + detail::site_suffix(text.message, site)),
        operation_(std::move(text.operation)),
        length_(operation_.size() + 2 + text.message.size()),
        site_(site) {}

  std::string operation_;
  std::size_t length_;
  Site site_;
};

/// A mistake in the call: wrong shapes, dtypes, arguments, text.
class UserError : public Error {
 public:
  using Error::Error;  ///< as Error
};

/// Shapes, axes or ranges that do not fit the operation.
class ShapeError : public UserError {
 public:
  using UserError::UserError;
};

/// A dtype that the operation does not support.
class DTypeError : public UserError {
 public:
  using UserError::UserError;
};

/// An index, read from a tensor, that lies outside the axis it indexes: by the call, or by the work that needs it.
/// Calls with Bounds::zero throw none.
class IndexError : public UserError {
 public:
  using UserError::UserError;
};

/// Any other argument outside its domain: null pointers, unknown names, bad settings.
class ArgumentError : public UserError {
 public:
  using UserError::UserError;
};

/// A size that does not fit a signed 64-bit integer.
class OverflowError : public UserError {
 public:
  using UserError::UserError;
};

/// A decision on what is known only when the work runs: a branch on an unbacked symbol of a ShapeEnv, or reading
/// elements while a captured function is traced.
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
  using Error::Error;  ///< as Error
};

/// A device that is missing, or that failed while it compiled or ran a kernel.
class DeviceError : public Error {
 public:
  using Error::Error;  ///< as Error
};

/// The system or device has too little memory; smaller requests may still succeed.
class MemoryError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// A broken invariant inside Oriel: always a defect worth reporting.
class InternalError : public Error {
 public:
  using Error::Error;  ///< as Error
};

}  // namespace oriel
