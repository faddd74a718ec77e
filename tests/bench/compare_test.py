#!/usr/bin/env python3
"""`scripts/bench compare` on rows made up here: what counts as slower, and what it says of rows that stand alone.

    compare_test.py SCRIPT
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


def compare(script, *arguments):
    done = subprocess.run([sys.executable, script, "compare", *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()


def main(script):
    with tempfile.TemporaryDirectory() as folder:
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
