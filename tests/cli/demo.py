#!/usr/bin/python3
"""scripts/demo.sh, what quickstart.sh ends in: demo.py --program P --nvml LIB [--long].

With a fake card, stand-ins for torch and the rest, and a program that does all but measure itself:
what it is asked to measure is checked. --long (or ECO_LONG=1): the real program measures on the fake
card through the worker, and the embedded engine's run on this CPU, each a minute or two.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TINY = "TinyLlama/TinyLlama-1.1B-Chat-v1.0"
SHIM = """#!/bin/sh
if [ "$1" = measure ]; then
    for word in "$@"; do echo "$word" >>"{log}"; done
    case "$*" in *worker:*) [ -z "$FAILS" ] || exit "$FAILS" ;; esac
    while [ $# -gt 0 ]; do [ "$1" = --out ] && out=$2; shift; done
    exec "{program}" measure TinyLlama-1.1B-Chat-v1.0 --gpu T4 --precision NF4 --out "$out" --force
fi
exec "{program}" "$@"
"""


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


class Demo:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.log, self.out = folder / "measured", folder / "out"
        self.shim = folder / "shim"
        self.shim.write_text(SHIM.format(program=args.program, log=self.log))
        self.shim.chmod(0o755)
        driver = folder / "driver"
        driver.mkdir()
        shutil.copy(args.nvml, driver / "libnvidia-ml.so.1")
        phases = folder / "phases"
        phases.touch()
        (folder / "script").write_text(
            "gpus 1\nname 0 NVIDIA GeForce RTX 4090\nphase idle 40\nphase FP16 300\n"
            "phase NF4 200\nphases %s\n" % phases)

    def run(self, card, stubs, status=0, program=None, **more):
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "ECOCOMPUTE_OUT": str(self.out),
               "PYTHONDONTWRITEBYTECODE": "1", "ECO_STUB": "token_s=0.01", **more}
        if card:
            env.update(LD_LIBRARY_PATH=str(self.folder / "driver"),
                       ECO_FAKE_NVML=str(self.folder / "script"),
                       ECO_STUB_PHASES=str(self.folder / "phases"))
        if stubs:
            env["PYTHONPATH"] = str(ROOT / "tests/fake/python")
        self.log.unlink(missing_ok=True)
        shutil.rmtree(self.out, ignore_errors=True)
        done = subprocess.run([ROOT / "scripts/demo.sh", program or self.shim], env=env, text=True,
                              capture_output=True, check=False, timeout=600)
        if done.returncode != status:
            fail("status %d: %s%s" % (done.returncode, done.stdout, done.stderr))
        return done.stdout, self.log.read_text().splitlines() if self.log.exists() else []


def check_end(out, first):
    """The answer stands last, and after it three commands, which can be run."""
    end = out[out.index("\nNext:\n"):].strip().splitlines()
    if len(end) != 4 or first not in end[1] or not all(
            line.startswith("  ecocompute ") for line in end[1:]):
        fail("the end is: %r" % end)
    if "$ ecocompute measure" not in out[:out.index("\nNext:\n")]:
        fail("no measurement before the end")


def short(demo):
    out, words = demo.run(card=True, stubs=True)
    if words[:2] != ["measure", TINY] or "FP16,NF4" not in words or "--quick" not in words:
        fail("measured: %r" % words)
    if not [w for w in words if w.startswith("worker:") and "transformers_worker.py" in w]:
        fail("not through the worker: %r" % words)
    check_end(out, "report share")
    for card, stubs, fails, says in ((True, False, "", "the embedded engine is measured"),
                                     (True, True, "4", ""),
                                     (False, True, "", "No GPU here")):
        out, words = demo.run(card, stubs, FAILS=fails)
        if says not in out or words[-words[::-1].index("measure") - 1:][:2] != \
                ["measure", "synthetic:" + TINY] or "builtin" not in words:
            fail("card %s, stubs %s: %r %s" % (card, stubs, words, out))
        check_end(out, "report show")
    out, _ = demo.run(True, True, status=130, FAILS="130")  # ended by the user: nothing else begins
    if "Next:" in out:
        fail("it went on after Ctrl-C")


def long(demo):
    start = time.monotonic()
    out, _ = demo.run(True, True, program=demo.args.program)
    report = json.loads((demo.out / "energy.json").read_text())
    change = report["results"]["vs_fp16_energy_pct"]
    if report["results"]["basis"] != "measured":
        fail(report["results"]["basis"])
    for line in (demo.out / "run.jsonl").read_text().splitlines():
        t = json.loads(line)  # what was drawn; how long a token took is this machine's affair
        watts = t["kind"] == "trial" and t["energy_counter_j"] / t["window_s"]
        if t["kind"] == "trial" and not abs(watts / (300, 200)[t["arm"]] - 1) < 0.05:
            fail("%g W in a trial of arm %d" % (watts, t["arm"]))
    check_end(out, "report share")
    print("through the worker: %.0f s, NF4 %+.1f %%" % (time.monotonic() - start, change))
    start = time.monotonic()
    out, _ = demo.run(False, False, program=demo.args.program)
    report = json.loads((demo.out / "energy.json").read_text())
    if report["results"]["basis"] == "measured":
        fail("joules, without a power source")
    check_end(out, "report show")
    print("by the embedded engine: %.0f s" % (time.monotonic() - start))
    print(out)


def main():
    parser = argparse.ArgumentParser(description="the demo, executed")
    parser.add_argument("--program", required=True)
    parser.add_argument("--nvml", required=True)
    parser.add_argument("--long", action="store_true", default=os.environ.get("ECO_LONG") == "1")
    args = parser.parse_args()
    args.program = pathlib.Path(args.program).resolve()
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as folder:
        demo = Demo(args, pathlib.Path(folder))
        (long if args.long else short)(demo)
    print("ok")


if __name__ == "__main__":
    main()
