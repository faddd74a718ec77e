// The same for sources that read and write JSON: the fuzzer and the commands.
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/precompiled.hpp"
