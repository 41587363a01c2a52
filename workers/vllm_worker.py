#!/usr/bin/env python3
"""ecocompute worker for vLLM's offline engine.

Speaks the line protocol of docs/workers.md on standard input and output. Precisions: FP16, BF16,
AWQ-INT4, GPTQ-INT4, GPTQ-INT8 (models that are stored so: --arm-model), FP8 (from 16-bit weights)
and NF4 (bitsandbytes).

    ecocompute measure MODEL --precision FP16,AWQ-INT4 \
        --workload 'worker:python3 workers/vllm_worker.py --arm-model AWQ-INT4=MODEL-AWQ'

Each arm runs in a child process of its own: vLLM gives memory back for certain only by ending.
Greedy, fixed prompt, no prefix cache, every sequence exactly as long as asked.
"""
import argparse
import json
import os
import select
import signal
import subprocess
import sys
import time
from importlib import metadata

import eco_worker
from eco_worker import Fault

# quantization and load format for LLM(); the words vLLM may say for it afterwards
WAYS = {
    "FP16": (None, "auto", ("none",)),
    "BF16": (None, "auto", ("none",)),
    "AWQ-INT4": (None, "auto", ("awq",)),
    "GPTQ-INT4": (None, "auto", ("gptq",)),
    "GPTQ-INT8": (None, "auto", ("gptq",)),
    "FP8": ("fp8", "auto", ("fp8",)),
    "NF4": ("bitsandbytes", "bitsandbytes", ("bitsandbytes",)),
}
# oldest compute capability whose kernels do this arithmetic
NEEDS = {"BF16": (8, 0), "FP8": (8, 9), "NF4": (7, 0), "AWQ-INT4": (7, 5), "GPTQ-INT4": (6, 0),
         "GPTQ-INT8": (6, 0)}

GRACE_S = 30  # for a child to give its memory back


def version_of(*names):
    """Versions of installed packages, without importing them."""
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


class Arm:
    """One model in this process: what the child serves."""
    engine = "vllm"

    def __init__(self, args):
        self.args = args
        self.llm = None
        self.count = 0

    def versions(self):
        return version_of("vllm", "torch", "transformers", "bitsandbytes")

    def load(self, request):
        precision = request["precision"]
        if precision not in WAYS:
            raise Fault("unsupported", "no precision %s here; there are: %s"
                        % (precision, ", ".join(WAYS)))
        import torch
        from vllm import LLM, SamplingParams
        self.check_card(torch, precision)
        self.params, self.batch = SamplingParams, request["batch"]
        quantization, load_format, _ = WAYS[precision]
        name = eco_worker.values(self.args.arm_model).get(precision, request["model"])
        self.llm = LLM(model=name, dtype="bfloat16" if precision == "BF16" else "float16",
                       quantization=quantization, load_format=load_format,
                       max_model_len=request["prompt_tokens"] + request["tokens"] + 8,
                       max_num_seqs=self.batch, seed=request["seed"],
                       enable_prefix_caching=False,
                       gpu_memory_utilization=self.args.gpu_memory_utilization,
                       enforce_eager=self.args.enforce_eager)
        kernels = self.check_stored(name, precision)
        ids = list(self.llm.get_tokenizer()(eco_worker.PROMPT)["input_ids"])
        while len(ids) < request["prompt_tokens"]:
            ids += ids
        self.prompt = {"prompt_token_ids": ids[:request["prompt_tokens"]]}
        return {"versions": {**self.versions(), "vllm_quantization": kernels}}

    def check_card(self, torch, precision):
        if not torch.cuda.is_available():
            raise Fault("unsupported", "vLLM needs a CUDA device, and torch finds none")
        have, need = tuple(torch.cuda.get_device_capability()), NEEDS.get(precision, (0, 0))
        if have < need:
            raise Fault("unsupported", "%s needs compute capability %d.%d, this card has %d.%d"
                        % ((precision,) + need + have))

    def check_stored(self, name, precision):
        """What vLLM made of the model is what was asked for; returns the word for its kernels."""
        kernels = str(getattr(self.llm.llm_engine.model_config, "quantization", None) or "none")
        if not kernels.startswith(WAYS[precision][2]):
            raise Fault("unsupported", "vLLM runs '%s' as '%s', which is not %s: name a model "
                        "stored so with --arm-model %s=NAME"
                        % (name, kernels, precision, precision))
        return kernels

    def generate(self, tokens):
        """All sequences together, timed by the engine's steps."""
        engine, start = self.llm.llm_engine, time.monotonic()
        params = self.params(temperature=0.0, max_tokens=tokens, ignore_eos=True)
        for _ in range(self.batch):
            engine.add_request("eco-%d" % self.count, self.prompt, params)
            self.count += 1
        seen, last, intervals, firsts = {}, {}, [], []
        while engine.has_unfinished_requests():
            for out in engine.step():
                now, n = time.monotonic(), len(out.outputs[0].token_ids)
                new = n - seen.get(out.request_id, 0)
                if new <= 0:
                    continue
                if out.request_id in last:
                    step = (now - last[out.request_id]) / new
                    intervals += [step] * new
                else:
                    firsts.append(now - start)
                seen[out.request_id], last[out.request_id] = n, now
        return sum(seen.values()), sum(firsts) / len(firsts), intervals

    def perplexity(self, path, seq_len):
        """From the log probabilities of the prompt's own tokens; windows apart."""
        with open(path, encoding="utf-8") as f:
            ids = list(self.llm.get_tokenizer()(f.read())["input_ids"])
        limit = self.llm.llm_engine.model_config.max_model_len - 1
        if seq_len > limit:
            raise Fault("unsupported", "windows of %d tokens, the engine was opened for %d"
                        % (seq_len, limit))
        parts = [ids[i:i + seq_len] for i in range(0, len(ids) - 1, seq_len)]
        parts = [part for part in parts if len(part) > 1]
        outs = self.llm.generate([{"prompt_token_ids": part} for part in parts],
                                 self.params(temperature=0.0, max_tokens=1, prompt_logprobs=0))
        total, count = 0.0, 0
        for part, out in zip(parts, outs):
            for token, choices in zip(part[1:], out.prompt_logprobs[1:]):
                total -= choices[token].logprob
                count += 1
        if not count:
            raise Fault("invalid_content", "'%s' holds fewer than two tokens" % path)
        return total / count, count, len(parts)

    def unload(self):
        self.llm = None


class Child:
    """An arm's process, and its lines handed on."""

    def __init__(self, words):
        # a session of its own: what vLLM starts ends with it; our own end is its end of input
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--child", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.out, self.pending = self.process.stdout, b""

    def send(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def events(self):
        """What came; the list is empty at its end."""
        more = os.read(self.out.fileno(), 65536)
        if not more:
            raise Fault("device", "vLLM's process ended with status %d (its words are in "
                        "worker.log)" % self.process.wait())
        lines = (self.pending + more).split(b"\n")
        self.pending = lines.pop()
        return [json.loads(line) for line in lines]

    def end(self):
        try:
            self.process.stdin.close()
            self.process.wait(timeout=GRACE_S)
        except (OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.out.close()


def relay(channel, child, request, last):
    """Sends a request and hands on every event until `last` or an error. True: it was `last`."""
    if request:
        child.send(request)
    while True:
        ready = select.select([child.out, channel.source], [], [])[0]
        if child.out in ready:
            for event in child.events():
                if event["event"] != "ready":
                    channel.say(**event)
                if event["event"] in (last, "error"):
                    return event["event"] == last
        elif channel.stop_asked():
            if channel.ended:  # nobody listens any more
                sys.exit(1)
            child.send({"op": "stop"})


def parent(words):
    """Hands requests to the child of the arm, and starts one for each load."""
    ends = {"load": "loaded", "warmup": "window_end", "window": "window_end",
            "perplexity": "perplexity"}
    channel, child = eco_worker.Channel(), None
    try:
        channel.say(event="ready", protocol=1, engine="vllm", versions=version_of("vllm", "torch"))
        while True:
            request = channel.request()
            op = request["op"] if request else "exit"
            if child and op in ("load", "unload", "exit"):
                child.end()
                child = None
            if op == "exit":
                return 0
            if op == "unload":
                channel.say(event="unloaded")
            elif op in ends and (child or op == "load"):
                child = child or Child(words)
                if not relay(channel, child, request, ends[op]) and op != "perplexity":
                    return 1
            elif op != "stop":
                raise Fault("invalid_parameter", "nothing is loaded for '%s'" % op)
    except Exception as error:  # pylint: disable=broad-except
        channel.fault(error)
        return 1
    finally:
        if child:
            child.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--arm-model", default="", metavar="PRECISION=NAME,…",
                        help="another model for a precision: one that is stored quantized")
    parser.add_argument("--gpu-memory-utilization", type=float, default=0.9,
                        help="share of the memory that vLLM takes (default 0.9)")
    parser.add_argument("--enforce-eager", action="store_true", help="no CUDA graphs")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        sys.exit(eco_worker.serve(Arm(args)))
    sys.exit(parent(sys.argv[1:]))


if __name__ == "__main__":
    main()
