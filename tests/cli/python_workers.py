#!/usr/bin/python3
"""A worker of workers/ line by line, with stand-ins for its packages: python_workers.py NAME.

Every event of the protocol, every precision, and what goes wrong: no memory, a missing package, a
card too old, a model that is not there, a checkpoint that is stored otherwise, a child that dies.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = "one two three four five six seven"


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


def check(what, got, want):
    if got != want:
        fail("%s: %r, wanted %r" % (what, got, want))


class Worker:
    def __init__(self, name, *words, stub=""):
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "ECO_STUB": stub,
               "PYTHONPATH": str(ROOT / "tests/fake/python"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(
            ["/usr/bin/python3", ROOT / "workers" / (name + "_worker.py"), *words], env=env,
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.ready = self.event()
        if (self.ready["event"], self.ready["protocol"]) != ("ready", 1):
            fail("not ready: %r" % self.ready)

    def send(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def event(self):
        line = self.process.stdout.readline()
        if not line:
            fail("it ended: " + self.process.stderr.read())
        return json.loads(line)

    def until(self, *names):
        seen = [self.event()]
        while seen[-1]["event"] not in names + ("error",):
            seen.append(self.event())
        return seen

    def load(self, precision="FP16", model="tiny", batch=1):
        self.send(op="load", model=model, precision=precision, batch=batch, prompt_tokens=9,
                  tokens=16, seed=1)
        return self.event()

    def window(self, iterations=2, tokens=16):
        self.send(op="window", iterations=iterations, tokens=tokens)
        return self.until("window_end")

    def end(self):
        self.process.stdin.close()
        rest, err = self.process.stdout.read(), self.process.stderr.read()
        status = self.process.wait(timeout=60)
        if rest:
            fail("it said more: " + rest)
        return status, err


def check_window(seen, iterations, tokens, batch):
    check("events", [e["event"] for e in seen],
          ["window_begin"] + ["iteration"] * iterations + ["window_end"])
    check("tokens", [e["tokens"] for e in seen[1:]],
          [tokens * batch] * iterations + [iterations * tokens * batch])
    check("sequences", seen[-1]["sequences"], batch)
    for e in seen[1:-1]:
        if not e["ttft_s"] > 0 or not all(s >= 0 for s in e["intervals_s"]):
            fail("times: %r" % e)


def both(name, precisions):
    """What the two have in common: each precision, a batch, stop, perplexity, unload, the end."""
    w = Worker(name, stub="token_s=0.001")
    for precision in precisions:
        loaded = w.load(precision, batch=3)
        check(precision, loaded["event"], "loaded")
        check_window(w.window(), 2, 16, 3)
    w.send(op="window", iterations=1000, tokens=16)
    w.until("iteration")
    w.send(op="stop")
    end = w.until("window_end")[-1]
    check("stopped", 48 <= end["tokens"] < 500 * 48, True)
    with tempfile.NamedTemporaryFile("w") as f:
        f.write(TEXT)
        f.flush()
        w.send(op="perplexity", path=f.name, seq_len=4)
        got = w.event()
        check("perplexity", {k: got[k] for k in ("event", "tokens", "windows")},
              {"event": "perplexity", "tokens": 5, "windows": 2})
        nll = math.log(32000) if name == "transformers" else 2.0
        check("nll", abs(got["mean_nll"] - nll) < 1e-9, True)
    w.send(op="perplexity", path="/nowhere/text", seq_len=4)
    check("no text", w.event()["event"], "error")
    with tempfile.NamedTemporaryFile("w") as f:
        w.send(op="perplexity", path=f.name, seq_len=4)
        check("empty text", w.event()["kind"], "invalid_content")
    check_window(w.window(1, 1), 1, 1, 3)  # it goes on, and one token is a generation
    w.send(op="unload")
    check("unload", w.event(), {"event": "unloaded"})
    w.send(op="stop")
    check("again", w.load()["event"], "loaded")
    check("status", w.end()[0], 0)


def faults(name, cases):
    for stub, words, precision, model, kind, says in cases:
        w = Worker(name, *words, stub=stub)
        got = w.load(precision, model)
        if got["event"] == "loaded":
            got = w.window()[-1]
        if (got["event"], got.get("kind")) != ("error", kind) or says not in got["message"]:
            fail("%s %s %s: %r, wanted %s '%s'" % (stub, precision, model, got, kind, says))
        status, err = w.end()
        check("status of " + stub, status, 1)
        if "Traceback" not in err:
            fail("no traceback in the log")
    for line in ({"op": "window", "iterations": 1, "tokens": 1}, {"op": "dance"}):
        w = Worker(name)
        w.send(**line)
        check("out of order", w.event()["kind"], "invalid_parameter")
        check("status", w.end()[0], 1)
    w = Worker(name)
    w.process.stdin.write("garbage\n")
    w.process.stdin.flush()
    check("garbage", w.event()["event"], "error")
    w.end()


def transformers():
    names = ["FP16", "BF16", "FP32", "NF4", "NF4-DQ", "INT8-MIXED", "INT8-PURE"]
    both("transformers", names)
    w = Worker("transformers")
    check("versions", {k: w.ready["versions"][k] for k in
                       ("torch", "transformers", "bitsandbytes", "accelerate", "torch_cuda")},
          {"torch": "2.4.1+cu124", "transformers": "4.46.3", "bitsandbytes": "0.45.0",
           "accelerate": "1.0.1", "torch_cuda": "12.4"})
    check("memory", w.load()["memory_bytes"], 1500000000)
    w.end()
    w = Worker("transformers", stub="cuda=0")
    check("memory", w.load()["memory_bytes"], 2200000000)
    check_window(w.window(), 2, 16, 1)
    w.end()
    for stored, precision in (("gptq", "GPTQ-INT4"), ("awq", "AWQ-INT4")):
        w = Worker("transformers", "--arm-model", precision + "=tiny-4bit", stub="stored=" + stored)
        check(precision, w.load(precision, "no-such-model")["event"], "loaded")
        w.end()
    faults("transformers", [
        ("oom=load", [], "FP16", "tiny", "device", "out of memory on the device: CUDA out of"),
        ("oom=generate", [], "FP16", "tiny", "device", "Tried to allocate 64.00 MiB"),
        ("missing=torch", [], "FP16", "tiny", "unsupported", "package 'torch' is missing"),
        ("missing=transformers", [], "FP16", "tiny", "unsupported", "'transformers' is missing"),
        ("missing=bitsandbytes", [], "NF4", "tiny", "unsupported", "'bitsandbytes' is missing"),
        ("cuda=0", [], "NF4", "tiny", "unsupported", "NF4 needs a CUDA device"),
        ("cc=7.5", [], "BF16", "tiny", "unsupported",
         "BF16 needs compute capability 8.0, this card has 7.5"),
        ("cc=7.0", [], "INT8-PURE", "tiny", "unsupported", "capability 7.5, this card has 7.0"),
        ("", [], "FP8", "tiny", "unsupported", "no precision FP8 here; there are: FP16"),
        ("", [], "FP16", "no-such-model", "not_found", "no such model here or on the hub"),
        ("", [], "GPTQ-INT4", "tiny", "unsupported", "'tiny' is not stored as GPTQ-INT4 (none)"),
        ("stored=awq", [], "GPTQ-INT4", "tiny", "unsupported", "not stored as GPTQ-INT4 (awq)"),
        ("stored=awq", [], "FP16", "tiny", "unsupported", "it is no FP16 baseline"),
    ])


def vllm():
    both("vllm", ["FP16", "BF16", "FP8", "NF4"])
    arm = ["--arm-model", "AWQ-INT4=tiny-AWQ,GPTQ-INT4=tiny-GPTQ,GPTQ-INT8=tiny-GPTQ"]
    w = Worker("vllm", *arm, "--enforce-eager", "--gpu-memory-utilization", "0.5",
               stub="first_step_empty=1,token_s=0.0005")
    for precision, kernels in (("AWQ-INT4", "awq_marlin"), ("GPTQ-INT8", "gptq_marlin"),
                               ("FP16", "none")):
        check(precision, w.load(precision)["versions"]["vllm_quantization"], kernels)
        check_window(w.window(), 2, 16, 1)
    with tempfile.NamedTemporaryFile("w") as f:
        w.send(op="perplexity", path=f.name, seq_len=512)
        check("long windows", w.event()["kind"], "unsupported")
    w.end()
    faults("vllm", [
        ("oom=load", [], "FP16", "tiny", "device", "out of memory on the device"),
        ("oom=generate", [], "FP16", "tiny", "device", "out of memory on the device"),
        ("missing=vllm", [], "FP16", "tiny", "unsupported", "package 'vllm' is missing"),
        ("cuda=0", [], "FP16", "tiny", "unsupported", "vLLM needs a CUDA device"),
        ("cc=8.6", [], "FP8", "tiny", "unsupported",
         "FP8 needs compute capability 8.9, this card has 8.6"),
        ("", [], "INT8-PURE", "tiny", "unsupported", "no precision INT8-PURE here"),
        ("", [], "FP16", "no-such-model", "not_found", "no such model here or on the hub"),
        ("", [], "AWQ-INT4", "tiny", "unsupported", "vLLM runs 'tiny' as 'none'"),
        ("", [], "FP16", "tiny-AWQ", "unsupported", "as 'awq_marlin', which is not FP16"),
    ])
    w = Worker("vllm", stub="dies=generate")
    w.load()
    got = w.window()[-1]
    check("a child that dies", (got["kind"], "ended with status 7" in got["message"]),
          ("device", True))
    w.end()
    # killed: its child sees the end of its input and goes too
    w = Worker("vllm", stub="token_s=0.01")
    w.load()
    child = pathlib.Path("/proc/%d/task/%d/children" % (w.process.pid, w.process.pid)).read_text()
    w.process.kill()
    for _ in range(300):
        stat = pathlib.Path("/proc/%s/stat" % child.strip())
        try:
            gone = ") Z" in stat.read_text()
        except OSError:
            gone = True
        if gone:
            break
        time.sleep(0.05)
    check("the child is gone", gone, True)


if __name__ == "__main__":
    begun = time.monotonic()
    {"transformers": transformers, "vllm": vllm}[sys.argv[1]]()
    print("ok, %.1f s" % (time.monotonic() - begun))
