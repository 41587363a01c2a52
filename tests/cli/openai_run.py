#!/usr/bin/python3
"""measure --workload openai, whole: openai_run.py --program P --nvml LIB [--long].

Two models of one server of ours, several streams: times without a power source, and what goes wrong
ends with the right status and words. --long (or ECO_LONG=1): with a fake card that draws what the
server does, two minutes; the joules of the steady state must be its watts over its tokens a second.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fake"))
from fake_server import FakeServer  # noqa: E402
KEY = "sk-secret-0123456789"


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


def measure(args, folder, *words, env=None):
    return subprocess.run(
        [args.program, "measure", "TinyLlama-1.1B-Chat-v1.0", "--workload", "openai", "--precision",
         "FP16,NF4", "--quick", "--out", folder / "out", "--force", *words],
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "OPENAI_API_KEY": KEY, **(env or {})},
        text=True, capture_output=True, check=False, timeout=600)


def report_of(folder):
    return json.loads((folder / "out/energy.json").read_text(encoding="utf-8"))


def no_key(done, folder):
    texts = [done.stdout, done.stderr] + [
        path.read_text(errors="replace") for path in (folder / "out").glob("*") if path.is_file()]
    if any(KEY in text for text in texts):
        fail("the key was written")


def times_alone(args, folder):
    with FakeServer("--models", "a,b", "--token-s", "0.01", "--ttft-s", "0.05", "--speed",
                    "b=0.5") as server:
        done = measure(args, folder, "--url", server.url, "--served-model", "FP16=a,NF4=b",
                       "--batch", "4", "--gen-tokens", "32")
    if done.returncode or "measured times only" not in done.stdout:
        fail("times alone: %d %s%s" % (done.returncode, done.stdout, done.stderr))
    no_key(done, folder)
    if report_of(folder)["results"]["basis"] == "measured":
        fail("joules, without a power source")
    trials = [json.loads(line) for line in (folder / "out/run.jsonl").read_text().splitlines()]
    trials = [t for t in trials if t["kind"] == "trial"]
    if len(trials) != 4:
        fail("%d trials" % len(trials))
    for t in trials:
        least = (0.01, 0.005)[t["arm"]]
        # each of four streams needs at least this long for 32 tokens
        most_per_s = 4 * 32 / (0.05 + 31 * least)
        # a first token that a loaded machine sees late shortens what is seen of the others
        stream_s = t["ttft_s"] + 31 * t["tpot_mean_s"]
        if not (t["ttft_s"] >= 0.05 and t["tpot_mean_s"] > 0.5 * least and
                stream_s >= 0.05 + 31 * least and
                200 < t["tokens"] < 4 * 3 * 32 and t["tokens_per_s"] < 1.5 * most_per_s):
            fail("a trial: %r" % t)


def what_goes_wrong(args, folder):
    for mode, status, says in (
            ("401", 4, "the server answered 401"), ("404", 2, "the server answered 404"),
            ("html", 3, "not with an event stream"), ("no-usage", 3, "sent no 'usage'"),
            ("500", 4, "CUDA out of memory"), ("garbage", 3, "no event stream"),
            ("redirect", 2, "redirects to"), ("claims-more", 3, "more than it sent"),
            ("echo-key", 4, "answered 403")):
        with FakeServer("--mode", mode) as server:
            done = measure(args, folder, "--url", server.url)
        if done.returncode != status or says not in done.stderr:
            fail("%s: %d %s" % (mode, done.returncode, done.stderr))
        no_key(done, folder)
    with FakeServer("--models", "a,b") as server:
        done = measure(args, folder, "--url", server.url, "--served-model", "c")
        if done.returncode != 2 or "it has 'a', 'b'" not in done.stderr:
            fail("another model: %d %s" % (done.returncode, done.stderr))
    for words, env, status, says in (
            ([], {}, 2, "needs 'url'"), (["--url", "localhost"], {}, 2, "not 'localhost'"),
            (["--url", "http://127.0.0.1:9"], {}, 4, "cannot reach"),
            (["--url", "FP16=http://x"], {}, 2, "no value for NF4"),
            (["--url", "http://u:p@x"], {}, 2, "belongs into the environment"),
            (["--url", "http://x", "--key-env", "NOT_SET"], {}, 2, "'NOT_SET'"),
            (["--url", "http://x"], {"ECOCOMPUTE_LIBEXEC": "/nowhere"}, 2, "ecocompute-openai")):
        done = measure(args, folder, *words, env=env)
        if done.returncode != status or says not in done.stderr:
            fail("%s: %d %s" % (words, done.returncode, done.stderr))


def with_a_card(args, folder):
    phases = folder / "phases"
    phases.touch()
    (folder / "script").write_text(
        "gpus 1\nname 0 NVIDIA GeForce RTX 4090\nphase idle 40\nphase FP16 300\nphase NF4 200\n"
        "phases %s\n" % phases)
    with FakeServer("--models", "a,b", "--token-s", "0.01", "--ttft-s", "0.05", "--speed", "b=0.5",
                    "--phases", phases, "--phase", "a=FP16,b=NF4") as server:
        done = measure(args, folder, "--url", server.url, "--served-model", "FP16=a,NF4=b",
                       "--batch", "4", "--blocks", "2", "--nvml-library", args.nvml,
                       env={"ECO_FAKE_NVML": str(folder / "script")})
    if done.returncode:
        fail("with a card: %d %s%s" % (done.returncode, done.stdout, done.stderr))
    if report_of(folder)["results"]["basis"] != "measured":
        fail("not measured")
    trials = [json.loads(line) for line in (folder / "out/run.jsonl").read_text().splitlines()]
    for t in trials:
        if t["kind"] == "trial":
            watts = (300, 200)[t["arm"]]
            j = t["energy_counter_j"]
            if not abs(j / t["tokens"] * t["tokens_per_s"] / watts - 1) < 0.05:
                fail("%g J for %d tokens at %g a second: %g W" % (
                    j, t["tokens"], t["tokens_per_s"], j / t["tokens"] * t["tokens_per_s"]))
    print(done.stdout.split("\n\n")[0])


def main():
    parser = argparse.ArgumentParser(description="an openai server, measured")
    parser.add_argument("--program", required=True)
    parser.add_argument("--nvml", required=True)
    parser.add_argument("--long", action="store_true", default=os.environ.get("ECO_LONG") == "1")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as folder:
        folder = pathlib.Path(folder)
        times_alone(args, folder)
        what_goes_wrong(args, folder)
        if args.long:
            with_a_card(args, folder)
    print("ok")


if __name__ == "__main__":
    main()
