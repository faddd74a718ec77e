// The words with which something is refused.
#pragma once

#include <string>

#include "oriel/error.hpp"

namespace oriel::test {

/// The message of the error that f throws; "nothing" if it throws none.
std::string refusal(const auto& f) {
  try {
    f();
  } catch (const Error& error) {
    return std::string(error.message());
  }
  return "nothing";
}

}  // namespace oriel::test
