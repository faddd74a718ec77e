# The meson options of the sanitizers' builds, shared by scripts/test and scripts/fuzz.

# -Og and -g1: with more optimisation or debug information the instrumented build takes three times as long.
sanitized_options="--werror -Dbuildtype=debug -Doptimization=g -Ddebug=false -Dcpp_args=-g1 -Db_lundef=false
    -Dtests=enabled -Dexamples=disabled -Dbenchmarks=disabled"
# Eight sources in each unit: with instrumentation, compiling the headers' templates takes longer than compiling the
# sources' own code.
address_options="$sanitized_options --unity on -Dunity_size=8 -Db_sanitize=address,undefined"
