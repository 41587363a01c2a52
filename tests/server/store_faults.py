#!/usr/bin/python3
"""A store that is locked, damaged, read-only, full or gone, while it is served: store_faults.py --program PATH.

Every such request gets 503 with what is in the way, /healthz/ready says the same, everything else goes on being
answered, and once the cause is gone the server goes on by itself. Never 500, never a receipt for nothing.
"""
import argparse
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from service import Asker, Service, skip_without_helper, wait_until
from stored import STORE, report, skip_without_store, store_url, text

OPTIONS = ("--auto-accept", "--rate-limit", "0", "--access-log", "off")
NOBODY = 65534


def ready(ask, want, word=""):
    _, _, said = ask.ask("GET", "/healthz/ready", want=want)
    if want == 200 and said["store"] != "ok" or want == 503 and word not in said["error"]["message"]:
        ask.fault("/healthz/ready: %s", said)


def refused(ask, word, lists=True):
    """Writing (and reading, when `lists`) is refused with the cause; a question is answered meanwhile."""
    targets = [("POST", STORE, text(report(900)))] + ([("GET", "/v1/replications", None)] if lists else [])
    for method, target, body in targets:
        _, _, said = ask.ask(method, target, body, want=503)
        error = said["error"]
        if error["param"] != "store" or word not in error["message"]:
            ask.fault("%s %s: %s", method, target, said)
    ask.ask("GET", "/v1/estimate?params_b=7&arch=ada", want=200)
    ask.ask("GET", "/healthz", want=200)


def fine(ask, serial):
    ask.ask("POST", STORE, text(report(serial)), want=201)
    ask.ask("GET", "/v1/replications", want=200)
    ready(ask, 200)


def locked(ask, path):
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    start = time.monotonic()
    refused(ask, "another process", lists=False)
    if time.monotonic() - start > 60:
        ask.fault("a locked store holds a request for a minute")
    ask.ask("GET", "/v1/replications", want=200)  # readers need no lock
    ready(ask, 503, "another process")
    other.execute("ROLLBACK")
    other.close()
    fine(ask, 10)


def gone(ask, path):
    away = path.with_suffix(".away")
    path.rename(away)
    refused(ask, "removed or replaced")
    ready(ask, 503, "removed or replaced")
    path.write_bytes(b"")  # another file of that name is not this store
    refused(ask, "removed or replaced")
    away.rename(path)
    fine(ask, 20)


def damaged(ask, path):
    """Junk over every page but the first: more than SQLite remembers of it. Once seen, nothing more is taken."""
    with open(path, "r+b") as f:
        f.seek(4096)
        f.write(os.urandom(os.path.getsize(path) - 4096))
    ask.ask("GET", "/v1/replications?limit=500", want=503)
    refused(ask, "damaged")
    ready(ask, 503, "damaged")


def full(program, folder):
    """A limit on what the process may write into a file stands in for a disk that is full."""
    path = pathlib.Path(folder, "full.db")
    with Service(program, "--store", "sqlite:%s" % path, *OPTIONS) as service:
        ask = Asker(service)
        fine(ask, 1)
        now, most = resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (path.stat().st_size // 2, most))
        for serial in range(2, 40):  # what fits still fits
            status, _, said = ask.ask("POST", STORE, text(report(serial)))
            if status != 201:
                break
        if status != 503 or said["error"]["param"] != "store" or str(path) not in said["error"]["message"]:
            ask.fault("a full disk: %d %s", status, said)
        listed = ask.ask("GET", "/v1/replications?limit=500", want=200)[2]["total"]
        if listed != serial - 1:
            ask.fault("%d receipts, %d reports", serial - 1, listed)
        ask.ask("GET", "/v1/estimate?params_b=7&arch=ada", want=200)
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (now, most))
        fine(ask, 41)
        return ask


def read_only(program, folder, ask):
    """A file that may only be read does not serve: the start says so."""
    path = pathlib.Path(folder, "read-only", "store.db")
    path.parent.mkdir()
    with Service(program, "--store", "sqlite:%s" % path, *OPTIONS) as service:
        fine(Asker(service), 1)
        service.stop()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    pathlib.Path(folder).chmod(0o755)
    user = {"user": NOBODY} if os.geteuid() == 0 else {}
    words = [program, "serve", "--port", "0", "--store", "sqlite:%s" % path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, **user)
    path.parent.chmod(0o755)
    if done.returncode != 4 or str(path) not in done.stderr or "read" not in done.stderr:
        ask.fault("a read-only store: %d %s", done.returncode, done.stderr)


def on_sqlite(program, folder):
    path = pathlib.Path(folder, "store.db")
    asked = []
    with Service(program, "--store", "sqlite:%s" % path, *OPTIONS) as service:
        ask = Asker(service)
        asked.append(ask)
        fine(ask, 1)
        locked(ask, path)
        gone(ask, path)
        for serial in range(100, 140):
            ask.ask("POST", STORE, text(report(serial, remark="x" * 120_000)), want=201)
        service.stop()
    with Service(program, "--store", "sqlite:%s" % path, *OPTIONS) as service:
        asked.append(Asker(service))
        damaged(asked[-1], path)
    words = [program, "serve", "--port", "0", "--store", "sqlite:%s" % path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode != 3 or "damaged" not in done.stderr or str(path) not in done.stderr:
        asked[-1].fault("a start on a damaged store: %d %s", done.returncode, done.stderr)
    asked.append(full(program, folder))
    read_only(program, folder, asked[-1])
    return asked


def control(*words):
    subprocess.run([*os.environ["ECO_STORE_CONTROL"].split(), *words], check=True, stdout=subprocess.DEVNULL)


def on_postgresql(program):
    """The database server stops and comes back, twice: once noticed by a request, once not."""
    url = store_url("", "faults")
    with Service(program, "--store", url, *OPTIONS) as service:
        ask = Asker(service)
        fine(ask, 1)
        control("stop", "-m", "fast")
        refused(ask, "postgresql")
        ready(ask, 503, "postgresql")
        control("start")
        if not wait_until(lambda: ask.plain("GET", "/healthz/ready")[0] == 200, 20):
            ask.fault("the store did not come back")
        fine(ask, 2)
        control("restart", "-m", "fast")
        fine(ask, 3)  # nobody asked meanwhile: the first request reconnects
        if ask.ask("GET", "/v1/replications", want=200)[2]["total"] != 3:
            ask.fault("receipts without reports")
        admin = os.environ["ECO_STORE_ADMIN"].split()
        subprocess.run([*admin, "ALTER DATABASE postgres SET default_transaction_read_only = on"], check=True)
        control("restart", "-m", "fast")
        refused(ask, "read-only", lists=False)
        ready(ask, 503, "read-only")
        subprocess.run([*admin, "BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT"],
                       check=True)
        control("restart", "-m", "fast")
        fine(ask, 4)
        return [ask]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    skip_without_helper(program)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as it should be for the server too
    with tempfile.TemporaryDirectory() as folder:
        skip_without_store(program, folder)
        asked = on_postgresql(program) if os.environ.get("ECO_STORE_URL") else on_sqlite(program, folder)
    faults = sum(len(a.faults) for a in asked)
    print("%d replies checked against OpenAPI, %d faults" % (sum(a.checked for a in asked), faults))
    return 1 if faults else 0


sys.exit(main())
