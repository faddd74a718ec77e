// Every functor, those over packets for the instruction set of this translation unit.
#pragma once

#include "ops/functions/angle_math.hpp"
#include "ops/functions/elementary.hpp"
#include "ops/functions/functors.hpp"
#include "ops/functions/in_doubles.hpp"
#include "ops/functions/power_math.hpp"
