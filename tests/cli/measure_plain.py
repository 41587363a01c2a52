#!/usr/bin/python3
"""`measure` of a real folder by the embedded engine: measure_plain.py --program P --maker M.

The model has a hundred thousand weights, far below what the data set knows, and 512 positions. Its
times are measured all the same, how long it takes is said although nothing is a terminal, and what
the model cannot do is refused with the number.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


class Here:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def measure(self, *words, status=0):
        done = subprocess.run([self.program, "measure", "model", "rtx4090", "--sysfs", ".", *words],
                              cwd=self.folder, text=True, capture_output=True, check=False)
        if done.returncode != status:
            fail("status %d: %s%s" % (done.returncode, done.stdout, done.stderr))
        return done

    def report(self, out):
        return json.loads((self.folder / out / "energy.json").read_text(encoding="utf-8"))


def tiny(here):
    done = here.measure("--quick", "--gen-tokens", "16", "--iterations", "2", "--out", "a")
    lines = done.stderr.splitlines()
    if lines[0] != ("2 precisions in 2 blocks: 4 trials; how long is said after the first "
                    "warm-up"):
        fail("it begins with: " + lines[0])
    if not re.fullmatch(r"takes about \d+ (s|min)", lines[1]):
        fail("how long: " + lines[1])
    report = here.report("a")
    if report["results"]["basis"] != "unavailable" or \
            report["results"]["energy_per_token_mj"] is not None:
        fail("joules of a model that nobody measured: %s" % report["results"])
    if "0.01 to 10000" not in report["results"]["reason"]:
        fail("the reason is: " + report["results"]["reason"])
    valid = subprocess.run([here.program, "report", "validate", here.folder / "a/energy.json"],
                           text=True, capture_output=True, check=False)
    if valid.stdout != "valid\n":
        fail("validate: %s%s" % (valid.stdout, valid.stderr))
    kept = (here.folder / "a/run.jsonl").read_text(encoding="utf-8")
    if kept.count('"kind":"trial"') != 4:
        fail("the journal: " + kept)


def blocks(here):
    """What is made of a number of blocks is said; a meter makes it two and the discarded one."""
    quick = here.measure("--quick", "--precision", "NF4,INT8-PURE", "--blocks", "2", "--gen-tokens",
                         "4", "--iterations", "1", "--out", "b").stderr
    if "3 precisions in 2 blocks (no multiple of 3: not each is equally often first): 6 trials" \
            not in quick:
        fail("blocks of a quick run: " + quick)
    whole = here.measure("--precision", "NF4", "--blocks", "1", "--gen-tokens", "4",
                         "--iterations", "1", "--out", "c").stderr
    if "2 precisions in 2 blocks (2 and not 1, so that each is equally often first): 4 trials" \
            not in whole:
        fail("blocks: " + whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--maker", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ecocompute-plain-") as folder:
        here = Here(pathlib.Path(args.program).resolve(), pathlib.Path(folder))
        (here.folder / "model").mkdir()
        subprocess.run([pathlib.Path(args.maker).resolve(), "model", here.folder / "model"], check=True)
        tiny(here)
        blocks(here)
        long = here.measure("--gen-tokens", "60000", "--out", "d", status=2).stderr
        if "'gen_tokens' must be up to 503, not 60000: model has 512 positions" not in long:
            fail("60000 tokens of 512 positions: " + long)
        if (here.folder / "d").exists():
            fail("a refused run left its folder")
    print("a tiny folder is measured, said and bounded")


if __name__ == "__main__":
    main()
