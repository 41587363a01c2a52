#!/usr/bin/env python3
"""Judges the engine's tokenizers by implementations that share nothing with them:
@huggingface/tokenizers (tokenizer.json of every family), llama-tokenizer-js (Llama's vocabulary),
python3-sentencepiece (tokenizer.model, unigram and BPE). Those that are not installed are named."""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

TEXTS = [
    "", " ", "  ", "\n", "\t\n \r\n  x", "Hello world", " Hello", "Hello  world ", "a", "é",
    "It's what they'd say; WE'LL see, I'M sure 'tis", "don't DON'T 's 'S", "x=1234567 3.14159 ½ ⅷ ٣",
    "if (a == b) {\n\treturn c->d;   // e\n}\n\n\n", "日本語 text 混ぜ", "Привет, мир!", "مرحبا  بالعالم",
    "\u00a0no-break\u2003em\u3000wide", "naïve café Größe", "😀 family 👩‍👩‍👧 flag 🇩🇪", "ffi ﬃ Ⅷ ①",
    "the energy of measured tokens and tokens", "<s>", "x</s>y", "tail space ", "tail lines\n\n",
    "a\u0301 e\u0308 \u1100\u1161\u11a8", "ſ's 'ſ", "…‘’“”", "'" * 40, "a" * 300, " " * 70 + "x",
    "\n" * 30, "1" * 100, "ab" * 200, "▁already▁marked", "!!!???...", "\x00".replace("\x00", "\x01"),
]
ALPHABET = list("abcdefgh ETAOIN  \n\t'.,;(){}0123456789") + list(
    "éüßñ·–「」你好世界абвгд ١٢٣😀👍🏽ـلا\u0301\u0308\u200d\u00a0\u2028ǅʰªⅣ½")


def random_texts(n):
    rng = random.Random(5)
    words = "the energy of a token batch measured and it's we'd 2025 Größe слов 世界".split()
    out = []
    for _ in range(n):
        parts = [rng.choice(words) + rng.choice(["", " ", " "]) if rng.random() < 0.5
                 else "".join(rng.choices(ALPHABET, k=rng.randint(1, 9)))
                 for _ in range(rng.randint(1, 14))]
        out.append("".join(parts))
    return out


class Judge:
    def __init__(self, args):
        self.args, self.failed, self.skipped, self.checked = args, 0, 0, 0

    def skip(self, what):
        print(f"SKIPPED: {what}", file=sys.stderr)
        self.skipped += 1

    def ours(self, file, texts, how="ids"):
        data = b"".join(t.encode() + b"\0" for t in texts)
        run = subprocess.run([self.args.program, how, file], input=data, capture_output=True)
        if run.returncode:
            sys.exit(run.stderr.decode())
        return [[int(x) for x in line.split()] for line in run.stdout.decode().split("\n")[:-1]]

    def has(self, package):
        there = os.path.isdir(f"{self.args.modules}/{package}") and shutil.which("node")
        if not there:
            self.skip(f"{package} is not there: npm ci brings it")
        return there

    def node(self, texts, *words):
        run = subprocess.run(["node", "--no-warnings", os.path.join(os.path.dirname(__file__), "tokenizers.mjs"),
                              self.args.modules, *words],
                             input=json.dumps(texts).encode(), capture_output=True)
        if run.returncode:
            sys.exit(run.stderr.decode())
        return json.loads(run.stdout)

    def write(self, file, value):
        with open(file, "w", encoding="utf-8") as f:
            json.dump(value, f)
        return file

    def compare(self, name, texts, got, want):
        wrong = [(t, g, w) for t, g, w in zip(texts, got, want) if g != w]
        same = len(got) == len(want) == len(texts) and not wrong
        print(f"{name:28} {len(texts)} texts, {sum(map(len, want))} ids: "
              f"{'equal' if same else f'{len(wrong)} DIFFER'}")
        for t, g, w in wrong[:5]:
            print(f"    {t!r}\n      ours   {g}\n      theirs {w}")
        self.failed += not same
        self.checked += 1


def hugging_face(j, folder, texts):
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json") and j.has("@huggingface/tokenizers"):
            file = f"{folder}/{name}"
            j.compare(f"tokenizer.json, {name[:-5]}", texts, j.ours(file, texts),
                      j.node(texts, "hf", file))


def llama(j, folder, texts):
    """Llama's own 32,000 pieces. The judge gives an empty text a space, and knows no specials."""
    if j.has("llama-tokenizer-js"):
        texts = [t for t in texts if t]
        file = j.write(f"{folder}/llama-32000.json", j.node([], "llama-file"))
        j.compare("Llama's vocabulary", texts, j.ours(file, texts, "plain"), j.node(texts, "llama"))


def sentencepiece(j, folder, texts):
    try:
        import sentencepiece
    except ImportError:
        return j.skip("python3-sentencepiece is not there: scripts/setup.sh test brings it")
    texts = [t for t in texts if "\n" not in t]
    files = [("made, BPE", f"{folder}/bpe.model"), ("made, unigram", f"{folder}/unigram.model")]
    sample = os.path.join(folder, "sample.txt")
    with open(sample, "w", encoding="utf-8") as f:
        f.write("\n".join(random_texts(400)))
    for kind in ("bpe", "unigram"):
        for rule in ("identity", "nmt_nfkc"):
            prefix = f"{folder}/trained-{kind}-{rule}"
            sentencepiece.SentencePieceTrainer.train(
                input=sample, model_prefix=prefix, vocab_size=500, model_type=kind,
                normalization_rule_name=rule, byte_fallback=kind == "bpe", minloglevel=2,
                user_defined_symbols=["<sep>"], hard_vocab_limit=False,
                remove_extra_whitespaces=rule != "identity")
            files.append((f"trained, {kind}, {rule}", prefix + ".model"))
    for name, file in files:
        judge = sentencepiece.SentencePieceProcessor(model_file=file)
        want = [[judge.bos_id(), *judge.encode(t)] for t in texts]
        j.compare(f"tokenizer.model, {name}", texts, j.ours(file, texts, "plain"), want)
    return None


def vocabularies(j):
    """llama.cpp's vocabulary-only files with the ids that it published for each text."""
    folder = os.environ.get("ECO_LLAMA_VOCABS")
    if not folder:
        return j.skip("llama.cpp's vocabulary files: ECO_LLAMA_VOCABS=$(scripts/vocabs.sh)")
    for name in ("llama-spm", "phi-3", "gpt-2", "llama-bpe", "qwen2", "qwen35", "starcoder",
                 "mpt", "refact", "command-r", "falcon", "deepseek-llm", "deepseek-coder"):
        file = f"{folder}/ggml-vocab-{name}.gguf"
        with open(file + ".inp", encoding="utf-8", newline="") as f:
            texts = f.read().split("\n__ggml_vocab_test__\n")[:-1]
        with open(file + ".out", encoding="utf-8") as f:
            want = [[int(x) for x in line.split()] for line in f.read().split("\n")[:len(texts)]]
        j.compare(f"ggml-vocab-{name}", texts, j.ours(file, texts, "letters"), want)
    return None


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--program", required=True)
    p.add_argument("--modules", required=True)
    j = Judge(p.parse_args())
    texts = TEXTS + random_texts(300)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([j.args.program, "make", folder], check=True)
        hugging_face(j, folder, texts)
        llama(j, folder, texts)
        sentencepiece(j, folder, texts)
    vocabularies(j)
    return 1 if j.failed else 77 if j.checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
