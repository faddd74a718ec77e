#!/usr/bin/env python3
"""Runs a test program on Oclgrind's simulated device, which sees every access outside a buffer and every data race.

    opencl_simulated.py PROGRAM [ARGUMENT...]

Exits with 77 (skipped) where Oclgrind is not installed.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

FAULTS = ("Invalid read", "Invalid write", "data race", "Divergence", "Uninitialized", "Unaligned")


def main():
    drivers = [path for root in ("/usr/lib", "/usr/local/lib") for path in pathlib.Path(root).glob("**/liboclgrind-rt-icd.so")]
    if not drivers:
        print("skipped: Oclgrind is not installed")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "oclgrind.icd").write_text(f"{drivers[0]}\n")
        environment = dict(os.environ, OCL_ICD_VENDORS=folder, OCLGRIND_DATA_RACES="1", OCLGRIND_CHECK_API="1",
                           ORIEL_CACHE="off", ORIEL_TEST_LANES=os.environ.get("ORIEL_TEST_LANES", "4"))
        run = subprocess.run(sys.argv[1:], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    found = [line for line in run.stdout.splitlines() if any(fault in line for fault in FAULTS)]
    if run.returncode != 0 or found or "has no OpenCL device" in run.stdout:
        print(run.stdout[-20000:])
        return 1
    return 0


sys.exit(main())
