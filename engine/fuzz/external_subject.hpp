// Any other implementation of views, through the JSON-lines protocol (PROTOCOL.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fuzz/properties.hpp"

namespace oriel::fuzz {

struct ExternalOptions {
  std::string command;
  std::vector<Property> properties;  // the properties to check; those that its answers do not show are skipped
  double seconds_without_answer = 10;
};

/// The properties that can be checked on an external implementation.
std::vector<Property> external_properties();

std::unique_ptr<Subject> make_external_subject(ExternalOptions options);

}  // namespace oriel::fuzz
