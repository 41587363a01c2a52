#!/usr/bin/python3
"""Journals that are not whole, and sources that a journal does not keep: journal_ways.py --program P.

Times alone are measured, by a fake worker and without a power source, so that it takes a second.
"""
import argparse
import hashlib
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECRET = "exec:meter --token S3CRET"


class Folder:
    """A folder to run in, and its journal."""

    def __init__(self, program, path):
        self.program, self.path = program, path
        self.out = path / "out"
        self.journal = self.out / "run.jsonl"

    def run(self, *words, status=0, says=""):
        """Runs the program; it must end as it should and say so."""
        done = subprocess.run([self.program, *words], cwd=self.path, text=True, timeout=100,
                              env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                              capture_output=True, check=False)
        both = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == status, (words, done.returncode, both)
        assert says in both, (words, says, both)
        return both

    def measure(self, **want):
        worker = "worker:exec /usr/bin/python3 %s --token-s 0.0001" % (
            ROOT / "tests/unit/workload/fake_worker.py")
        return self.run("measure", "TinyLlama-1.1B-Chat-v1.0", "--precision", "NF4", "--workload",
                        worker, "--quick", "--blocks", "2", "--gpu", "RTX 4090", "--out", "out",
                        "--sysfs", "/nonexistent", "--nvml-library", "/nonexistent", **want)

    def resume(self, *words, **want):
        return self.run("measure", "--resume", "out", *words, "--sysfs", "/nonexistent",
                        "--nvml-library", "/nonexistent", **want)


def empty_journals(f):
    """A full disk leaves a file without a line: told, and no obstacle."""
    f.out.mkdir()
    for text in ("", '{"kind":"plan","jour'):
        f.journal.write_text(text, encoding="utf-8")
        f.resume(status=3, says="nothing was measured; start it again")
        f.run("replay", "out", status=3, says="no run was recorded in it")
    f.measure(says="measured times only")


def torn_line(f):
    """The last trial was torn: said, measured again, and the same number of trials at the end."""
    whole = f.journal.read_text(encoding="utf-8")
    trials = [n for n, line in enumerate(whole.splitlines()) if '"kind":"trial"' in line]
    lines = whole.splitlines(keepends=True)
    f.journal.write_text("".join(lines[:trials[-1]]) + lines[trials[-1]][:40], encoding="utf-8")
    f.run("replay", "out", status=3, says="is torn")
    f.resume(says="was torn (a crash, a full disk) and is cut off; its trial is measured again")
    again = f.journal.read_text(encoding="utf-8").splitlines()
    assert len(again) == len(lines), (len(again), len(lines))
    assert again[:trials[-1]] == whole.splitlines()[:trials[-1]]
    assert "was torn" not in f.resume()


def sources(f):
    """The command is not in the file: it must be given again, and be the same."""
    lines = f.journal.read_text(encoding="utf-8").splitlines()
    plan = json.loads(lines[0])
    plan["source"] = "exec:"
    plan["source_sha256"] = hashlib.sha256(SECRET.encode()).hexdigest()
    f.journal.write_text("\n".join([json.dumps(plan)] + lines[1:]) + "\n", encoding="utf-8")
    f.resume(status=2, says="--source exec:COMMAND, which run.jsonl does not keep whole")
    f.resume("--source", "exec:other", status=2, says="another --source than the one")
    f.resume("--source", "exec", status=2, says="another --source than the one")
    f.resume("--source", SECRET, says="measured times only")


def main():
    parser = argparse.ArgumentParser(description="journals that are not whole")
    parser.add_argument("--program", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as folder:
        f = Folder(args.program, pathlib.Path(folder))
        empty_journals(f)
        torn_line(f)
        sources(f)
        for file in f.out.iterdir():
            text = file.read_text(encoding="utf-8")
            assert "S3CRET" not in text, file
    print("ok")


if __name__ == "__main__":
    main()
