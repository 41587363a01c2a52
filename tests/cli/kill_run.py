#!/usr/bin/python3
"""kill -9 at random points: kill_run.py --program P --nvml LIB [--clock LIB] [--points N] [--seed S].

Each point is a run of its own against the fake NVML, all at once (they mostly sleep): the program or
its worker is killed at a random moment, then the run is resumed. No finished trial may be lost, and
the report must be that of an undisturbed run in all but times. With --clock (tests/fake/fast_clock.c)
the program and its worker live twice as fast as the machine: they sleep less, and do the same.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRIALS = 6
LASTS_S = 95.0 # an undisturbed run, on its own clock
FASTER = 2
TOKEN_S = 0.008
# what a clock or a sensor says; everything else must agree to the letter
SCATTER = {"total_energy_joules", "energy_per_token_mj", "fp16_energy_per_token_mj", "mean_mj",
           "vs_fp16_energy_pct", "avg_power_watts", "throughput_tokens_per_s",
           "net_energy_per_token_mj", "energy_joules", "energy_counter_joules",
           "energy_integral_joules", "peak_power_watts", "tokens_per_s"}
SAMPLED = {"energy_joules", "energy_integral_joules", "peak_power_watts", "avg_power_watts"}
TIMES = {"timestamp_utc", "start_s", "end_s", "window_s", "sd_mj", "cv_frac", "counter_gap_frac",
         "samples", "dropped_samples", "observer_watts", "observer_cpu_frac", "read_cost_s",
         "vs_fp16_ci95_pct", "trials_to_resolve", "verdict", "level", "without_model_watts",
         "with_model_watts", "idle_before_watts", "clock_mean_mhz", "warnings",
         "resolution_joules", "cross_check_pct"}


class Run:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        folder.mkdir()
        phases = folder / "phases"
        phases.touch()
        (folder / "script").write_text(
            "gpus 1\nname 0 NVIDIA GeForce RTX 4090\nphase idle 40\nphase FP16 300\n"
            "phase NF4 200\nphases %s\n" % phases, encoding="utf-8")
        self.env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                    "ECO_FAKE_NVML": str(folder / "script")}
        if args.clock:
            self.env.update(LD_PRELOAD=str(args.clock), ECO_FAST_CLOCK=str(FASTER))
        self.worker = "worker:exec /usr/bin/python3 %s --token-s %g --phases %s" % (
            ROOT / "tests/unit/workload/fake_worker.py", TOKEN_S, phases)

    def trials(self):
        journal = self.folder / "out" / "run.jsonl"
        text = journal.read_text(encoding="utf-8") if journal.exists() else ""
        rows = [json.loads(row) for row in text[:text.rfind("\n") + 1].splitlines()]
        return [row for row in rows if row["kind"] == "trial"]

    def start(self):
        with open(self.folder / "phases", "a", encoding="utf-8") as f:
            f.write("idle\n") # a killed worker leaves the card at rest
        resume = (self.folder / "out" / "run.jsonl").exists()
        words = ["--resume", "out"] if resume else [
            "TinyLlama-1.1B-Chat-v1.0", "--precision", "NF4", "--workload", self.worker, "--quick",
            "--iterations", "16", "--blocks", "2", "--out", "out"]
        return subprocess.Popen(
            [self.args.program, "measure", *words, "--nvml-library", self.args.nvml],
            cwd=self.folder, env=self.env, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)

    def reports(self):
        return {name: json.loads((self.folder / "out" / name).read_text(encoding="utf-8"))
                for name in ("energy.json", "energy-FP16.json")}


def differences(want, got, path=""):
    key = path.rsplit("/", 1)[-1]
    if key in TIMES:
        return
    if isinstance(want, dict) and isinstance(got, dict):
        if sorted(want) != sorted(got):
            yield "%s: members %s, %s" % (path, sorted(want), sorted(got))
            return
        for name in want:
            yield from differences(want[name], got[name], path + "/" + name)
    elif isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            yield "%s: %d items, %d" % (path, len(want), len(got))
            return
        for i, (a, b) in enumerate(zip(want, got)):
            yield from differences(a, b, "%s/%s" % (path, i))
    elif key in SCATTER and isinstance(want, (int, float)) and isinstance(got, (int, float)):
        if abs(got - want) > 0.25 * abs(want): # a loaded machine; a lost trial would be no number
            yield "%s: %s, %s" % (path, want, got)
    elif key in SAMPLED:
        return # a window without samples for too long, on a loaded machine: null, with its reason
    elif key in SCATTER or key.startswith(("ttft", "tpot")):
        if (want is None) != (got is None):
            yield "%s: %s, %s" % (path, want, got)
    elif want != got:
        yield "%s: %r, %r" % (path, want, got)


def kill(process, worker):
    try:
        if worker:
            text = pathlib.Path("/proc/%d/task/%d/children" % (process.pid, process.pid)).read_text()
            if text.split():
                os.kill(int(text.split()[0]), signal.SIGKILL)
                return "worker"
        process.send_signal(signal.SIGKILL)
        return "program"
    except (OSError, IndexError):
        return "nobody"


def disturbed(run, at_s, worker, out):
    first = run.start()
    try:
        first.wait(timeout=at_s)
        who = "nobody"
    except subprocess.TimeoutExpired:
        who = kill(first, worker)
    error = first.communicate()[1]
    kept = run.trials()
    what = "%s at %.1f s, %d trials" % (who, at_s, len(kept))
    if who == "worker" and first.returncode not in (0, 4):
        out.append("%s: status %d: %s" % (what, first.returncode, error))
    time.sleep(0.2)
    if first.returncode:
        again = run.start()
        error = again.communicate()[1]
        if again.returncode:
            out.append("%s: the resumed run ended with %d: %s" % (what, again.returncode, error))
            return
    after = run.trials()
    if after[:len(kept)] != kept or len(after) != TRIALS:
        out.append("%s: %d trials at the end" % (what, len(after)))
    print(what + ": resumed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--nvml", required=True)
    parser.add_argument("--clock", type=pathlib.Path)
    parser.add_argument("--points", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    lasts_s = LASTS_S / (FASTER if args.clock else 1)
    rng = random.Random(args.seed)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="ecocompute-kill-") as folder:
        root = pathlib.Path(folder)
        whole = Run(args, root / "whole")
        runs = [Run(args, root / ("run%d" % i)) for i in range(args.points)]
        threads = [threading.Thread(target=disturbed,
                                    args=(run, rng.uniform(0, lasts_s), i % 2 == 1, wrong))
                   for i, run in enumerate(runs)]
        for thread in threads:
            thread.start()
        process = whole.start()
        error = process.communicate()[1]
        if process.returncode:
            sys.exit("FAILED: the undisturbed run: " + error)
        for thread in threads:
            thread.join()
        want = whole.reports()
        for i, run in enumerate(runs):
            if (run.folder / "out" / "energy.json").exists():
                wrong += ["point %d: %s" % (i, text)
                          for text in list(differences(want, run.reports()))[:5]]
            else:
                wrong.append("point %d: no report" % i)
    for text in wrong:
        print("FAILED: " + text)
    print("%d points, %d wrong" % (args.points, len(wrong)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
