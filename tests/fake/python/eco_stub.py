"""What the stand-in packages of this folder share: settings, and words for a fake card.

ECO_STUB="cuda=0,cc=7.5,oom=load,…": cuda (0: none), cc (compute capability), oom (load or generate:
where memory ends), token_s (time of a token), free_gib, missing (a package that is not there),
stored (what the model's config.json says it is quantized with).
ECO_STUB_PHASES: a file that is told what the card does, as tests/fake/fake_nvml.c reads it.
"""
import os

SPEED = {"NF4": 0.8, "NF4-DQ": 0.9, "INT8-MIXED": 1.5, "INT8-PURE": 1.1}


def setting(name, default=""):
    pairs = [p.split("=", 1) for p in os.environ.get("ECO_STUB", "").split(",") if p]
    return dict(pairs).get(name, default)


def need(package):
    if setting("missing") == package:
        raise ModuleNotFoundError("No module named '%s'" % package, name=package)


def phase(word):
    path = os.environ.get("ECO_STUB_PHASES")
    if path:
        with open(path, "a", encoding="utf-8") as f:
            f.write(word + "\n")
