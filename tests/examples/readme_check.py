#!/usr/bin/env python3
"""Compares what the README at the root, or another page, shows with what the programs print.

    readme_check.py extract README SOURCE               writes the README's first program
    readme_check.py check README ROWS PHOTO INPUT ORIEL ROWS: that program, built
    readme_check.py sessions PAGE ORIEL                 the page's `$ oriel` sessions alone
"""
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

FIRST_PROGRAM = re.compile(r"```cpp\n(.*?)```\n\n((?:    [^\n]*\n)+)", re.DOTALL)
SESSION = re.compile(r"^    \$ oriel (.*)\n((?:    .*\n)+)", re.MULTILINE)
INDENTED = re.compile(r"(?:^    .*\n)+", re.MULTILINE)


def output(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    if done.returncode != 0:
        sys.exit(f"{command} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def same(what, shown, printed):
    shown = textwrap.dedent(shown).strip()
    printed = printed.strip()
    if shown != printed:
        sys.exit(f"the page shows another output of {what}, which prints\n{printed}")


def extract(readme, source):
    Path(source).write_text(FIRST_PROGRAM.search(Path(readme).read_text(encoding="utf-8"))[1], encoding="utf-8")


def sessions(page, oriel):
    found = SESSION.findall(Path(page).read_text(encoding="utf-8"))
    if not found:
        sys.exit(f"{page} has no sessions")
    for arguments, shown in found:
        same(f"oriel {arguments}", shown, output([oriel, *shlex.split(arguments)]))


def check(readme, rows, photo, picture, oriel):
    page = Path(readme).read_text(encoding="utf-8")
    same("its first program", FIRST_PROGRAM.search(page)[2], output([rows]))
    sessions(readme, oriel)
    with tempfile.TemporaryDirectory() as folder:
        printed = output([photo, picture, f"{folder}/sheet.png"])
    lines = [line.strip() for line in printed.splitlines()]
    section = re.search(r"### Fusion, explained\n(.*?)\n### ", page, re.DOTALL)[1]
    counts = re.search(r"\d+ kernels for \d+ operations", section)[0]
    if counts not in printed:
        sys.exit(f"README.md says {counts}, and the photo program prints\n{printed}")
    for block in INDENTED.findall(section):
        wanted = [line.strip() for line in block.splitlines()]
        if not any(lines[k:k + len(wanted)] == wanted for k in range(len(lines))):
            sys.exit(f"the photo program does not print\n{block}\nbut\n{printed}")


{"extract": extract, "check": check, "sessions": sessions}[sys.argv[1]](*sys.argv[2:])
