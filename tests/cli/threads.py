#!/usr/bin/python3
"""Threads of the engine: threads.py --program P.

--pin binds each thread to a CPU of its own, as the kernel tells while the program runs; without it
each may run on all. Under a cgroup of one CPU (a folder of our own in the place of /sys/fs/cgroup, in
a name space of our own) two threads that are asked for become one, and a line says so.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MODEL = ["synthetic:SmolLM2-135M", "--precision", "Q4_0"]
CPUS = os.sched_getaffinity(0)


def pinned(found):
    return all(len(m) == 1 for m in found) and len(set.union(*found)) == len(found)


def free(found):
    return all(m == CPUS for m in found)


def masks(pid, tasks=None):
    """Where each task of a process may run; one that ends while it is asked about is left out."""
    found = []
    try:
        for task in tasks or os.listdir(f"/proc/{pid}/task"):
            try:
                found.append(os.sched_getaffinity(int(task)))
            except ProcessLookupError:
                pass
    except FileNotFoundError:  # the whole process ended
        pass
    return found


def masks_of_the_gone():
    """What `masks` says of a task and of a process that have ended: nothing, and no error."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    return masks(gone.pid) == [] and masks(os.getpid(), [gone.pid, os.getpid()]) == [CPUS]


def watch(program, right, *words):
    """Whether the threads of a long run come to be `right`; at its end, or when they are, it is killed."""
    run = subprocess.Popen([program, "engine", "bench", *MODEL, "--gen-tokens", "2000", "--runs", "100",
                            *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found, ok = [], False
    try:
        while run.poll() is None and not ok:
            time.sleep(0.02)
            found = masks(run.pid)
            ok = len(found) >= min(2, len(CPUS)) and right(found)
    finally:
        run.kill()
        run.wait()
    return ok, found


def limited(program, folder):
    """The program's words under a cgroup of one CPU, version 1 or 2; None where that cannot be."""
    group = pathlib.Path(folder)
    (group / "cpu").mkdir()
    (group / "cpu.max").write_text("100000 100000\n", encoding="utf-8")
    (group / "cpu/cpu.cfs_quota_us").write_text("100000\n", encoding="utf-8")
    (group / "cpu/cpu.cfs_period_us").write_text("100000\n", encoding="utf-8")
    inside = ["unshare", "-rm", "sh", "-c", 'mount --bind "$0" /sys/fs/cgroup && exec "$@"', folder]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        return None
    return subprocess.run([*inside, program, "engine", "bench", *MODEL, "--gen-tokens", "1",
                           "--prompt-tokens", "1", "--runs", "1", "--threads", "2"],
                          capture_output=True, text=True, check=False)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--program", required=True)
    program = p.parse_args().program
    bad = 0
    if not masks_of_the_gone():
        print("a task that has ended: WRONG")
        bad += 1
    if len(CPUS) < 2:
        print("SKIPPED: one CPU: a pinned thread cannot be told from one that is not")
    else:
        for name, right, words in (("pinned", pinned, ["--pin"]), ("not pinned", free, [])):
            ok, found = watch(program, right, *words)
            print(f"{name}: {found}: {'ok' if ok else 'WRONG'}")
            bad += not ok
    with tempfile.TemporaryDirectory() as folder:
        run = limited(program, folder)
    if run is None:
        print("SKIPPED: no name space of our own, so no cgroup of our own")
    else:
        ok = run.returncode == 0 and "1 of 1 CPUs" in run.stdout and \
            "2 threads were asked for, this process may use 1 CPU: no more are started" in run.stderr
        print("a cgroup of one CPU:", "ok" if ok else f"WRONG\n{run.stdout}{run.stderr}")
        bad += not ok
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
