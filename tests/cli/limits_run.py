#!/usr/bin/python3
"""Power limits and clocks are put back at any exit: limits_run.py --program P --nvml LIB.

Runs against the fake NVML, which writes down what is set. Each is ended another way, kill -9 among
them; afterwards the limit is the one that was there and the clock is unlocked.
"""
import argparse
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WAYS = {"SIGINT": 130, "SIGTERM": 130, "SIGHUP": 130, "SIGKILL": -9, "denied": 4, "worker": 3}


def start(args, folder, way):
    folder.mkdir()
    denied = "fail nvmlDeviceSetGpuLockedClocks * 4\n" if way == "denied" else ""
    (folder / "script").write_text(
        "gpus 1\nname 0 NVIDIA GeForce RTX 4090\nsettings %s\n%s" % (folder / "settings", denied),
        encoding="utf-8")
    mode = " --mode old" if way == "worker" else ""
    worker = "worker:exec /usr/bin/python3 %s --token-s 0.001%s" % (
        ROOT / "tests/unit/workload/fake_worker.py", mode)
    return subprocess.Popen(
        [args.program, "measure", "TinyLlama-1.1B-Chat-v1.0", "--precision", "NF4", "--workload",
         worker, "--quick", "--power-limits", "200,250", "--lock-clocks", "1410", "--out", "out",
         "--nvml-library", args.nvml],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "ECO_FAKE_NVML": str(folder / "script")})


def settings(folder):
    path = folder / "settings"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line.split() for line in lines]


def last(rows, what):
    values = [row[2] for row in rows if row[0] == what]
    return values[-1] if values else None


def wait_for(test):
    for _ in range(600):
        if test():
            return True
        time.sleep(0.05)
    return False


def try_way(args, folder, way, wrong):
    process = start(args, folder, way)
    if not wait_for(lambda: ["limit", "0", "200000"] in settings(folder)):
        wrong.append("%s: no limit was set: %s" % (way, process.communicate()[1]))
        return
    if way.startswith("SIG"):
        time.sleep(1.5) # inside the run
        process.send_signal(getattr(signal, way))
    error = process.communicate()[1]
    if process.returncode != WAYS[way]:
        wrong.append("%s: status %d: %s" % (way, process.returncode, error))
    if way == "denied" and "sudo nvidia-smi -lgc" not in error:
        wrong.append("denied: it says: " + error)
    if not wait_for(lambda: last(settings(folder), "limit") == "450000" and
                    last(settings(folder), "clock") in ("0", None)):
        wrong.append("%s: left behind: %s" % (way, settings(folder)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--nvml", required=True)
    args = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="ecocompute-limits-") as folder:
        threads = [threading.Thread(target=try_way,
                                    args=(args, pathlib.Path(folder) / way, way, wrong))
                   for way in WAYS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for text in wrong:
        print("FAILED: " + text)
    print("%d ways to end, %d wrong" % (len(WAYS), len(wrong)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
