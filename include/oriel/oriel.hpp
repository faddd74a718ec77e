// The whole of Oriel's public interface.
#pragma once

#include "oriel/create.hpp"
#include "oriel/debug.hpp"
#include "oriel/device.hpp"
#include "oriel/dtype.hpp"
#include "oriel/error.hpp"
#include "oriel/explain.hpp"
#include "oriel/image.hpp"
#include "oriel/movement.hpp"
#include "oriel/ops.hpp"
#include "oriel/profile.hpp"
#include "oriel/reduce.hpp"
#include "oriel/settings.hpp"
#include "oriel/shape.hpp"
#include "oriel/symint.hpp"
#include "oriel/tensor.hpp"
#include "oriel/view.hpp"
