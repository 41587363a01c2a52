#!/usr/bin/python3
"""The HTTP interface: http_api.py --program PATH. Every reply is checked against /openapi.json; for each
parameter of each operation wrong values are made from its schema and must be refused with its name.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import urllib.parse

from service import Asker, Service, skip_without_helper

ESTIMATE = "/v1/estimate?params_b=7&arch=ada&precision=NF4"


def examples(ask):
    """The examples in OpenAPI are true: asked again they give the same."""
    for path, methods in ask.openapi["paths"].items():
        get, post = methods.get("get"), methods.get("post")
        if get and get.get("parameters") is not None:
            pairs = [(p["name"], p["example"]) for p in get["parameters"] if "example" in p]
            if any(p["schema"]["type"] == "array" for p in get["parameters"] if "example" in p):
                continue
            text = [(n, str(v).lower() if isinstance(v, bool) else v) for n, v in pairs]
            content = get["responses"]["200"]["content"]["application/json"]
            if "example" in content and text:
                _, _, said = ask.ask("GET", path + "?" + urllib.parse.urlencode(text), want=200)
                if said != content["example"]:
                    ask.fault("GET %s: the example is another answer", path)
        content = post["requestBody"]["content"]["application/json"] if post else {}
        if "example" in content:
            _, _, said = ask.ask("POST", path, json.dumps(content["example"]).encode(), want=200)
            if said != post["responses"]["200"]["content"]["application/json"]["example"]:
                ask.fault("POST %s: the example is another answer", path)


def published(ask):
    """What clients of the published worker send and read."""
    _, head, said = ask.ask("GET", ESTIMATE + "&calibration=published&batch=1&ctx=2048", want=200)
    for name in ("delta_pct", "ci", "basis", "confidence", "recommendation", "crossover_b", "arch_used",
                 "modelled", "weight_gb", "weight_gb_fp16", "notes", "verdict"):
        if name not in said:
            ask.fault("estimate lacks '%s'", name)
    if said["delta_pct"] != -28.5 or said["basis"] != "measured":
        ask.fault("the published answer for 7B ada NF4 is not -28.5 %% measured")
    given = {k: said["input"][k] for k in ("params_b", "arch", "precision", "batch", "ctx")}
    if given != {"params_b": 7, "arch": "ada", "precision": "NF4", "batch": 1, "ctx": 2048}:
        ask.fault("estimate's input is %s", given)
    if head["Cache-Control"] != "public, max-age=300, s-maxage=3600":
        ask.fault("Cache-Control is %s", head["Cache-Control"])
    _, head, also = ask.ask("POST", "/v1/estimate", json.dumps(
        {"N": 7, "arch": "ada", "precision": "nf4", "calibration": "published"}).encode(), want=200)
    if also != said or head["Cache-Control"] != "no-store":
        ask.fault("POST with N is not the same as GET with params_b")
    _, _, asked = ask.ask("GET", "/v1/estimate?calibration=published&q=" + urllib.parse.quote(
        "7B NF4 on ada"), want=200)
    if asked["delta_pct"] != -28.5:
        ask.fault("q= is answered with %s", asked["delta_pct"])
    _, _, best = ask.ask("GET", "/v1/optimize?params_b=7&arch=ada&calibration=published&compat=true",
                         want=200)
    if not {"recommended", "alternatives", "candidates", "feasible_count"} <= set(best):
        ask.fault("optimize lacks fields: %s", sorted(best))
    _, _, classes = ask.ask("GET", "/v1/architectures", want=200)
    if classes["hopper"] != {"label": classes["hopper"]["label"], "borrows_from": "ampere", "precisions": {}}:
        ask.fault("hopper is %s", classes["hopper"])
    if classes["ada"]["precisions"]["NF4"]["crossover_b"] != 3.728:
        ask.fault("ada NF4 is %s", classes["ada"]["precisions"]["NF4"])


# What the server itself and what operations refuse: status, code, param, and the next step that is told.
REFUSED = (
    ("GET", "/v1/estimat?params_b=7", None, {}, 404, "not_found", None, "/v1/estimate"),
    ("GET", "/estimate", None, {}, 404, "not_found", None, "/v1/estimate"),
    ("GET", "/v1/estimate/", None, {}, 404, "not_found", None, "/v1/estimate"),
    ("GET", "/nothing/like/it", None, {}, 404, "not_found", None, "/openapi.json"),
    ("PUT", "/v1/estimate", None, {}, 405, "method_not_allowed", None, "GET, HEAD, POST, OPTIONS"),
    ("GET", "/v1/reports", None, {}, 405, "method_not_allowed", None, "POST, OPTIONS"),
    ("GET", "/v1/gpus?arch=" + "x" * 9000, None, {}, 414, "uri_too_long", None, "POST"),
    ("GET", "/v1/gpus", None, {"X-Fill": "x" * 20000}, 431, "headers_too_large", None, "16384"),
    ("POST", "/v1/gpus", b" " * 9000, {}, 413, "too_large", None, "8192"),
    ("POST", "/v1/gpus", b"arch=ada", {"Content-Type": "application/x-www-form-urlencoded"}, 415,
     "unsupported_media_type", "Content-Type", "JSON"),
    ("POST", "/v1/gpus", b"\x1f\x8b\x08", {"Content-Encoding": "gzip"}, 415, "unsupported_media_type",
     "Content-Encoding", "Content-Encoding"),
    ("POST", "/v1/gpus", b"", {}, 400, "invalid_content", None, "1"),
    ("POST", "/v1/estimate", b"[]", {}, 400, "invalid_parameter", None, "JSON"),
    ("POST", "/v1/estimate", b'{"arch":"ada","arch":"ada"}', {}, 400, "invalid_content", "arch", "arch"),
    ("GET", "/v1/estimate?params=7", None, {}, 400, "unknown_parameter", "params", "params_b"),
    ("GET", "/v1/estimate?zzqqzzqq=7", None, {}, 400, "unknown_parameter", "zzqqzzqq", "model, params_b"),
    ("GET", "/v1/estimate?gpu=rtx4900", None, {}, 400, "unknown_name", "gpu", "rtx4090"),
    ("GET", "/v1/estimate?params_b=-1", None, {}, 400, "out_of_range", "params_b", "0.001"),
    ("GET", "/v1/estimate?params_b=7&N=8", None, {}, 400, "invalid_parameter", "params_b", "params_b"),
    ("GET", "/v1/estimate?params_b", None, {}, 400, "invalid_parameter", "params_b", "params_b"),
    ("GET", "/v1/estimate?params_b=%zz", None, {}, 400, "invalid_parameter", "params_b", "%"),
    # what the command line would take from a file is asked for by the name that a request has for it
    ("POST", "/v1/audit", b"{}", {}, 400, "missing_parameter", "text", "text"),
    ("GET", "/v1/estimate", None, {}, 400, "missing_parameter", "model", "params_b 7"),
    ("POST", "/v1/reports", b'{"action":"show"}', {}, 400, "missing_parameter", "document", "document"),
    ("POST", "/v1/reports", b'{"action":"compare","document":"{}"}', {}, 400, "missing_parameter", "other_document",
     "other_document"),
    ("POST", "/v1/reports", b'{"action":"keygen"}', {}, 501, "unsupported", "action", "keygen"),
    ("POST", "/v1/withdrawals", b'{"id":"a","token":"b"}', {}, 501, "unsupported", "store", "--store"),
    ("POST", "/v1/withdrawals", b"{}", {"Origin": "https://a.example"}, 403, "permission", "Origin", "--origins"),
    ("POST", "/mcp", b"{}", {"Origin": "https://a.example"}, 403, "permission", "Origin", "--origins"),
    ("POST", "/mcp", b"{}", {"Accept": "text/html"}, 406, "not_acceptable", "Accept", "application/json"),
    ("POST", "/mcp", b"{}", {"MCP-Protocol-Version": "1999-01-01"}, 400, "unsupported",
     "MCP-Protocol-Version", "2025-11-25"),
)


def described(ask):
    """The document says who may do what: the owner's places want its token, all others none."""
    wants = {path: [m.get("security") for m in methods.values()] for path, methods in ask.openapi["paths"].items()}
    known = ask.openapi["components"]["securitySchemes"]
    either = [{}, {"owner": []}]
    if set(known) != {"owner"} or {p: w[0] for p, w in wants.items() if w[0] is not None} != {
            "/v1/reports": either, "/v1/replications": either, "/v1/moderations": [{"owner": []}]}:
        ask.fault("security: %s", wants)


def is_chinese(text):
    return any("\u4e00" <= c <= "\u9fff" for c in text)


def languages(ask):
    """Each refusal says the next step, in the language that the address, the body or the browser asks for;
    status, code and parameter are the same in both."""
    for method, target, body, headers, status, code, param, step in REFUSED:
        longer = target + ("&" if "?" in target else "?") + "lang="
        ways = [(target, "", False), (target, "de, en;q=0.5, zh;q=0.1", False), (target, "zh-CN,zh;q=0.9,en;q=0.8", True),
                (longer + "en", "zh", False), (longer + "zh", "en", True), (longer + "%7Ah", "", True)]
        if target in ("/v1/withdrawals", "/v1/reports") and status in (400, 501):  # have no such parameter
            ways = ways[:3]
        for place, accepted, chinese in ways:
            with_language = dict(headers, **({"Accept-Language": accepted} if accepted else {}))
            got, head, said = ask.ask(method, place, body, with_language, want=status)
            error = said["error"]
            if (error["code"], error["param"]) != (code, param) or step not in error["message"] or \
                    is_chinese(error["message"]) != chinese or head["X-Content-Type-Options"] != "nosniff":
                ask.fault("%s %.60s (%s): %s", method, place, accepted, error)
    for lang, accepted, chinese in (("zh", "en", True), ("en", "zh", False)):
        body = json.dumps({"gpu": "rtx4900", "lang": lang}).encode()
        said = ask.ask("POST", "/v1/estimate", body, {"Accept-Language": accepted}, want=400)[2]["error"]
        if is_chinese(said["message"]) != chinese:
            ask.fault("lang %s of the body: %s", lang, said)
    for arguments, chinese in (({}, True), ({"lang": "en"}, False), ({"lang": "zh"}, True)):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "should_i_quantise", "arguments": arguments}}
        said = ask.ask("POST", "/mcp", json.dumps(call).encode(), {"Accept-Language": "zh"}, want=200)[2]["error"]
        if is_chinese(said["message"]) != chinese or "should_i_quantize" not in said["message"]:
            ask.fault("/mcp, arguments %s: %s", arguments, said)


def bad_values(schema):
    """Query texts this parameter must refuse, with the code (None: any of the 400s)."""
    kind = schema["type"]
    item = schema["items"] if kind == "array" else schema
    kind = item["type"]
    yield "", None
    yield "%zz", "invalid_parameter"
    yield "%", "invalid_parameter"
    yield "%4", "invalid_parameter"
    yield "%ff%fe", "invalid_parameter"  # not UTF-8
    yield "%00", "invalid_parameter"
    yield "%C0%80", "invalid_parameter"  # an overlong NUL
    yield "x" * 10240, None
    if kind in ("number", "integer"):
        for text in ("abc", "7B", "1e999", "nan", "inf", "0x10", "1+2", "--1", "%2B%2B1", "１"):
            yield urllib.parse.quote(text, safe="%+"), None
        if "maximum" in item:
            yield repr(item["maximum"] * 2 + 1), "out_of_range"
            low = item.get("exclusiveMinimum", item.get("minimum"))
            yield repr(low if "exclusiveMinimum" in item else low - 1), "out_of_range"
        if kind == "integer":
            yield "1.5", "invalid_parameter"
    if kind == "boolean":
        yield "maybe", "invalid_parameter"
        yield "2", "invalid_parameter"
    if "enum" in item:
        yield "zzzz", "unknown_name"


def bad_json(schema):
    kind = schema["type"]
    other = {"string": 5, "number": True, "integer": [1], "boolean": "true", "array": 7}[kind]
    yield other
    yield {"a": 1}
    if kind == "array":
        yield []
        yield [None]
        yield [1] * 300


def negatives(ask):
    """Each parameter: missing, empty, wrong type, out of range, repeated, too long, bad bytes."""
    for path, methods in ask.openapi["paths"].items():
        for p in methods.get("get", {}).get("parameters", []):
            name = p["name"]
            for text, code in bad_values(p["schema"]):
                target = "%s?%s=%s" % (path, name, text)
                status, _, said = ask.ask("GET", target)
                want = 414 if len(target) > 8192 else 413 if len(text) > 4096 and status == 413 else 400
                if status != want:
                    ask.fault("GET %.90s: %d instead of %d", target, status, want)
                elif status == 400 and (said["error"]["param"] != name or
                                        (code and said["error"]["code"] != code)):
                    ask.fault("GET %.90s: %s", target, said)
            good = {"boolean": "true", "array": "1"}.get(p["schema"]["type"], "1")
            good = p["schema"].get("enum", [good])[0]
            status, _, said = ask.ask("GET", "%s?%s=%s&%s=%s" % (path, name, good, name, good), want=400)
            if "twice" not in said["error"]["message"] or said["error"]["param"] != name:
                ask.fault("GET %s: '%s' twice: %s", path, name, said)
            if p.get("required"):
                ask.ask("GET", path, want=400, code="missing_parameter", param=name)
        post = methods.get("post")
        if not post or path == "/mcp":
            continue
        request = post["requestBody"]["content"]["application/json"]["schema"]
        ways = [ask.resolve(way).get("properties", {}) for way in request.get("anyOf", [request]) if "$ref" in way]
        for name, schema in [pair for way in ways for pair in way.items()]:
            for value in bad_json(schema):
                status, _, said = ask.ask("POST", path, json.dumps({name: value}).encode(), want=400)
                if said["error"]["param"] != name:
                    ask.fault("POST %s %s=%.40s: %s", path, name, value, said)
            doubled = '{"%s":null,"%s":null}' % (name, name)
            ask.ask("POST", path, doubled.encode(), want=400)
        for body in (b"", b"{", b"[]", b"7", b'"x"', b"null", b"\xff", b"{}" * 2, b'{"a":NaN}',
                     b"[" * 4000, b'{"a":' * 1000, b"\xef\xbb\xbf{}"):
            ask.ask("POST", path, body, want=400)
        ask.ask("POST", path, b'{"nothing":1}', want=400, code="unknown_parameter", param="nothing")
        if "get" in methods:
            ask.ask("GET", path + "?nothing=1", want=400, code="unknown_parameter", param="nothing")
            ask.ask("GET", path + "?%6eothing=1", want=400, code="unknown_parameter", param="nothing")
            ask.ask("GET", path + "?=1", want=400, code="unknown_parameter")
            many = "&".join("a%d=1" % i for i in range(200))
            ask.ask("GET", path + "?" + many, want=400)


def protocol(ask):
    """Statuses, headers and limits that are no parameter's."""
    ask.ask("GET", "/nope", want=404)
    ask.ask("GET", "/v1/estimate/", want=404)
    ask.ask("GET", "/v1/%65stimate", want=404)
    for method in ("PUT", "DELETE", "PATCH", "TRACE"):
        _, head, _ = ask.ask(method, "/v1/estimate", want=405)
        if head["Allow"] != "GET, HEAD, POST, OPTIONS":
            ask.fault("Allow is %s", head["Allow"])
    _, head, _ = ask.ask("GET", "/mcp", want=405)
    if head["Allow"] != "POST, OPTIONS":
        ask.fault("Allow of /mcp is %s", head["Allow"])
    ask.ask("POST", "/healthz", b"{}", want=405)
    ask.ask("GET", "/v1/estimate?q=" + "x" * 9000, want=414)
    ask.ask("POST", "/v1/estimate", b" " * 9000, want=413)
    ask.ask("POST", "/v1/audit", b'{"text":"' + b"x" * 900_000 + b'"}', want=None)
    ask.ask("POST", "/v1/audit", b" " * (1 << 20) + b"  ", want=413)
    ask.ask("POST", "/v1/reports", b" " * (256 << 10) + b" ", want=413)
    ask.ask("GET", ESTIMATE, headers={"X-Fill": "x" * 20000}, want=431)
    status, _, raw = ask.plain("GET", "/v1/estimate", headers={"X-Fill": "x" * 40000})
    if status != 431:
        ask.fault("40 kB of headers: %d %.80s", status, raw)
    ask.http.close()
    status, head, raw = ask.plain("HEAD", ESTIMATE)
    if status != 200 or raw or int(head["Content-Length"]) < 500:
        ask.fault("HEAD: %d, %d bytes", status, len(raw))
    status, head, _ = ask.plain("OPTIONS", "/v1/estimate",
                                headers={"Origin": "https://a.example", "Access-Control-Request-Method": "POST"})
    if status != 204 or head["Access-Control-Allow-Origin"] != "*" or "Access-Control-Allow-Credentials" in head:
        ask.fault("preflight: %d %s", status, head)
    for target in (ESTIMATE, "/", "/nope", "/v1/estimate?x=1", "/metrics"):
        _, head, _ = ask.plain("GET", target)
        if head["X-Content-Type-Options"] != "nosniff" or head["Referrer-Policy"] != "no-referrer":
            ask.fault("GET %s: headers %s", target, head)
    etags(ask)
    page(ask)


def etags(ask):
    _, head, _ = ask.ask("GET", ESTIMATE, want=200)
    tag = head["ETag"]
    for value in (tag, "W/" + tag, '"x", ' + tag, "*"):
        status, again, raw = ask.plain("GET", ESTIMATE, headers={"If-None-Match": value})
        if status != 304 or raw or again["ETag"] != tag:
            ask.fault("If-None-Match %s: %d", value, status)
    _, other, _ = ask.ask("GET", ESTIMATE + "&batch=2", headers={"If-None-Match": tag}, want=200)
    if other["ETag"] == tag:
        ask.fault("two questions have one ETag")
    _, head, _ = ask.ask("GET", "/openapi.json", want=200)
    if ask.plain("GET", "/openapi.json", headers={"If-None-Match": head["ETag"]})[0] != 304:
        ask.fault("/openapi.json has no lasting ETag")


def page(ask):
    _, head, body = ask.ask("GET", "/", want=200)
    csp = head["Content-Security-Policy"]
    if not head["Content-Type"].startswith("text/html") or "default-src 'none'" not in csp or "*" in csp:
        ask.fault("/ has %s, %s", head["Content-Type"], csp)
    if b"<script" in body and "sha256-" not in csp and b"src=" not in body:
        ask.fault("an inline script without its hash")


def folder_of_pages(program):
    """Only files of the folder are there, whatever the address says."""
    with tempfile.TemporaryDirectory() as top:
        web = pathlib.Path(top, "web")
        web.joinpath("assets").mkdir(parents=True)
        web.joinpath("index.html").write_text("<!doctype html><script>let a=1</script>")
        web.joinpath("assets", "core.wasm").write_bytes(b"\0asm")
        web.joinpath(".secret").write_text("secret")
        pathlib.Path(top, "outside.txt").write_text("secret")
        web.joinpath("link.txt").symlink_to(pathlib.Path(top, "outside.txt"))
        with Service(program, "--web", str(web), "--rate-limit", "0", "--access-log", "off") as service:
            ask = Asker(service)
            _, head, _ = ask.ask("GET", "/", want=200)
            if "sha256-" not in head["Content-Security-Policy"]:
                ask.fault("an inline script has no hash in the policy")
            _, head, _ = ask.ask("GET", "/assets/core.wasm", want=200)
            if head["Content-Type"] != "application/wasm":
                ask.fault("wasm is %s", head["Content-Type"])
            for climb in ("/../outside.txt", "/assets/../../outside.txt", "/%2e%2e/outside.txt",
                          "/..%2foutside.txt", "/.secret", "/link.txt", "//etc/passwd", "/assets",
                          "/assets/", "/index.html/", "/..\\outside.txt", "/index.html%00.txt"):
                status, _, raw = ask.plain("GET", climb)
                if status != 404 or b"secret" in raw:
                    ask.fault("GET %s: %d", climb, status)
            return ask


def broken_requests(service, ask):
    """Bytes that are no request end the connection, never the server."""
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01",
                 b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
                 b"POST /v1/estimate HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
                 b"POST /v1/estimate HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                 b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n", b"GET http://a/v1/gpus HTTP/1.1\r\nHost: a\r\n\r\n",
                 b"GET / HTTP/1.1\r\n\r\n", b"A" * 100_000,
                 b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: y\r\n" * 20_000 + b"\r\n"):
        service.raw(data, timeout=1, shut=True)
        if ask.plain("GET", "/healthz")[0] != 200:
            ask.fault("no answer after %.40r", data)
    framing(service, ask)
    chunked = (b"POST /v1/estimate HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
               b"1f\r\n{\"params_b\":7,\"arch\":\"ampere\"}\n\r\n0\r\n\r\n")
    if b" 200 " not in service.raw(chunked).split(b"\r\n")[0]:
        ask.fault("a chunked body is not taken")
    big = b"POST /v1/estimate HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    big += b"1000\r\n" + b" " * 4096 + b"\r\n"
    big += (b"1000\r\n" + b" " * 4096 + b"\r\n") * 9 + b"0\r\n\r\n"
    if b" 413 " not in service.raw(big).split(b"\r\n")[0]:
        ask.fault("a long chunked body is not refused")


def framing(service, ask):
    """What two servers could read in two ways: refused with a reason, and nothing behind it is answered."""
    post, chunks = b"POST /v1/gpus HTTP/1.1\r\nHost: a\r\n", b"2\r\n{}\r\n0\r\n\r\n"
    smuggled = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    for head, param in ((post + b"Content-Length: 12\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding"),
                        (post + b"Transfer-Encoding: chunked\r\nContent-Length: 12\r\n", "Transfer-Encoding"),
                        (post + b"Transfer-Encoding: xchunked\r\n", "Transfer-Encoding"),
                        (post + b"Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding"),
                        (post + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding"),
                        (post + b"Transfer-Encoding:\r\n chunked\r\n", None),
                        (post + b"X: a\r\n Transfer-Encoding: chunked\r\n", None),
                        (post + b"Transfer-Encoding : chunked\r\n", None),
                        (post + b"Content-Length : 12\r\n", None),
                        (post + b"Content-Length: 12\r\nContent-Length: 2\r\n", "Content-Length"),
                        (post.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n", "Transfer-Encoding"),
                        (post + b"Host: b\r\nContent-Length: 12\r\n", "Host"),
                        (post + b"Host: a\r\nContent-Length: 12\r\n", "Host"),
                        (b"POST /v1/gpus HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", "Host"),
                        (b"POST /v1/gpus\0/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n", None),
                        (b"POST /v1/gpus /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n", None)):
        raw = service.raw(head + b"\r\n" + chunks + smuggled, timeout=5)
        first, _, body = raw.partition(b"\r\n\r\n")
        if raw.count(b"HTTP/1.1 ") != 1 or b" 400 " not in first.split(b"\r\n")[0]:
            ask.fault("%r: %r", head, raw[:300])
        elif json.loads(body)["error"]["code"] != "invalid_request" or json.loads(body)["error"]["param"] != param:
            ask.fault("%r: %s", head, body)
    for good in (b"GET http://a.example/v1/gpus HTTP/1.1\r\nHost: a.example\r\n",
                 b"GET HTTPS://a.example/v1/gpus?arch=ada HTTP/1.1\r\nHost: a.example\r\n",
                 b"GET /v1/gpus HTTP/1.0\r\n",
                 b"GET /v1/gpus HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\n",
                 b"GET /v1/gpus?" + b"&" * 100 + b"arch=ada HTTP/1.1\r\nHost: a\r\n"):
        if b" 200 " not in service.raw(good + b"Connection: close\r\n\r\n", timeout=5).split(b"\r\n")[0]:
            ask.fault("%.80r is refused", good)
    many = b"GET /v1/gpus?" + b"&a" * 4000 + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    if b" 400 " not in service.raw(many, timeout=5).split(b"\r\n")[0]:
        ask.fault("4,000 parameters are not refused")
    waits = post + b"Expect: 100-continue\r\nContent-Length: 9000\r\n\r\n"
    if b" 413 " not in service.raw(waits, timeout=5).split(b"\r\n")[0]:
        ask.fault("a body that is too long is waited for")


def strangers(ask):
    """What one MCP client agreed on over HTTP is nothing to another: each says its version, or is of 2025-03-26."""
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
             "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
    said = ask.ask("POST", "/mcp", json.dumps(hello).encode(), want=200)[2]
    if said["result"]["protocolVersion"] != "2025-11-25":
        ask.fault("initialize: %s", said)
    batch = json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]).encode()
    said = ask.ask("POST", "/mcp", batch, want=200)[2]
    if said != [{"jsonrpc": "2.0", "id": 1, "result": {}}]:
        ask.fault("a batch without a version: %s", said)
    status, _, raw = ask.plain("POST", "/mcp", batch, headers={"MCP-Protocol-Version": "2025-11-25"})
    if status != 400 or json.loads(raw)["error"]["code"] != -32600:
        ask.fault("a batch of 2025-11-25: %d %s", status, raw)
    for method in ("GET", "DELETE"):
        ask.ask(method, "/mcp", headers={"Mcp-Session-Id": "1"}, want=405)


def memory(service, ask):
    """Bodies of the size allowed that are costly to read leave no memory behind, and are no fault of the server."""
    before = service.memory_mb()
    for body, want in ((b'{"text":[' + b"[]," * 300_000 + b"1]}", 413), (b'{"text":[' + b"1," * 500_000 + b"1]}", 413),
                       (b'{"text":[' + b"1," * 20_000 + b"1]}", 400), (b"[" + b"1," * 40_000 + b"]", 400)):
        for _ in range(3):
            ask.ask("POST", "/v1/audit", body, want=want)
    call = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[' + b"[]," * 300_000 + b"1]}}"
    if ask.plain("POST", "/mcp", call)[0] != 400:
        ask.fault("a message of 300,000 values is taken")
    if not os.environ.get("SANITIZED") and service.memory_mb() > before + 4:
        ask.fault("the memory grew from %.1f to %.1f MB", before, service.memory_mb())


def rate(program):
    with Service(program, "--rate-limit", "5", "--trust-proxy", "--access-log", "off") as service:
        ask = Asker(service)

        def as_client(address, times):
            return [ask.plain("GET", ESTIMATE, headers={"X-Forwarded-For": address})[0] for _ in range(times)]

        if as_client("192.0.2.1", 6) != [200] * 5 + [429]:
            ask.fault("five a minute are not five")
        _, head, _ = ask.ask("GET", ESTIMATE, headers={"X-Forwarded-For": "192.0.2.1"}, want=429)
        if not 1 <= int(head["Retry-After"]) <= 12:
            ask.fault("Retry-After is %s", head["Retry-After"])
        if as_client("192.0.2.2", 1) != [200]:
            ask.fault("another client is limited too")
        if as_client("2001:db8:1:2::1", 3) + as_client("2001:db8:1:2:ffff::9", 3) != [200] * 5 + [429]:
            ask.fault("one /64 is not one client")
        if as_client("2001:db8:1:3::1", 1) != [200] or as_client("spoof, 192.0.2.9", 1) != [200]:
            ask.fault("another /64 or the last proxy's address is not its own client")
        if ask.plain("GET", "/healthz")[0] != 200:
            ask.fault("/healthz is limited")
        return ask


def access_log(program):
    with Service(program, "--rate-limit", "0") as service:
        ask = Asker(service)
        ask.plain("GET", ESTIMATE + "&region=France")
        ask.plain("GET", "/nope%0a?secret=1")
        service.stop()
        lines = [json.loads(line) for line in service.said[-1].splitlines() if line.startswith("{")]
        if [(r["path"], r["status"]) for r in lines] != [
                ("/openapi.json", 200), ("/v1/estimate", 200), ("/nope%0a", 404)]:
            ask.fault("access log: %s", lines)
        if any("France" in json.dumps(r) or "secret" in json.dumps(r) for r in lines):
            ask.fault("the access log has query text: %s", lines)
        return ask


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = parser.parse_args().program
    skip_without_helper(program)
    asked = []
    with Service(program, "--rate-limit", "0", "--access-log", "off") as service:
        ask = Asker(service)
        asked.append(ask)
        described(ask)
        examples(ask)
        published(ask)
        languages(ask)
        negatives(ask)
        protocol(ask)
        broken_requests(service, ask)
        strangers(ask)
        memory(service, ask)
        if service.stop() != 0:
            ask.fault("the server ended with status %d: %s", service.process.returncode, service.said[-1])
    asked += [folder_of_pages(program), rate(program), access_log(program)]
    faults = sum(len(a.faults) for a in asked)
    print("%d replies checked against OpenAPI, %d faults" % (sum(a.checked for a in asked), faults))
    return 1 if faults else 0


sys.exit(main())
