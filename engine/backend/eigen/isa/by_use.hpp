// Parts of the table of loops that a program may have by use (base/by_use.hpp). Each call after the first does nothing.
#pragma once

namespace oriel::backend::isa {

void use_functions();
void use_reductions();
void use_sorts();
void use_scans();

}  // namespace oriel::backend::isa
