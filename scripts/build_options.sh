# The meson options of builds that several scripts share.

# Units of thirty sources take half of the processor time. In a folder that a developer configured, each source is a unit
# of its own, because a change then costs less.
release_options="--werror --unity on -Dunity_size=30"

# The sanitizers' builds.

# -Og and -g1: with more optimisation or debug information the instrumented build takes three times as long.
sanitized_options="--werror -Dbuildtype=debug -Doptimization=g -Ddebug=false -Dcpp_args=-g1 -Db_lundef=false
    -Dtests=enabled -Dexamples=disabled -Dbenchmarks=disabled"
# Eight sources in each unit: with instrumentation, compiling the headers' templates takes longer than compiling the
# sources' own code.
address_options="$sanitized_options --unity on -Dunity_size=8 -Db_sanitize=address,undefined"
