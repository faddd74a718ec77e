// The same for what reads and writes JSON: the fuzzer and the commands.
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/precompiled.hpp"
