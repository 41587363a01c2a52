#!/usr/bin/python3
"""The official SDK's client over both transports: sdk.py --program PATH --modules NODE_MODULES.
Without Node or its package the test is left out; in CI that is a failure.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
from service import SKIP, Service, helper_is_built  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--modules", required=True)
    args = parser.parse_args()
    modules = pathlib.Path(args.modules)
    if not shutil.which("node") or not modules.joinpath("@modelcontextprotocol", "sdk").is_dir():
        print("SKIPPED: Node or @modelcontextprotocol/sdk is missing (scripts/setup.sh test)")
        return 1 if os.environ.get("CI") else SKIP
    client = pathlib.Path(__file__).with_name("sdk_client.mjs")
    if modules.absolute().parent != client.resolve().parents[2]:
        print("SKIPPED: node_modules is not beside tests/")  # Node looks nowhere else
        return SKIP
    program = str(pathlib.Path(args.program).resolve())
    status = subprocess.run(["node", client, "stdio", program]).returncode
    if not helper_is_built(program):
        print("SKIPPED: over HTTP, since ecocompute-serve is not built")
        return status or (1 if os.environ.get("CI") else 0)
    with Service(program, "--rate-limit", "0", "--access-log", "off") as service:
        url = "http://127.0.0.1:%d/mcp" % service.port
        return status or subprocess.run(["node", client, "http", url]).returncode


sys.exit(main())
