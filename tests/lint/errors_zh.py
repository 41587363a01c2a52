#!/usr/bin/env python3
"""Has every error that a command, a request or an MCP message may get its Chinese in src/ops/errors.def?
And is what the page's modules may say kept in the page (not behind '#ifndef __wasm__')?"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
MODULES = ("ops", "cli", "dataset", "audit", "base", "report", "store", "mcp", "server")
# Of programs, not of users: a wrong call of a function, a broken build.
INTERNAL = ("a request and room", "the parser gave up")
INTERNAL_FILES = ("chart_",)  # what is drawn was computed here
STRING = r'"((?:[^"\\]|\\.)*)"'


def formats(call):
    """The texts of one call, literals that stand side by side joined."""
    for run in re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*)+', call):
        yield "".join(re.findall(STRING, run))


def calls(source):
    for m in re.finditer(r"\b(?:eco_err_set(?:_at)?|eco_refuse|refuse|advise)\s*\(", source):
        depth, i = 1, m.end()
        while depth:
            c = source[i]
            if c == '"':
                i += 1
                while source[i] != '"':
                    i += 2 if source[i] == "\\" else 1
            depth += (c == "(") - (c == ")")
            i += 1
        yield source[m.end():i - 1]


def rows(table):
    return ["".join(re.findall(STRING, m))
            for m in re.findall(r'\bE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+),', table)]


def on_the_page():
    """module -> its files that are not compiled to WebAssembly"""
    layers = (ROOT / "layers.txt").read_text(encoding="utf-8")
    return {m[1]: m[2].split() for m in re.finditer(r"^wasm (\w+) +- *(.*)$", layers, re.M)}


def main():
    table = (ROOT / "src/ops/errors.def").read_text(encoding="utf-8")
    known, page = rows(table), on_the_page()
    shown = rows(re.sub(r"#ifndef __wasm__.*?#endif", "", table, flags=re.S))
    missing, seen = [], 0
    for module in MODULES:
        for path in sorted((ROOT / "src" / module).glob("*.c")):
            if path.name.startswith(INTERNAL_FILES):
                continue
            for call in calls(path.read_text(encoding="utf-8")):
                for text in formats(call):
                    if " " not in text.strip(" :") or text.startswith(INTERNAL):
                        continue
                    seen += 1
                    native = path.name in page.get(module, [path.name])
                    if text not in (known if native else shown):
                        missing.append(f"{path.relative_to(ROOT)}: {text}")
    twice = sorted({text for text in known if known.count(text) > 1})
    print(f"{seen} texts of errors, {len(missing)} without Chinese, {len(twice)} rows twice")
    print("\n".join(missing + twice))
    return 1 if missing or twice or seen < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
