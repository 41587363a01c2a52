#!/usr/bin/python3
"""Random requests to a server with a store: fuzz_http.py --program PATH [--count N] [--seed S].

Query strings, JSON bodies and MCP messages, grown from what /openapi.json allows and then broken. Every reply must
be an HTTP reply that OpenAPI has, errors an error object, never a fault of the server; at the end it still
answers, and the store is whole.
"""
import argparse
import collections
import json
import random
import subprocess
import sys
import tempfile
import urllib.parse

from service import Asker, Service, skip_without_helper
from stored import STORE, report, skip_without_store, text

ODD = ["", "0", "-1", "1e999", "NaN", "null", "true", "[]", "{}", "a" * 300, "\u00e9\u4e2d", "%00", "%", "%zz", "%C3%28",
       "+", "&", "=", ";", "'; DROP TABLE eco_report; --", "../../etc/passwd", "1,2,,3", "7B", "rtx4090", "NF4", "\u202e",
       "9" * 400, "0x10", "1_000", " 7", "1.", ".5", "-0", "Infinity", "accepted", "csv", "store", "999999999999999999999"]
VALUES = [None, True, False, 0, -1, 1.5, 1e308, 10 ** 30, "", "x", "\ud800", [], [[]], {}, {"a": {}}, [1, "a", None], "7", "NF4"]


def value(r, schema):
    """Often what the schema wants, else anything."""
    if r.random() < 0.3:
        return r.choice(VALUES)
    if "enum" in schema:
        return r.choice(schema["enum"])
    kind = schema.get("type")
    if kind in ("number", "integer"):
        lo, hi = schema.get("minimum", 0), schema.get("maximum", 100)
        return r.choice([lo, hi, lo - 1, hi + 1, int(min(hi, max(lo, r.randint(1, 64)))), r.random()])
    if kind == "boolean":
        return r.random() < 0.5
    if kind == "array":
        return [value(r, schema.get("items", {})) for _ in range(r.randint(0, 3))]
    return r.choice(ODD)


def broken(r, raw):
    """A few bytes of it changed, dropped or doubled."""
    raw = bytearray(raw)
    for _ in range(r.randint(1, 4)):
        at = r.randrange(len(raw) + 1)
        what = r.random()
        if what < 0.4 and raw:
            raw[min(at, len(raw) - 1)] = r.randrange(256)
        elif what < 0.7:
            del raw[at:at + r.randint(1, 6)]
        else:
            raw[at:at] = bytes(r.choice([b'"', b"{", b"}", b"[", b"\\u", b"\x00", b"\xff", b"1e", b","]))
    return bytes(raw)


def query(r, operation):
    pairs = []
    for p in r.sample(operation["parameters"], min(len(operation["parameters"]), r.randint(0, 5))):
        v = value(r, p["schema"])
        v = ",".join(map(str, v)) if isinstance(v, list) else json.dumps(v) if isinstance(v, (bool, dict)) else str(v)
        v = v.encode("utf-8", "surrogatepass")
        name = p["name"] if r.random() < 0.95 else r.choice(ODD)
        quoted = urllib.parse.quote_from_bytes(v) if r.random() < 0.8 else urllib.parse.quote_from_bytes(v, safe="%+;/=:,@!$'()*~")
        pairs.append(urllib.parse.quote(name, errors="replace") + r.choice(["=", "=", "=", "", "=="]) + quoted)
    return "?" + r.choice(["&", "&", "&&"]).join(pairs)


def body(r, schemas, operation):
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    choice = r.choice(schema.get("anyOf", [schema]))
    properties = schemas.get(choice.get("$ref", "").rsplit("/", 1)[-1], {}).get("properties", {})
    names = r.sample(sorted(properties), min(len(properties), r.randint(0, 6)))
    return {(n if r.random() < 0.97 else r.choice(ODD)): value(r, properties[n]) for n in names}


def mcp(r):
    tool = r.choice(["should_i_quantize", "recommend_config", "audit_code", "ask", "diagnose", "none", "list_architectures"])
    arguments = {r.choice(["params_b", "gpu", "q", "text", "model", "precision", "x"]): r.choice(VALUES) for _ in range(3)}
    method = r.choice(["tools/call", "tools/call", "tools/list", "resources/read", "prompts/get", "initialize", "ping", "x", 1])
    params = r.choice([{"name": tool, "arguments": arguments}, {"uri": r.choice(ODD)}, {"name": "optimize", "arguments": arguments},
                       {"protocolVersion": r.choice(ODD)}, None, [], 1])
    message = {"jsonrpc": r.choice(["2.0", "2.0", "2.0", "1.0", 2]), "id": r.choice([1, "a", None, 1.5, {}]), "method": method,
               "params": params}
    for name in r.sample(sorted(message), r.choice([0, 0, 0, 1])):
        del message[name]
    return message if r.random() < 0.9 else [message] * r.randint(0, 3)


def one(r, doc):
    """Method, target, body."""
    path = r.choice([p for p in doc["paths"] if p.startswith("/v1") or p == "/mcp"])
    method = r.choice(sorted(doc["paths"][path]))
    operation, target, raw = doc["paths"][path][method], path, None
    if method == "get" or r.random() < 0.2:
        target += query(r, operation) if operation.get("parameters") else "?" + r.choice(["", "action=store&consent=true", "a=b"])
    if method == "post":
        if path == "/v1/reports" and r.random() < 0.5:
            made = report(r.randrange(50), **{r.choice(["results", "statistics", "workload", "more"]): r.choice(VALUES)})
            target = r.choice([STORE, path])
        else:
            made = mcp(r) if path == "/mcp" else body(r, doc["components"]["schemas"], operation)
        raw = json.dumps(made).encode()
        raw = broken(r, raw) if r.random() < 0.25 else raw
    target = "".join(c if 0x20 < ord(c) < 0x7f else "%%%02X" % (ord(c) & 255) for c in target)
    return method.upper(), target, raw


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    skip_without_helper(args.program)
    r, seen = random.Random(args.seed), collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        skip_without_store(args.program, folder)
        url = "sqlite:%s/fuzz.db" % folder
        with Service(args.program, "--store", url, "--auto-accept", "--rate-limit", "0", "--access-log", "off") as service:
            ask = Asker(service)
            for i in range(args.count):
                method, target, raw = one(r, ask.openapi)
                headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
                status, got, reply = ask.plain(method, target, raw, headers)
                seen[status] += 1
                error = status >= 400 and not target.startswith("/mcp")
                if status >= 500 and status != 501:
                    ask.fault("%s %.300s %.300r: %d %.200s", method, target, raw, status, reply)
                if error and not json.loads(reply)["error"]["message"]:
                    ask.fault("%s %.300s: %d without words", method, target, status)
                if i % 10 == 0 and status != 414:
                    ask.check(method, target.split("?")[0], status, got, reply)
            ask.ask("POST", STORE, text(report(10 ** 6)), want=201)
            ask.ask("GET", "/healthz/ready", want=200)
            if service.stop() != 0:
                ask.fault("the server ended with %d: %s", service.process.returncode, service.said[-1])
        checked = subprocess.run([args.program + "-store", url, "check"], capture_output=True, text=True)
        if checked.returncode != 0:
            ask.fault("the store: %s", checked.stderr)
    print("%d requests, by status: %s; %d faults" % (args.count, dict(sorted(seen.items())), len(ask.faults)))
    return 1 if ask.faults else 0


sys.exit(main())
