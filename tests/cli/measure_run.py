#!/usr/bin/python3
"""A whole measured run, interrupted in every way: measure_run.py --program P --nvml LIB [--clock LIB].

A fake NVML draws what a fake worker says it is doing. The run is ended by Ctrl-C, by kill -9 of the
program, by kill -9 of the worker, and resumed each time. No finished trial may be lost, and the
report must give the energies that were put in. With --clock (tests/fake/fast_clock.c) the program and
its worker live twice as fast as the machine.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WATTS = {"FP16": 300.0, "NF4": 200.0}
TOKEN_S = {"FP16": 0.002, "NF4": 0.0016}


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


class Run:
    """The folder of a run and the ways to start and end it."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.phases = folder / "phases"
        self.phases.touch()
        (folder / "script").write_text(
            "gpus 1\nname 0 NVIDIA GeForce RTX 4090\nphase idle 40\nphase FP16 300\n"
            "phase NF4 200\nphases %s\n" % self.phases, encoding="utf-8")
        self.env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                    "ECO_FAKE_NVML": str(folder / "script")}
        self.faster = 2 if args.clock else 1
        if args.clock:
            self.env.update(LD_PRELOAD=str(args.clock), ECO_FAST_CLOCK=str(self.faster))

    def lines(self, kind):
        journal = self.folder / "out" / "run.jsonl"
        text = journal.read_text(encoding="utf-8") if journal.exists() else ""
        whole = text[:text.rfind("\n") + 1].splitlines()
        return [row for row in map(json.loads, whole) if row["kind"] == kind]

    def start(self, *words):
        with open(self.phases, "a", encoding="utf-8") as f:
            f.write("idle\n")
        command = [self.args.program, "measure", *words, "--nvml-library", self.args.nvml]
        return subprocess.Popen(command, cwd=self.folder, env=self.env, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def fresh(self):
        worker = "worker:exec /usr/bin/python3 %s --token-s 0.002 --phases %s" % (
            ROOT / "tests/unit/workload/fake_worker.py", self.phases)
        return self.start("TinyLlama-1.1B-Chat-v1.0", "--precision", "NF4", "--workload", worker,
                          "--quick", "--blocks", "2", "--out", "out")

    def wait_trials(self, process, n):
        for _ in range(1200):
            if len(self.lines("trial")) >= n:
                return
            if process.poll() is not None:
                fail("ended early: %s" % process.communicate()[1])
            time.sleep(0.1 / self.faster)
        fail("no trial in two minutes")


def end(process, status, says):
    out, err = process.communicate(timeout=240)
    if process.returncode != status or says not in err:
        fail("status %s, wanted %s with '%s'; it said: %s%s"
             % (process.returncode, status, says, out, err))
    return out


def child_of(process):
    text = pathlib.Path("/proc/%d/task/%d/children" % (process.pid, process.pid)).read_text()
    return int(text.split()[0])


def check_report(run, program):
    out = run.folder / "out"
    for name in ("energy.json", "energy-FP16.json"):
        done = subprocess.run([program, "report", "validate", out / name], text=True,
                              capture_output=True, check=False)
        if done.returncode or done.stdout.strip() != "valid" or done.stderr:
            fail("%s: %s%s" % (name, done.stdout, done.stderr))
    for name in ("summary.md", "chart.svg", "crossover.svg", "trace.csv", "worker.log"):
        if not (out / name).exists():
            fail("no " + name)
    report = json.loads((out / "energy.json").read_text(encoding="utf-8"))
    base = json.loads((out / "energy-FP16.json").read_text(encoding="utf-8"))
    # what a token took here: a loaded machine stretches the fake worker's sleep
    speed = {"NF4": report["results"]["throughput_tokens_per_s"],
             "FP16": base["results"]["throughput_tokens_per_s"]}
    for p, token_s in TOKEN_S.items():
        if not 0.3 / token_s < speed[p] <= 1.001 / token_s:
            fail("%s: %g tokens/s, at most %g can be" % (p, speed[p], 1 / token_s))
    want = {p: 1000 * WATTS[p] / speed[p] for p in WATTS}
    got = {"NF4": report["results"]["energy_per_token_mj"],
           "FP16": report["results"]["fp16_energy_per_token_mj"]}
    for p, mj in want.items():
        if not abs(got[p] / mj - 1) < 0.08:  # edges of a window, a loaded machine
            fail("%s: %g mJ per token, %g were drawn" % (p, got[p], mj))
    change = 100 * (want["NF4"] / want["FP16"] - 1)
    for block in ("results", "ecocompute"):
        if not abs(report[block]["vs_fp16_energy_pct"] - change) < 6:
            fail("%s: %g %%, wanted %g" % (block, report[block]["vs_fp16_energy_pct"], change))
    if report["results"]["basis"] != "measured" or report["partial"]:
        fail("basis %s, partial %s" % (report["results"]["basis"], report["partial"]))
    if report["system_under_test"]["gpu"] != "NVIDIA GeForce RTX 4090":
        fail("gpu " + report["system_under_test"]["gpu"])


def check_replay(run, program):
    """The recording gives the report again, and a changed number is seen."""
    done = subprocess.run([program, "replay", "out"], cwd=run.folder, text=True,
                          capture_output=True, check=False)
    if done.returncode or "gives the report again" not in done.stdout:
        fail("replay: %s%s" % (done.stdout, done.stderr))
    path = run.folder / "out" / "energy.json"
    kept = path.read_text(encoding="utf-8")
    path.write_text(kept.replace('"energy_per_token_mj": ', '"energy_per_token_mj": 1', 1),
                    encoding="utf-8")
    done = subprocess.run([program, "replay", "out"], cwd=run.folder, text=True,
                          capture_output=True, check=False)
    if done.returncode != 1 or "the journal gives" not in done.stderr:
        fail("replay of a changed report: %s%s" % (done.stdout, done.stderr))
    path.write_text(kept, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="one measured run, interrupted and resumed")
    parser.add_argument("--program", required=True)
    parser.add_argument("--nvml", required=True)
    parser.add_argument("--clock", type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as folder:
        run = Run(args, pathlib.Path(folder))
        first = run.fresh()
        run.wait_trials(first, 1)
        first.send_signal(signal.SIGINT)
        end(first, 130, "measure --resume out")
        if not json.loads((run.folder / "out/energy.json").read_text())["partial"]:
            fail("an interrupted report is not partial")
        end(run.fresh(), 2, "'out/run.jsonl' is already there")
        kept = run.lines("trial")
        second = run.start("--resume", "out")
        run.wait_trials(second, len(kept) + 1)
        time.sleep(1 / run.faster)
        second.kill()
        second.wait()
        third = run.start("--resume", "out")
        run.wait_trials(third, len(kept) + 2)
        subprocess.run(["/bin/kill", "-9", str(child_of(third))], check=True)
        end(third, 4, "the worker was killed by signal 9")
        before = run.lines("trial")
        if before[:len(kept)] != kept:
            fail("a finished trial changed")
        out = end(run.start("--resume", "out"), 0, "")
        after = run.lines("trial")
        if after[:len(before)] != before or len(after) != 6:
            fail("%d trials of 6, %d before" % (len(after), len(before)))
        if "measured: NF4" not in out:
            fail("the answer is: " + out)
        check_report(run, args.program)
        check_replay(run, args.program)
    print("interrupted three times, 6 trials, nothing lost")


if __name__ == "__main__":
    main()
