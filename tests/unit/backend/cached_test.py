#!/usr/bin/env python3
"""A process whose kernels are in the disk cache runs no compiler, and uses them from the first launch on.

    cached_test.py PROGRAM
"""
import os
import pathlib
import subprocess
import sys
import tempfile

WRAPPER = """#!/bin/sh
echo run >> "$(dirname "$0")/log"
exec c++ "$@"
"""


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compiler = folder / "cxx"
        compiler.write_text(WRAPPER)
        compiler.chmod(0o755)
        log = folder / "log"

        def run(tier, how, cache):
            before = len(log.read_text().splitlines()) if log.exists() else 0
            said = subprocess.run(
                [program, *how.split()], check=True, capture_output=True, text=True,
                env={**os.environ, "ORIEL_CXX": str(compiler), "ORIEL_CACHE": str(folder / cache), "ORIEL_EIGEN": tier})
            after = len(log.read_text().splitlines()) if log.exists() else 0
            value, form = said.stdout.strip().split(";", 1)
            return value, form.strip(), after - before

        faults = []

        def check(what, got, want):
            if got != want:
                faults.append(f"{what}: {got}, not {want}")

        value, _, runs = run("tile", "once", "none")
        check("compilers of the tile machine", runs, 0)
        check("the first process", run("compile", "once", "compiled")[:2], (value, "compiled"))
        check("the second process", run("compile", "once", "compiled"), (value, "compiled", 0))
        # The first set of sizes is compiled for itself, all others share units.
        run("compile", "sizes 100 110", "sizes")
        values, _, runs = run("compile", "sizes 100 150 200 90", "sizes")
        check("compilers of a process that meets new sizes", runs, 0)
        check("values of new sizes", values, run("tile", "sizes 100 150 200 90", "none")[0])
        # The time of a kernel is not in a test's hands: as a rule the first one will do.
        for attempt in range(5):
            first = run("auto", "until", f"auto{attempt}")
            check("the value", first[0], value)
            if first[1] == "compiled":
                check("a later process by itself", run("auto", "once", f"auto{attempt}"), (value, "compiled", 0))
                break
            check("a later process where the tile machine was faster", run("auto", "once", f"auto{attempt}")[2], 0)
        for fault in faults:
            print(fault, file=sys.stderr)
        return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
