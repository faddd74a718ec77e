// Any other implementation of views, through the JSON-lines protocol (PROTOCOL.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/properties.hpp"

namespace oriel::fuzz {

struct ExternalOptions {
  std::string command;
  std::vector<Property> properties;  // what it is held to; what its answers do not show is not checked
  double seconds_without_answer = 10;
};

/// What an external implementation can be held to.
std::vector<Property> external_properties();

std::unique_ptr<Subject> make_external_subject(ExternalOptions options);

}  // namespace oriel::fuzz
