// Names that exported files cannot use, since the headers that they include have them.
#pragma once

#include <string_view>

namespace oriel::runtime {

/// A macro: no name at all may be spelled like it.
bool is_macro_name(std::string_view name);
/// Declared by the C library outside of every namespace: no namespace at the top may have its name.
bool is_library_name(std::string_view name);

}  // namespace oriel::runtime
