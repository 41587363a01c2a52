"""A stand-in for vLLM's offline engine: steps that sleep, one token for each sequence a step."""
import time
from types import SimpleNamespace as Names

import eco_stub
import torch

eco_stub.need("vllm")


class SamplingParams:
    def __init__(self, temperature, max_tokens, ignore_eos=False, prompt_logprobs=None):
        assert temperature == 0.0
        self.max_tokens, self.prompt_logprobs = max_tokens, prompt_logprobs
        self.ignore_eos = ignore_eos


class Engine:
    def __init__(self, model_config):
        self.model_config, self.waiting = model_config, {}
        self.steps = 0

    def add_request(self, request_id, prompt, params):
        assert request_id not in self.waiting and params.ignore_eos
        room = self.model_config.max_model_len
        assert len(prompt["prompt_token_ids"]) + params.max_tokens <= room
        self.waiting[request_id] = Names(ids=[], most=params.max_tokens)

    def has_unfinished_requests(self):
        return bool(self.waiting)

    def step(self):
        self.steps += 1
        if self.steps == 1:
            eco_stub.phase("NF4" if self.model_config.quantization else "FP16")
        if eco_stub.setting("oom") == "generate":
            raise torch.OutOfMemoryError("CUDA out of memory.")
        if eco_stub.setting("dies") == "generate":
            import os
            os._exit(7)
        time.sleep(float(eco_stub.setting("token_s", "0")))
        if eco_stub.setting("first_step_empty") and self.steps == 1:
            return []
        outs = []
        for name, r in list(self.waiting.items()):
            r.ids.append(7)
            outs.append(Names(request_id=name, outputs=[Names(token_ids=list(r.ids))]))
            if len(r.ids) == r.most:
                del self.waiting[name]
        return outs


class LLM:
    def __init__(self, model, dtype, quantization, load_format, max_model_len, max_num_seqs, seed,
                 enable_prefix_caching, gpu_memory_utilization, enforce_eager):
        assert dtype in ("float16", "bfloat16") and not enable_prefix_caching
        assert (quantization == "bitsandbytes") == (load_format == "bitsandbytes")
        assert max_num_seqs >= 1 and seed >= 0 and 0 < gpu_memory_utilization <= 1
        if model.startswith("no-such"):
            raise OSError("%s is not a valid model identifier listed on the hub" % model)
        if eco_stub.setting("oom") == "load":
            raise ValueError("No available memory for the cache blocks: CUDA out of memory")
        print("INFO: this goes to standard output, as vLLM's words do")
        stored = "awq_marlin" if "AWQ" in model else "gptq_marlin" if "GPTQ" in model else None
        self.llm_engine = Engine(Names(quantization=quantization or stored,
                                       max_model_len=max_model_len))

    def get_tokenizer(self):
        return lambda text: {"input_ids": [len(word) for word in text.split()]}

    def generate(self, prompts, params):
        assert params.prompt_logprobs == 0 and params.max_tokens == 1
        return [Names(prompt_logprobs=[None] + [{t: Names(logprob=-2.0)} for t in
                                                p["prompt_token_ids"][1:]]) for p in prompts]
