#!/usr/bin/env python3
"""Writes the C++ blocks of the pages as sources that a test compiles.

    snippets.py compile OUTPUT PAGE...      all blocks that stand alone, each in a function
    snippets.py exporter OUTPUT PAGE        the program that runs the reference's export of a captured function
    snippets.py exported OUTPUT PAGE        what the reference does with the exported sources
"""
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"^```cpp\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What a page takes as given. A block may declare the same names.
GIVEN = """
using namespace oriel;
extern Tensor a, b, bias, image, index, k, length, mask, picture, q, v, w, x, y, z;
extern const std::int64_t n;
extern const std::string folder;
Tensor edges(const Tensor& of);
"""
HEADERS = ["oriel/oriel.hpp", "oriel/optim.hpp", "algorithm", "array", "cmath", "complex", "cstdint", "cstdlib", "iostream", "limits", "string", "tuple", "vector"]
# Uses of exported sources: their headers are made by running the exports.
EXPORTED = ("edge_filter::", "layer::")


def blocks(page):
    text = Path(page).read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield text[:match.start()].count("\n") + 2, match[1]


def write(output, headers, text):
    lines = [f'#include "{h}"' if h.endswith(".hpp") else f"#include <{h}>" for h in headers]
    Path(output).write_text("\n".join(lines) + "\n" + text, encoding="utf-8")


def compile_all(output, *pages):
    text = GIVEN
    count = 0
    for number, page in enumerate(pages):
        for line, block in blocks(page):
            # Whole programs are built by themselves.
            if "int main(" in block or any(name in part for name in EXPORTED for part in [block.split("\n...\n")[-1]]):
                continue
            count += 1
            name = f"page_{number}_line_{line}"
            place = f'#line {line} "{page}"\n'
            if block.startswith("struct "):
                text += f"namespace {name} {{\n{place}{block}}}\n"
            else:
                text += f"void {name}();\nvoid {name}() {{\n{place}{block}}}\n"
    if count < 10:
        sys.exit(f"only {count} blocks in {pages}")
    write(output, HEADERS, text)


def layer_block(page):
    for line, block in blocks(page):
        if "layer::Sizes" in block:
            before, after = block.split("\n...\n")
            return line, before, after
    sys.exit(f"{page} exports no layer")


def exporter(output, page):
    line, block, _ = layer_block(page)
    if '"firmware"' not in block:
        sys.exit(f"{page} exports to another folder")
    write(output, HEADERS, "using namespace oriel;\nint main(int, char** arguments) {\n  const Tensor x = ones({64, 512}), w = ones({512, 10});\n"
          f'#line {line} "{page}"\n' + block.replace('"firmware"', "arguments[1]") + "\n}\n")


def exported(output, page):
    line, _, block = layer_block(page)
    text = "void layer_use(const float* x, const float* w, float* y);\nvoid layer_use(const float* x, const float* w, float* y) {\n" + block
    text += "(void)status;\nstd::free(scratch);\n}\n"
    for line, block in blocks(page):
        if "edge_filter::Inputs" in block:
            text += f'int edges_use();\nint edges_use() {{\n#line {line} "{page}"\n' + block.replace("\n...\n", "\n") + "return 0;\n}\n"
    write(output, ["layer.hpp", "edge_filter.hpp", "cstdint", "cstdlib"], text)


{"compile": compile_all, "exporter": exporter, "exported": exported}[sys.argv[1]](*sys.argv[2:])
