#!/usr/bin/env python3
"""Writes the page of reports as a C++ source: page_text.py PAGE CSS JS OUT. The data's place stays marked as @DATA@."""
import sys

page, css, js, out = sys.argv[1:]
read = lambda name: open(name, encoding="utf-8").read()
text = read(page).replace("@CSS@", read(css)).replace("@JS@", read(js))
if ")page\"" in text or text.count("@DATA@") != 1:
    sys.exit("page_text.py: the page holds the end of a raw string, or not one @DATA@")
# A literal of at most 60,000 bytes: compilers limit them.
parts = [text[k:k + 12000] for k in range(0, len(text), 12000)]
with open(out, "w", encoding="utf-8") as file:
    file.write('#include "inspect/page_text.hpp"\n\nnamespace oriel::runtime {\n\nconst char* const kPage =\n')
    file.write("\n".join(f'    R"page({part})page"' for part in parts))
    file.write(";\n\n}  // namespace oriel::runtime\n")
