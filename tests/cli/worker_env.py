#!/usr/bin/python3
"""scripts/worker-env.sh with stand-ins for the host's packages and a wheel made here; no network.

Also: requirements.txt and requirements.lock agree, and every version is exact.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


def pins(name):
    found = {}
    for line in (ROOT / "workers" / name).read_text().splitlines():
        if line and not line.startswith("#"):
            match = re.fullmatch(r"([a-z0-9-]+)==([0-9][0-9a-z.]*)", line)
            if not match or match[1] in found:
                fail("%s: '%s' is no exact version, or is there twice" % (name, line))
            found[match[1]] = match[2]
    return found


def check_pins():
    asked, lock = pins("requirements.txt"), pins("requirements.lock")
    for name, version in asked.items():
        if lock.get(name) != version:
            fail("%s %s, in the lock %s" % (name, version, lock.get(name)))
    if list(lock) != sorted(lock) or len(lock) < 30:
        fail("the lock is not sorted or not whole")
    return asked


def make_wheel(folder, name, version):
    base = "%s-%s.dist-info/" % (name, version)
    with zipfile.ZipFile(folder / ("%s-%s-py3-none-any.whl" % (name, version)), "w") as z:
        z.writestr(name + "/__init__.py", "__version__ = '%s'\n" % version)
        z.writestr(base + "METADATA", "Metadata-Version: 2.1\nName: %s\nVersion: %s\n"
                   % (name, version))
        z.writestr(base + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\n"
                   "Root-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr(base + "RECORD", "")


def run(host, wheels, status, *words):
    env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "PYTHONPATH": str(host),
           "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PYTHONDONTWRITEBYTECODE": "1",
           "PIP_NO_CACHE_DIR": "1", "ECO_STUB": os.environ.get("ECO_STUB", "")}
    done = subprocess.run([ROOT / "scripts/worker-env.sh", *words], env=env, text=True,
                          capture_output=True, check=False, timeout=120)
    if done.returncode != status:
        fail("%s: status %d: %s%s" % (words, done.returncode, done.stdout, done.stderr))
    return done.stdout.strip(), done.stderr


def main():
    asked = check_pins()
    if not shutil.which("python3", path="/usr/bin") or subprocess.run(
            ["/usr/bin/python3", "-c", "import ensurepip"], check=False,
            capture_output=True).returncode:
        print("SKIPPED: no python3-venv")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="ecocompute-") as folder:
        folder = pathlib.Path(folder)
        wheels, host, env = folder / "wheels", folder / "host", folder / "env"
        wheels.mkdir()
        shutil.copytree(ROOT / "tests/fake/python", host)
        out, err = run(host, wheels, 0, "--check", "--dir", str(env))
        if out != "python3" or "transformers 4.46.3" not in err:
            fail("a host that has all: %s%s" % (out, err))
        shutil.rmtree(host / "bitsandbytes")
        out, err = run(host, wheels, 1, "--check", "--dir", str(env))
        if out or "python3 lacks: bitsandbytes\n" not in err or "without --check installs" not in err:
            fail("a host without bitsandbytes: %s%s" % (out, err))
        where = ["--dir", str(env), "--python", "/usr/bin/python3"]
        _, err = run(host, wheels, 1, *where)  # nothing to install from
        if "pip could not install them; the host's Python is unchanged" not in err or \
                "PIP_INDEX_URL" not in err:
            fail("no index: " + err)
        make_wheel(wheels, "bitsandbytes", asked["bitsandbytes"])
        out, err = run(host, wheels, 0, *where)
        if out != str(env / "bin/python") or "bitsandbytes " + asked["bitsandbytes"] not in err \
                or "torch 2.4.1+cu124 of this machine is used" not in err:
            fail("an install: %s%s" % (out, err))
        out, err = run(host, wheels, 0, *where)
        if "nothing to install" not in err:
            fail("twice: " + err)
        out, err = run(host, wheels, 0, "--check", "--dir", str(env))
        if out != str(env / "bin/python"):
            fail("the venv is looked at first: %s%s" % (out, err))
        _, err = run(host, wheels, 1, *where, "--pinned")
        if "installing into" not in err or "torch" not in err:
            fail("pinned: " + err)
    for words, says in ((["--dir"], "scripts/worker-env.sh [--dir DIR]"), (["--what"], "[--check]")):
        _, err = run(ROOT, ROOT, 2, *words)
        if says not in err:
            fail("usage: " + err)
    out, _ = run(ROOT, ROOT, 0, "--help")
    if not out.startswith("A Python for the workers") or not out.endswith("heeded."):
        fail("help: " + out)
    _, err = run(ROOT, ROOT, 1, "--python", "no-such-python")
    if "no Python here" not in err:
        fail(err)
    print("ok")


if __name__ == "__main__":
    main()
