// The JSON-lines form of `oriel guards`.
#pragma once

#include <string>
#include <string_view>

#include "cli/guards_session.hpp"
#include "cli/json.hpp"
#include "inspect/json.hpp"

namespace oriel::cli {

/// Adds the members "symbols" and "unbacked" of a line to the session, if it has them. Errors name `command`.
void read_symbols(const Json& request, GuardsSession& session, std::string_view command);

/// The answer to one line, without a newline: answers, guards, what was learnt and what is checked later; or
/// {"error":..} with the line's id and the number of the question that failed. Throws nothing but std::bad_alloc.
std::string answer_guards_line(std::string_view line);
/// The guards that the session holds, as a list of texts.
void write_guards(runtime::JsonWriter& json, const GuardsSession& session);

}  // namespace oriel::cli
