#!/usr/bin/env python3
"""`engine` with text: generate streams, draws and stops; quantize and perplexity agree with the
folder they came from. The model has seeded weights: its words mean nothing, but must be the same."""
import argparse
import json
import os
import pty
import subprocess
import sys
import tempfile

PROMPT = "the energy of the batch"


def read_all(terminal):
    """One read may bring a part only; with nobody at the other end the last one is an error."""
    seen = b""
    try:
        while part := os.read(terminal, 1 << 16):
            seen += part
    except OSError:
        pass
    return seen


def measured_too(program, tmp, folder, gguf, corpus):
    """`measure --corpus` judges each arm as `engine perplexity` does."""
    def measure(model, text, out):
        r = subprocess.run([program, "measure", model, "--precision", "NF4", "--workload",
                            "builtin", "--corpus", text, "--quick", "--gen-tokens", "4", "--blocks",
                            "2", "--sysfs", tmp, "--nvml-library", "none", "--out",
                            os.path.join(tmp, out)], capture_output=True, text=True, check=False)
        assert r.returncode == 0, r.stderr
        with open(os.path.join(tmp, out, "energy.json"), encoding="utf-8") as f:
            return json.load(f)["quality"]

    r = subprocess.run([program, "engine", "perplexity", gguf, "--corpus", corpus, "--window",
                        "512", "--precision", "FP16,NF4", "--json"], capture_output=True,
                       text=True, check=True)
    base, nf4 = json.loads(r.stdout)["arms"]
    for model, out in ((folder, "of-folder"), (gguf, "of-gguf")):
        q = measure(model, corpus, out)
        assert q["basis"] == "measured" and q["corpus"]["name"] == "long.txt", q
        assert q["tokens_evaluated"] == nf4["scored_tokens"] and q["windows"] >= 2, q
        assert abs(q["value"] / nf4["perplexity"] - 1) < 1e-5, (q, nf4)
        assert abs(q["fp16_value"] / base["perplexity"] - 1) < 1e-5, (q, base)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--program", required=True)
    p.add_argument("--maker", required=True)
    args = p.parse_args()

    def run(*words, status=0, text=None):
        r = subprocess.run([args.program, "engine", *words], capture_output=True, text=True,
                           input=text, check=False)
        assert r.returncode == status, (words, r.returncode, r.stderr)
        return r

    with tempfile.TemporaryDirectory() as tmp:
        folder, gguf, q8 = (os.path.join(tmp, n) for n in ("model", "model.gguf", "model-q8.gguf"))
        os.mkdir(folder)
        subprocess.run([args.maker, "model", folder], check=True)

        r = run("quantize", folder, gguf, "--precision", "F32")
        assert gguf in r.stdout and "FP32" in r.stdout, r.stdout
        assert "--force" in run("quantize", folder, gguf, "--precision", "F32", status=2).stderr
        run("quantize", gguf, q8, "--precision", "Q8_0")
        assert os.path.getsize(q8) < 0.4 * os.path.getsize(gguf)
        assert sorted(os.listdir(tmp)) == ["model", "model-q8.gguf", "model.gguf"]

        # the text alone on standard output, the speed on standard error
        words = ("--prompt", PROMPT, "--gen-tokens", "24", "--precision", "FP32")
        shown = run("generate", folder, *words)
        assert "tok/s" in shown.stderr and "tok/s" not in shown.stdout
        quiet = run("generate", folder, *words, "--quiet")
        assert quiet.stderr == "" and quiet.stdout == shown.stdout
        told = json.loads(run("generate", gguf, *words, "--json").stdout)["arms"][0]
        assert told["text"] + "\n" == shown.stdout, (told["text"], shown.stdout)
        assert told["stop"] == "length" and told["generated_tokens"] == 24
        assert len(told["ids"].split()) == 24
        again = json.loads(run("generate", gguf, "--ids", "1", *words[2:], "--json").stdout)
        assert again["arms"][0]["text"] is None and again["arms"][0]["ids"]

        # drawn tokens: the same seed, the same text
        draw = ("--temperature", "1.5", "--top-k", "200", "--top-p", "0.95")
        texts = [run("generate", gguf, *words, *draw, "--seed", s).stdout for s in "778"]
        assert texts[0] == texts[1] != texts[2]

        # a terminal gets no control characters of the model's making
        master, slave = pty.openpty()
        hot = ("--temperature", "100", "--gen-tokens", "400", "--quiet", "--ignore-end")
        subprocess.run([args.program, "engine", "generate", gguf, "--prompt", PROMPT, *hot],
                       stdout=slave, check=True)
        os.close(slave)
        seen = read_all(master)
        assert len(seen) > 300 and not any(b < 32 and b not in b"\r\n\t" for b in seen), seen
        os.close(master)

        # perplexity of a text: the same from the folder and the file, from a file and a pipe
        corpus = os.path.join(tmp, "corpus.txt")
        text = "the energy of measured tokens, and the batch. " * 40
        with open(corpus, "w", encoding="utf-8") as f:
            f.write(text)
        score = [json.loads(run("perplexity", m, "--corpus", c, "--precision", "FP32", "--window",
                                "64", "--json", text=text).stdout)["arms"][0]
                 for m, c in ((folder, corpus), (gguf, corpus), (gguf, "-"))]
        assert score[0]["scored_tokens"] == score[1]["scored_tokens"] > 300, score
        assert abs(score[0]["perplexity"] / score[1]["perplexity"] - 1) < 1e-5, score
        assert score[1]["perplexity"] == score[2]["perplexity"]
        long = os.path.join(tmp, "long.txt")
        with open(long, "w", encoding="utf-8") as f:
            f.write(text * 3)
        measured_too(args.program, tmp, folder, gguf, long)
    print("generate, quantize and perplexity agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
