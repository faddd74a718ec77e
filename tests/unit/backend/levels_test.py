#!/usr/bin/env python3
"""No inline function of one instruction-set level may be linked into another.

The linker keeps one copy of each weak symbol, whichever object it met first: one that was compiled for AVX-512 would
then run on every machine. So all weak symbols of a level's archive are to lie in the level's own namespaces.

    levels_test.py LEVEL=ARCHIVE...
"""
import re
import subprocess
import sys

# Weak ones, unique ones, and what they are called, demangled.
SYMBOL = re.compile(r"^[0-9a-f ]* [WVu] (?P<name>.+)$")


def strays(names, level):
    own = re.compile(rf"\b(isa::{level}|Eigen{level.capitalize()})::")
    return [name for name in names if not own.search(name)]


def weak_symbols(archive):
    text = subprocess.run(["nm", "--demangle", archive], check=True, capture_output=True, text=True).stdout
    if not any("isa::" in line for line in text.splitlines()):
        sys.exit(f"{archive}: no symbols of instruction sets at all, which cannot be")
    return [match["name"] for match in map(SYMBOL.match, text.splitlines()) if match]


def main():
    assert strays(["float std::max<float>(float, float)"], "avx2"), "this check finds nothing"
    faults = 0
    for argument in sys.argv[1:]:
        level, archive = argument.split("=", 1)
        for name in strays(weak_symbols(archive), level):
            print(f"{level}: {name} may take the place of another level's")
            faults += 1
    sys.exit(1 if faults else 0)


main()
