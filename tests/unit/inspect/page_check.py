#!/usr/bin/env python3
"""Opens pages in headless Chromium: no message on the console, no request, cells as `oriel view` says, kernels drawn.

    page_check.py ORIEL PROGRAM [PICTURES]    PICTURES: a folder for screenshots at three widths
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

oriel, program = sys.argv[1:3]
chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
if not chromium:
    print("no Chromium is installed (Debian: chromium), so pages are not opened")
    sys.exit(0)


def browse(url, *options):
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
             f"--user-data-dir={profile}", "--virtual-time-budget=3000", *options, url],
            capture_output=True, text=True, timeout=120, check=True)
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    if messages:
        sys.exit(f"{url} wrote to the console: {messages}")
    return done.stdout


def cells(page):
    return [int(n) for n in re.findall(r'data-position="(-?\d+)"', page)]


def random_program(draw):
    shape = [draw.choice([1, 2, 3, 4]) for _ in range(draw.choice([1, 2, 3]))]
    steps = [",".join(map(str, shape))]
    for _ in range(draw.randrange(1, 5)):
        kind = draw.choice(["permute", "flip", "shrink", "pad", "reshape"])
        if kind == "permute":
            order = draw.sample(range(len(shape)), len(shape))
            shape = [shape[d] for d in order]
            steps.append("permute " + ",".join(map(str, order)))
        elif kind == "flip":
            steps.append(f"flip {draw.randrange(len(shape))}")
        elif kind == "shrink":
            ranges = [sorted(draw.sample(range(n + 1), 2)) for n in shape]
            shape = [hi - lo for lo, hi in ranges]
            steps.append("shrink " + ",".join(f"{lo}:{hi}" for lo, hi in ranges))
        elif kind == "pad":
            ends = [(draw.randrange(2), draw.randrange(2)) for _ in shape]
            shape = [n + before + after for n, (before, after) in zip(shape, ends)]
            steps.append("pad " + " ".join(f"{before},{after}" for before, after in ends))
        else:
            n = 1
            for extent in shape:
                n *= extent
            divisor = draw.choice([d for d in range(1, n + 1) if n % d == 0])
            shape = [n // divisor, divisor]
            steps.append("reshape " + ",".join(map(str, shape)))
    return " | ".join(steps)


with tempfile.TemporaryDirectory() as folder:
    views = os.path.join(folder, "views.html")
    with open(views, "w", encoding="utf-8") as file:
        subprocess.run([oriel, "view", "--html"], stdout=file, check=True)
    draw = random.Random(1)
    for _ in range(12):
        text = random_program(draw)
        shown = cells(browse(f"file://{views}#{urllib.parse.quote(text)}", "--dump-dom"))
        said = subprocess.run([oriel, "view", "--table", text], capture_output=True, text=True, check=True).stdout
        table = [-1 if word == "-" else int(word) for word in said.split("table:")[1].split()]
        if shown != table:
            sys.exit(f"{text}: the page shows {shown}, the command says {table}")
    page = os.path.join(folder, "report.html")
    subprocess.run([oriel, "inspect", "-o", page, program], check=True, stdout=subprocess.DEVNULL)
    shown = browse(f"file://{page}", "--dump-dom")
    with open(page.replace(".html", ".json"), encoding="utf-8") as file:
        data = json.load(file)
    for schedule in data["schedules"]:
        for kernel in schedule["kernels"]:
            assert kernel["name"] in shown, kernel["name"]
    for word in ["Kernels", "Why it ends", "Roofline", "Memory", "Rewrite rules"]:
        assert word in shown, word
    if len(sys.argv) > 3:
        for width in (500, 1000, 1600):
            browse(f"file://{page}", f"--window-size={width},1400", f"--screenshot={sys.argv[3]}/report_{width}.png")
print("12 programs of views and a report: drawn as said, nothing on the console")
