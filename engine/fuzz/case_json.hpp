// Cases, views and sizes as JSON, in the protocol of `oriel view --jsonl`.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/case.hpp"
#include "inspect/json.hpp"

namespace oriel::fuzz {

// All functions throw ParseError, which names `operation`, if a member is missing or has a type that the protocol does
// not allow. Other members are ignored.

/// [{"shape":..,"strides":..,"offset":..,"mask":..}, ...], innermost first; `what` names the list in the error.
std::vector<View> read_views(const nlohmann::json& value, std::string_view operation, std::string_view what);
/// Reads a size that is a string: an expression over symbols.
using SizeReader = std::function<SymInt(const std::string& text)>;

/// {"base_shape":..} or {"start_views":..}, with or without "ops".
/// Sizes may be strings if `sizes` is given.
Case read_case(const nlohmann::json& request, std::string_view operation, const SizeReader& sizes = {});
/// The same from text.
Case parse_case(std::string_view line, std::string_view operation);
/// A list of integers; `what` names it in the error. Sizes may be strings if `sizes` is given.
Ints read_ints(const nlohmann::json& value, std::string_view operation, std::string_view what,
               const SizeReader& sizes = {});

/// The text of an expression, whole. Throws OverflowError if it was cut because it is longer than sym::kMaxText.
std::string whole_text(std::string text);

/// A size is a number, or an expression as a string.
/// @{
void write(runtime::JsonWriter& json, SymInt size);
void write(runtime::JsonWriter& json, const Ints& ints);
void write(runtime::JsonWriter& json, const View& view);
/// @}

}  // namespace oriel::fuzz
