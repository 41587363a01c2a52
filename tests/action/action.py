#!/usr/bin/python3
"""The GitHub Action in a fake GitHub: action.py --program ECOCOMPUTE --source REPOSITORY

A repository with a base branch and a changed file, a `gh` that writes down what it is asked, and
the environment that a runner sets. Checks annotations, SARIF (against the published schema when
node_modules has it), the comment made once and updated then, the baseline, and the exit status.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

BAD = "cfg = BitsAndBytesConfig(load_in_8bit=True)\n"
INFO = 'm = AutoModel.from_pretrained("a/b")\n'
GH = """#!/bin/sh
echo "$@" >>"$GH_LOG"
case "$*" in
*--paginate*) cat "$GH_STATE" 2>/dev/null || : ;;
*POST*) echo 77 >"$GH_STATE" ;;
esac
for word; do case $word in body=@*) cp "${word#body=@}" "$GH_LOG.body" ;; esac; done
"""


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
                   cwd=folder, check=True, capture_output=True)


def world(top):
    """An origin with a base, and a clone with a change on top."""
    origin, clone = top / "origin", top / "clone"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    (origin / "old.py").write_text(BAD)
    git(origin, "add", ".")
    git(origin, "commit", "-q", "-m", "base")
    git(top, "clone", "-q", str(origin), str(clone))
    (clone / "new.py").write_text(INFO + BAD)
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "change")
    tools = top / "bin"
    tools.mkdir()
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    return clone, tools


class Runner:
    def __init__(self, args, top):
        self.clone, tools = world(top)
        self.script = pathlib.Path(args.source, "action", "audit.sh").resolve()
        self.top = top
        self.env = {"PATH": "%s:/usr/bin:/bin" % tools, "HOME": str(top), "LC_ALL": "C.UTF-8",
                    "ECO_PROGRAM": str(pathlib.Path(args.program).resolve()),
                    "RUNNER_TEMP": str(top), "GITHUB_OUTPUT": str(top / "output"),
                    "GITHUB_STEP_SUMMARY": str(top / "summary"), "GITHUB_BASE_REF": "main",
                    "GITHUB_REF": "refs/pull/5/merge", "GITHUB_REPOSITORY": "o/r",
                    "GH_LOG": str(top / "gh.log"), "GH_STATE": str(top / "gh.state")}
        self.env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})

    def run(self, **more):
        done = subprocess.run(["sh", str(self.script)], cwd=self.clone, env={**self.env, **more},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                              check=False)
        if done.returncode not in (0, 1):
            sys.exit("status %d: %s" % (done.returncode, done.stderr))
        return done

    def gate(self, **more):
        """gate.sh on energy.json: its exit status, and what it says of the gate."""
        script = self.script.parent / "gate.sh"
        (self.top / "output").write_text("")
        env = {**self.env, "ECO_GATE_REPORT": "energy.json", **more}
        done = subprocess.run(["sh", str(script)], cwd=self.clone, env=env, capture_output=True,
                              stdin=subprocess.DEVNULL, text=True, timeout=120, check=False)
        if done.returncode not in (0, 1):
            sys.exit("gate: status %d: %s" % (done.returncode, done.stderr))
        return done.returncode, self.read("output").strip(), done.stdout

    def read(self, name):
        return (self.top / name).read_text()


def expect(what, true):
    if not true:
        sys.exit("action: not so: " + what)


def check_sarif(text, source):
    log = json.loads(text)
    expect("SARIF names the rule", log["runs"][0]["results"][0]["ruleId"] == "no-device-map")
    schema = pathlib.Path(source, "node_modules/@microsoft/jest-sarif/lib/schemas/"
                                  "sarif-2.1.0-rtm.5.json")
    if not schema.exists():
        print("SKIPPED: SARIF's published schema is not in node_modules (scripts/setup.sh test)")
        return
    import jsonschema
    validator = jsonschema.Draft4Validator(json.loads(schema.read_text()))
    errors = [e.message for e in validator.iter_errors(log)]
    expect("SARIF holds to its schema: %s" % errors[:3], not errors)
    log["version"] = "3"
    expect("the schema can refuse", any(True for _ in validator.iter_errors(log)))


def check_hook(r, source):
    """The pre-commit hook: its pattern lets through what the audit reads, its entry runs."""
    text = pathlib.Path(source, ".pre-commit-hooks.yaml").read_text()
    hook = dict(line.strip().lstrip("- ").split(": ", 1) for line in text.splitlines() if line)
    pattern = re.compile(hook["files"])
    for name in ("a.py", "x/n.ipynb", "Dockerfile", "d/Dockerfile.gpu", "requirements.txt",
                 "requirements-dev.in", "pyproject.toml", "serve.yaml", "serve.yml", "run.sh"):
        expect("the hook sees %s" % name, pattern.search(name))
    for name in ("README.md", "a.c", "model.safetensors"):
        expect("the hook passes %s over" % name, not pattern.search(name))
    tools = r.top / "hook"
    tools.mkdir()
    (tools / "ecocompute").symlink_to(r.env["ECO_PROGRAM"])
    env = {**r.env, "PATH": "%s:/usr/bin:/bin" % tools}
    for name, status in (("old.py", 1), ("clean.py", 0)):
        (r.clone / "clean.py").write_text("print(1)\n")
        done = subprocess.run(hook["entry"].split() + [name], cwd=r.clone, env=env,
                              capture_output=True, text=True, check=False)
        expect("the hook's status for %s" % name, done.returncode == status)


def measured(program, energy_mj):
    """A report as `measure` would write it, with five trials that spread by 1 %."""
    built = subprocess.run([program, "report", "build", "--params-b", "7", "--gpu", "rtx4090",
                            "--precision", "NF4"], capture_output=True, text=True, check=True)
    report = json.loads(built.stdout)
    report["results"].update(energy_per_token_mj=energy_mj, basis="measured", level="L2", note="",
                             reason=None)
    report["statistics"].update(n=5, mean_mj=energy_mj, sd_mj=energy_mj / 100, cv_frac=0.01, df=4)
    return json.dumps(report)


def check_gate(r):
    """Against the base branch: nothing yet, worse, better, noise; and files that are no reports."""
    program, report = r.env["ECO_PROGRAM"], r.clone / "energy.json"
    expect("a missing report fails", r.gate()[:2] == (1, "gate=missing"))
    report.write_text(measured(program, 4000))
    status, output, said = r.gate()
    expect("a first report passes", (status, output) == (0, "gate=no baseline") and
           "::notice file=energy.json" in said)
    git(r.top / "origin", "checkout", "-q", "main")
    (r.top / "origin" / "energy.json").write_text(measured(program, 4000))
    git(r.top / "origin", "add", ".")
    git(r.top / "origin", "commit", "-q", "-m", "measured")
    report.write_text(measured(program, 6000))
    status, output, said = r.gate()
    expect("half as much again fails", (status, output) == (1, "gate=failed") and
           "::error file=energy.json,title=energy gate::gate failed: +50 %" in said)
    expect("unless it is allowed", r.gate(ECO_GATE_MAX_INCREASE="100")[:2] == (0, "gate=passed"))
    report.write_text(measured(program, 4100))
    status, output, said = r.gate()
    expect("what noise may be warns", (status, output) == (0, "gate=cannot tell") and
           "::warning" in said)
    report.write_text(measured(program, 2500))
    expect("less passes", r.gate()[:2] == (0, "gate=passed"))
    expect("the job's summary has the table", "## Energy gate" in r.read("summary"))
    other = r.top / "other.json"
    other.write_text(measured(program, 1000))
    expect("a named baseline counts", r.gate(ECO_GATE_BASELINE=str(other))[:2] ==
           (1, "gate=failed"))
    report.write_text('{"results": {}}')
    expect("no report fails", r.gate()[:2] == (1, "gate=invalid"))


def main():
    parser = argparse.ArgumentParser(description="the action in a fake GitHub")
    parser.add_argument("--program", required=True)
    parser.add_argument("--source", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as top:
        r = Runner(args, pathlib.Path(top))
        first = r.run()
        expect("a critical finding fails the job", first.returncode == 1)
        expect("the changed line is annotated",
               "::error file=new.py,line=2,endLine=2,title=int8-default::" in first.stdout)
        expect("an unchanged file is not", "old.py" not in first.stdout)
        check_sarif(r.read("ecocompute.sarif"), args.source)
        expect("outputs", "findings=2" in r.read("output"))
        expect("summary", "int8-default" in r.read("summary"))
        log = r.read("gh.log")
        expect("one comment is made", log.count("POST repos/o/r/issues/5/comments") == 1)
        expect("it carries the marker", r.read("gh.log.body").startswith("<!-- ecocompute-audit"))
        r.run()
        log = r.read("gh.log")
        expect("then it is updated", log.count("POST") == 1 and
               log.count("PATCH repos/o/r/issues/comments/77") == 1)
        expect("fail-on never passes", r.run(ECO_FAIL_ON="never").returncode == 0)
        (r.clone / "torn.ipynb").write_text('{"cells": ["load_in_8bit')
        torn = r.run(ECO_CHANGED_ONLY="false", ECO_PATHS="torn.ipynb", ECO_FAIL_ON="critical")
        expect("a file that cannot be read is named", torn.returncode == 0 and
               "::warning file=torn.ipynb,title=not read::" in torn.stdout)
        expect("in the comment and in SARIF too", "torn.ipynb" in r.read("ecocompute.md") and
               "torn.ipynb" in r.read("ecocompute.sarif"))
        expect("but is no finding", r.read("output").rstrip().endswith("findings=0"))
        (r.clone / "torn.ipynb").unlink()
        (r.clone / "prose").mkdir()
        (r.clone / "prose" / "notes.md").write_text("words\n")
        for changed in ("true", "false"):
            nothing = r.run(ECO_CHANGED_ONLY=changed, ECO_PATHS="prose", ECO_FAIL_ON="critical")
            expect("a folder without code passes", nothing.returncode == 0 and not nothing.stderr)
        everything = r.run(ECO_CHANGED_ONLY="false")
        expect("all files when asked", "file=old.py" in everything.stdout)
        baseline = subprocess.run([r.env["ECO_PROGRAM"], "audit", ".", "--fail-on", "never",
                                   "--format", "baseline"], cwd=r.clone, env=r.env,
                                  capture_output=True, text=True, check=True)
        (pathlib.Path(top) / "base.json").write_text(baseline.stdout)
        known = r.run(ECO_BASELINE=top + "/base.json")
        expect("known findings pass", known.returncode == 0 and "::error" not in known.stdout)
        expect("without gh there is no comment and no error",
               r.run(PATH="/usr/bin:/bin", ECO_FAIL_ON="never").returncode == 0)
        check_gate(r)
        check_hook(r, args.source)
    print("the action does what it says")


main()
