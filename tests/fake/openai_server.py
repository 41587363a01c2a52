#!/usr/bin/python3
"""A stand-in for an OpenAI-compatible server: openai_server.py [--mode MODE] [--token-s S] ….

Listens on 127.0.0.1, prints its port, streams completions of made-up words. A mode says how it
misbehaves, from the first request for more than --probe tokens on (a few modes always); "model": the
model that is asked for names the mode. --log FILE gets one JSON line for each request; --times FILE one for
each stream that ended: when it was begun and when each token was sent; --phases FILE tells a fake card
what to draw.
"""
import argparse
import json
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ALWAYS = ("401", "404", "redirect", "html", "json", "loading", "no-usage-ever", "echo-key",
          "bad-list", "quiet-list", "400")
lock = threading.Lock()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, args):
        super().__init__(("127.0.0.1", args.port), Handler)
        self.args = args
        self.active = 0
        self.refusals = args.refusals

    def handle_error(self, request, client_address):
        pass  # a client that went away is what some tests do

    def enter(self, change, word):
        """Counts running streams, and tells the fake card."""
        with lock:
            self.active += change
            if self.args.phases:
                with open(self.args.phases, "a", encoding="utf-8") as f:
                    f.write((word if self.active else "idle") + "\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fake-llm/1.0"
    sys_version = ""
    disable_nagle_algorithm = True

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def note(self, **what):
        if self.server.args.log:
            with lock, open(self.server.args.log, "a", encoding="utf-8") as f:
                f.write(json.dumps(what) + "\n")

    def plain(self, status, body, kind="application/json", **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def piece(self, text):
        data = text.encode() if isinstance(text, str) else text
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def event(self, **what):
        self.piece("data: " + json.dumps(what) + self.server.args.newline * 2)

    def do_GET(self):
        args = self.server.args
        self.note(get=self.path, key=self.headers.get("Authorization"))
        if self.path != "/v1/models" or args.mode in ("quiet-list", "model"):
            self.plain(404, {"error": {"message": "not here"}})
        elif args.mode == "bad-list":
            self.plain(200, b"{{{")
        else:
            self.plain(200, {"object": "list", "data": [
                {"id": m, "object": "model"} for m in args.models.split(",")]})

    def refused(self, mode, request):
        """Answers that are no stream."""
        if mode == "401":
            self.plain(401, {"error": {"message": "Incorrect API key provided"}})
        elif mode == "400":
            self.plain(400, {"detail": "extra fields not permitted"})
        elif mode == "echo-key":
            self.plain(403, {"error": {"message": "no: " + str(self.headers["Authorization"])}})
        elif mode == "404":
            self.plain(404, {"error": {"message": "no such path"}})
        elif mode == "429":
            self.plain(429, {"error": {"message": "slow down"}}, Retry_After="7")
        elif mode == "500":
            self.plain(500, {"error": {"message": "CUDA out of memory"}})
        elif mode == "redirect":
            self.plain(307, b"", Location="http://127.0.0.1:1/v1/completions")
        elif mode == "html":
            self.plain(200, b"<html>It works!</html>", "text/html")
        elif mode == "json":
            self.plain(200, {"choices": [{"text": "all at once", "finish_reason": "length"}],
                             "usage": {"prompt_tokens": 9, "completion_tokens": 3}})
        elif mode == "loading" and self.server.refusals > 0:
            self.server.refusals -= 1
            self.plain(503, {"error": {"message": "Loading model"}}, Retry_After="0.1")
        elif mode == "limit" and self.server.active > 2:
            self.plain(429, {"error": {"message": "at most 2 streams"}})
        else:
            return False
        return True

    def do_POST(self):
        args = self.server.args
        body = self.rfile.read(int(self.headers["Content-Length"]))
        request = json.loads(body)
        self.note(post=self.path, key=self.headers.get("Authorization"), request=request)
        mode = request["model"] if args.mode == "model" else args.mode
        if request["max_tokens"] <= args.probe and mode not in ALWAYS:
            mode = ""
        if self.path not in ("/v1/completions", "/v1/chat/completions") or not request["stream"]:
            self.plain(404, {"error": {"message": "not here"}})
            return
        word = dict(pair.split("=") for pair in args.phase.split(",") if pair)
        self.server.enter(1, word.get(request["model"], "busy"))
        try:
            if not self.refused(mode, request):
                self.stream(mode, request)
        finally:
            self.server.enter(-1, word.get(request["model"], "busy"))

    def words(self, mode, n):
        """(text, finish_reason) of each piece."""
        size = 4 if mode == "bundled" else 1
        ends = {"early": n // 2, "claims-more": n // 2, "endless": 1 << 30}.get(mode, n)
        for i in range(0, ends, size):
            text = "".join(" w%d" % k for k in range(i, min(i + size, ends)))
            yield "" if mode == "empty" and i % 3 == 1 else text

    def stream(self, mode, request):
        args, chat = self.server.args, self.path.endswith("chat/completions")
        asked = request["max_tokens"]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        base = {"id": "c-1", "created": 1, "model": request["model"],
                "object": "chat.completion.chunk" if chat else "text_completion",
                "system_fingerprint": "fp-7"}
        speed = dict(pair.split("=") for pair in args.speed.split(",") if pair)
        token_s = args.token_s * float(speed.get(request["model"], 1))
        if chat:
            self.event(**base, choices=[{"index": 0, "delta": {"role": "assistant", "content": ""},
                                         "finish_reason": None}])
        begun, sent = time.monotonic(), []
        time.sleep(args.ttft_s)
        for i, text in enumerate(self.words(mode, asked)):
            if i:
                time.sleep(token_s)
            if i == 3 and self.breaks(mode):
                return
            say = {"delta": {"content": text}} if chat else {"text": text}
            self.event(**base, choices=[{"index": 0, "finish_reason": None, **say}])
            sent.append(time.monotonic())
        if args.times:  # before the end: who has seen that may read it
            with lock, open(args.times, "a", encoding="utf-8") as f:
                f.write(json.dumps({"model": request["model"], "begun": begun, "sent": sent}) + "\n")
        self.ending(mode, base, chat, asked)

    def breaks(self, mode):
        """What goes wrong in the middle; true: the stream is over."""
        if mode == "stall":
            time.sleep(3600)  # a daemon's: it ends with the server
        elif mode == "drop":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif mode == "cut":  # ends in good order, in the middle
            self.piece("")
        elif mode == "garbage":
            self.piece("Segmentation fault (core dumped)\n\n")
        elif mode == "bad-json":
            self.piece("data: {\"choices\": [}\n\n")
        elif mode == "huge":
            self.piece("data: \"" + "x" * (3 << 20) + "\"\n\n")
        elif mode == "error":
            self.event(error={"message": "KV cache is full", "code": 500})
        elif mode == "error-line":
            self.piece("error: {\"message\":\"slot died\"}\n\n")
        else:
            return False
        return mode in ("stall", "drop", "cut")

    def ending(self, mode, base, chat, asked):
        done = asked // 2 if mode == "early" else asked
        claims = {"claims-more": asked, "claims-too-many": asked + 5, "claims-fewer": 1,
                  "claims-words": "many"}.get(mode, done)
        last = {"delta": {}} if chat else {"text": ""}
        self.event(**base, choices=[{"index": 0, **last,
                                     "finish_reason": "stop" if mode == "early" else "length"}])
        if mode not in ("no-usage", "no-usage-ever"):
            self.event(**base, choices=[], usage={
                "prompt_tokens": 9, "completion_tokens": claims, "total_tokens": 9 + done})
        if mode != "no-done":
            self.piece("data: [DONE]" + self.server.args.newline * 2)
        self.piece("")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--port", type=int, default=0)
    p.add_argument("--mode", default="")
    p.add_argument("--models", default="tiny")
    p.add_argument("--token-s", type=float, default=0.001)
    p.add_argument("--ttft-s", type=float, default=0.002)
    p.add_argument("--speed", default="", help="MODEL=FACTOR,… of --token-s")
    p.add_argument("--probe", type=int, default=2, help="requests up to this many tokens go well")
    p.add_argument("--refusals", type=int, default=3)
    p.add_argument("--newline", default="\n", type=lambda s: s.replace("crlf", "\r\n"))
    p.add_argument("--log")
    p.add_argument("--times")
    p.add_argument("--phases")
    p.add_argument("--phase", default="", help="MODEL=WORD,…")
    server = Server(p.parse_args())
    print(server.server_address[1])
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
