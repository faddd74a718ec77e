// A shared library has from the start what a static program has by use. Nothing refers to this source, so static
// programs do not have it.
#include "base/by_use.hpp"

namespace {

[[gnu::constructor]] void use_everything() {
  oriel::by_use::operations();
  oriel::by_use::inspection();
}

}  // namespace
