#!/usr/bin/env python3
"""scripts/bench, on programs and rows made up here: which rows it prints, what it says of programs that do not do their
part, what `compare` counts as slower, and what it says of rows that stand alone.

    script_test.py SCRIPT
"""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

WHERE = {"processor": "A", "threads": 2}


def rows(path, **nanoseconds):
    lines = [{"name": name, "wall_ns": 1, "processor_ns": ns, "spread": spread} | WHERE for name, (ns, spread) in nanoseconds.items()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


# A benchmark of one row, m/8, as Google Benchmark prints it.
PROGRAM = """#!/bin/sh
case "$1" in
  *=m*) echo '{"benchmarks": [{"name": "m/8_median", "run_name": "m/8", "aggregate_name": "median", "threads": 1, "iterations": 5,
         "repetitions": 5, "real_time": 2.0, "cpu_time": 1.5, "time_unit": "ms", "blas_ms": 4.0, "ratio": 0.5},
         {"name": "m/8_cv", "run_name": "m/8", "aggregate_name": "cv", "real_time": 0.1, "cpu_time": 0.02, "time_unit": "ms"}]}' ;;
  *) echo "Failed to match any benchmarks against regex: $1" >&2 ;;
esac
"""


def test_run(script, folder):
    programs = folder / "tests/bench"
    programs.mkdir(parents=True)

    def program(name, text):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)

    def run(*arguments):
        done = subprocess.run([sys.executable, script, "--build", folder, *arguments], capture_output=True, text=True, check=False)
        assert done.stderr == "", done.stderr
        return done.returncode, done.stdout.splitlines()[1:]  # the first line says where

    program("a_bench", PROGRAM)
    rows_file = folder / "rows"
    # The row is what the program measured; what a peer took is a column.
    assert run("--json", rows_file, "m") == (0, [f"{'m/8':<70} {'2 ms':>10} {'1.5 ms':>10}  blas_ms 4  ratio 0.5"])
    row = json.loads(rows_file.read_text(encoding="utf-8"))
    assert (row["wall_ns"], row["processor_ns"], row["spread"]) == (2e6, 1.5e6, 0.02), row
    assert row["counters"] == {"blas_ms": 4, "ratio": 0.5}, row
    assert compare(script, rows_file, rows_file)[0] == 0
    assert run("nothing") == (1, ["no benchmark's name matches nothing"])
    program("b_bench", "#!/bin/sh\necho kernels 7\n")
    program("c_bench", "#!/bin/sh\necho no device >&2\nexit 3\n")
    status, said = run("m")
    assert status == 1 and said[0].startswith("m/8 "), said
    assert said[1:] == ["b_bench printed no JSON of Google Benchmark", "c_bench ended with 3: no device"], said


def compare(script, *arguments):
    done = subprocess.run([sys.executable, script, "compare", *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def main(script):
    with tempfile.TemporaryDirectory() as folder:
        test_run(script, Path(folder))
        old, new = Path(folder, "old"), Path(folder, "new")
        rows(old, same=(100, 0.01), slow=(100, 0.01), noisy=(100, 0.2), quick=(100, 0.01), gone=(5, 0))
        rows(new, same=(105, 0.01), slow=(150, 0.01), noisy=(130, 0.2), quick=(50, 0.01), come=(5, 0))
        status, said = compare(script, old, new)
        assert status == 1, said
        assert [line.split()[0] for line in said] == ["slow", "noisy", "same", "quick", "come", "gone", "4"], said
        assert [line.split()[0] for line in said if line.endswith("  slower")] == ["slow"], said
        assert said[-1] == "4 compared by processor time, 1 slower", said
        assert compare(script, old, new, "--above", "60")[0] == 0
        assert compare(script, old, old)[0] == 0

        # A file that runs were appended to: its first rows against its last.
        old.write_text(old.read_text(encoding="utf-8") + new.read_text(encoding="utf-8"), encoding="utf-8")
        status, said = compare(script, old, old)
        assert status == 1 and any(line.startswith("slow ") and line.endswith("1.50  slower") for line in said), said

        new.write_text(new.read_text(encoding="utf-8").replace('"A"', '"B"'), encoding="utf-8")
        assert "not of one machine" in compare(script, old, new)[1][0]


main(sys.argv[1])
