"""What the Python workers of ecocompute share: the line protocol of docs/workers.md.

A worker hands serve() an object with
    engine, versions()                    for "ready"
    load(request) -> members of "loaded"  unload()
    generate(tokens) -> (tokens, ttft_s, tpot intervals) of one generation of all sequences
    perplexity(path, seq_len) -> (mean nll, tokens, windows)
Whatever libraries print goes to standard error: standard output belongs to the protocol.
"""
import json
import os
import select
import sys
import time
import traceback

PROMPT = "The future of energy efficient computing is"


class Fault(Exception):
    """An error that says what kind it is: one of the words of docs/workers.md."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def explain(fault):
    """(kind, message) of what went wrong, in words that say what to do."""
    name, text = type(fault).__name__, " ".join(str(fault).split())[:180]
    if isinstance(fault, Fault):
        return fault.kind, str(fault)
    if "OutOfMemory" in name or "out of memory" in text.lower():
        return "device", "out of memory on the device: " + text
    if isinstance(fault, ImportError):
        missing = getattr(fault, "name", None)
        return "unsupported", "the Python package '%s' is missing (scripts/worker-env.sh): %s" % (
            (missing or "?").split(".")[0], text)
    if isinstance(fault, OSError) and ("model identifier" in text or "config.json" in text) or \
            name in ("RepositoryNotFoundError", "GatedRepoError", "HFValidationError"):
        return "not_found", "no such model here or on the hub: " + text
    return "device", "%s: %s" % (name, text)


def values(text):
    """"A" or "FP16=A,NF4=B" -> a dict; the key of a value for all precisions is None."""
    if not text:
        return {}
    if "=" not in text:
        return {None: text}
    return dict(item.split("=", 1) for item in text.split(","))


class Channel:
    """JSON lines on the real standard output, which nothing else may use."""

    def __init__(self):
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self.source = sys.stdin.buffer.raw
        self.pending = b""
        self.ended = False  # of the input

    def say(self, **event):
        self.out.write(json.dumps(event, allow_nan=False) + "\n")
        self.out.flush()

    def _take(self):
        line, found, rest = self.pending.partition(b"\n")
        if not found:
            return None
        self.pending = rest
        return json.loads(line)

    def request(self):
        """The next request, or None at the end of the input."""
        while True:
            request = self._take()
            if request is not None:
                return request
            more = self.source.read(65536)
            if not more:
                self.ended = True
                return None
            self.pending += more

    def stop_asked(self):
        """True when "stop" has come: the only request there is during a window."""
        while select.select([self.source], [], [], 0)[0]:
            more = self.source.read(65536)
            if not more:
                self.ended = True
                return True
            self.pending += more
        request = self._take()
        return request is not None and request.get("op") in ("stop", "exit")

    def fault(self, error):
        traceback.print_exc()
        kind, message = explain(error)
        self.say(event="error", kind=kind, message=message)


def window(channel, worker, request, batch):
    """A warm-up or a measured window."""
    done = 0
    channel.say(event="window_begin", t_mono_ns=time.monotonic_ns())
    for i in range(request["iterations"]):
        tokens, ttft_s, intervals_s = worker.generate(request["tokens"])
        done += tokens
        channel.say(event="iteration", iteration=i, tokens=tokens, ttft_s=ttft_s,
                    intervals_s=intervals_s)
        if channel.stop_asked():
            break
    channel.say(event="window_end", tokens=done, sequences=batch,
                t_mono_ns=time.monotonic_ns())


def answer(channel, worker, request, state):
    op = request["op"]
    if op == "load":
        worker.unload()
        loaded = worker.load(request)
        state["batch"] = request["batch"]
        channel.say(event="loaded", weights="real", **loaded)
    elif op in ("warmup", "window"):
        if "batch" not in state:
            raise Fault("invalid_parameter", "nothing is loaded yet")
        window(channel, worker, request, state["batch"])
    elif op == "perplexity":
        try:  # the run goes on without it
            nll, tokens, windows = worker.perplexity(request["path"], request["seq_len"])
            channel.say(event="perplexity", mean_nll=nll, tokens=tokens, windows=windows)
        except Exception as error:  # pylint: disable=broad-except
            channel.fault(error)
    elif op == "unload":
        state.clear()
        worker.unload()
        channel.say(event="unloaded")
    elif op != "stop":  # one that came after its window is of no use
        raise Fault("invalid_parameter", "a request that this worker does not know: %s" % op)


def serve(worker):
    """Answers requests until the end of the input. Returns the exit status."""
    channel, state = Channel(), {}
    try:
        channel.say(event="ready", protocol=1, engine=worker.engine, versions=worker.versions())
        while True:
            request = channel.request()
            if request is None or request["op"] == "exit":
                return 0
            answer(channel, worker, request, state)
    except Exception as error:  # pylint: disable=broad-except
        # whatever went wrong, the other side must hear of it; the traceback goes to the log
        channel.fault(error)
        return 1
