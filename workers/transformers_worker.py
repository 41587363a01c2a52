#!/usr/bin/env python3
"""ecocompute worker for Hugging Face transformers and bitsandbytes.

Speaks the line protocol of docs/measuring.md on standard input and output. Precisions: FP16, BF16,
FP32, NF4, NF4-DQ (double quantization), INT8-MIXED (LLM.int8(), outlier threshold 6.0) and
INT8-PURE (threshold 0.0): the backend of the published data set.

    ecocompute measure MODEL --workload 'worker:python3 workers/transformers_worker.py' \
        --precision FP16,NF4

Greedy decoding of a fixed prompt; every sequence generates exactly the tokens asked for. Whatever
libraries print goes to standard error: standard output belongs to the protocol.
"""
import argparse
import gc
import json
import os
import select
import sys
import time

PROMPT = "The future of energy efficient computing is"
# versions that the sessions of data/measurements used
PUBLISHED = {
    "torch": ("2.1.0", "2.10.0", "2.11.0", "2.12.0", "2.4", "2.4.1", "2.5.1", "2.6.0"),
    "transformers": ("4.36.0", "4.37", "4.46.3", "4.47.0", "4.48.0", "4.50.0", "4.57.6", "5.9.0"),
    "bitsandbytes": ("0.41.3", "0.43.3", "0.45.0", "0.45.3", "0.45.5", "0.49.2"),
}


class Channel:
    """JSON lines on the real standard output, which nothing else may use."""

    def __init__(self):
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self.source = sys.stdin.buffer.raw
        self.pending = b""

    def say(self, **event):
        self.out.write(json.dumps(event, allow_nan=False) + "\n")
        self.out.flush()

    def _take(self):
        line, found, rest = self.pending.partition(b"\n")
        if not found:
            return None
        self.pending = rest
        return json.loads(line)

    def request(self):
        """The next request, or None at the end of the input."""
        while True:
            request = self._take()
            if request is not None:
                return request
            more = self.source.read(65536)
            if not more:
                return None
            self.pending += more

    def stop_asked(self):
        """True when "stop" has come: the only request there is during a window."""
        while select.select([self.source], [], [], 0)[0]:
            more = self.source.read(65536)
            if not more:
                return True
            self.pending += more
        request = self._take()
        return request is not None and request.get("op") in ("stop", "exit")


def quantization(precision):
    """The bitsandbytes settings of a precision; None for the float ones."""
    import torch
    from transformers import BitsAndBytesConfig
    if precision in ("NF4", "NF4-DQ"):
        return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4",
                                  bnb_4bit_compute_dtype=torch.float16,
                                  bnb_4bit_use_double_quant=precision == "NF4-DQ")
    if precision in ("INT8-MIXED", "INT8-PURE"):
        return BitsAndBytesConfig(load_in_8bit=True,
                                  llm_int8_threshold=6.0 if precision == "INT8-MIXED" else 0.0)
    return None


class Model:
    """One loaded arm."""

    def __init__(self, name, precision, batch, prompt_tokens):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        dtypes = {"BF16": torch.bfloat16, "FP32": torch.float32}
        known = ("FP16", "BF16", "FP32", "NF4", "NF4-DQ", "INT8-MIXED", "INT8-PURE")
        if precision not in known:
            raise ValueError("no precision %s here; there are: %s" % (precision, ", ".join(known)))
        self.torch = torch
        self.device = "cuda:0" if torch.cuda.is_available() else "cpu"
        self.batch = batch
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(
            name, torch_dtype=dtypes.get(precision, torch.float16),
            quantization_config=quantization(precision), device_map={"": self.device})
        self.model.eval()
        ids = self.tokenizer(PROMPT, return_tensors="pt").input_ids[0].tolist()
        while len(ids) < prompt_tokens:  # a fixed prompt of the length that was asked for
            ids += ids
        self.prompt = torch.tensor([ids[:prompt_tokens]] * batch, device=self.device)

    def sync(self):
        if self.device != "cpu":
            self.torch.cuda.synchronize()

    def generate(self, tokens):
        """Greedy, exactly `tokens` a sequence. Returns the times at which tokens came."""
        torch = self.torch
        times = []
        with torch.inference_mode():
            ids, past = self.prompt, None
            for _ in range(tokens):
                out = self.model(input_ids=ids, past_key_values=past, use_cache=True)
                past = out.past_key_values
                ids = out.logits[:, -1:, :].argmax(-1)
                self.sync()
                times.append(time.monotonic())
        return times

    def perplexity(self, path, seq_len):
        """Teacher forcing, windows apart, token-weighted: mean nll, tokens, windows."""
        torch = self.torch
        with open(path, encoding="utf-8") as f:
            ids = self.tokenizer(f.read(), return_tensors="pt").input_ids[0]
        total, count, windows = 0.0, 0, 0
        with torch.inference_mode():
            for start in range(0, len(ids) - 1, seq_len):
                window = ids[start:start + seq_len].to(self.device)
                if len(window) < 2:
                    break
                logits = self.model(input_ids=window[None]).logits[0, :-1].float()
                nll = torch.nn.functional.cross_entropy(logits, window[1:], reduction="sum")
                total += float(nll)
                count += len(window) - 1
                windows += 1
        return total / count, count, windows

    def memory_bytes(self):
        if self.device == "cpu":
            return int(self.model.get_memory_footprint())
        return int(self.torch.cuda.memory_allocated())


def versions():
    """What the report says about the software; an absent package is left out."""
    found = {"python": sys.version.split()[0]}
    for name in ("torch", "transformers", "bitsandbytes", "accelerate"):
        try:
            found[name] = __import__(name).__version__
        except ImportError:
            continue
    if "torch" in found:
        import torch
        if torch.version.cuda:
            found["torch_cuda"] = torch.version.cuda
    for name, used in PUBLISHED.items():
        if name in found and found[name].split("+")[0] not in used:
            sys.stderr.write("note: %s %s; the published data used %s\n"
                             % (name, found[name], ", ".join(used)))
    return found


def window(channel, model, request):
    """A warm-up or a measured window."""
    done = 0
    channel.say(event="window_begin", t_mono_ns=time.monotonic_ns())
    for i in range(request["iterations"]):
        start = time.monotonic()
        times = model.generate(request["tokens"])
        tokens = request["tokens"] * model.batch
        done += tokens
        channel.say(event="iteration", iteration=i, tokens=tokens, ttft_s=times[0] - start,
                    intervals_s=[b - a for a, b in zip(times, times[1:])])
        if channel.stop_asked():
            break
    channel.say(event="window_end", tokens=done, sequences=model.batch,
                t_mono_ns=time.monotonic_ns())


def unload():
    gc.collect()
    try:
        import torch
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    except ImportError:
        pass


def serve(channel):
    model = None
    channel.say(event="ready", protocol=1, engine="transformers", versions=versions())
    while True:
        request = channel.request()
        op = request["op"] if request else "exit"
        if op == "exit":
            return
        if op == "load":
            model = None
            unload()
            model = Model(request["model"], request["precision"], request["batch"],
                          request["prompt_tokens"])
            channel.say(event="loaded", weights="real", memory_bytes=model.memory_bytes())
        elif op in ("warmup", "window"):
            window(channel, model, request)
        elif op == "perplexity":
            nll, tokens, windows = model.perplexity(request["path"], request["seq_len"])
            channel.say(event="perplexity", mean_nll=nll, tokens=tokens, windows=windows)
        elif op == "unload":
            model = None
            unload()
            channel.say(event="unloaded")


def main():
    argparse.ArgumentParser(description=__doc__.split("\n", 1)[0]).parse_args()
    channel = Channel()
    try:
        serve(channel)
    except Exception as fault:  # pylint: disable=broad-except
        # whatever went wrong, the other side must hear of it; the traceback goes to the log
        import traceback
        traceback.print_exc()
        channel.say(event="error", message="%s: %s" % (type(fault).__name__, fault))
        sys.exit(1)


if __name__ == "__main__":
    main()
