#!/usr/bin/env python3
"""What was built here runs on older processors: qemu-x86_64 takes their part, down to one that has SSE2 and little more.

    older_cpu_test.py QEMU ORIEL TEST...

ORIEL is the command, each TEST an executable of this folder and one of its cases, behind a '='. A processor that lacks
an instruction ends a program that meets it with a signal.
"""
import os
import subprocess
import sys

# What an emulated processor is to choose, whatever it has beside.
LEVELS = {"core2duo": "baseline", "Nehalem": "baseline", "SandyBridge": "baseline", "Haswell": "avx2"}


def run(qemu, cpu, *command):
    # No OpenCL driver: what theirs do on such a processor is not what is tested.
    environment = {**os.environ, "OCL_ICD_VENDORS": "/nonexistent", "ORIEL_EIGEN": "tile"}
    environment.pop("ORIEL_ISA", None)
    ran = subprocess.run([qemu, "-cpu", cpu, *command], capture_output=True, text=True, env=environment)
    if ran.returncode != 0:
        sys.exit(f"{' '.join(command)} on {cpu} ended with {ran.returncode}:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")
    return ran.stdout


def main():
    qemu, oriel, *tests = sys.argv[1:]
    for cpu, level in LEVELS.items():
        said = run(qemu, cpu, oriel, "devices")
        expected = [f", {level} of those built, baseline, avx2", "avx512 (not on this machine)"]
        if level == "baseline":
            expected.append("avx2 (not on this machine)")
        for text in expected:
            if text not in said:
                sys.exit(f"on {cpu} `oriel devices` lacks '{text}':\n{said}")
    for cpu in ("core2duo", "Haswell"):
        for test in tests:
            program, _, cases = test.partition("=")
            if "cases: 1 | 1 passed" not in " ".join(run(qemu, cpu, program, f"--test-case={cases}").split()):
                sys.exit(f"{program} has not one case '{cases}'")


main()
