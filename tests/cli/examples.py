#!/usr/bin/python3
"""Runs every example of every operation: examples.py --program PATH --list LIST_EXAMPLES.

An example must end with status 0 (or 1, "the answer is no"), print something, and print no NaN.
The examples of one operation run in one empty folder, in order, after `ecocompute measure` has
left an ecocompute-out/ there for those that read a report.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(command, folder, env):
    return subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=120, check=False)


def fault(done):
    """What is wrong with a run, or None."""
    out = done.stdout.decode("utf-8", "replace")
    if b"audit is not built in" in done.stderr:
        print("SKIPPED: the audit is not built in")
        return None
    if done.returncode not in (0, 1):
        return "status %d: %s" % (done.returncode, done.stderr.decode("utf-8", "replace").strip())
    if not out.strip():
        return "printed nothing"
    if re.search(r"(?<![A-Za-z])-?(nan|inf)(?![A-Za-z])", out, re.IGNORECASE):
        return "printed NaN or infinity"
    return None


def main():
    parser = argparse.ArgumentParser(description="run the examples of --help")
    parser.add_argument("--program", required=True)
    parser.add_argument("--list", required=True)
    args = parser.parse_args()
    lines = subprocess.run([args.list], capture_output=True, text=True, check=False)
    sys.stderr.write(lines.stderr)
    bad = lines.returncode != 0
    rows = [line.split("\t", 1) for line in lines.stdout.splitlines()]
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as top:
        tools = pathlib.Path(top, ".bin")
        tools.mkdir()
        tools.joinpath("ecocompute").symlink_to(pathlib.Path(args.program).resolve())
        env = {"PATH": "%s:/usr/bin:/bin" % tools, "HOME": top, "TMPDIR": top, "LC_ALL": "C.UTF-8",
               "NO_COLOR": "1", "COLUMNS": "100"}
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        for verb, command in rows:
            folder = pathlib.Path(top, verb)
            if not folder.exists():
                folder.mkdir()
                if verb == "report":
                    run("ecocompute measure --model Qwen/Qwen2.5-3B --gpu rtx4090", folder, env)
                if verb == "replay":
                    rows = ["%.1f,300,283.4" % (i / 10) for i in range(121)]
                    folder.joinpath("trace.csv").write_text(
                        "t_s,power_instant_w,power_draw_w\n" + "\n".join(rows) + "\n")
            if not command.startswith("ecocompute "):
                command = "ecocompute " + command
            wrong = fault(run(command, folder, env))
            if wrong:
                print("%s\n    %s" % (command, wrong))
                bad = True
    print("%d examples" % len(rows))
    return 1 if bad or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
