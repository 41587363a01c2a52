#!/usr/bin/python3
"""notebooks/colab_t4.ipynb, executed: notebook.py --program P --nvml LIB [--long].

Cells run in order in one namespace, with a fake T4, stand-ins for torch and the rest, and a program
that does all but measure itself: what it is asked to measure is checked, and a report is put there.
--long (or ECO_LONG=1): the real program measures on the fake card, about eight minutes.
"""
import argparse
import contextlib
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "notebooks/colab_t4.ipynb"
SHIM = """#!/bin/sh
if [ "$1" = measure ]; then
    for word in "$@"; do echo "$word" >>"{log}"; done
    while [ $# -gt 0 ]; do [ "$1" = --out ] && out=$2; shift; done
    exec "{program}" measure TinyLlama-1.1B-Chat-v1.0 --gpu T4 --precision NF4 --out "$out" --force
fi
exec "{program}" "$@"
"""


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


def cells():
    """The code cells; checks what nbformat 4.5 asks for."""
    book = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    if (book["nbformat"], book["nbformat_minor"]) != (4, 5):
        fail("nbformat %r.%r" % (book["nbformat"], book["nbformat_minor"]))
    names = [c["id"] for c in book["cells"]]
    if len(set(names)) != len(names):
        fail("two cells have one id")
    for cell in book["cells"]:
        keys = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            keys |= {"execution_count", "outputs"}
            if cell["outputs"] or cell["execution_count"] is not None:
                fail("cell '%s' was saved with its outputs" % cell["id"])
        if set(cell) != keys or not all(isinstance(s, str) for s in cell["source"]):
            fail("cell '%s' is no cell of nbformat 4.5" % cell["id"])
    return [(c["id"], "".join(c["source"])) for c in book["cells"] if c["cell_type"] == "code"]


def validate_with_jsonschema():
    """With nbformat's own schema, where it is installed."""
    try:
        import nbformat
    except ImportError:
        return
    nbformat.validate(nbformat.read(NOTEBOOK, as_version=4))


class Book:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.log = folder / "measured"
        shim = folder / "shim"
        shim.write_text(SHIM.format(program=args.program, log=self.log))
        shim.chmod(0o755)
        fake = folder / "driver"
        fake.mkdir()
        shutil.copy(args.nvml, fake / "libnvidia-ml.so.1")
        phases = folder / "phases"
        phases.touch()
        (folder / "script").write_text(
            "gpus 1\nname 0 Tesla T4\ncc 0 7.5\nlimit 0 70\nmemory 0 15 14.7\naveraging 0 default 0.1\n"
            "phase idle 10\nphase FP16 60\nphase NF4 45\nphases %s\n" % phases)
        os.environ.update({
            "LD_LIBRARY_PATH": str(fake), "ECO_FAKE_NVML": str(folder / "script"),
            "PYTHONPATH": str(ROOT / "tests/fake/python"), "ECO_STUB_PHASES": str(phases),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ECO_NOTEBOOK_PROGRAM": str(args.program if args.long else shim)})

    def run(self, stub="cc=7.5,token_s=0.002", gpus=1, **settings):
        """Executes all cells; the output, and what ended it early or None."""
        os.environ["ECO_STUB"] = stub
        script = (self.folder / "script").read_text().split("\n", 1)[1]
        (self.folder / "script").write_text("gpus %d\n" % gpus + script)
        for name in ("MODEL", "PRECISION", "EXTRA"):
            os.environ["ECO_NOTEBOOK_" + name] = settings.get(name.lower(), "")
            if not settings.get(name.lower()):
                del os.environ["ECO_NOTEBOOK_" + name]
        self.log.unlink(missing_ok=True)
        space, out, ended = {"__name__": "__main__"}, io.StringIO(), None
        with contextlib.redirect_stdout(out):
            for name, source in cells():
                try:
                    exec(compile(source, "cell '%s'" % name, "exec"), space)
                except SystemExit as end:
                    ended = (name, str(end))
                    break
        return out.getvalue(), ended

    def measured(self):
        return self.log.read_text().splitlines() if self.log.exists() else []


def check_short(book):
    out, ended = book.run()
    if ended:
        fail("ended in %r: %s" % (ended, out[-2000:]))
    words = book.measured()
    if words.count("measure") != 2 or words.count("FP16,NF4") != 2:
        fail("measured: %r" % words)
    blocks = [words[i + 1] for i, w in enumerate(words) if w == "--blocks"]
    outs = [words[i + 1] for i, w in enumerate(words) if w == "--out"]
    if (blocks, outs) != (["2", "5"], ["ecocompute-out", "ecocompute-out-repeated"]):
        fail("blocks %r, out %r" % (blocks, outs))
    for want in ("https://", "overlay=", "change against FP16:", "FP16       needs", "NF4        needs"):
        if want not in out:
            fail("'%s' is not said: %s" % (want, out[-3000:]))
    worker = [w for w in words if w.startswith("worker:")][0]
    if "transformers_worker.py" not in worker:
        fail(worker)
    out, ended = book.run(model="meta-llama/Llama-3.1-8B")
    if not ended or ended[0] != "fits" or "does not fit in FP16: a smaller model" not in ended[1] \
            or book.measured():
        fail("too large a model: %r" % (ended,))
    out, ended = book.run("cc=7.5,free_gib=0.5")
    if not ended or "does not fit in FP16 and NF4" not in ended[1] or book.measured():
        fail("no free memory: %r" % (ended,))
    out, ended = book.run(gpus=0)
    if not ended or "no NVIDIA card in this runtime" not in ended[1] or book.measured():
        fail("no card: %r" % (ended,))
    out, ended = book.run(precision="INT8-PURE", extra="--quick")
    if ended or "FP16,INT8-PURE" not in book.measured() or "--quick" not in book.measured():
        fail("settings: %r %r" % (ended, book.measured()))


def check_long(book):
    """Two and five trials of each arm that count, by the real program."""
    out, ended = book.run("cc=7.5,token_s=0.01", extra="--quick")
    if ended:
        fail("ended in %r: %s" % (ended, out[-3000:]))
    for folder, n in (("ecocompute-out", 2), ("ecocompute-out-repeated", 5)):  # --quick: as asked
        folder = book.folder / "work" / folder
        report = json.loads((folder / "energy.json").read_text())
        if report["results"]["basis"] != "measured":
            fail("%s: %s" % (folder, report["results"]["basis"]))
        rows = map(json.loads, (folder / "run.jsonl").read_text().splitlines())
        trials = [t for t in rows if t["kind"] == "trial" and not t["discarded"]]
        if [sum(t["arm"] == arm for t in trials) for arm in (0, 1)] != [n, n]:
            fail("%s: %d trials" % (folder, len(trials)))
        for t in trials:  # what was drawn; how long a token took is this machine's affair
            watts = t["energy_counter_j"] / t["window_s"]
            if not abs(watts / (60, 45)[t["arm"]] - 1) < 0.05:
                fail("%g W in a trial of arm %d" % (watts, t["arm"]))
    print(out[-1500:])


def main():
    parser = argparse.ArgumentParser(description="the notebook, executed")
    parser.add_argument("--program", required=True)
    parser.add_argument("--nvml", required=True)
    parser.add_argument("--long", action="store_true", default=os.environ.get("ECO_LONG") == "1")
    args = parser.parse_args()
    args.program = pathlib.Path(args.program).resolve()
    validate_with_jsonschema()
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as folder:
        folder = pathlib.Path(folder)
        book = Book(args, folder)
        (folder / "work" / "ecocompute").mkdir(parents=True)
        for name in ("quickstart.sh", "scripts", "workers"):  # a copy of ecocompute, as far as needed
            (folder / "work" / "ecocompute" / name).symlink_to(ROOT / name)
        os.chdir(folder / "work")
        (check_long if args.long else check_short)(book)
        os.chdir(ROOT)
    print("ok")


if __name__ == "__main__":
    main()
