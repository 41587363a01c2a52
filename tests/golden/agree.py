#!/usr/bin/python3
"""One number everywhere, and one rule of fitting: agree.py --program PATH.

 - estimate, compare, optimize, cost and diagnose give the same joules, speed, memory and bill for
   the same configuration;
 - all of them say the same of whether it fits: at most 90 % of the card, computed here anew;
 - so they do for 30 configurations that were measured, of every engine and precision that was; the
   optimizer says of each how its figures are known, and what was measured, read here from the files;
 - a measured configuration is judged by its measurement: diagnose expects the rows of the data,
   read here from the files, and calls a run a third slower than that not "as expected";
 - a terminal of 80 columns gets no line of more than 80 columns, in either voice and language.
"""
import argparse
import csv
import fcntl
import json
import math
import os
import pathlib
import pty
import shlex
import struct
import subprocess
import sys
import termios
import unicodedata

import golden

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAME = [("Qwen2.5-7B", "rtx4090", "FP16", 1), ("Qwen2.5-7B", "rtx4090", "NF4", 1),
        ("Qwen2.5-3B", "rtx5090", "INT8-MIXED", 1), ("Mistral-7B-v0.1", "a800", "NF4", 8),
        ("Qwen2.5-14B", "rtx4090", "NF4", 1), ("Qwen2.5-7B", "t4", "NF4", 1)]
FITS = [("Qwen2.5-7B", "t4", "FP16"), ("Qwen2.5-3B", "t4", "FP16"), ("Qwen2.5-14B", "rtx4090", "FP16"),
        ("Qwen2.5-14B", "rtx5090", "FP16"), ("Qwen2.5-14B", "rtx4090", "INT8-PURE")]
MEASURED = [("Qwen/Qwen2.5-3B", "RTX 5090", "FP16"), ("Qwen/Qwen2-7B", "RTX 5090", "NF4"),
            ("Qwen/Qwen2.5-3B", "RTX 4090D", "FP16")]
RUNS = 30  # measured configurations
NARROW = ["ask \"I'm running load_in_8bit=True and my GPU bill is crazy high. Help!\"",
          "ask \"Why can 4-bit be worse than FP16?\"", "compare Qwen2.5-7B rtx5090",
          "optimize Qwen2.5-3B rtx5090", "cost Mistral-7B-v0.1 a800",
          "diagnose Qwen2.5-3B rtx5090 FP16 --throughput 36"]


def result(program, *words):
    return json.loads(golden.run(program, list(words) + ["--json"]))


def figures(program, model, gpu, precision, batch):
    """{verb: (J per 1k, tokens/s, GB, $ a month)} of one configuration; None: not told."""
    at = ["--model", model, "--gpu", gpu, "--batch", str(batch)]
    e = result(program, "estimate", "--precision", precision, *at)
    c = next(r for r in result(program, "compare", "--precisions", precision, *at)["rows"]
             if r["precision"] == precision)
    o = result(program, "optimize", "--precision", precision, *at)
    best, cost = o["recommended"], result(program, "cost", "--precision", precision, *at)
    d = result(program, "diagnose", "--precision", precision, "--throughput", "20", *at)
    modelled = d["expect_basis"] == "modelled"
    return {"estimate": (e["energy"]["j_per_1k"], e["latency"]["tokens_per_s"], e["memory"]["total_gb"],
                         e["cost"]["month"]["usd"]),
            "compare": (c["energy_j_per_1k"], c["tokens_per_s"], c["vram_gb"], c["month_usd"]),
            "optimize": (best["energy_j_per_1k_tokens"], best["throughput_tok_s"], best["vram_gb"],
                         best["month_usd"]),
            "optimize, in full": (o["energy"]["j_per_1k"], o["latency"]["tokens_per_s"],
                                  o["memory"]["total_gb"], o["cost"]["month"]["usd"]),
            "cost": (cost["options"][0]["j_per_1k"], None, None, cost["options"][0]["month_usd"]),
            "diagnose": (d["expect_j_per_1k"] if modelled else None,
                         d["expect_tokens_per_s"] if modelled else None, None, None)}


def same_numbers(program):
    for question in SAME:
        told = figures(program, *question)
        for k, name in enumerate(["J per 1k", "tokens/s", "GB", "$ a month"]):
            values = {v[k] for v in told.values() if v[k] is not None}
            if len(values) != 1:
                yield "%s: %s differs: %s" % (question, name, {n: v[k] for n, v in told.items()})


def measured_runs():
    """{(model, card, precision, engine, batch): {session: [tokens/s, maybe none]}} of the files."""
    out = {}
    for path in sorted((ROOT / "data").glob("measurements/*.csv")) + \
            sorted((ROOT / "data").glob("external/*.csv")):
        with path.open(encoding="utf-8") as f:
            for r in csv.DictReader(f):
                if r.get("grade", "D") != "D" and r["n_devices"] == "1" and \
                        r["batch"] not in ("", "0") and r["boundary"] == "gpu-board":
                    engine = {"llamacpp": "llama.cpp"}.get(r["engine"], r["engine"])
                    key = (r["model"], r["gpu"], r["precision"], engine, r["batch"])
                    mine = out.setdefault(key, {}).setdefault(r["session"], [])
                    mine += [float(r["throughput_tok_s"])] if r["throughput_tok_s"] else []
    return {k: v for k, v in out.items() if any(v.values())}


def mean_of(sessions):
    means = [sum(map(math.log, v)) / len(v) for v in sessions.values() if v]
    return math.exp(sum(means) / len(means))


def answerable(program, runs):
    """Of those, what the program has the model and card of, and the card runs: spread evenly."""
    models = {m["id"] for m in result(program, "models")["models"]}
    cards = {g["gpu"] for g in result(program, "gpus")["gpus"]}
    known = sorted(k for k in runs if k[0] in models and k[1] in cards and k[2] != "MXFP4")
    return [known[i * (len(known) - 1) // (RUNS - 1)] for i in range(RUNS)]


def same_where_measured(program):
    runs = measured_runs()
    for model, gpu, precision, engine, batch in answerable(program, runs):
        at = ["--model", model, "--gpu", gpu, "--engine", engine, "--batch", batch]
        e = result(program, "estimate", "--precision", precision, *at)
        rows = result(program, "compare", "--precisions", precision, *at)["rows"]
        o = result(program, "optimize", "--precision", precision, *at)
        c = o["recommended"] or o["closest_infeasible"]  # what does not fit is told by both
        told = {(e["energy"]["j_per_1k"], e["latency"]["tokens_per_s"]),
                (c["energy_j_per_1k_tokens"], c["throughput_tok_s"])}
        told |= {(r["energy_j_per_1k"], r["tokens_per_s"]) for r in rows
                 if r["precision"] == precision}
        name = (model, gpu, precision, engine, batch)
        if len(told) != 1:
            yield "%s: J per 1k and tokens/s differ: %s" % (name, told)
        want, known = mean_of(runs[name]), c["known"]
        if abs(known["measured_tokens_per_s"] / want - 1) > 0.006 or \
                known["measured_sessions"] != len(runs[name]):
            yield "%s: measured %g in %d sessions, told %s" % (name, want, len(runs[name]), known)
        if e["transparency"]["measured_tokens_per_s"] != known["measured_tokens_per_s"] or \
                e["transparency"]["measured_j_per_1k"] != known.get("measured_j_per_1k"):
            yield "%s: estimate and optimize were told other measurements" % (name,)
        beside = [r["known"] for r in rows if (r["precision"], r["engine"]) == (precision, engine)]
        if any(b != known for b in beside):
            yield "%s: compare and optimize were told other measurements" % (name,)
        if beside and sorted(known["measured_in"]) != sorted(runs[name]):
            yield "%s: sessions %s, told %s" % (name, sorted(runs[name]), known["measured_in"])
        if known["energy_basis"] != e["energy"]["basis"] or known["speed_basis"] != "modelled":
            yield "%s: the basis differs: %s and %s" % (name, known, e["energy"]["basis"])


def fitting(program):
    cards = {r["gpu"]: float(r["vram_gb"]) for r in hardware()}
    for model, gpu, precision in FITS:
        e = result(program, "estimate", model, gpu, precision)
        limit = 0.9 * cards[e["input"]["gpu"]] * 2**30 / 1e9
        want = e["memory"]["total_gb"] <= limit
        c = result(program, "compare", model, gpu, "--precisions", precision)
        o = result(program, "optimize", model, gpu, "--precision", precision, "--batch", "1")
        said = {"estimate": e["memory"]["fits"], "compare": bool(c["rows"]),
                "optimize": o["recommended"] is not None,
                "alerts": all(a["id"] != "offload" for a in e["alerts"])}
        if abs(e["memory"]["limit_gb"] - limit) > 0.006 or any(v != want for v in said.values()):
            yield "%s: %.2f of %.2f GB: %s" % ((model, gpu, precision), e["memory"]["total_gb"], limit,
                                              said)


def hardware():
    with (ROOT / "data/hardware.csv").open(encoding="utf-8") as f:
        return [dict(r, gpu=r.get("gpu") or r.get("name")) for r in csv.DictReader(f)]


def rows_of(model, gpu, precision):
    """{session: [tokens/s]} of the measured rows at batch 1."""
    out = {}
    for path in sorted((ROOT / "data/measurements").glob("*.csv")):
        with path.open(encoding="utf-8") as f:
            for r in csv.DictReader(f):
                mine = (r["model"], r["gpu"], r["precision"]) == (model, gpu, precision)
                if mine and r["grade"] != "D" and r["batch"] == "1" and r["throughput_tok_s"] and \
                        r["engine"] == "transformers" and r["n_devices"] == "1":
                    out.setdefault(r["session"], []).append(float(r["throughput_tok_s"]))
    return out


def measured(program):
    for model, gpu, precision in MEASURED:
        sessions = rows_of(model, gpu, precision)
        want = mean_of(sessions)
        at = [model, gpu, precision, "--throughput"]
        d = result(program, "diagnose", *at, "%.4g" % want)
        if d["expect_basis"] != "measured" or abs(d["expect_tokens_per_s"] / want - 1) > 0.006 or \
                d["expect_sessions"] != len(sessions) or d["pattern"] == "unknown":
            yield "%s: %g tokens/s in %d sessions, expected from %s: %g" % (
                at, want, len(sessions), d["expect_basis"], d["expect_tokens_per_s"])
        if precision == "FP16":
            slow = result(program, "diagnose", *at, "%.4g" % (want * 0.64))
            if slow["pattern"] == "as-expected" or not slow["decide"]:
                yield "%s: a third slower than measured is %s" % (at, slow["pattern"])


def columns(line):
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in line)
    return len(line) + wide - sum(unicodedata.combining(c) > 0 for c in line)


def on_terminal(words, width):
    """What a terminal of that width gets."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    env = {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "xterm", "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(words, stdout=theirs, stderr=theirs, stdin=subprocess.DEVNULL, env=env)
    os.close(theirs)
    out = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        out += piece
    os.close(ours)
    process.wait()
    return out.decode("utf-8").replace("\r\n", "\n")


def narrow(program):
    for words in NARROW:
        for lang in ("en", "zh"):
            for persona in ("plain", "ecolobster"):
                told = [program] + shlex.split(words) + ["--lang", lang, "--persona", persona]
                text = on_terminal(told, 80)
                if text.count("\n") < 10:
                    yield "%s: hardly an answer: %r" % (words, text[:200])
                for line in text.split("\n"):
                    if columns(line) > 80 and " " in line.strip():
                        yield "%s (%s, %s): %d columns: %s" % (words, lang, persona, columns(line), line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    wrong = 0
    for check in (same_numbers, same_where_measured, fitting, measured, narrow):
        for complaint in check(program):
            wrong += 1
            print("%s: %s" % (check.__name__, complaint))
    print("%d wrong" % wrong)
    return 1 if wrong else 0


sys.exit(main())
