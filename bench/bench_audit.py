#!/usr/bin/python3
"""All rules of `ecocompute audit` against ast-grep with one rule, on the same tree of 5 000 files.

    bench/bench_audit.py BUILD_FOLDER

The tree is made of the Python files this machine has; one file in 20 gets a model loader appended,
so that some are parsed and not only passed over; in the second tree of 1 000 every file gets one. Order
A B B A, five blocks, the median of the ratios. The peer is npm's @ast-grep/cli: on PATH, in
node_modules, or where AST_GREP points; without it only our own time is printed.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TREES = (("1 file in 20 names a loader", 5000, 20), ("every file names one", 1000, 1))
BLOCKS = 5
LOADER = """

def eco_bench_load(name):
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig
    cfg = BitsAndBytesConfig(load_in_8bit=True)
    return AutoModelForCausalLM.from_pretrained(name, quantization_config=cfg, device_map="auto")
"""
RULE = "BitsAndBytesConfig(load_in_8bit=True)"


def python_files():
    """Python files of the system's and of this interpreter's libraries, in a fixed order."""
    folders = ["/usr/lib/python3", "/usr/lib/python3.11", "/usr/lib/python3.12", "/usr/share"]
    which = shutil.which("python3")
    if which:
        out = subprocess.run([which, "-c", "import os; print(os.path.dirname(os.__file__))"],
                             capture_output=True, text=True, check=False)
        folders.append(out.stdout.strip())
    found = []
    for folder in folders:
        for root, dirs, names in os.walk(folder):
            dirs.sort()
            found += [os.path.join(root, n) for n in sorted(names) if n.endswith(".py")]
    return found


def make_tree(folder, sources, files, every):
    size = 0
    for i in range(files):
        with open(sources[i % len(sources)], "rb") as f:
            text = f.read()
        if i % every == 0:
            text += LOADER.encode()
        size += len(text)
        sub = os.path.join(folder, f"pkg{i // 100:02d}")
        os.makedirs(sub, exist_ok=True)
        with open(os.path.join(sub, f"m{i:04d}.py"), "wb") as f:
            f.write(text)
    return size


def run(command):
    start = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{command[0]} failed: {done.stderr.decode()[-300:]}")
    return time.monotonic() - start, done.stdout


def main():
    program = os.path.join(sys.argv[1], "ecocompute")
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    peer = os.environ.get("AST_GREP") or shutil.which("ast-grep")
    local = os.path.join(here, "node_modules", ".bin", "ast-grep")
    if not peer and os.path.exists(local):
        peer = local
    sources = python_files()
    if len(sources) < 500:
        sys.exit("bench_audit: fewer than 500 Python files on this machine")
    for words, files, every in TREES:
        with tempfile.TemporaryDirectory() as tree:
            size = make_tree(tree, sources, files, every)
            ours = [program, "audit", tree, "--fail-on", "never", "--json"]
            theirs = [peer, "run", "-l", "py", "-p", RULE, "--json=stream", tree] if peer else None
            run(ours)
            mine, ratios = [], []
            for _ in range(BLOCKS):
                if not theirs:
                    mine.append(run(ours)[0])
                    continue
                a1, b1, b2, a2 = (run(c)[0] for c in (ours, theirs, theirs, ours))
                mine += [a1, a2]
                ratios.append((a1 + a2) / (b1 + b2))
            print(f"audit, {files} files, {size / 1e6:.0f} MB, {words}: median "
                  f"{statistics.median(mine):.2f} s, best {min(mine):.2f} s, all rules")
            if ratios:
                print(f"  against ast-grep with one rule: time ratio {statistics.median(ratios):.2f}"
                      f" (blocks {min(ratios):.2f} to {max(ratios):.2f}; below 1 is faster)")
            else:
                print("  no peer: npm install --no-save @ast-grep/cli")


if __name__ == "__main__":
    main()
