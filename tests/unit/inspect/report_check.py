#!/usr/bin/env python3
"""Runs `oriel inspect` and `oriel profile` on a program, and looks at what they write.

    report_check.py ORIEL PROGRAM SOURCE    SOURCE: the name of the program's file
"""
import json
import os
import subprocess
import sys
import tempfile

oriel, program, source = sys.argv[1:]


def run(*arguments, status=0):
    done = subprocess.run([oriel, *arguments], capture_output=True, text=True, timeout=100, check=False)
    if done.returncode != status:
        sys.exit(f"{arguments} ended with {done.returncode}, not {status}: {done.stdout}{done.stderr}")
    return done


with tempfile.TemporaryDirectory() as folder:
    page = os.path.join(folder, "report.html")
    assert f"wrote {page}" in run("inspect", "-o", page, program).stdout
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        data = json.load(file)
    kernels = [kernel for schedule in data["schedules"] for kernel in schedule["kernels"]]
    assert kernels and all(kernel["launches"] > 0 and kernel["seconds"] > 0 for kernel in kernels if kernel["runs"]), kernels
    sites = {output["site"] for kernel in kernels for output in kernel["outputs"]}
    assert any(site.startswith(source + ":") for site in sites), sites
    if source == "captured.cpp":
        assert [trace["function"] for trace in data["traces"]] == ["the captured function of captured.cpp:51"] * 2, data["traces"]
        lines = [tuple(line) for line in data["traces"][1]["lines"]]
        assert ("because", "entry 0 needs batch.size(0) == 6; the call has 3") in lines, lines
        assert any(what == "symbol" and "made at captured.cpp:" in text for what, text in lines), lines
    timeline = data["timeline"]
    by_name = {}
    by_kernel = [[] for _ in kernels]
    for name, start, seconds, thread, live, number in timeline["launches"]:
        assert start >= 0 and seconds > 0 and thread >= 0 and live > 0
        by_name[timeline["names"][name]] = by_name.get(timeline["names"][name], 0) + 1
        assert kernels[number]["name"] == timeline["names"][name]
        by_kernel[number].append(seconds)
    # Each kernel has its own launches, also where several have one name.
    for kernel, seconds in zip(kernels, by_kernel):
        assert kernel["launches"] == len(seconds) and abs(kernel["seconds"] - sum(seconds)) < 1e-6, (kernel["name"], seconds)
    assert timeline["left_out"] == 0 and len(timeline["launches"]) == sum(k["launches"] for k in kernels)
    trace_file = os.path.join(folder, "trace.json")
    assert f"wrote {trace_file}" in run("inspect", "-o", page, "--perfetto", trace_file, program).stdout
    with open(trace_file, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert {span["name"] for span in spans} == set(by_name) and all(span["dur"] > 0 for span in spans)
    assert any(source + ":" in span["args"]["lines"] for span in spans)
    assert [event["args"]["bytes"] > 0 for event in events if event["ph"] == "C"] == [True] * len(spans)
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        again = file.read()
    for own in ["report.json", "./report.html"]:
        refused = run("inspect", "-o", page, "--perfetto", os.path.join(folder, own), program, status=2).stderr
        assert "give the trace another name" in refused, refused
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        assert file.read() == again
    assert "--perfetto takes a file" in run("inspect", "--perfetto", status=2).stderr
    assert "cannot write" in run("inspect", "-o", page, "--perfetto", "/nowhere/t.json", program, status=1).stderr
    text = open(page, encoding="utf-8").read()
    assert text.count("</script>") == 2 and len(text) < 1_000_000
    data_file = os.path.join(folder, "report.json")
    assert "new " not in run("inspect", "--diff", data_file, data_file).stdout
    other = os.path.join(folder, "other.json")
    changed = json.loads(json.dumps(data))
    changed["schedules"][0]["kernels"][0]["name"] = "another_kernel"
    with open(other, "w", encoding="utf-8") as file:
        json.dump(changed, file)
    compared = run("inspect", "--diff", data_file, other).stdout
    assert "new     another_kernel" in compared and f"gone    {kernels[0]['name']}" in compared, compared
    assert "is no data of a report" in run("inspect", "--diff", program, other, status=1).stderr
    for text in ['{"schedules":[{}]}', '{"schedules":[{"kernels":[{}]}]}', "[]", "{"]:
        with open(other, "w", encoding="utf-8") as file:
            file.write(text)
        assert "is no data of a report" in run("inspect", "--diff", other, data_file, status=1).stderr, text
    profile = run("profile", program).stdout
    assert "The next gain: " in profile and kernels[0]["name"] in profile and "of limit" in profile, profile
    assert "wrote no report" in run("inspect", "-o", page, "true", status=1).stderr
    assert "cannot start" in run("inspect", "-o", page, os.path.join(folder, "nothing"), status=1).stderr
    assert run("profile", "false", status=1).stderr
    assert "does not end in .html" in run("inspect", "-o", "x", program, status=2).stderr
    assert "a program is missing" in run("profile", status=2).stderr
    views = run("view", "--html", "4,6 | permute 1,0").stdout
    assert '"program":"4,6 | permute 1,0"' in views

    def answer(*words):
        text = run(*words).stdout
        start = text.index('id="data">') + len('id="data">')
        return json.loads(text[start:text.index("</script>", start)])

    loops = answer("iterate", "--html", "2,3 + 3")
    assert run("iterate", "2,3 + 3").stdout == loops["text"]
    assert [stack["title"] for stack in loops["stacks"]] == ["operand 0", "operand 0, over the loops", "operand 1", "operand 1, over the loops"]
    assert loops["stacks"][3]["views"] == ["(2,3):(0,1)"], loops["stacks"]
    reduced = answer("iterate", "--html", "--reduce", "1", "2,3")
    assert reduced["stacks"][0]["views"] == ["(2,3):(3,1)"] and reduced["stacks"][1]["views"], reduced
    assert answer("iterate", "--html", "n=4 | n,3 + 3")["stacks"][0]["title"] == "operand 1"
    definition = "def conv(float(N) X, float(K) W) -> (Y) { Y(i) +=! X(i + k) * W(k) }"
    ranges = answer("ranges", "--html", "-e", definition, "X=10", "W=3")
    assert run("ranges", "-e", definition, "X=10", "W=3").stdout in ranges["text"] and definition in ranges["text"]
    assert ranges["stacks"][0] == {"title": "Y: X(i + k), over the loops", "views": ["(8,3):(1,1)"]}, ranges["stacks"]
    guards = answer("guards", "--html", "s0=12,s1=4 | s0 == 3*s1 | s0 % 4 == 0")
    assert guards["tables"][0]["rows"] == [["s0 == 3*s1", "True"], ["s0 % 4 == 0", "True"]]
    assert guards["tables"][1]["rows"][0][0] == "guard" and guards["tables"][2]["rows"][0][0] == "s0"
    for command in ["iterate", "ranges", "guards"]:
        assert "takes no" in run(command, "--html", "--jsonl", status=2).stderr
