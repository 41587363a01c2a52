#!/usr/bin/python3
"""What the protocols print, scenario by scenario: golden.py --program PATH [--bless] [NAME...].
Scenarios are in scenarios.txt; expected/NAME holds the exact output. --bless writes them anew: look
at the difference before it is committed. The program's version and the data's digest are masked.
"""
import argparse
import difflib
import json
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MASKS = [(re.compile(r"sha256\s+[0-9a-f]{12}…"), "sha256 …"),
         (re.compile(r"ecocompute\s+[0-9]+\.[0-9]+\.[0-9]+"), "ecocompute VERSION"),
         (re.compile(r'"version": "[^"]*"'), '"version": "VERSION"'),
         (re.compile(r'"data_sha256": "[^"]*"'), '"data_sha256": "DIGEST"')]


def scenarios():
    """[(name, [argument])] in the order of the file."""
    out = []
    for line in (HERE / "scenarios.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, rest = line.partition(":")
            out.append((name.strip(), shlex.split(rest)))
    return out


def run(program, words):
    done = subprocess.run([program] + words, capture_output=True, text=True, encoding="utf-8",
                          env={"LC_ALL": "C", "NO_COLOR": "1", "PATH": "/usr/bin:/bin"})
    if done.returncode not in (0, 1, 4) or done.stderr:
        sys.exit("%s: exit %d: %s" % (shlex.join(words), done.returncode, done.stderr))
    return done.stdout


def shown(program, words):
    text = run(program, words)
    if "--json" in words:
        text = json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"
    for pattern, word in MASKS:
        text = pattern.sub(word, text)
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("--without", default="", help="a verb that is not built in")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    todo = [(n, w) for n, w in scenarios()
            if (not args.names or n in args.names) and w[0] != args.without]
    if not todo:
        sys.exit("no such scenario")
    wrong = 0
    for name, words in todo:
        got, path = shown(args.program, words), HERE / "expected" / name
        want = path.read_text(encoding="utf-8") if path.exists() else ""
        if args.bless:
            path.write_text(got, encoding="utf-8")
        elif got != want:
            wrong += 1
            sys.stdout.writelines(difflib.unified_diff(
                want.splitlines(True), got.splitlines(True), "expected/" + name, shlex.join(words), n=1))
    if not args.bless and not args.names:
        known = {n for n, _ in scenarios()}
        for path in sorted((HERE / "expected").iterdir()):
            if path.name not in known:
                wrong += 1
                print("expected/%s belongs to no scenario" % path.name)
    print("%d scenarios, %s" % (len(todo), "written" if args.bless else "%d wrong" % wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
