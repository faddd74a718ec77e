#!/usr/bin/env python3
"""Opens pages in headless Chromium: no message on the console, no request, cells as `oriel view` says, kernels drawn.

    page_check.py ORIEL PROGRAM [PICTURES]    PICTURES: a folder for screenshots at three widths
"""
import html
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


# A text or attribute that a script made of nothing. Texts of programs and kernels, which may have these words, stand in
# `pre`.
EMPTY = re.compile(r"\b(?:NaN|undefined|null|Infinity)\b|\[object ")


def check_texts(url, page):
    """No text of the page, and no attribute, says NaN, undefined or null."""
    drawn = re.sub(r"<(script|style|pre|textarea)\b.*?</\1>", "", page, flags=re.DOTALL)
    found = EMPTY.search(drawn)
    if found:
        sys.exit(f"{url} shows {drawn[max(0, found.start() - 80):found.end() + 40]!r}")


def browse(url, *options):
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
             f"--user-data-dir={profile}", "--virtual-time-budget=3000", *options, url],
            capture_output=True, text=True, timeout=120, check=True)
    messages = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    if messages:
        sys.exit(f"{url} wrote to the console: {messages}")
    check_texts(url, done.stdout)
    return done.stdout


def with_script(path, script):
    """A copy of a page with one script more, which writes to the attribute data-said of the body."""
    copy = path.replace(".html", "_scripted.html")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(copy, "w", encoding="utf-8") as file:
        file.write(text + "<script>" + script.replace("</script", "<\\/script") + "</script>")
    said = re.search(r'data-said="([^"]*)"', browse(f"file://{copy}", "--dump-dom"))
    return html.unescape(said[1]) if said else "nothing"


# By keyboard alone: down the list of kernels, then through the cells of a picture, whose note follows.
WALK = """
const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
const steps = [];
const buttons = document.querySelectorAll("tbody button");
if (buttons.length > 1) {
  buttons[0].focus(); press("ArrowDown"); steps.push(document.activeElement === buttons[1]);
  press("ArrowUp"); steps.push(document.activeElement === buttons[0]);
}
for (const details of document.querySelectorAll("details")) details.open = true;
setTimeout(() => {
  const start = document.querySelector("td.cell");
  start.focus();
  const before = start.closest("div").parentNode.querySelector("output").textContent;
  press("ArrowRight");
  const now = document.activeElement;
  steps.push(now !== start && now.classList.contains("cell"), now.tabIndex === 0 && start.tabIndex === -1,
    now.closest("div").parentNode.querySelector("output").textContent !== before);
  const reachable = [...document.querySelectorAll("button, summary, input, select, textarea")].every(e => e.tabIndex >= 0);
  steps.push(reachable);
  // A name chosen from the list is marked in the texts.
  const list = document.querySelector("label select");
  if (list) {
    list.value = list.options[1].value;
    list.dispatchEvent(new Event("change"));
    steps.push([...document.querySelectorAll(".name.same")].every(n => n.dataset.name === list.value) && !!document.querySelector("pre .name.same"));
  }
  document.body.dataset.said = steps.join();
}, 500);
"""
AXE = """
setTimeout(() => axe.run().then(result => { document.body.dataset.said = JSON.stringify(
  result.violations.map(v => [v.id, v.nodes.map(n => n.target.join(" ")).slice(0, 3)])); }), 300);
"""


# The heights of the list of kernels where the window is narrow, and how far the page itself goes beyond it. A name
# stands on one line, its lines of the program below each other.
NARROW = """
document.body.style.width = "WIDTHpx";
setTimeout(() => {
  const rows = [...document.querySelectorAll("tbody tr")].filter(row => row.querySelector("button.link.code") && row.cells.length > 5);
  document.body.dataset.said = JSON.stringify([rows.length, Math.max(...rows.map(row => row.offsetHeight)), document.querySelector("main").scrollWidth]);
}, 300);
"""


def check_narrow(path):
    for width in (320, 420, 500):
        rows, tallest, wide = json.loads(with_script(path, NARROW.replace("WIDTH", str(width))))
        assert rows > 0 and tallest < 60, f"{path}: at {width} pixels a row of {rows} is {tallest} tall"
        assert wide <= width, f"{path}: at {width} pixels the page is {wide} wide"


# A number of a view, changed in its table, becomes the program; one that leaves the view below is refused.
EDIT = """
setTimeout(() => {
  const change = (label, value) => { const cell = document.querySelector('input[aria-label="' + label + '"]'); cell.value = value; cell.dispatchEvent(new Event("change")); };
  const text = document.querySelector("textarea"), steps = [];
  text.value = "2,6 | permute 1,0"; text.dispatchEvent(new Event("input"));
  change("stride of axis 0", "2"); steps.push(text.value);
  change("valid of axis 1", "1:2"); steps.push(text.value);
  change("offset", "3"); steps.push(text.value);
  text.value = "2,6 | permute 1,0 | reshape 12"; text.dispatchEvent(new Event("input"));
  change("extent of axis 0", "13"); steps.push(document.querySelector("[role=alert]").textContent);
  document.body.dataset.said = steps.join(" ; ");
}, 300);
"""
EDITED = ("(6,2):(2,6) ; (6,2):(2,6)[0:6,1:2) ; (6,2):(2,6)+3[0:6,1:2) ; "
          "position 12 of (13):(1) is no index of (6,2):(1,6)")


def axe_source():
    """The text of axe-core (PyPI: axe-core-python), if it is installed."""
    try:
        import axe_core_python
    except ImportError:
        return None
    for folder, _, names in os.walk(os.path.dirname(axe_core_python.__file__)):
        for name in names:
            if name.startswith("axe") and name.endswith(".js"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    return file.read()
    return None


def check_use(path):
    said = with_script(path, WALK)
    assert said and set(said.split(",")) == {"true"}, f"{path}: a walk by keyboard ended with {said}"
    axe = axe_source()
    if axe:
        said = with_script(path, axe + AXE)
        assert said == "[]", f"{path}: axe-core says {said}"
    return bool(axe)


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
    proofs = 0
    for _ in range(12):
        text = random_program(draw)
        shown_page = browse(f"file://{views}#{urllib.parse.quote(text)}", "--dump-dom")
        shown = cells(shown_page.split("Positions after the split")[0])
        said = subprocess.run([oriel, "view", "--table", text], capture_output=True, text=True, check=True).stdout
        merged = re.search(r'id="merged">([^<]*)<', shown_page)
        one = re.search(r"\((?:one view|\d+ views, merged into one)\)\n(?:index|refined)", said)
        if bool(merged) != bool(one):
            sys.exit(f"{text}: the page finds {merged and merged[1]}, the command says {said}")
        if merged:
            again = subprocess.run([oriel, "view", "--table", merged[1]], capture_output=True, text=True, check=True).stdout
            if again.split("table:")[1] != said.split("table:")[1]:
                sys.exit(f"{text}: {merged[1]} has other positions")
        else:
            proofs += 1
            if len(re.findall(r'class="cell[^"]* proof"', shown_page)) < 2:
                sys.exit(f"{text}: no two cells are marked that prove that it is no single view")
        table = [-1 if word == "-" else int(word) for word in said.split("table:")[1].split()]
        if shown != table:
            sys.exit(f"{text}: the page shows {shown}, the command says {table}")
    assert proofs > 0, "no program was drawn that is no single view"
    # Of positions that are no single view, the split of the axes that makes them one, as the command says it.
    text = "3,4,2 | permute 1,0,2 | reshape 12,2"
    said = subprocess.run([oriel, "view", text], capture_output=True, text=True, check=True).stdout
    refined = re.search(r"refined: axis 0 as ([\d,]+): (\S+)\n", said)
    split = browse(f"file://{views}#{urllib.parse.quote(text)}", "--dump-dom").split("The split that makes one view</h2>")[1]
    assert f"<p>axis 0 as ({refined[1]})</p>" in split and refined[2] in split, f"{text}: {said}: the page shows {split[:200]}"
    page = os.path.join(folder, "report.html")
    subprocess.run([oriel, "inspect", "-o", page, program], check=True, stdout=subprocess.DEVNULL)
    shown = browse(f"file://{page}", "--dump-dom")
    with open(page.replace(".html", ".json"), encoding="utf-8") as file:
        data = json.load(file)
    for schedule in data["schedules"]:
        for kernel in schedule["kernels"]:
            assert kernel["name"] in shown, kernel["name"]
    for word in ["Kernels", "Why it ends", "The run", "Roofline", "Memory", "Rewrite rules"]:
        assert word in shown, word
    with_rules = check_use(page)
    check_narrow(page)
    first = re.search(r"<tbody>.*?</tr>", shown, flags=re.DOTALL)[0]
    assert 0 <= first.find(os.path.basename(program) + ".cpp:") < first.find("<button"), f"the line stands before the name: {first}"
    check_use(views)
    assert with_script(views, EDIT) == EDITED, with_script(views, EDIT)
    answer = os.path.join(folder, "answer.html")
    with open(answer, "w", encoding="utf-8") as file:
        subprocess.run([oriel, "iterate", "--html", "2,3,4:12,1,3 + 3,4"], stdout=file, check=True)
    check_use(answer)
    campaign = os.path.join(folder, "campaign.html")
    subprocess.run([oriel, "fuzz", "reshape", "--cases", "2000", "--seed", "1", "--report", campaign], check=True, capture_output=True)
    check_use(campaign)
    if len(sys.argv) > 3:
        for width in (500, 1000, 1600):
            browse(f"file://{page}", f"--window-size={width},1400", f"--screenshot={sys.argv[3]}/report_{width}.png")
print("12 programs of views, a report and an answer: drawn as said, walked by keyboard, nothing on the console;",
      "axe-core finds nothing" if with_rules else "axe-core-python is not installed, so its rules were not asked")
