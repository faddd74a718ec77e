// Names that exported files cannot use, because the headers that they include define them.
#pragma once

#include <string_view>

namespace oriel::source::cpp {

/// Is it the name of a macro? No identifier of any kind may be spelled like it.
bool is_macro_name(std::string_view name);
/// Does the C library declare it at global scope? No top-level namespace may have its name.
bool is_library_name(std::string_view name);

}  // namespace oriel::source::cpp
