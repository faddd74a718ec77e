# The meson options of the sanitizers' builds, for scripts/test and scripts/fuzz to share.

# -Og and -g1: with more of either, the instrumented build takes three times as long.
sanitized_options="--werror -Dbuildtype=debug -Doptimization=g -Ddebug=false -Dcpp_args=-g1 -Db_lundef=false
    -Dtests=enabled -Dexamples=disabled -Dbenchmarks=disabled"
# Eight sources a unit: instrumented, what their templates make of each header takes longer than their own code.
address_options="$sanitized_options --unity on -Dunity_size=8 -Db_sanitize=address,undefined"
