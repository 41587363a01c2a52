"""A running `ecocompute serve` for tests, requests to it, and every reply checked against its OpenAPI."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import jsonschema

SKIP = 77


def helper_is_built(program):
    done = subprocess.run([program, "serve", "--check", "--json"], capture_output=True, text=True)
    return json.loads(done.stdout)["program"] is not None


def skip_without_helper(program):
    """The server is built where libmicrohttpd is. Elsewhere its tests are left out, in CI never."""
    if helper_is_built(program):
        return
    print("SKIPPED: ecocompute-serve is not built (libmicrohttpd is missing)")
    sys.exit(1 if os.environ.get("CI") else SKIP)


class Service:
    def __init__(self, program, *options, env=None):
        words = [program, "serve", "--port", "0", *options]
        self.process = subprocess.Popen(words, stderr=subprocess.PIPE, env=env)
        self.port = None
        self.said = []
        for line in self.process.stderr:
            text = line.decode()
            self.said.append(text)
            found = re.search(r"listening on https?://\S+:(\d+)", text)
            if found:
                self.port = int(found.group(1))
                break
        if self.port is None:
            sys.exit("the server did not start: " + "".join(self.said))
        self.openapi = None

    def raw(self, data, timeout=20, shut=False):
        """Bytes as they are; everything until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as s:
            out = b""
            try:
                s.sendall(data)
                if shut:
                    s.shutdown(socket.SHUT_WR)
                while chunk := s.recv(65536):
                    out += chunk
            except OSError:  # it ended the connection, or waits for more
                pass
            return out

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        rest = self.process.stderr.read().decode()
        self.said.append(rest)
        return self.process.wait(timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def memory_mb(self):
        with open("/proc/%d/status" % self.process.pid) as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024


class Asker:
    """Requests over one kept connection; each reply must be what OpenAPI says."""

    def __init__(self, service):
        self.service = service
        self.http = service.connect()
        status, _, body = self.plain("GET", "/openapi.json")
        if status != 200:
            sys.exit("no /openapi.json: %d" % status)
        self.openapi = json.loads(body)
        self.validators = {}
        self.checked = 0
        self.faults = []

    def plain(self, method, target, body=None, headers=None):
        for again in (True, False):
            try:
                self.http.putrequest(method, target, skip_accept_encoding=True)
                headers = dict(headers or {})
                if body is not None:
                    headers.setdefault("Content-Length", str(len(body)))
                for name, value in headers.items():
                    self.http.putheader(name, value)
                self.http.endheaders(body)
                reply = self.http.getresponse()
                return reply.status, reply.headers, reply.read()
            except (http.client.HTTPException, OSError):
                self.http.close()  # an error reply may end the connection
                if not again:
                    raise
        return None

    def fault(self, text, *args):
        self.faults.append(text % args)
        print("FAULT " + self.faults[-1])

    def validator(self, pointer, schema):
        if pointer not in self.validators:
            resolver = jsonschema.RefResolver("", self.openapi)
            self.validators[pointer] = jsonschema.Draft202012Validator(schema, resolver=resolver)
        return self.validators[pointer]

    def resolve(self, node):
        while "$ref" in node:
            at = self.openapi
            for part in node["$ref"].removeprefix("#/").split("/"):
                at = at[part]
            node = at
        return node

    def check(self, method, path, status, headers, body):
        operation = self.openapi["paths"].get(path, {}).get(method.lower())
        if operation is None:
            return
        responses = operation["responses"]
        node = responses.get(str(status)) or responses.get("%dXX" % (status // 100))
        if node is None:
            self.fault("%s %s: status %d is not in OpenAPI", method, path, status)
            return
        node = self.resolve(node)
        self.checked += 1
        if "content" not in node:
            if body:
                self.fault("%s %s: %d has a body", method, path, status)
            return
        kind = headers.get("Content-Type", "").split(";")[0]
        if kind not in node["content"]:
            self.fault("%s %s: %d is %s", method, path, status, kind)
            return
        if kind != "application/json":
            return
        schema = node["content"][kind]["schema"]
        errors = list(self.validator(json.dumps([path, method, status]), schema).iter_errors(
            json.loads(body)))
        for error in errors[:1]:
            self.fault("%s %s: %d does not match OpenAPI at %s: %.200s", method, path, status,
                       list(error.absolute_path), error.message)

    def ask(self, method, target, body=None, headers=None, want=None, code=None, param=None):
        """One request; the reply's JSON (or text). `want`: the status it must have."""
        status, got, raw = self.plain(method, target, body, headers)
        self.check(method, target.split("?")[0], status, got, raw)
        kind = got.get("Content-Type", "")
        said = json.loads(raw) if raw and kind.startswith("application/json") else raw
        if want is not None and status != want:
            self.fault("%s %.120s: %d instead of %d: %.200s", method, target, status, want, raw)
        if code is not None and isinstance(said, dict):
            error = said.get("error", {})
            if error.get("code") != code or (param is not None and error.get("param") != param):
                self.fault("%s %.120s: error %s of '%s'", method, target, error.get("code"),
                           error.get("param"))
        if status >= 400 and not (isinstance(said, dict) and said["error"]["message"]):
            self.fault("%s %.120s: %d without an error object", method, target, status)
        return status, got, said


def wait_until(condition, seconds, step=0.05):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(step)
    return False
