#!/usr/bin/python3
"""MCP over stdio below the SDK: protocol.py --program PATH. Versions, malformed and huge messages,
notifications, cancelled and concurrent calls, a closed pipe, a measurement that is ended.
"""
import argparse
import json
import os
import pathlib
import queue
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time

FAULTS = []


def fault(text, *args):
    FAULTS.append(text % args)
    print("FAULT " + FAULTS[-1])


class Session:
    def __init__(self, program, *options, cwd=None):
        self.process = subprocess.Popen([program, "mcp", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, cwd=cwd)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def send(self, message):
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def get(self, seconds=60):
        line = self.lines.get(timeout=seconds)
        return None if line is None else json.loads(line)

    def ask(self, message):
        self.send(message)
        return self.get()

    def end(self):
        self.process.stdin.close()
        rest = []
        while (line := self.lines.get(timeout=60)) is not None:
            rest.append(json.loads(line))
        return self.process.wait(timeout=60), rest


def request(method, params=None, number=1):
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return message if params is None else {**message, "params": params}


def hello(version="2025-11-25"):
    return request("initialize", {"protocolVersion": version, "capabilities": {},
                                  "clientInfo": {"name": "t", "version": "1"}}, 0)


def call(number, tool="should_i_quantize", **arguments):
    return request("tools/call", {"name": tool, "arguments": arguments}, number)


def versions(program):
    for asked, agreed in (("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"),
                          ("2025-03-26", "2025-03-26"), ("2024-11-05", "2024-11-05"),
                          ("1999-01-01", "2025-11-25"), ("2030-01-01", "2025-11-25")):
        session = Session(program)
        said = session.ask(hello(asked))["result"]["protocolVersion"]
        batch = session.ask([request("ping", number=7), {"jsonrpc": "2.0", "method": "notifications/x"}])
        if said != agreed:
            fault("asked for %s, agreed on %s", asked, said)
        old = agreed <= "2025-03-26"
        if old and batch != [{"jsonrpc": "2.0", "id": 7, "result": {}}]:
            fault("%s: a batch gave %s", asked, batch)
        if not old and batch.get("error", {}).get("code") != -32600:
            fault("%s: a batch gave %s", asked, batch)
        if session.end() != (0, []):
            fault("%s: the session did not end well", asked)


def malformed(program):
    session = Session(program)
    session.ask(hello())
    good = "{%s}" % '"jsonrpc":"2.0","id":%s,"method":"ping"'
    for data, code, number in (
            (b"{", -32700, None), (b"nonsense", -32700, None), (b"\xff\xfe", -32700, None),
            (b'{"a":1,"a":2}', -32700, None), (b"[" * 100, -32700, None), (b"7", -32600, None),
            (b"null", -32600, None), (b"{}", -32600, None), (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', -32600, 3),
            (b'{"id":3,"method":"ping"}', -32600, 3), (b'{"jsonrpc":"2.0","id":3}', -32600, 3),
            (b'{"jsonrpc":"2.0","id":3,"method":7}', -32600, 3),
            ((good % "null").encode(), -32600, None), ((good % "1.5").encode(), -32600, None),
            ((good % "{}").encode(), -32600, None), ((good % "[1]").encode(), -32600, None),
            (b'{"jsonrpc":"2.0","id":3,"method":"no/such"}', -32601, 3),
            (b'{"jsonrpc":"2.0","id":"s","method":"ping","params":[1]}', -32602, "s"),
            (b'{"jsonrpc":"2.0","id":3,"method":"tools/call"}', -32602, 3),
            (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask","arguments":[]}}', -32602, 3),
            (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a\\u0000sk"}}', -32602, 3),
            (b'{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"x"}}', -32602, 3),
            (b'{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"loud"}}', -32602, 3),
            (b'{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}', -32002, 3)):
        said = session.ask(data)
        if said.get("error", {}).get("code") != code or said["id"] != number or not said["error"]["message"]:
            fault("%.60r gave %s", data, said)
    for silent in ({"jsonrpc": "2.0", "method": "notifications/initialized"},
                   {"jsonrpc": "2.0", "method": "no/such/notification"},
                   {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
                   {"jsonrpc": "2.0", "method": "notifications/cancelled"},
                   {"jsonrpc": "2.0", "id": 5, "result": {}}, b"", b"  \r"):
        session.send(silent)
    if session.ask((good % '"last"').encode()) != {"jsonrpc": "2.0", "id": "last", "result": {}}:
        fault("something silent was answered")
    session.end()


def huge(program):
    session = Session(program)
    session.ask(hello())
    # 900 kB: allowed. Under strict_string_checks each step of the parser reads the whole rest: there a tenth.
    code = "x = 1\n" * (15_000 if os.environ.get("SANITIZED") else 150_000)
    said = session.ask(call(1, "audit_code", text=code))
    if "result" not in said:
        fault("a large call was refused: %.100s", said)
    for size in (1_200_000, 9_000_000):
        said = session.ask(b'{"x":"' + b"a" * size + b'"}')
        if said["error"]["code"] != -32600 or said["id"] is not None:
            fault("%d bytes gave %.100s", size, said)
    if session.ask(request("ping"))["result"] != {}:
        fault("no ping after a huge message")
    session.process.stdin.write(b"y" * 3_000_000)  # and no end of line
    if session.end()[0] != 0:
        fault("an unfinished huge line broke the session")


def many(program):
    session = Session(program)
    session.ask(hello())
    for i in range(1, 101):
        session.send(call(i, model="7B", gpu="rtx4090", batch=i))
    session.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 100}})
    session.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "1"}})
    status, rest = session.end()  # what was asked is answered before the end
    answered = {m["id"]: m["result"]["structuredContent"]["input"]["batch"] for m in rest if "result" in m}
    lost = set(range(1, 100)) - set(answered)
    if status != 0 or lost or any(k != v for k, v in answered.items()):
        fault("of a hundred calls %s were lost", sorted(lost))
    # the hundredth was cancelled: no answer, or one when it was faster than the cancellation
    session = Session(program)
    session.ask(hello())
    for i in range(1000, 1400):
        session.send(call(i, "audit_code", text="import torch\n" * 2000))
    session.process.stdin.flush()
    session.process.stdin.close()
    seen = 0
    while (line := session.lines.get(timeout=120)) is not None:
        seen += 1
        said = json.loads(line)
        if "error" in said and said["error"]["code"] != -32000:
            fault("too many calls gave %s", said)
    if seen != 400:
        fault("400 calls got %d answers", seen)


def cancelled(program):
    """Calls that wait are dropped without an answer, and ping is answered meanwhile. The call they wait
    for is long; on a loaded machine it may still end first, so there are several tries."""
    slow = "\n".join("def f%d(a, b):\n    return dict(a=b, c=%d)" % (i, i) for i in range(15_000))
    for _ in range(5):
        session = Session(program)
        session.ask(hello())
        lines = [call(1, "audit_code", text=slow)] + [call(i, model="7B", gpu="rtx4090") for i in range(2, 21)]
        lines += [{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}}
                  for i in range(2, 21)]
        session.send(b"\n".join(json.dumps(m).encode() for m in [*lines, request("ping", number="p")]))
        _, rest = session.end()
        answered = [m["id"] for m in rest]
        if "p" not in answered or 1 not in answered:
            fault("what was not cancelled was not answered: %s", answered)
        if len(answered) == 2:
            return
    fault("of 20 calls 19 were cancelled, and %d were answered", len(rest) - 1)


def chinese(program):
    """A tool that is asked in Chinese says in Chinese what is wrong, and its answer too."""
    session = Session(program)
    session.ask(hello())
    for more, want in (({}, False), ({"lang": "zh"}, True)):
        for gpu, wrong in (("rtx4900", True), ("rtx4090", False)):
            said = session.ask(call(1, params_b=7, gpu=gpu, precision="NF4", **more))["result"]
            text = said["content"][0]["text"]
            text = json.loads(text)["error"]["message"] if wrong else text.splitlines()[0]
            if said["isError"] != wrong or any("\u4e00" <= c <= "\u9fff" for c in text) != want:
                fault("lang=zh %s, %s: %s", want, gpu, text)
    for message, near in ((call(1, "should_i_quantise", lang="zh"), "should_i_quantize"),
                          (call(1, "no_tool_at_all", lang="zh"), "tools/list"),
                          (request("prompts/get", {"name": "optimise", "arguments": {"lang": "zh"}}), "optimize"),
                          (request("prompts/get", {"name": "optimize", "arguments": {"lang": "zh"}}), "prompts/list")):
        error = session.ask(message)["error"]
        if not any("\u4e00" <= c <= "\u9fff" for c in error["message"]) or near not in error["message"]:
            fault("lang=zh, %s: %s", message, error)
    for message, near in ((call(1, "should_i_quantise"), "should_i_quantize"), (request("tools/lists"), "tools/list"),
                          (request("prompts/get", {"name": "optimise"}), "optimize"),
                          (request("logging/setLevel", {"level": "loud"}), "warning"),
                          (request("resources/read", {"uri": "x:y"}), "resources/list")):
        error = session.ask(message)["error"]
        if not error["message"].isascii() or near not in error["message"] or not error["data"]["param"]:
            fault("%s: %s", message, error)
    session.end()


def closed(program):
    """Nobody reads: the program ends by itself."""
    for close_first in (True, False):
        process = subprocess.Popen([program, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        if close_first:
            process.stdout.close()
        try:
            for i in range(200):
                process.stdin.write(json.dumps(request("tools/list", number=i)).encode() + b"\n")
                process.stdin.flush()
                if i == 3 and not close_first:
                    process.stdout.close()
        except BrokenPipeError:
            pass
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        if process.wait(timeout=240) not in (0, 4):
            fault("a closed pipe gave status %s: %s", process.returncode, process.stderr.read())
        process.stderr.close()


def measure(program):
    """A client sets numbers, not programs or folders; a measurement is ended when it is cancelled."""
    with tempfile.TemporaryDirectory() as top:
        session = Session(program, "--allow-measure", "--out", "runs", cwd=top)
        session.ask(hello())
        tools = {t["name"]: t for t in session.ask(request("tools/list"))["result"]["tools"]}
        allowed = tools["measure_energy"]["inputSchema"]["properties"]
        bad = {"workload", "out", "nvml_library", "sysfs", "force", "source"} & set(allowed)
        if bad or tools["measure_energy"]["annotations"]["readOnlyHint"]:
            fault("a client may set %s", sorted(bad))
        for name in ("workload", "out", "force", "nvml_library", "source", "sysfs"):
            said = session.ask(call(1, "measure_energy", model="TinyLlama-1.1B-Chat-v1.0", **{name: "x"}))
            error = json.loads(said["result"]["content"][0]["text"])["error"]
            if not said["result"].get("isError") or error["code"] != "unknown_parameter":
                fault("'%s' of a client: %s", name, said)
        session.send(call(2, "measure_energy", model="TinyLlama-1.1B-Chat-v1.0", gpu="rtx4090"))
        time.sleep(1)
        session.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
        said = session.ask(request("ping", number="p"))
        if said["id"] not in ("p", 2):  # 2: it was done within the second
            fault("while measuring, ping gave %s", said)
        if session.end()[0] != 0:
            fault("a cancelled measurement did not end")


def snippets(program):
    """Each client's configuration in docs/mcp.md starts a session, as it is written, from another folder."""
    text = pathlib.Path(__file__).resolve().parents[2].joinpath("docs", "mcp.md").read_text()
    commands = []
    for block in re.findall(r"```json\n(.*?)```", text, re.S):
        for servers in json.loads(block).values():
            commands += [[s["command"], *s["args"]] for s in servers.values()]
    commands += [shlex.split(line) for line in re.findall(r"^\w+ mcp add ecocompute -- (.*)$", text, re.M)]
    if len(commands) < 4:
        fault("docs/mcp.md has %d snippets", len(commands))
    env = {**os.environ, "PATH": "%s:/usr/bin:/bin" % pathlib.Path(program).parent}
    with tempfile.TemporaryDirectory() as top:
        for command in commands:
            said = json.dumps(hello()) + "\n" + json.dumps(request("tools/list", number=2)) + "\n"
            done = subprocess.run(command, input=said, capture_output=True, text=True, cwd=top, env=env, timeout=60)
            replies = [json.loads(line) for line in done.stdout.splitlines()]
            if done.returncode or len(replies) != 2 or len(replies[1]["result"]["tools"]) != 8:
                fault("%s: %s", command, done)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = str(pathlib.Path(parser.parse_args().program).resolve())
    for part in (versions, malformed, huge, many, cancelled, chinese, closed, measure, snippets):
        part(program)
    print("%d faults" % len(FAULTS))
    return 1 if FAULTS else 0


if __name__ == "__main__":
    sys.exit(main())
