#!/usr/bin/python3
"""ecocompute-openai against a server that behaves, and against many that do not.

openai_worker.py --helper PROGRAM. The server is tests/fake/openai_server.py, on loopback.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fake"))
from fake_server import FakeServer  # noqa: E402
KEY = "sk-secret-0123456789"


def fail(text):
    print("FAILED: " + text)
    sys.exit(1)


class Helper:
    """The helper as a child: requests in, events out."""

    def __init__(self, args, url, *words, key=None):
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        if key:
            env["OPENAI_API_KEY"] = key
        env.update({k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")})
        self.process = subprocess.Popen([args.helper, "--url", url, *words], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.out = ""

    def send(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def event(self):
        line = self.process.stdout.readline()
        self.out += line
        return json.loads(line) if line else {"event": "gone"}

    def until(self, *names):
        seen = []
        while True:
            seen.append(self.event())
            if seen[-1]["event"] in names + ("error", "gone"):
                return seen

    def load(self, batch=1, precision="NF4", model="tiny"):
        if self.until("ready")[-1] != {"event": "ready", "protocol": 1, "engine": "openai"}:
            fail("not ready: " + self.out)
        self.send(op="load", model=model, precision=precision, batch=batch, prompt_tokens=9,
                  tokens=32, seed=1)
        return self.until("loaded")[-1]

    def window(self, iterations=3, tokens=32, op="window"):
        self.send(op=op, iterations=iterations, tokens=tokens)
        return self.until("window_end")

    def end(self):
        self.process.stdin.close()
        err = self.process.stderr.read()
        self.process.stdout.read()
        status = self.process.wait(timeout=30)
        return status, err


def check(what, got, want):
    if got != want:
        fail("%s: %r, wanted %r" % (what, got, want))


def check_near(what, got, low, high):
    if not low <= got <= high:
        fail("%s: %r, wanted %r to %r" % (what, got, low, high))


def records(path):
    """What the server wrote of its streams, as they began."""
    rows = [json.loads(row) for row in pathlib.Path(path).read_text().splitlines()]
    return sorted(rows, key=lambda s: s["begun"])


def steady_by_the_server(end, path):
    """The tokens of the last 32 streams' steady state by the server's record: ("" or what is
    wrong, the longest pause as a share of it)."""
    streams = records(path)[-32:]
    began = max(s["sent"][0] for s in streams[:8])
    ended = sorted(s["sent"][-1] for s in streams)[24]
    tokens = sum(began < t <= ended for s in streams for t in s["sent"])
    pause_s = max(b - a for s in streams for a, b in zip(s["sent"], s["sent"][1:]))
    print("8 streams: %d tokens, %d of them in the steady state, %d by the server's record"
          % (end["tokens"], end["steady_tokens"], tokens))
    if end["steady_tokens"] > 1024 - 8:
        fail("the steady state: %r" % end)
    wrong = abs(end["steady_tokens"] / tokens - 1) > 0.04
    return "%r, by the server's record %d" % (end, tokens) if wrong else "", \
        pause_s / (ended - began)


def one_stream(args):
    """Tokens, times and requests of a server that behaves."""
    with tempfile.NamedTemporaryFile() as log, \
            FakeServer("--token-s", "0.004", "--ttft-s", "0.05", "--log", log.name) as server:
        h = Helper(args, server.url, key=KEY)
        loaded = h.load()
        check("versions", {k: loaded["versions"][k] for k in
                           ("server", "fingerprint", "url", "endpoint", "served_model")},
              {"server": "fake-llm/1.0", "fingerprint": "fp-7", "url": server.url + "/v1",
               "endpoint": "completions", "served_model": "tiny"})
        steps_s = []
        for _ in range(2):
            begun, told_s = time.monotonic(), 0.0
            seen = h.window()
            took_s = time.monotonic() - begun
            check("events", [e["event"] for e in seen],
                  ["window_begin"] + ["first_token", "iteration"] * 3 + ["window_end"])
            check("tokens", seen[-1]["tokens"], 96)
            check("sequences", seen[-1]["sequences"], 1)
            for e in seen:
                if e["event"] == "iteration":
                    check("tokens", e["tokens"], 32)
                    check("intervals", len(e["intervals_s"]), 31)
                    # the server slept so long at least; a first token seen late shortens the rest
                    check_near("ttft", e["ttft_s"], 0.05, took_s)
                    steps = sum(e["intervals_s"])
                    check_near("a stream", e["ttft_s"] + steps, 0.05 + 31 * 0.004, took_s)
                    check_near("tpot of the stream", e["tpot_s"], steps / 31 * 0.999,
                               steps / 31 * 1.001)
                    told_s += e["ttft_s"] + steps
                    steps_s.append(steps)
            check_near("the window's streams", told_s, 0, took_s)
        check_near("tokens come one by one", max(steps_s), 0.5 * 31 * 0.004, took_s)
        h.send(op="perplexity", path="x", seq_len=8)
        check("perplexity", h.event()["kind"], "unsupported")
        h.send(op="unload")
        check("unload", h.event(), {"event": "unloaded"})
        status, err = h.end()
        check("status", status, 0)
        if KEY in err or KEY in h.out:
            fail("the key was written")
        rows = [json.loads(row) for row in pathlib.Path(log.name).read_text().splitlines()]
        check("keys", {row["key"] for row in rows}, {"Bearer " + KEY})
        request = rows[-1]["request"]
        check("request", request, {
            "model": "tiny", "prompt": request["prompt"], "max_tokens": 32, "temperature": 0,
            "stream": True, "stream_options": {"include_usage": True}, "ignore_eos": True,
            "min_tokens": 32, "cache_prompt": False})


def other_ways(args):
    """The chat endpoint, plain requests, CR LF, one model for each arm, one URL for each arm."""
    with tempfile.NamedTemporaryFile() as log, \
            FakeServer("--models", "a,b", "--newline", "crlf", "--log", log.name) as server:
        h = Helper(args, "FP16=%s,NF4=%s/v1/" % (server.url, server.url), "--served-model",
                   "FP16=a,NF4=b", "--chat", "--plain")
        check("model", h.load()["versions"]["served_model"], "b")
        check("tokens", h.window(2, 8)[-1]["tokens"], 16)
        h.send(op="load", model="x", precision="FP16", batch=1, prompt_tokens=9, tokens=8, seed=1)
        check("model", h.until("loaded")[-1]["versions"]["served_model"], "a")
        h.send(op="load", model="x", precision="FP8", batch=1, prompt_tokens=9, tokens=8, seed=1)
        check("no arm", h.until("loaded")[-1]["message"], "'url' has no value for FP8")
        h.end()
        row = json.loads(pathlib.Path(log.name).read_text().splitlines()[-1])
        check("path", row["post"], "/v1/chat/completions")
        if set(row["request"]) != {"model", "messages", "max_tokens", "temperature", "stream",
                                   "stream_options"}:
            fail("not plain: %r" % row["request"])
        h = Helper(args, server.url)
        error = h.load(model="c")
        check("unknown model", (error["kind"], error["message"]),
              ("unknown_name", "the server has no model 'c'; it has 'a', 'b'"))
        check("status", h.end()[0], 1)
    with FakeServer("--models", "./other.gguf") as server:  # the only one is meant
        h = Helper(args, server.url)
        check("model", h.load()["versions"]["served_model"], "./other.gguf")
        h.end()
    with FakeServer("--mode", "bundled") as server:
        h = Helper(args, server.url, "--bundled")
        h.load()
        end = h.window(1, 32)
        check("tokens", end[-1]["tokens"], 32)
        row = [e for e in end if e["event"] == "iteration"][0]
        if "intervals_s" in row or "tpot_s" not in row:
            fail("times of pieces that are not tokens: %r" % row)
        h.end()
    with FakeServer("--mode", "model") as server:
        for mode, tokens in (("early", 16), ("empty", 32), ("no-done", 32), ("fine", 32)):
            h = Helper(args, server.url)
            h.load(model=mode)
            check(mode, h.window(1, 32)[-1].get("tokens"), tokens)
            h.end()
    with FakeServer("--mode", "bad-list") as server:
        h = Helper(args, server.url)
        check("bad list", h.load()["event"], "loaded")
        h.end()
    with FakeServer("--mode", "loading") as server:  # it is waited for
        h = Helper(args, server.url)
        check("loading", h.load()["event"], "loaded")
        h.end()


def many_streams(args):
    """Eight at a time: whole rounds, a steady state that is the middle, a stop that ends a round."""
    with tempfile.NamedTemporaryFile() as times, \
            FakeServer("--token-s", "0.003", "--ttft-s", "0.05", "--times", times.name) as server:
        h = Helper(args, server.url)
        h.load(batch=8)
        names = [e["event"] for e in h.window(1, 8, op="warmup")]
        if "steady_begin" in names:
            fail("a warm-up has no steady state")

        def rounds():
            seen = h.window(4, 32)
            end = seen[-1]
            names = [e["event"] for e in seen]
            check("first tokens", names.count("first_token"), 32)
            check("rounds", [e["tokens"] for e in seen if e["event"] == "iteration"], [256] * 4)
            check("tokens", (end["tokens"], end["sequences"]), (1024, 8))
            first = names.index("steady_begin")
            check("slots before it", names[:first].count("first_token"), 8)
            # three rounds are whole when nobody is in line behind one that ends, at any load
            last = names.index("steady_end")
            check("rounds before its end", names[:last].count("iteration"), 3)
            check("first tokens in it", end["steady_first_tokens"],
                  names[first:last].count("first_token"))
            return steady_by_the_server(end, times.name)

        for _ in range(3):  # again only where the server's record has a pause
            wrong, pause = rounds()
            if not wrong or pause < 0.04:
                break
        if wrong:
            fail(wrong)
        pathlib.Path(times.name).write_text("")
        h.send(op="window", iterations=50, tokens=16)
        h.until("iteration")
        told_s = time.monotonic()
        h.send(op="stop")
        seen = h.until("window_end")
        n = 1 + sum(e["event"] == "iteration" for e in seen)
        check("tokens", seen[-1]["tokens"], n * 128)
        # of its slots eight may have been on their way to the server; then the round is filled
        begun = sum(s["begun"] < told_s for s in records(times.name))
        check_near("requests with a stop after %d" % begun, n * 8, 16, begun + 15)
        h.send(op="unload")
        check("unload", h.event()["event"], "unloaded")
        h.end()


def hostile(args):
    load = {
        "401": ("permission", "the server answered 401: Incorrect API key provided"),
        "400": ("invalid_content", "the server answered 400: extra fields not permitted"),
        "404": ("not_found", "the server answered 404: no such path (--chat: its other endpoint)"),
        "redirect": ("invalid_parameter",
                     "the server redirects to 'http://127.0.0.1:1/v1/completions'"),
        "html": ("invalid_content", "answered with 'text/html', not with an event stream"),
        "json": ("invalid_content", "answered with 'application/json', not with an event stream"),
        "no-usage-ever": ("invalid_content", "sent no 'usage'"),
        "echo-key": ("permission", "no: Bearer ********************"),
    }
    window = {
        "429": ("device", "answered 429 (Retry-After: 7) to one of 1 streams: slow down"),
        "500": ("device", "the server answered 500: CUDA out of memory"),
        "drop": ("device", "the connection broke after 3 of 32 tokens"),
        "cut": ("device", "the stream broke off after 3 of 32 tokens"),
        "garbage": ("invalid_content", "no event stream: 'Segmentation fault (core dumped)'"),
        "bad-json": ("invalid_content", "an event that is no JSON"),
        "huge": ("too_large", "a line or event of more than 1048576 bytes"),
        "error": ("device", "the server says: KV cache is full"),
        "error-line": ("device", "the server says: {\"message\":\"slot died\"}"),
        "endless": ("invalid_content", "the server streams on: it was asked for 32 tokens"),
        "claims-more": ("invalid_content", "claims 32 tokens, more than it sent"),
        "claims-too-many": ("invalid_content", "claims 37 tokens, more than asked for"),
        "claims-fewer": ("invalid_content", "claims 1 tokens, fewer than it sent"),
        "claims-words": ("invalid_content", "no whole number 'completion_tokens'"),
        "no-usage": ("invalid_content", "sent no 'usage'"),
        "bundled": ("invalid_content", "more than it sent (--bundled allows several a piece)"),
    }
    with FakeServer("--mode", "model") as server:
        for mode, want in {**load, **window}.items():
            h = Helper(args, server.url, key=KEY)
            got = h.load(model=mode)
            if mode in window:
                check(mode, got["event"], "loaded")
                got = h.window()[-1]
            status, err = h.end()
            if (status, got["event"], got.get("kind")) != (1, "error", want[0]) or \
                    want[1] not in got["message"]:
                fail("%s: status %s, %r, wanted %r" % (mode, status, got, want))
            if KEY in err or KEY in h.out:
                fail(mode + ": the key was written")
        stalled(args, server)
    with FakeServer("--mode", "limit") as server:
        h = Helper(args, server.url)
        h.load(batch=4)
        check("limit", h.window()[-1]["message"],
              "the server answered 429 to one of 4 streams: at most 2 streams")
        h.end()
    h = Helper(args, "http://127.0.0.1:9")
    got = h.load()
    check("nobody", got["kind"], "device")
    if "cannot reach 'http://127.0.0.1:9/v1'" not in got["message"]:
        fail(got["message"])
    h.end()


def stalled(args, server):
    """A server that falls silent for good is given up after --stall-s; one that is slow is not.

    On a machine that stands still everybody is silent: the limit grows until three tokens came.
    """
    for limit_s in (0.5, 2, 8, 30):
        h = Helper(args, server.url, "--stall-s", str(limit_s))
        got = h.load(model="stall")
        begun = time.monotonic()
        if got["event"] == "loaded":
            got = h.window()[-1]
        took_s = time.monotonic() - begun
        check("status", (h.end()[0], got.get("kind")), (1, "device"))
        said = re.search("has sent nothing for ([0-9.]+) s, after 3 of 32 tokens", got["message"])
        if said:
            check_near("a silence", float(said[1]), limit_s * 0.99, took_s * 1.01)
            return
    fail("stall: %r" % got)


def bad_calls(args):
    for words in ([], ["--url"], ["--nothing"], ["--url", "x", "--stall-s", "soon"]):
        done = subprocess.run([args.helper, *words], stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, check=False)
        check("status of %s" % words, done.returncode, 2)
        if "usage: ecocompute-openai" not in done.stderr or done.stdout:
            fail("%s: %s%s" % (words, done.stdout, done.stderr))
    done = subprocess.run([args.helper, "--url", "http://x", "--key-env", "NO_SUCH_KEY"],
                          stdin=subprocess.DEVNULL, text=True, capture_output=True, check=False)
    check("no key", json.loads(done.stdout)["message"],
          "the environment variable 'NO_SUCH_KEY' of --key-env is not set")
    h = Helper(args, "http://x")
    h.until("ready")
    h.send(op="window", iterations=1, tokens=1)
    check("order", h.event()["message"], "nothing is loaded yet")
    h.end()
    h = Helper(args, "http://x")
    h.until("ready")
    h.process.stdin.write("garbage\n")
    h.process.stdin.flush()
    check("garbage", h.event()["kind"], "invalid_parameter")
    h.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--helper", required=True)
    args = parser.parse_args()
    for test in (one_stream, other_ways, many_streams, hostile, bad_calls):
        start = time.monotonic()
        test(args)
        print("ok %s, %.1f s" % (test.__name__, time.monotonic() - start))


if __name__ == "__main__":
    main()
