#!/usr/bin/env python3
"""Writes the parts of a header as snippets: the text that the engine compiles is the text that rendered sources hold.

    snippets_of.py HEADER FUNCTION OUT    OUT: a C++ source with `std::span<const Snippet> FUNCTION()`

A part begins behind a line `// snippet NAME: OTHERS`, where OTHERS are the snippets that it uses and, in <>, the headers that it
needs, and ends at the next such line or at `// end of snippets`.
"""
import re
import sys


def parts(lines):
    name, uses, text = None, "", []
    for line in lines:
        start = re.fullmatch(r"// snippet (\w+):((?: (?:\w+|<[\w/.]+>))*)\n", line)
        if start or line == "// end of snippets\n":
            if name:
                yield name, uses, "".join(text).strip("\n")
            name, uses, text = (start[1], start[2].strip(), []) if start else (None, "", [])
        elif line.startswith("// snippet"):
            sys.exit(f"snippets_of.py: {line.strip()!r} is not of the form // snippet NAME: OTHERS")
        elif name:
            text.append(line)
    if name:
        sys.exit(f"snippets_of.py: snippet {name} has no end; write // end of snippets behind it")


def main(header, function, out):
    with open(header, encoding="utf-8") as file:
        found = list(parts(file))
    if not found:
        sys.exit(f"snippets_of.py: {header} has no snippets")
    entries = "".join(f'    {{"{name}", "{"".join(use + " " for use in uses.split())}", R"src(\n{text}\n)src"}},\n'
                      for name, uses, text in found)
    table = "k" + "".join(word.capitalize() for word in function.split("_"))
    with open(out, "w", encoding="utf-8") as file:
        file.write(f'#include "source/cpp/snippets.hpp"\n\nnamespace oriel::source::cpp {{\nnamespace {{\n\n'
                   f"constexpr Snippet {table}[] = {{\n{entries}}};\n\n}}  // namespace\n\n"
                   f"std::span<const Snippet> {function}() {{ return {table}; }}\n\n"
                   f"}}  // namespace oriel::source::cpp\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
