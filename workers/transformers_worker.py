#!/usr/bin/env python3
"""ecocompute worker for Hugging Face transformers and bitsandbytes.

Speaks the line protocol of docs/workers.md on standard input and output. Precisions: FP16, BF16,
FP32, NF4, NF4-DQ (double quantization), INT8-MIXED (LLM.int8(), outlier threshold 6.0) and
INT8-PURE (threshold 0.0): the backend of the published data set; GPTQ-INT4 and AWQ-INT4 for models
that are stored so (--arm-model).

    ecocompute measure MODEL --workload 'worker:python3 workers/transformers_worker.py' \
        --precision FP16,NF4

Greedy decoding of a fixed prompt; every sequence generates exactly the tokens asked for.
"""
import argparse
import gc
import sys
import time

import eco_worker
from eco_worker import Fault

# versions that the sessions of data/measurements used
PUBLISHED = {
    "torch": ("2.1.0", "2.10.0", "2.11.0", "2.12.0", "2.4", "2.4.1", "2.5.1", "2.6.0"),
    "transformers": ("4.36.0", "4.37", "4.46.3", "4.47.0", "4.48.0", "4.50.0", "4.57.6", "5.9.0"),
    "bitsandbytes": ("0.41.3", "0.43.3", "0.45.0", "0.45.3", "0.45.5", "0.49.2"),
}
FLOATS = ("FP16", "BF16", "FP32")
BITSANDBYTES = ("NF4", "NF4-DQ", "INT8-MIXED", "INT8-PURE")
STORED = {"GPTQ-INT4": "gptq", "AWQ-INT4": "awq"}  # and the word for it in config.json
# oldest compute capability whose kernels do this arithmetic
NEEDS = {"BF16": (8, 0), "INT8-MIXED": (7, 5), "INT8-PURE": (7, 5), "NF4": (6, 0),
         "NF4-DQ": (6, 0), "AWQ-INT4": (7, 5), "GPTQ-INT4": (6, 0)}


def quantization(precision):
    """The bitsandbytes settings of a precision; None for the others."""
    if precision not in BITSANDBYTES:
        return None
    import bitsandbytes  # noqa: F401  transformers says less clearly that it is missing
    import torch
    from transformers import BitsAndBytesConfig
    if precision in ("NF4", "NF4-DQ"):
        return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4",
                                  bnb_4bit_compute_dtype=torch.float16,
                                  bnb_4bit_use_double_quant=precision == "NF4-DQ")
    return BitsAndBytesConfig(load_in_8bit=True,
                              llm_int8_threshold=6.0 if precision == "INT8-MIXED" else 0.0)


def check_card(torch, precision):
    """Refuses what this machine cannot do as arithmetic of that precision. Returns the device."""
    if precision not in FLOATS + BITSANDBYTES + tuple(STORED):
        raise Fault("unsupported", "no precision %s here; there are: %s"
                    % (precision, ", ".join(FLOATS + BITSANDBYTES + tuple(STORED))))
    if not torch.cuda.is_available():
        if precision in FLOATS:
            return "cpu"
        raise Fault("unsupported", "%s needs a CUDA device, and torch finds none" % precision)
    have, need = torch.cuda.get_device_capability(), NEEDS.get(precision, (0, 0))
    if tuple(have) < need:
        raise Fault("unsupported", "%s needs compute capability %d.%d, this card has %d.%d"
                    % ((precision,) + need + tuple(have)))
    return "cuda:0"


def check_stored(model, name, precision):
    """A stored quantization is what it is called, and a plain model is plain."""
    settings = getattr(model.config, "quantization_config", None)
    if settings is not None and not isinstance(settings, dict):
        settings = settings.to_dict()
    method = str((settings or {}).get("quant_method", "none"))
    bits = (settings or {}).get("bits")
    want = STORED.get(precision)
    if want and (want not in method or bits not in (4, None)):
        raise Fault("unsupported", "'%s' is not stored as %s (%s): name one that is with "
                    "--arm-model %s=NAME" % (name, precision, method, precision))
    if precision in FLOATS and settings:
        raise Fault("unsupported", "'%s' is stored quantized (%s): it is no %s baseline"
                    % (name, method, precision))


class Worker:
    engine = "transformers"

    def __init__(self, names):
        self.names = names
        self.model = None

    def versions(self):
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

    def load(self, request):
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
        precision = request["precision"]
        name = self.names.get(precision, request["model"])
        self.torch, self.batch = torch, request["batch"]
        self.device = check_card(torch, precision)
        dtypes = {"BF16": torch.bfloat16, "FP32": torch.float32}
        settings = quantization(precision)
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(
            name, torch_dtype=dtypes.get(precision, torch.float16),
            quantization_config=settings, device_map={"": self.device})
        if settings is None:
            check_stored(self.model, name, precision)
        self.model.eval()
        ids = self.tokenizer(eco_worker.PROMPT, return_tensors="pt").input_ids[0].tolist()
        while len(ids) < request["prompt_tokens"]:  # a fixed prompt of the length asked for
            ids += ids
        self.prompt = torch.tensor([ids[:request["prompt_tokens"]]] * self.batch,
                                   device=self.device)
        return {"memory_bytes": self.memory_bytes()}

    def sync(self):
        if self.device != "cpu":
            self.torch.cuda.synchronize()

    def generate(self, tokens):
        """Greedy, exactly `tokens` a sequence."""
        times = []
        start = time.monotonic()
        with self.torch.inference_mode():
            ids, past = self.prompt, None
            for _ in range(tokens):
                out = self.model(input_ids=ids, past_key_values=past, use_cache=True)
                past = out.past_key_values
                ids = out.logits[:, -1:, :].argmax(-1)
                self.sync()
                times.append(time.monotonic())
        return (tokens * self.batch, times[0] - start,
                [b - a for a, b in zip(times, times[1:])])

    def perplexity(self, path, seq_len):
        """Teacher forcing, windows apart, token-weighted."""
        torch = self.torch
        with open(path, encoding="utf-8") as f:
            ids = self.tokenizer(f.read(), return_tensors="pt").input_ids[0]
        total, count, windows = 0.0, 0, 0
        with torch.inference_mode():
            for start in range(0, len(ids) - 1, seq_len):
                part = ids[start:start + seq_len].to(self.device)
                if len(part) < 2:
                    break
                logits = self.model(input_ids=part[None]).logits[0, :-1].float()
                nll = torch.nn.functional.cross_entropy(logits, part[1:], reduction="sum")
                total += float(nll)
                count += len(part) - 1
                windows += 1
        if not count:
            raise Fault("invalid_content", "'%s' holds fewer than two tokens" % path)
        return total / count, count, windows

    def memory_bytes(self):
        if self.device == "cpu":
            return int(self.model.get_memory_footprint())
        return int(self.torch.cuda.memory_allocated())

    def unload(self):
        if self.model is None:
            return
        self.model = None
        gc.collect()
        if self.torch.cuda.is_available():
            self.torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--arm-model", default="", metavar="PRECISION=NAME,…",
                        help="another model for a precision: one that is stored quantized")
    args = parser.parse_args()
    sys.exit(eco_worker.serve(Worker(eco_worker.values(args.arm_model))))


if __name__ == "__main__":
    main()
