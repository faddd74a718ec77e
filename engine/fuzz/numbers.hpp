// Numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace oriel::fuzz {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t n);
/// "438 ns", "10.8 us", "1.2 ms"; "-" for 0.
std::string duration_text(double nanoseconds);

}  // namespace oriel::fuzz
