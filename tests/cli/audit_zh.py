#!/usr/bin/python3
"""Every finding in Chinese: audit_zh.py --program ECOCOMPUTE CASES.jsonl...

All texts of the cases, audited in one run in English and in Chinese: every rule is seen, what is
said has Chinese in it (or is code alone), and no English sentence of a finding is left in text,
Markdown, HTML or JSON. SARIF stays English.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

CHINESE = re.compile("[\u4e00-\u9fff]")
CODE = re.compile(r"[-.\w]+([=: ]+\w+)?$")
WORDS = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b")
RULES = 15
DOUBLE = ("from transformers import AutoModelForCausalLM, BitsAndBytesConfig\n"
          "c = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_use_double_quant=True)\n"
          "m = AutoModelForCausalLM.from_pretrained('Qwen/Qwen2.5-7B', quantization_config=c,\n"
          "                                         device_map='auto')\n")


def audit(program, folder, *options):
    done = subprocess.run([program, "audit", ".", "--gpu", "rtx4090", "--params-b", "7", *options],
                          cwd=folder, capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in (0, 1):
        sys.exit("exit %d: %s" % (done.returncode, done.stderr))
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    program, wrong = str(pathlib.Path(args.program).resolve()), []
    with tempfile.TemporaryDirectory() as folder:
        n = 0
        for name in args.cases:
            for line in pathlib.Path(name).read_text(encoding="utf-8").splitlines():
                case, n = json.loads(line), n + 1
                to = pathlib.Path(folder, str(n), case["path"].lstrip("/"))
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(case["text"], encoding="utf-8", errors="replace")
        pathlib.Path(folder, "double.py").write_text(DOUBLE, encoding="utf-8")
        pathlib.Path(folder, "nul.py").write_bytes(b"import torch\0\n")
        english = json.loads(audit(program, folder, "--json"))
        chinese = json.loads(audit(program, folder, "--json", "--lang", "zh"))
        rules = {f["rule"] for f in chinese["findings"]}
        if len(rules) != RULES or len(english["findings"]) != len(chinese["findings"]):
            wrong.append("%d of %d rules" % (len(rules), RULES))
        for f in chinese["findings"] + chinese["skipped"]:
            for key in ("message", "why", "fix", "effect", "reason"):
                said = f.get(key)
                if said and (WORDS.search(said) or not CHINESE.search(said)) and not CODE.match(said):
                    wrong.append("%s %s: %s" % (f.get("rule"), key, said))
        sentences = {f[k] for f in english["findings"] for k in ("message", "why", "fix", "effect")
                     if f[k] and " " in f[k] and not CODE.match(f[k])}
        for form in ([], ["--format", "markdown"], ["--format", "html"]):
            shown = audit(program, folder, "--lang", "zh", *form)
            flat = re.sub(r"\s+", " ", shown)
            wrong += ["%s: %s" % (" ".join(form), s) for s in sorted(sentences) if s in flat]
        if CHINESE.search(audit(program, folder, "--lang", "zh", "--format", "sarif")):
            wrong.append("Chinese in SARIF")
    print("%d texts, %d findings, %d wrong" % (n, len(chinese["findings"]), len(wrong)))
    print("\n".join(wrong[:40]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
