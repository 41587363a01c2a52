#!/usr/bin/python3
"""A worker without a model, for tests: fake_worker.py [--token-s S] [--mode MODE] ….

Speaks the line protocol of docs/measuring.md. A mode says how it misbehaves; --state FILE gets
one line for each load; --phases FILE tells a fake card what to draw.
"""
import argparse
import json
import os
import select
import signal
import sys
import time

PRECISIONS = {"FP16": 1.0, "BF16": 1.0, "NF4": 0.8, "NF4-DQ": 0.9, "INT8-MIXED": 1.5,
              "INT8-PURE": 1.1}


def say(**event):
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def raw(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def phase(args, word):
    """Tells a fake device what is going on, so that its power follows."""
    if args.phases:
        with open(args.phases, "a", encoding="utf-8") as f:
            f.write("%s %d\n" % (word, time.monotonic_ns()))


def stop_asked():
    """True when a line waits: during a window that can only be "stop"."""
    if not select.select([sys.stdin.buffer], [], [], 0)[0]:
        return False
    return json.loads(sys.stdin.buffer.readline() or '{"op":"exit"}')["op"] in ("stop", "exit")


def generate(args, state, request):
    window = request["op"] == "window"
    mode = args.mode if window else ""
    state["windows"] += window
    phase(args, state["precision"])
    say(event="window_begin", t_mono_ns=time.monotonic_ns())
    total, per_token = 0, args.token_s * PRECISIONS[state["precision"]]
    for i in range(request["iterations"]):
        if mode == "garbage":
            raw("Loading checkpoint shards: 100%\n")
        if mode == "long":
            raw("x" * (2 << 20) + "\n")
        if mode == "silent":
            time.sleep(60)
        if mode == "dies" and state["windows"] >= args.at:
            sys.stderr.write("CUDA error: device-side assert triggered\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        if mode == "exits":
            sys.stderr.write("torch.cuda.OutOfMemoryError: out of memory\n")
            sys.exit(3)
        if mode == "error":
            say(event="error", message="out of memory")
            return
        if mode.startswith("kind:"):
            say(event="error", kind=mode[5:], message="told")
            return
        if mode.startswith("steady") and i == 1:
            say(event="steady_begin")
        if mode == "steady-twice" and i == 2:
            say(event="steady_begin")
        if mode == "steady-end" and i == 0:
            say(event="steady_end")
        say(event="first_token", iteration=i)
        time.sleep(per_token * request["tokens"] * state["batch"])
        tokens = request["tokens"] * state["batch"]
        if mode == "negative":
            tokens = -5
        if mode == "huge":
            tokens = 1 << 62
        total += tokens
        extra = {} if mode == "bare" else {"ttft_s": per_token,
                                           "intervals_s": [per_token] * (request["tokens"] - 1)}
        if mode == "tpot":
            extra = {"tpot_s": 0.001 * (i + 1)}
        say(event="iteration", iteration=i, tokens=tokens, **extra)
        if mode == "lazy" or stop_asked():
            break
    if mode == "claims":
        total += 1000
    if mode == "more":
        for _ in range(request["iterations"]):
            say(event="iteration", iteration=99, tokens=0)
        say(event="iteration", iteration=99, tokens=0)
    phase(args, "idle")
    extra = {}
    if mode.startswith("steady"):
        say(event="steady_end")
        extra = {"steady_tokens": 99999 if mode == "steady-claims" else 40,
                 "steady_first_tokens": 41 if mode == "steady-firsts" else 3}
    sequences = 1 << 30 if mode == "sequences" else state["batch"]
    say(event="window_end", tokens=total, sequences=sequences, t_mono_ns=time.monotonic_ns(),
        **extra)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--token-s", type=float, default=0.0001)
    p.add_argument("--mode", default="")
    p.add_argument("--at", type=int, default=1)
    p.add_argument("--state")
    p.add_argument("--phases")
    args = p.parse_args()
    state = {"precision": "FP16", "windows": 0, "batch": 1}
    if args.mode == "mute":
        time.sleep(60)
    if args.mode == "old":
        say(event="ready", protocol=0, engine="fake")
    if args.mode == "early-garbage":
        raw("hello\n")
    say(event="ready", protocol=1, engine="fake", versions={"fake": "1.0", "torch": "2.4.1"})
    for line in sys.stdin.buffer:
        request = json.loads(line)
        op = request["op"]
        if op == "load":
            if request["precision"] not in PRECISIONS:
                say(event="error", message="no precision %s here" % request["precision"])
                continue
            state.update(precision=request["precision"], batch=request["batch"])
            if args.state:
                with open(args.state, "a", encoding="utf-8") as f:
                    f.write(line.decode())
            say(event="loaded", weights="real", memory_bytes=1.5e9, versions={"cuda": "12.4"})
        elif op in ("warmup", "window"):
            generate(args, state, request)
        elif op == "perplexity":
            say(event="perplexity", mean_nll=2.0 + len(state["precision"]) / 100,
                tokens=1000, windows=2)
        elif op == "unload":
            say(event="unloaded")
        elif op == "stop":
            pass
        else:
            break
    if args.mode == "clings":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)


if __name__ == "__main__":
    main()
