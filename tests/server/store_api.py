#!/usr/bin/python3
"""The store over HTTP: store_api.py --program PATH. On SQLite in a temporary folder, or on the server that
postgres.sh names in ECO_STORE_URL. Every reply is checked against /openapi.json.
"""
import argparse
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from service import Asker, Service, skip_without_helper
from stored import CURVE_PCT, STORE, report, skip_without_store, store_url, text

OWNER = "an-owners-token-of-this-test"


def total(ask, query="", headers=None):
    return ask.ask("GET", "/v1/replications" + query, headers=headers, want=200)[2]["total"]


def without_store(program):
    """The same addresses say that nothing is kept."""
    with Service(program, "--rate-limit", "0", "--access-log", "off") as service:
        ask = Asker(service)
        ask.ask("POST", STORE, text(report(1)), want=501, code="unsupported", param="store")
        ask.ask("GET", "/v1/replications", want=501, code="unsupported", param="store")
        ask.ask("GET", "/v1/replications?export=csv", want=501, code="unsupported", param="store")
        ask.ask("POST", "/v1/withdrawals", b'{"id":"a","token":"b"}', want=501, param="store")
        ask.ask("POST", "/v1/moderations", b'{"id":"a","state":"accepted"}', want=501, param="store")
        ask.ask("GET", "/submit.html", want=404)
        raw_reports(ask)
        return ask


def raw_reports(ask):
    """POST /v1/reports takes an energy.json as it is, up to 256 KiB."""
    for target in ("/v1/reports", "/v1/reports?action=validate"):
        _, _, said = ask.ask("POST", target, text(report(1)), want=200)
        if said["valid"] is not True:
            ask.fault("%s: %s", target, said)
    _, _, said = ask.ask("POST", "/v1/reports?action=overlay", text(report(1)), want=200)
    if [p["dE"] for p in said["points"]] != [CURVE_PCT]:
        ask.fault("overlay of a raw report: %s", said)
    again = json.dumps({"action": "validate", "document": json.dumps(report(1))}).encode()
    ask.ask("POST", "/v1/reports", again, want=200)
    wrong = report(1)
    del wrong["results"]
    ask.ask("POST", "/v1/reports", text(wrong), want=422, code="invalid_content")
    ask.ask("POST", "/v1/reports?action=burn", text(report(1)), want=400, code="unknown_name", param="action")
    full = text(report(1))
    full += b" " * ((256 << 10) - len(full))
    ask.ask("POST", "/v1/reports", full, want=200)
    ask.ask("POST", "/v1/reports", full + b" ", want=413)
    long = json.dumps({"action": "validate", "document": json.dumps(report(1)) + " " * 250_000}).encode()
    ask.ask("POST", "/v1/reports", long, want=200)


def submitting(ask):
    """Valid, again, invalid, without consent; nothing but the valid one is kept."""
    _, _, first = ask.ask("POST", STORE, text(report(1)), want=201)
    if len(first["id"]) != 64 or len(first["token"]) != 43 or first["duplicate"] or first["state"] != "accepted":
        ask.fault("receipt: %s", first)
    other_order = dict(reversed(report(1).items()))
    _, _, again = ask.ask("POST", STORE, json.dumps(other_order, indent=3).encode(), want=200)
    if again != {"id": first["id"], "token": None, "duplicate": True, "state": "accepted"}:
        ask.fault("the same content again: %s", again)
    ask.ask("POST", "/v1/reports?action=store", text(report(2)), want=400, code="missing_parameter", param="consent")
    ask.ask("POST", "/v1/reports?action=store&consent=false", text(report(2)), want=400, code="missing_parameter",
            param="consent")
    ask.ask("POST", "/v1/reports?action=store&consent=yes%20sir", text(report(2)), want=400, param="consent")
    invalid = report(3)
    invalid["results"]["basis"] = "guessed"
    ask.ask("POST", STORE, text(invalid), want=422, code="invalid_content")
    ask.ask("POST", STORE, b"{", want=400)
    ask.ask("POST", STORE, b"{}", want=400, code="missing_parameter", param="document")
    ask.ask("POST", STORE + "&nothing=1", text(report(2)), want=400, code="unknown_parameter", param="nothing")
    ask.ask("POST", STORE, text(report(2)) + b" " * (256 << 10), want=413)
    signed = report(4, signature={"algorithm": "Ed25519", "key": "A" * 43, "value": "A" * 86})
    ask.ask("POST", STORE, text(signed), want=422)
    if total(ask) != 1:
        ask.fault("%d reports are kept, not the valid one alone", total(ask))
    body = json.dumps({"action": "store", "consent": True, "document": json.dumps(report(5))}).encode()
    ask.ask("POST", "/v1/reports", body, want=201)
    return first


def foreign_pages(ask):
    elsewhere = {"Origin": "https://pages.example"}
    ask.ask("POST", STORE, text(report(90)), headers=elsewhere, want=403, code="permission")
    ask.ask("POST", "/v1/withdrawals", b'{"id":"a","token":"b"}', headers=elsewhere, want=403)
    ask.ask("GET", "/v1/replications", headers=elsewhere, want=200)
    ask.ask("POST", "/v1/reports", text(report(90)), headers=elsewhere, want=200)  # writes nothing


def withdrawing(ask, receipt):
    before = total(ask)
    gone = {"id": receipt["id"], "token": receipt["token"]}
    ask.ask("POST", "/v1/withdrawals", text({**gone, "token": "B" * 43}), want=403, code="permission", param="token")
    ask.ask("POST", "/v1/withdrawals", text({**gone, "id": "0" * 64}), want=404, code="not_found", param="id")
    ask.ask("POST", "/v1/withdrawals", text({"id": receipt["id"]}), want=400, param="token")
    if total(ask) != before:
        ask.fault("a wrong token withdrew something")
    _, _, said = ask.ask("POST", "/v1/withdrawals", text(gone), want=200)
    if said != {"id": receipt["id"], "state": "withdrawn"} or total(ask) != before - 1:
        ask.fault("withdrawal: %s", said)
    ask.ask("POST", "/v1/withdrawals", text(gone), want=404, code="not_found")
    rows = ask.ask("GET", "/v1/replications?limit=500", want=200)[2]["rows"]
    if receipt["id"] in [r["id"] for r in rows]:
        ask.fault("a withdrawn report is still listed")
    _, _, back = ask.ask("POST", STORE, text(report(1)), want=201)  # its content may come again
    if back["id"] != receipt["id"] or back["token"] == receipt["token"]:
        ask.fault("submitted again after its withdrawal: %s", back)


def listing(ask):
    """Filters and pages; `kept` is what was submitted, newest first."""
    kept = [report(100 + i, gpu=("RTX 4090", "A100")[i % 2], arch=("ada", "ampere")[i % 2],
                   precision=("NF4", "INT8")[i // 2 % 2], params_b=(1.5, 7, 13)[i % 3],
                   delta_pct=(CURVE_PCT, 60)[i == 5]) for i in range(12)]
    for one in kept:
        ask.ask("POST", STORE, text(one), want=201)
    kept.reverse()

    def names(query):
        said = ask.ask("GET", "/v1/replications?" + query, want=200)[2]
        return said, [r["model"] for r in said["rows"] if int(r["model"][2:]) >= 100]

    def expected(want):
        return [k["workload"]["model_name"] for k in kept if want(k["workload"], k["system_under_test"])]

    for query, want in (("gpu=a100", lambda w, s: s["gpu"] == "A100"), ("arch=AMPERE", lambda w, s: s["gpu"] == "A100"),
                        ("model=m-103", lambda w, s: w["model_name"] == "m-103"),
                        ("precision=int8", lambda w, s: w["precision"] == "INT8"),
                        ("min_params_b=7", lambda w, s: w["params_b"] >= 7),
                        ("max_params_b=7", lambda w, s: w["params_b"] <= 7),
                        ("gpu=A100&precision=NF4&min_params_b=7&max_params_b=7",
                         lambda w, s: s["gpu"] == "A100" and w["precision"] == "NF4" and w["params_b"] == 7),
                        ("gpu=none", lambda w, s: False), ("signed_only=true", lambda w, s: False),
                        ("replications_only=true", lambda w, s: True)):
        if names(query)[1] != expected(want):
            ask.fault("%s: %s", query, names(query)[1])
    pages, cursor = [], ""
    while cursor is not None:
        said, _ = names("limit=5" + ("&cursor=" + cursor if cursor else ""))
        pages.append([r["id"] for r in said["rows"]])
        cursor = said["next"]
        if len(pages) == 1:  # what comes in between moves no page
            ask.ask("POST", STORE, text(report(300)), want=201)
    whole = [r["id"] for r in names("limit=500")[0]["rows"]]
    if sum(pages, []) != whole[1:] or [len(p) for p in pages[:-1]] != [5] * (len(pages) - 1):
        ask.fault("pages of 5: %s", [len(p) for p in pages])
    row = next(r for r in names("limit=500")[0]["rows"] if r["model"] == "m-100")
    if row["delta_pct"] != CURVE_PCT or not row["replication"] or row["n"] != 4 or row["ci"] != [-31.5, -25.25]:
        ask.fault("a row: %s", row)
    outlier = names("model=m-105")[0]["rows"][0]
    if outlier["classified"] and outlier["agrees"]:
        ask.fault("+60 %% agrees with the curve: %s", outlier)
    for query in ("limit=0", "limit=501", "limit=x", "cursor=x", "cursor=", "nothing=1", "min_params_b=-1"):
        ask.ask("GET", "/v1/replications?" + query, want=400, param=query.split("=")[0])
    return whole


def exporting(ask, whole):
    _, head, said = ask.ask("GET", "/v1/replications?export=json&limit=2", want=200)
    if [r["id"] for r in said] != whole or "replications.json" not in head["Content-Disposition"]:
        ask.fault("export as JSON: %d rows of %d", len(said), len(whole))
    _, head, raw = ask.ask("GET", "/v1/replications?export=csv", want=200)
    rows = list(csv.DictReader(io.StringIO(raw.decode())))
    if [r["id"] for r in rows] != whole or not head["Content-Type"].startswith("text/csv"):
        ask.fault("export as CSV: %d rows of %d", len(rows), len(whole))
    _, _, raw = ask.ask("GET", "/v1/replications?export=csv&gpu=A100", want=200)
    if {r["gpu"] for r in csv.DictReader(io.StringIO(raw.decode()))} != {"A100"}:
        ask.fault("the export is not filtered")
    _, head, _ = ask.ask("GET", "/v1/replications", want=200)
    if head["Cache-Control"] != "no-store" or "ETag" in head:
        ask.fault("a list that changes is cached: %s", head)


def together(service, ask):
    """Eight clients at once: every receipt is of a report that is there."""
    receipts, wrong = [], []

    def client(number):
        http = service.connect()
        for i in range(5):
            http.request("POST", STORE, text(report(1000 + 10 * number + i)))
            reply = http.getresponse()
            said = json.loads(reply.read())
            (receipts if reply.status == 201 else wrong).append(said)
        http.close()

    threads = [threading.Thread(target=client, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    there = {r["id"] for r in ask.ask("GET", "/v1/replications?limit=500", want=200)[2]["rows"]}
    if wrong or len(receipts) != 40 or not {r["id"] for r in receipts} <= there:
        ask.fault("%d receipts, %d refused, first %s", len(receipts), len(wrong), wrong[:1])
    return receipts


def leaves_nothing(ask, folder):
    """A withdrawn report's bytes are in no file of the store, while the server goes on."""
    mark = "withdrawn-and-gone"
    kept = ask.ask("POST", STORE, text(report(951, remark="kept-and-there" + "x" * 4000)), want=201)[2]
    gone = ask.ask("POST", STORE, text(report(950, remark=mark + "x" * 4000)), want=201)[2]
    for receipt, word in ((gone, mark), (kept, "kept-and-there")):
        files = [f for f in pathlib.Path(folder).iterdir() if word.encode() in f.read_bytes()]
        if not files and not os.environ.get("ECO_STORE_URL"):
            ask.fault("'%s' is nowhere", word)
        ask.ask("POST", "/v1/withdrawals", text({"id": receipt["id"], "token": receipt["token"]}), want=200)
        left = [f.name for f in pathlib.Path(folder).iterdir() if word.encode() in f.read_bytes()]
        if left:
            ask.fault("a withdrawn report is still in %s", left)


def open_server(program, url, folder):
    options = ("--store", url, "--auto-accept", "--rate-limit", "0", "--access-log", "off")
    with Service(program, *options) as service:
        ask = Asker(service)
        receipt = submitting(ask)
        foreign_pages(ask)
        withdrawing(ask, receipt)
        leaves_nothing(ask, folder)
        exporting(ask, listing(ask))
        receipts = together(service, ask)
        _, head, page = ask.ask("GET", "/submit.html", want=200)
        if "sha256-" not in head["Content-Security-Policy"] or b"checkbox" not in page or b" checked>" in page:
            ask.fault("the form: %s", head["Content-Security-Policy"])
        same = {"Origin": "http://127.0.0.1:%d" % service.port}
        ask.ask("POST", STORE, text(report(700)), headers=same, want=201)
        ask.ask("POST", "/v1/moderations", text({"id": receipt["id"], "state": "rejected", "reason": "spam"}),
                want=403, code="permission")
        before = total(ask)
        service.process.kill()  # what was acknowledged is there
        service.process.wait()
    with Service(program, *options) as service:
        again = Asker(service)
        if total(again) != before:
            again.fault("%d reports after kill -9, %d before", total(again), before)
        gone = {"id": receipts[0]["id"], "token": receipts[0]["token"]}
        again.ask("POST", "/v1/withdrawals", text(gone), want=200)
        if service.stop() != 0:
            again.fault("the server ended with status %d", service.process.returncode)
    return [ask, again]


def owned_server(program, url, folder):
    """With --token-file: submitting and moderating are the owner's; what waits is for the owner's eyes."""
    path = pathlib.Path(folder, "token")
    path.write_text(OWNER + "\nsecond line\n")
    path.chmod(0o640)
    with Service(program, "--store", url, "--token-file", str(path), "--rate-limit", "0") as service:
        ask = Asker(service)
        owner = {"Authorization": "Bearer " + OWNER}
        for headers, status in ((None, 401), ({"Authorization": "Basic " + OWNER}, 401),
                                ({"Authorization": "Bearer " + OWNER[:-1]}, 403),
                                ({"Authorization": "Bearer " + OWNER + "x"}, 403), ({"Authorization": "Bearer "}, 403)):
            ask.ask("POST", STORE, text(report(1)), headers=headers, want=status)
            ask.ask("POST", "/v1/moderations", b'{"id":"a","state":"accepted"}', headers=headers, want=status)
        if total(ask, "?state=all", owner) != 0:
            ask.fault("a report was kept for a wrong token")
        _, _, receipt = ask.ask("POST", STORE, text(report(1)), headers=owner, want=201)
        one = {"id": receipt["id"]}
        if receipt["state"] != "pending" or total(ask) != 0:
            ask.fault("a report is listed before anybody looked: %s", receipt)
        ask.ask("GET", "/v1/replications?state=pending", want=403, code="permission", param="state")
        ask.ask("GET", "/v1/replications?state=all&export=csv", want=403, param="state")
        if total(ask, "?state=pending", owner) != 1:
            ask.fault("the owner does not see what waits")
        for wrong in ({**one, "state": "rejected"}, {**one, "state": "accepted", "reason": "spam"},
                      {**one, "state": "rejected", "reason": "wrong result"}, {**one, "state": "gone"}):
            ask.ask("POST", "/v1/moderations", text(wrong), headers=owner, want=400)
        ask.ask("POST", "/v1/moderations", text({**one, "state": "accepted"}), headers=owner, want=200)
        if total(ask) != 1:
            ask.fault("an accepted report is not listed")
        ask.ask("POST", "/v1/moderations", text({**one, "state": "rejected", "reason": "format"}), headers=owner,
                want=200)
        if total(ask) != 0 or total(ask, "?state=rejected", owner) != 1:
            ask.fault("a rejected report is still listed")
        gone = {**one, "token": receipt["token"]}
        ask.ask("POST", "/v1/withdrawals", text(gone), want=200)  # by its receipt alone
        service.stop()
        if any(OWNER in line or receipt["token"] in line for line in service.said):
            ask.fault("a token is in the log")
        if any("warning" in line for line in service.said):
            ask.fault("a token's file of mode 640: %s", service.said)
    path.chmod(0o644)
    with Service(program, "--store", url, "--token-file", str(path)) as service:
        if not any("every user may read" in line for line in service.said):
            ask.fault("a token's file of mode 644: %s", service.said)
    short = pathlib.Path(folder, "short")
    short.write_text("abc\n")
    words = [program, "serve", "--port", "0", "--store", url, "--token-file", str(short)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if done.returncode == 0 or "token" not in done.stderr:
        ask.fault("a token of three letters: %s", done.stderr)
    return ask


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    skip_without_helper(program)
    with tempfile.TemporaryDirectory() as folder:
        skip_without_store(program, folder)
        asked = [without_store(program), *open_server(program, store_url(folder, "open"), folder),
                 owned_server(program, store_url(folder, "owned"), folder)]
    faults = sum(len(a.faults) for a in asked)
    backend = "PostgreSQL" if os.environ.get("ECO_STORE_URL") else "SQLite"
    print("%s: %d replies checked against OpenAPI, %d faults" % (backend, sum(a.checked for a in asked), faults))
    return 1 if faults else 0


sys.exit(main())
