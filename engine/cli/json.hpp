// Shared by the JSON-lines forms of the commands: reading layouts, and the loop over lines. `command` is the
// name with which errors start.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "oriel/layout.hpp"

namespace oriel::cli {

using Json = nlohmann::json;

/// The most axes of a layout in a line; ordering axes takes quadratic time.
inline constexpr std::size_t kMaxRank = 1024;

/// {"shape":[2,3],"strides":[3,1]}, and other members, which are left alone. Throws ShapeError if they do not fit
/// together.
Layout read_layout(std::string_view command, const Json& object);
/// The same with sizes and strides that may be strings, which `sizes` reads. Without strides the layout is contiguous.
/// That no size is negative is not checked, since on symbols this would record a guard.
Layout read_symbolic_layout(std::string_view command, const Json& object,
                            const std::function<SymInt(const std::string& text)>& sizes);

/// The answer of `respond` to the object on `line`, or {"error":..} if the line is not an object or `respond` throws an
/// Error. Throws only std::bad_alloc.
std::string answer_object(std::string_view command, std::string_view line,
                          const std::function<std::string(const Json& request)>& respond);
/// {"error":message} with the members of `more` added.
std::string error_line(const std::string& message, Json more = Json::object());

/// Answers every line of `in`, in order.
void answer_each_line(std::istream& in, std::ostream& out, const std::function<std::string(std::string_view)>& answer);

}  // namespace oriel::cli
