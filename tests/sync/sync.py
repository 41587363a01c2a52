#!/usr/bin/python3
"""The same values through the command line and through JSON must give the same result, and the same
wrong values the same error: sync.py --program PATH. Parameters are read from `help --schema`, so a new
one is covered without a change here. Prints one line per disagreement; exit status 1 when there is any.
"""
import argparse
import json
import subprocess
import sys

# Questions that must be answered, one dictionary each; every parameter type occurs.
GOOD = {
    "estimate": [
        {"model": "Qwen/Qwen2.5-7B", "gpu": "rtx4090", "precision": "NF4"},
        {"params_b": 13, "arch": "ampere", "precision": "INT8", "batch": 8, "ctx": 4096},
        {"N": 7, "arch": "ada", "calibration": "published"},
        {"model": "Mistral-7B-v0.1", "gpu": "a100", "precision": "gptq", "engine": "vllm", "batch": 32,
         "production": True, "region": "France", "requests": 5e4, "pue": 1.3, "price": 0.2},
        {"model": "7B", "gpu": "NVIDIA GeForce RTX 4090 D", "precision": "8bit", "no_kv_cache": True},
    ],
    "optimize": [
        {"model": "Qwen2.5-7B", "gpu": "rtx4090"},
        {"model": "Qwen2.5-14B", "gpus": ["rtx4090", "a100"], "precisions": ["FP16", "NF4"],
         "batches": [1, 8], "contexts": [512, 4096], "objective": "min_cost"},
        {"params_b": 70, "gpu": "t4", "max_latency_ms": 1},
        {"params_b": 7, "arch": "ada", "calibration": "published", "compat": True, "batch": 8},
    ],
    "compare": [{"model": "Qwen2.5-3B", "gpu": "rtx5090"},
                {"params_b": 7, "gpu": "a800", "precisions": ["FP16", "NF4-DQ"], "batch": 4}],
    "diagnose": [{"model": "Mistral-7B-v0.1", "gpu": "rtx4090d", "precision": "INT8", "throughput": 9.5,
                  "power_w": 140}],
    "ask": [{"q": "7B nf4 on RTX 4090, batch 8"}, {"q": "批大小32，上下文8k，A100 INT8 13B", "parse_only": True},
            {"q": "Compare all 5 precisions for Qwen2.5-7B on RTX 5090."}],
    "cost": [{"model": "Mistral-7B-v0.1", "gpu": "a800", "requests": 1000000},
             {"params_b": 7, "gpu": "h100", "carbon_intensity": 20, "gpu_usd_per_hour": 2.5},
             {"model": "Yi-1.5-6B", "gpu": "rtx4090d", "characters": 1e6, "lang": "zh", "persona": "ecolobster"},
             {"model": "Qwen2.5-7B", "gpu": "h100", "hours_per_day": 8}],
}
EXIT = {"usage": 2, "missing_parameter": 2, "unknown_parameter": 2, "invalid_parameter": 2,
        "out_of_range": 2, "unknown_name": 2, "not_found": 2, "unsupported": 2, "too_large": 3,
        "invalid_content": 3, "internal": 70, "no_memory": 70}


def as_text(value):
    if isinstance(value, list):
        return ",".join(as_text(v) for v in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def by_argv(program, verb, question):
    words = [program, verb, "--json"]
    for name, value in question.items():
        words.append("--%s=%s" % (name.replace("_", "-"), as_text(value)))
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode in (0, 1, 4) and done.stdout:  # done: the answer is no, does not fit
        return 0, json.loads(done.stdout)
    if done.stdout:
        return done.returncode, "stdout is not empty: " + done.stdout[:80]
    first = done.stderr.splitlines()[0] if done.stderr else ""
    return done.returncode, first.removeprefix("ecocompute: ")


def by_json(program, verb, questions):
    text = "".join(json.dumps(q) + "\n" for q in questions)
    done = subprocess.run([program, verb, "--batch-file", "-"], input=text, capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or len(answers) != len(questions):
        sys.exit("%s: --batch-file gave %d answers to %d questions, exit %d: %s"
                 % (verb, len(answers), len(questions), done.returncode, done.stderr))
    return answers


def bad_values(schema):
    """Values this parameter must refuse, however they come in."""
    kind = schema["type"]
    if kind in ("number", "integer"):
        yield from ["abc", "13abc", "", "nan", "1 2"]
        if "maximum" in schema:
            yield schema["maximum"] * 10
            low = schema.get("exclusiveMinimum", schema.get("minimum"))
            yield low - 1
        if kind == "integer":
            yield 1.5
    elif kind == "string":
        yield ""
        if "enum" in schema:
            yield "zzzz"
    elif kind == "boolean":
        yield "perhaps"


def operations_of(program):
    schema = subprocess.run([program, "help", "--schema"], capture_output=True, text=True, check=True)
    return {op["name"]: op for op in json.loads(schema.stdout)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    operations = operations_of(program)
    passed = failed = 0
    for verb, op in operations.items():
        if not op["batch"]:
            continue
        if verb not in GOOD:
            sys.exit("tests/sync: no questions for '%s'" % verb)
        cases = [dict(q) for q in GOOD[verb]]
        for name, parameter in op["parameters"]["properties"].items():
            if name in ("svg", "force"):
                continue
            for value in bad_values(parameter):
                cases.append({**GOOD[verb][0], name: value})
        cases += [{**GOOD[verb][0], "nothing": 1}, {"gpu": "rtx4090"}, {"model": "no such model"}]
        answers = by_json(program, verb, cases)
        for question, answer in zip(cases, answers):
            status, said = by_argv(program, verb, question)
            if "error" in answer:
                error = answer["error"]
                same = status == EXIT[error["code"]] and (
                    said == error["message"]
                    or said.startswith(error["message"])
                    # JSON says which kind came in, text can only show it
                    or error["code"] in ("invalid_parameter", "unknown_parameter"))
            else:
                same = status == 0 and said == answer
            if question in GOOD[verb] and "error" in answer:
                same = False
            if question not in GOOD[verb] and "error" not in answer:
                same = False
            passed, failed = passed + same, failed + (not same)
            if not same:
                print("%s %s\n  argv %s: %.200s\n  json: %.200s" % (verb, question, status, said, answer))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
