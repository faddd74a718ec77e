// Names that exports may have.
#pragma once

#include <string>

namespace oriel::source::cpp {

/// Throws ArgumentError unless `name` is a C++ identifier, and neither a keyword nor a well-known macro of a header
/// that the files include. `what` names its role in the message.
void check_export_name(const std::string& name, const std::string& what);
/// The same for the outermost namespace, which may not have a well-known name of the C library either.
void check_export_namespace(const std::string& name, const std::string& what);

}  // namespace oriel::source::cpp
