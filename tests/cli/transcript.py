#!/usr/bin/python3
"""Runs the commands of a transcript and compares what they print, exactly.

  transcript.py --program PATH [--bless] [FILE...]

A .cli file is free text with indented blocks; a .md file is read in its ```console blocks only:

      $ ecocompute gpus --gpu rtx4900          (a trailing \\ continues the command)
      stdout, line by line
      2> stderr, line by line                  (in .md files without the 2>)
      [2]                                      (the exit status, when it is not 0)

A line of three dots stands for any lines; a line that ends in " (re)" is a regular expression.
Each file runs in its own empty folder, with SRC naming the source tree. --bless writes the present
output into the files, and leaves alone what already matches. Exit status: 0 all match, 1 not,
77 a .md file without commands (ctest: skipped).
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Step:
    """One command: lines[first:body] is the command, lines[body:end] its expected output."""

    def __init__(self, command, first, body, end, indent):
        self.command, self.first, self.body, self.end = command, first, body, end
        self.indent = indent


def inside_blocks(lines, is_markdown):
    """For each line: may it belong to a command or its output?"""
    if not is_markdown:
        return [line.startswith("  ") for line in lines]
    inside, fence = [], None
    for line in lines:
        mark = re.match(r"\s*```(.*)$", line)
        if mark:
            fence = mark.group(1).strip() if fence is None else None
        inside.append(not mark and fence == "console")
    return inside


def read_steps(lines, is_markdown):
    """Finds the commands and where their output lies. Blank lines at its end do not count."""
    steps, inside = [], inside_blocks(lines, is_markdown)
    indent = "" if is_markdown else "  "
    i = 0
    while i < len(lines):
        if not (inside[i] and lines[i].startswith(indent + "$ ")):
            i += 1
            continue
        first, command = i, lines[i][len(indent) + 2 :]
        i += 1
        while command.endswith("\\") and i < len(lines):
            command = command[:-1] + lines[i].strip()
            i += 1
        body = i
        while i < len(lines) and not lines[i].startswith(indent + "$ "):
            if not inside[i] and (is_markdown or lines[i] or not goes_on(lines, i, indent)):
                break
            i += 1
        end = i
        while end > body and lines[end - 1] == "":
            end -= 1
        steps.append(Step(command, first, body, end, indent))
    return steps


def goes_on(lines, i, indent):
    """After the blank lines at i, does output (not a new command, not text) follow?"""
    while i < len(lines) and lines[i] == "":
        i += 1
    return i < len(lines) and lines[i].startswith(indent) and not lines[i].startswith(indent + "$ ")


def run(command, folder, env, is_markdown):
    """The output of a command in the transcript's form."""
    try:
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return ["(did not end within 60 s)"]
    out = done.stdout.decode("utf-8", "backslashreplace").splitlines()
    while out and out[-1] == "":
        out.pop()
    mark = "" if is_markdown else "2> "
    out += [mark + line for line in done.stderr.decode("utf-8", "backslashreplace").splitlines()]
    if done.returncode != 0:
        out.append("[%d]" % done.returncode)
    return out


def matches(want, got):
    """Line by line; "..." takes any number of lines."""
    if not want:
        return not got
    if want[0] == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    if not got:
        return False
    if want[0].endswith(" (re)"):
        same = re.fullmatch(want[0][:-5], got[0]) is not None
    else:
        same = want[0] == got[0]
    return same and matches(want[1:], got[1:])


def expected(lines, step):
    """The expected output without its indent."""
    return [line[len(step.indent) :] if line else "" for line in lines[step.body : step.end]]


def report(path, step, want, got):
    """Shows a difference in a form that a person can act on."""
    print("%s:%d: $ %s" % (path, step.first + 1, step.command))
    for line in want:
        print("  - " + line)
    for line in got:
        print("  + " + line)


def check_file(path, program, bless):
    """Number of steps, number that differ."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    is_markdown = path.suffix == ".md"
    steps = read_steps(lines, is_markdown)
    wrong, new = 0, []
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as folder:
        tools = pathlib.Path(folder, ".bin")
        work = pathlib.Path(folder, "run")
        tools.mkdir()
        work.mkdir()
        tools.joinpath("ecocompute").symlink_to(pathlib.Path(program).resolve())
        env = {"PATH": "%s:/usr/bin:/bin" % tools, "HOME": folder, "TMPDIR": folder,
               "SRC": str(ROOT), "LC_ALL": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
               "COLUMNS": "100"}
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        for step in steps:
            want, got = expected(lines, step), run(step.command, work, env, is_markdown)
            if not matches(want, got):
                wrong += 1
                if not bless:
                    report(path, step, want, got)
                new.append((step, got))
    if bless and new:
        for step, got in reversed(new):
            lines[step.body : step.end] = [step.indent + line if line else "" for line in got]
        path.write_text("\n".join(lines), encoding="utf-8")
    return len(steps), wrong


def main():
    parser = argparse.ArgumentParser(description="run command transcripts")
    parser.add_argument("--program", required=True)
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    files = [pathlib.Path(f) for f in args.files] or sorted(ROOT.glob("tests/cli/*.cli")) + sorted(
        p for p in [ROOT / "README.md", *ROOT.glob("docs/*.md")] if p.exists())
    total = bad = 0
    for path in files:
        steps, wrong = check_file(path, args.program, args.bless)
        if steps == 0 and path.suffix == ".cli":
            print("%s: no commands in it" % path)
            bad += 1
        total += steps
        bad += wrong
        if args.bless and wrong:
            print("%s: %d of %d written anew" % (path, wrong, steps))
    print("%d commands, %d differ" % (total, bad))
    if total == 0 and bad == 0 and not args.bless:
        return 77
    return 1 if bad and not args.bless else 0


if __name__ == "__main__":
    sys.exit(main())
