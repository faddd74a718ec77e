// The errors of InlineVector, whose header does without <stdexcept>.
#include "oriel/inline_vector.hpp"

#include <stdexcept>

namespace oriel::detail {

void throw_out_of_range() { throw std::out_of_range("oriel::InlineVector::at"); }
void throw_too_long() { throw std::length_error("oriel::InlineVector"); }

}  // namespace oriel::detail
