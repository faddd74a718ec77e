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
