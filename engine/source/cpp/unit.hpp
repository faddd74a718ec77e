// What stands at the head of a C++ unit so that its helpers compile, and the comment above a kernel.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/loop_program.hpp"
#include "oriel/dtype.hpp"
#include "source/cpp/snippets.hpp"
#include "source/shared_helpers.hpp"

namespace oriel::source::cpp {

/// The lines that include what the helpers need; `placement`: and placement new.
std::vector<std::string> includes(const Snippets& snippets, bool placement);

/// The types that helpers are made of: Int and, of a kernel of packets of `main`, Main and Vector.
std::string helper_types(std::optional<DType> main, const Snippets& snippets);

/// The type of the numbers that a kernel is given at launch, and an empty line.
std::string_view scalar_type();
/// The head of a kernel's function. `linkage`: what stands before it; `sizes`, `frame`: has it these parameters?
std::string entry_head(std::string_view linkage, std::string_view name, bool sizes, bool frame);
/// The linkage of a kernel that is loaded, and of one that others in its source call.
inline constexpr std::string_view kLoadedLinkage = R"(extern "C" __attribute__((visibility("default"))))";
inline constexpr std::string_view kEmbeddedLinkage = "__attribute__((noinline)) static";

/// Adds the helpers to the shared header, in one namespace for each packet type. Returns the `using namespace` line.
std::string share_helpers(SharedHelpers& shared, std::optional<DType> main, const Snippets& snippets);
/// The line that includes the header.
std::string include_of(const SharedHelpers& shared);

/// Loops, arguments by the names in `buffers`, parameters and accesses of a program, each line a comment.
std::string heading(const codegen::LoopProgram& program, const std::vector<std::string>& buffers);

}  // namespace oriel::source::cpp
