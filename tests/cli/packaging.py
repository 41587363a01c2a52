#!/usr/bin/python3
"""packaging/: the entry script against a program that notes its arguments and against ours; the
MLCube descriptors and the Dockerfile name files that are there. No image is built here.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENTRY = ROOT / "packaging/entry.sh"
NOTING = """#!/bin/sh
if [ "$1" = doctor ]; then echo '{"sources":[{"name":"nvml","status":"%s"}]}'; exit 0; fi
for word in "$@"; do echo "$word"; done
exit 7
"""


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


class Entry:
    """Runs the entry script; `noting` is the stand-in for the program."""

    def __init__(self, folder):
        self.folder = folder
        self.out = folder / "out dir"

    def run(self, text, *words, gpu="unavailable", worker="", program=None):
        noting = self.folder / "noting"
        noting.write_text(NOTING % gpu)
        noting.chmod(0o755)
        env = {"PATH": "/usr/bin:/bin", "ECOCOMPUTE": str(program or noting),
               "ECOCOMPUTE_WORKER": worker, "LC_ALL": "C.UTF-8"}
        if text is not None:
            (self.folder / "p.yaml").write_text(text)
            words += ("--parameters_file=%s" % (self.folder / "p.yaml"),)
        done = subprocess.run([ENTRY, "energy_estimate", *words, "--output_dir=%s" % self.out],
                              env=env, text=True, capture_output=True, check=False, timeout=300)
        return done

    def words(self, text, want, **how):
        done = self.run(text, **how)
        got = done.stdout.splitlines()
        want = ["measure", "--model", want[0], "--precision", want[1], "--out", str(self.out),
                *want[2:]]
        if done.returncode != 7 or got != want:
            fail("%r gave %d %r, wanted %r; %s" % (text, done.returncode, got, want, done.stderr))
        return done.stderr

    def refuses(self, text, says):
        done = self.run(text)
        if done.returncode != 2 or says not in done.stderr:
            fail("%r gave %d '%s', wanted '%s'" % (text, done.returncode, done.stderr, says))


def mapping(e):
    tiny = "TinyLlama/TinyLlama-1.1B-Chat-v1.0"
    e.words(None, [tiny, "NF4"])
    e.words("# nothing\n\n---\nmodel: ~\n", [tiny, "NF4"])
    e.words("model: a/b # which\nprecision: 'FP16,NF4'\ngen_tokens: 64\r\nquick: true\n"
            "force: no\nrequire_measurement: yes\ngpu: \"RTX 4090\"  # mine\n",
            ["a/b", "NF4", "--gen-tokens", "64", "--quick", "--require-measurement",
             "--gpu", "RTX 4090"])
    e.words("url: http://h:1/v1#x\nworkload: openai\nserved_model: it's \"odd\" $HOME `id`\n",
            [tiny, "NF4", "--url", "http://h:1/v1#x", "--served-model",
             "it's \"odd\" $HOME `id`", "--workload", "openai"])
    # as the published container calls them
    err = e.words("model_name: \"m\"\nparams_b: 1.1\nprecision: \"INT8\"\nbatch_size: 8\n"
                  "gpu_arch: \"auto\"\ncontext_length: 2048\ntokens: 256\niterations: 10\n"
                  "warmup: 2\n", ["m", "INT8", "--params-b", "1.1", "--batch", "8",
                                  "--gen-tokens", "256", "--iterations", "10"])
    if "'context_length' has no meaning here" not in err or "'warmup'" not in err:
        fail("left out in silence: " + err)
    e.words("gpu_arch: ada\n", [tiny, "NF4", "--arch", "ada"])
    # a list is for a measurement: without one the data set answers for its first
    e.words("precision: bf16,INT8-PURE,NF4", [tiny, "INT8-PURE"])
    e.words("precision: FP16", [tiny, "FP16"])
    e.words("precision: FP16,NF4\nmodel: synthetic:x", ["synthetic:x", "FP16,NF4"])
    e.words("precision: FP16,NF4", [tiny, "FP16,NF4", "--workload", "worker:w"], worker="w",
            gpu="available")
    # a worker only where a card is, and only where none was named
    e.words(None, [tiny, "NF4"], worker="py w.py")
    e.words(None, [tiny, "NF4", "--workload", "worker:py w.py"], worker="py w.py", gpu="available")
    e.words("workload: builtin", [tiny, "NF4", "--workload", "builtin"], worker="py w.py",
            gpu="available")
    for name in ("parameters.yaml", "cpu.yaml"):
        text = (ROOT / "packaging/workspace" / name).read_text()
        if e.run(text).returncode != 7:
            fail("packaging/workspace/%s: %s" % (name, e.run(text).stderr))


def refusals(e):
    e.refuses("colour: red\n", "unknown parameter 'colour'")
    e.refuses("- model\n", "line 1 is no \"name: value\"")
    e.refuses("model:\n  name: x\n", "line 2 is no")
    e.refuses("model: 'x\n", "line 1: the quotes do not close")
    e.refuses("model: \"a\" b\n", "line 1: the quotes do not close")
    e.refuses("model: [a, b]\n", "line 1: only plain values")
    e.refuses("quick: maybe\n", "'quick' is true or false, not 'maybe'")
    for words, says in (([], "no task"), (["dance"], "no task 'dance'"),
                        (["energy_estimate", "--x"], "unknown argument '--x'"),
                        (["energy_estimate", "--output_dir"], "needs a value"),
                        (["energy_estimate", "--parameters_file", "/nowhere"],
                         "no parameters file '/nowhere'")):
        done = subprocess.run([ENTRY, *words], text=True, capture_output=True, check=False)
        if done.returncode != 2 or says not in done.stderr:
            fail("%s: %d '%s'" % (words, done.returncode, done.stderr))


def with_our_program(e, program):
    """No card and no workload: the data set's answer in output_dir, valid, flagged."""
    done = e.run("precision: NF4\ngpu: RTX 4090\n", program=program)
    if done.returncode:
        fail("our program: %d %s" % (done.returncode, done.stderr))
    report = json.loads((e.out / "energy.json").read_text())
    if report["results"]["basis"] == "measured":
        fail("measured, without a card")
    done = subprocess.run([program, "report", "validate", e.out / "energy.json"], text=True,
                          capture_output=True, check=False)
    if done.returncode:
        fail("not valid: " + done.stderr)
    text = (ROOT / "packaging/workspace/parameters.yaml").read_text()
    if e.run(text + "force: true\n", program=program).returncode:
        fail("packaging/workspace/parameters.yaml")
    done = e.run("precision: no-such\n", program=program)
    if done.returncode != 2 or "no-such" not in done.stderr:
        fail("measure's status is not ours: %d %s" % (done.returncode, done.stderr))
    env = {**os.environ, "ECOCOMPUTE": str(program)}
    done = subprocess.run([ENTRY, "ecocompute", "version"], text=True, capture_output=True,
                          check=False, env=env)
    if done.returncode or "ecocompute" not in done.stdout:
        fail("any command: " + done.stderr)


def descriptors():
    """What the files of packaging/ name is there."""
    ignored = (ROOT / "packaging/Dockerfile.dockerignore").read_text().splitlines()
    kept = [line[1:] for line in ignored if line.startswith("!")]
    for path in kept:
        if not (ROOT / path).exists():
            fail("Dockerfile.dockerignore keeps '%s', which is not there" % path)
    used = set()
    for path in [ROOT / "CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]:
        used |= set(re.findall(r"CMAKE_SOURCE_DIR}/([A-Za-z0-9_]+)/", path.read_text()))
    for name in sorted(used - {"tests", "web", "node_modules"}):  # those are not built there
        if name not in kept:
            fail("the build reads '%s', which Dockerfile.dockerignore leaves out" % name)
    docker = (ROOT / "packaging/Dockerfile").read_text()
    for path in re.findall(r"^COPY ((?!--from)\S+)", docker, re.M):
        if path != "." and path not in kept:
            fail("the Dockerfile copies '%s', which its ignore file leaves out" % path)
    stages = re.findall(r"^FROM (\S+)(?: AS (\S+))?", docker, re.M)
    if [s[1] for s in stages] != ["build", "cpu", "gpu", ""] or stages[3][0] != "${VARIANT}":
        fail("stages: %r" % stages)
    version = re.search(r"VERSION ([0-9.]+) LANGUAGES",
                        (ROOT / "CMakeLists.txt").read_text()).group(1)
    for name, image, variant, default in (("mlcube.yaml", version, "gpu", "parameters.yaml"),
                                          ("mlcube-cpu.yaml", version + "-cpu", "cpu",
                                           "cpu.yaml")):
        text = (ROOT / "packaging" / name).read_text()
        for want in ("image: ecocompute:%s\n" % image, "build_args: {VARIANT: %s}" % variant,
                     "  energy_estimate:\n", "parameters_file: {type: file, default: %s}" % default,
                     "output_dir: {type: directory, default: output/}"):
            if want not in text:
                fail("%s lacks '%s'" % (name, want))
        recipe = re.search(r'build_file: "(.*)"', text).group(1)
        if not (ROOT / "packaging" / ".." / recipe).exists():
            fail("%s: no '%s' in the build context" % (name, recipe))
        if not (ROOT / "packaging/workspace" / default).exists():
            fail("no packaging/workspace/" + default)


def main():
    parser = argparse.ArgumentParser(description="the container's files")
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as folder:
        e = Entry(pathlib.Path(folder))
        mapping(e)
        refusals(e)
        with_our_program(e, args.program)
    descriptors()
    print("ok")


if __name__ == "__main__":
    main()
