// What liboriel exports.
#pragma once

/// Before the name of a namespace: liboriel exports the functions and classes that are declared inside. The library is
/// built with hidden symbols, so all others stay inside. Each public header declares its names in
/// `namespace ORIEL_API oriel { .. }`, and names types of the engine before it, in plain namespaces.
#define ORIEL_API [[gnu::visibility("default")]]
