#!/usr/bin/env python3
"""Holds a step of the tour against README.md beside this file: the body of its main, and what it prints.

    tour_check.py SOURCE PROGRAM
"""
import re
import subprocess
import sys
import textwrap
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def body(source):
    text = source.read_text(encoding="utf-8")
    return textwrap.dedent(text[text.index("int main() {\n") + len("int main() {\n"):text.rindex("}")]).strip()


def main(source, program):
    source = Path(source)
    name = f"tour/{source.name}"
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    shown = re.search(re.escape(f"[`{name}`]({name})") + r"\n\n```cpp\n(.*?)\n```\n\n```text\n(.*?)\n```\n", page, re.DOTALL)
    if shown is None:
        sys.exit(f"README.md does not show {name} and what it prints")
    if shown[1] != body(source):
        sys.exit(f"README.md shows another main than {name}, which is\n{body(source)}")
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0 or done.stdout.rstrip("\n") != shown[2]:
        sys.exit(f"{name} ended with {done.returncode} and printed, other than README.md says,\n{done.stdout}{done.stderr}")


main(*sys.argv[1:])
