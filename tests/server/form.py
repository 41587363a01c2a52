#!/usr/bin/python3
"""The submission form in a real browser: form.py --program PATH --modules NODE_MODULES [--picture FILE.png].
Without Node, its packages, Chromium or the store the test is left out; in CI that is a failure.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from service import SKIP, Service, skip_without_helper
from stored import report, skip_without_store

OWNER = "an-owners-token-of-this-test"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--modules", required=True)
    parser.add_argument("--picture", default="")
    args = parser.parse_args()
    skip_without_helper(args.program)
    chromium = os.environ.get("ECO_CHROMIUM") or shutil.which("chromium") or ""
    modules = pathlib.Path(args.modules)
    if not (shutil.which("node") and pathlib.Path(chromium).exists() and modules.joinpath("playwright-core").is_dir()
            and modules.joinpath("@axe-core", "playwright").is_dir()):
        print("SKIPPED: Node, Chromium or playwright-core is missing (scripts/setup.sh test)")
        return 1 if os.environ.get("CI") else SKIP
    with tempfile.TemporaryDirectory() as folder:
        skip_without_store(args.program, folder)
        token, energy = pathlib.Path(folder, "token"), pathlib.Path(folder, "energy.json")
        token.write_text(OWNER + "\n")
        energy.write_text(json.dumps(report(1)))
        with Service(args.program, "--store", "sqlite:%s/form.db" % folder, "--token-file", str(token),
                     "--rate-limit", "0", "--access-log", "off") as service:
            words = ["node", pathlib.Path(__file__).with_name("form.mjs"), "http://127.0.0.1:%d" % service.port,
                     energy, OWNER, *([args.picture] if args.picture else [])]
            return subprocess.run(words, env={**os.environ, "ECO_CHROMIUM": chromium}).returncode


sys.exit(main())
