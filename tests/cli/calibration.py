#!/usr/bin/python3
"""Is docs/calibration.md what `fit --check` says today? calibration.py --program PATH [--bless]

The tables between the two marks are the program's own; words must be equal, numbers within 2 % or
0.2 (another compiler may round a last digit of a refit differently). --bless writes them anew.
"""
import argparse
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "calibration.md"
BEGIN, END = "<!-- generated: ecocompute fit --check -->\n", "<!-- end of the generated part -->\n"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def same(want, got):
    if NUMBER.sub("#", want) != NUMBER.sub("#", got):
        return False
    pairs = zip(NUMBER.findall(want), NUMBER.findall(got))
    return all(abs(float(a) - float(b)) <= max(0.2, 0.02 * abs(float(a))) for a, b in pairs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--bless", action="store_true")
    args = parser.parse_args()
    done = subprocess.run([args.program, "fit", "--check", "--format", "markdown"], check=True,
                          capture_output=True, text=True)
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    shown, tail = rest.split(END)
    if args.bless:
        PAGE.write_text(head + BEGIN + "\n" + done.stdout.strip() + "\n\n" + END + tail, encoding="utf-8")
        return 0
    want, got = shown.strip().splitlines(), done.stdout.strip().splitlines()
    wrong = [(a, b) for a, b in zip(want, got) if not same(a, b)]
    for a, b in wrong[:10]:
        print("- %s\n+ %s" % (a, b))
    if len(want) != len(got):
        print("%d lines shown, %d computed" % (len(want), len(got)))
    if wrong or len(want) != len(got):
        print("docs/calibration.md is out of date: run tests/cli/calibration.py --program P --bless")
        return 1
    return 0


sys.exit(main())
