#!/usr/bin/env python3
"""Runs programs on 1 to 4 ranks on this machine and checks values, and errors where a rank fails. Each job has a time limit.

    ranks_check.py values PROGRAM MPIRUN   PROGRAM compares sharded tensors with whole ones, on 1 to 4 ranks
    ranks_check.py faults PROGRAM MPIRUN   rank 1 dies, stops, leaves or computes another shape
    ranks_check.py heat PROGRAM MPIRUN     tests/examples/heat_mpi.cpp: the same plate on any number of ranks
    ranks_check.py alone PROGRAM           a build without MPI

MPIRUN is MPI's launcher.
"""
import os
import subprocess
import sys
import time

# OpenMPI wants to be told that ranks may share processors, and that root may start them. Ranks stay on this machine.
FLAGS = ["--oversubscribe", "--allow-run-as-root", "--mca", "btl", "self,vader,tcp", "--mca", "oob_tcp_if_include", "lo",
         "--mca", "btl_tcp_if_include", "lo", "--mca", "mpi_yield_when_idle", "1"]
SECONDS = 3


def run(launcher, ranks, command, limit=60, wait=None):
    environment = dict(os.environ, ORIEL_THREADS="1", OMP_NUM_THREADS="1")
    environment["ORIEL_RANKS_SECONDS"] = wait or str(SECONDS if limit < 60 else 60)
    environment.pop("DISPLAY", None)
    start = [*launcher, "-n", str(ranks), *command] if launcher else command
    begin = time.monotonic()
    done = subprocess.run(start, capture_output=True, text=True, timeout=limit, check=False, env=environment)
    return done.returncode, done.stdout, done.stderr, time.monotonic() - begin


def launcher_of(mpirun):
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=False).stdout
    return [mpirun, *(FLAGS if "Open MPI" in version else [])]


def values(program, launcher):
    for ranks in (1, 2, 3, 4):
        status, _, err, _ = run(launcher, ranks, [program, "values"])
        if status:
            sys.exit(f"values on {ranks} ranks ended with {status}: {err}")


def faults(program, launcher):
    expected = {"dies": "rank 1", "late": "rank 1 did nothing for 3 s", "leaves": "rank 1 did nothing for 3 s",
                "late_again": "nothing came from rank 1",
                "other_shape": "ranks 0 and 1 plan different exchanges, and all have to run the same program"}
    for mode, words in expected.items():
        status, out, err, seconds = run(launcher, 3, [program, mode], limit=40)
        if status == 0 or words not in err + out:
            sys.exit(f"{mode} ended with {status} and does not say '{words}': {err}")
        if seconds > 5 * SECONDS:
            sys.exit(f"{mode} took {seconds:.0f} s")


    status, _, err, _ = run(launcher, 2, [program, "values"], wait="soon")
    if status == 0 or "ORIEL_RANKS_SECONDS is 'soon'; it takes a positive number" not in err:
        sys.exit(f"a wrong time limit ended with {status}: {err}")


def reference(n, steps):
    """The same computation by loops over lists, in the same order of operations."""
    x = [k / n for k in range(n)]
    u = [[x[i] * (1 - x[i]) * x[j] for j in range(n)] for i in range(n)]
    for _ in range(steps):
        v = [[0.0] * n for _ in range(n)]
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                around = u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1]
                v[i][j] = u[i][j] + 0.2 * (around - 4.0 * u[i][j])
        u = v
    return [value for row in u for value in row]


def heat(program, launcher):
    n, steps = 37, 20
    wanted = reference(n, steps)
    plates = []
    for ranks in (1, 2, 3, 4):
        status, out, err, _ = run(launcher, ranks, [program, str(n), str(steps)])
        lines = out.splitlines()
        if status or len(lines) != 1 + n * n:
            sys.exit(f"heat on {ranks} ranks ended with {status}: {err}")
        plate = [float.fromhex(line) for line in lines[1:]]
        total = float(lines[0].split()[1])
        if abs(total - sum(wanted)) > 1e-12 * sum(wanted):
            sys.exit(f"on {ranks} ranks the heat is {total}, not {sum(wanted)}")
        if max(abs(a - b) for a, b in zip(plate, wanted)) > 1e-15:
            sys.exit(f"on {ranks} ranks the plate differs from that of plain loops")
        plates.append(plate)
    if any(plate != plates[0] for plate in plates):
        sys.exit("the plate's bits depend on the number of ranks")


def alone(program, _):
    status, _, err, _ = run([], 1, [program, "values"])
    if status:
        sys.exit(f"ended with {status}: {err}")
    status, _, err, _ = run([], 1, [program, "two_ranks"])
    if "this build has no MPI: install it (Debian: libopenmpi-dev openmpi-bin) and configure with -Dmpi=enabled" not in err:
        sys.exit(f"two ranks ended with {status}: {err}")


def main(arguments):
    what, program = arguments[:2]
    launcher = launcher_of(arguments[2]) if len(arguments) > 2 else []
    {"values": values, "faults": faults, "heat": heat, "alone": alone}[what](program, launcher)


if __name__ == "__main__":
    main(sys.argv[1:])
