#!/usr/bin/python3
"""The server under ill-behaved and many clients: load.py --program PATH [--long] [PART...].

500 connections that send a byte now and then, 1 000 idle ones beside busy ones, readers that stop, and
an end (SIGTERM) in the middle of work. --long also sends a million requests and watches the memory.
"""
import argparse
import concurrent.futures
import os
import resource
import selectors
import signal
import socket
import sys
import threading
import time

from service import Service, skip_without_helper, wait_until

TARGET = "/v1/estimate?params_b=7&arch=ada&precision=NF4&calibration=published"
FAULTS = []


def fault(text, *args):
    FAULTS.append(text % args)
    print("FAULT " + FAULTS[-1])


def opened(service, n):
    return [socket.create_connection(("127.0.0.1", service.port), timeout=30) for _ in range(n)]


def answers(service, seconds):
    """Requests one after the other; how many were answered, the slowest, the statuses."""
    http = service.connect()
    count, slowest, other = 0, 0.0, set()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        http.request("GET", TARGET)
        reply = http.getresponse()
        reply.read()
        slowest = max(slowest, time.monotonic() - start)
        count += 1
        if reply.status != 200:
            other.add(reply.status)
    return count, slowest, other


def closed_by_server(sockets):
    """How many the other side has ended."""
    n = 0
    for s in sockets:
        s.setblocking(False)
        try:
            n += not s.recv(4096)
        except BlockingIOError:
            pass
        except OSError:
            n += 1
    return n


def slow_loris(program):
    """A byte each half second never finishes a request; after --timeout the server ends it."""
    with Service(program, "--timeout", "2", "--rate-limit", "0", "--access-log", "off") as service:
        slow = opened(service, 500)
        stop = threading.Event()

        def drip():
            head = b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: " + b"x" * 1000
            for i in range(len(head)):
                for s in slow:
                    try:
                        s.send(head[i:i + 1])
                    except OSError:
                        pass
                if stop.wait(0.5):
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        count, slowest, other = answers(service, 2)
        if count < 20 or other:
            fault("beside 500 slow clients: %d answers, statuses %s", count, other)
        if not wait_until(lambda: closed_by_server(slow) == len(slow), 20):
            fault("%d of 500 slow clients are still connected", len(slow) - closed_by_server(slow))
        stop.set()
        thread.join()
        for s in slow:
            s.close()
        print("slow loris: %d answers beside 500 slow clients, slowest %.0f ms" % (count, slowest * 1e3))


def idle_and_busy(program):
    with Service(program, "--timeout", "60", "--rate-limit", "0", "--access-log", "off") as service:
        idle = opened(service, 1000)
        request = ("GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % TARGET).encode()
        for s in idle:
            s.sendall(request)
        for s in idle:
            while b"\n}" not in (got := s.recv(65536)) and not got.endswith(b"}\n"):
                if not got:
                    fault("an idle client was not answered")
                    break
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            done = list(pool.map(lambda _: answers(service, 2), range(64)))
        total = sum(c for c, _, _ in done)
        other = set().union(*(o for _, _, o in done))
        if other or min(c for c, _, _ in done) == 0:
            fault("64 busy clients: statuses %s", other)
        if closed_by_server(idle):
            fault("%d idle clients were dropped", closed_by_server(idle))
        memory = service.memory_mb()
        if memory > 64 and "SANITIZED" not in os.environ:
            fault("1 064 clients take %.0f MB", memory)
        for s in idle:
            s.close()
        print("1 000 idle and 64 busy: %d answers in 2 s, %.1f MB" % (total, memory))


def one_address(program):
    """One address may not hold all connections: another is answered beside it."""
    with Service(program, "--connections", "64", "--timeout", "60", "--rate-limit", "0", "--access-log", "off") as service:
        held = opened(service, 80)
        time.sleep(0.2)
        kept = len(held) - closed_by_server(held)
        try:
            other = socket.create_connection(("127.0.0.1", service.port), timeout=10, source_address=("127.0.0.2", 0))
            other.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            said = other.recv(65536)
            other.close()
        except OSError as e:
            said = repr(e).encode()
        if b" 200 " not in said[:20] or not 8 <= kept <= 48:
            fault("of 80 connections %d are kept; another address gets %.60r", kept, said)
        for s in held:
            s.close()
        print("one address: %d of 64 connections" % kept)


def drain(program):
    """SIGTERM while many ask: each request that was sent is answered, then the connection ends."""
    with Service(program, "--rate-limit", "0", "--access-log", "off") as service:
        lost, done, refused, ending = [], [0], [0], threading.Event()

        def client():
            http = service.connect()
            while True:
                try:
                    http.connect()
                except OSError:
                    refused[0] += 1
                    return
                fresh = True
                try:
                    while True:
                        http.request("GET", TARGET)
                        reply = http.getresponse()
                        body = reply.read()
                        if reply.status != 200 or len(body) < 100:
                            lost.append(reply.status)
                        done[0] += 1
                        fresh = False
                        if reply.will_close:
                            break
                except OSError as e:
                    if fresh and ending.is_set():
                        refused[0] += 1  # the kernel had it, the server never saw it
                    else:
                        lost.append(repr(e))
                    return
                finally:
                    http.close()

        threads = [threading.Thread(target=client) for _ in range(16)]
        for t in threads:
            t.start()
        time.sleep(1)
        half = socket.create_connection(("127.0.0.1", service.port), timeout=30)
        body = b'{"params_b":7,"arch":"ada"}'
        half.sendall(b"POST /v1/estimate HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:5])
        time.sleep(0.5)
        ending.set()
        service.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        half.sendall(body[5:])  # a request that was under way is finished
        if b" 200 " not in half.recv(65536):
            fault("a request under way was not finished")
        half.close()
        status = service.process.wait(timeout=30)
        for t in threads:
            t.join(timeout=30)
        if status != 0 or lost or not done[0]:
            fault("SIGTERM: status %s, %d answers, lost %s", status, done[0], lost[:3])
        print("SIGTERM: %d answers, none lost, then the end" % done[0])


def stopped_readers(program):
    """Clients that ask for much and read nothing are ended too."""
    with Service(program, "--timeout", "1", "--rate-limit", "0", "--access-log", "off") as service:
        lazy = opened(service, 20)
        request = b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n"
        for s in lazy:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.setblocking(False)
            try:
                while True:
                    s.send(request * 50)
            except OSError:
                pass
        if not wait_until(lambda: answers(service, 0.1)[0] > 0, 10):
            fault("no answers beside clients that do not read")

        def open_now():
            http = service.connect()
            http.request("GET", "/metrics")
            text = http.getresponse().read().decode()
            return int(text.split("ecocompute_http_connections ")[-1].split("\n")[0])

        if not wait_until(lambda: open_now() <= 2, 30, step=0.3):
            fault("%d connections of clients that do not read are open", open_now())
        for s in lazy:
            s.close()


def million(program):
    """A million requests over 32 connections: the memory stays where it was after the first 50 000."""
    with Service(program, "--rate-limit", "0", "--access-log", "off") as service:
        request = ("GET %s HTTP/1.1\r\nHost: a\r\n\r\n" % TARGET).encode()
        poll = selectors.DefaultSelector()
        for s in opened(service, 32):
            s.sendall(request * 16)
            s.setblocking(False)
            poll.register(s, selectors.EVENT_READ)
        sent, got, first = 32 * 16, 0, None
        while got < 1_000_000:
            for key, _ in poll.select(10):
                data = key.fileobj.recv(1 << 18)
                if b" 200 OK" not in data[:20] and b"HTTP/1.1 5" in data:
                    fault("a reply is %.60r", data)
                n = data.count(b"HTTP/1.1 200")
                got += n
                if n:
                    key.fileobj.sendall(request * n)
                    sent += n
            if first is None and got > 50_000:
                first = service.memory_mb()
        last = service.memory_mb()
        print("a million requests: %.1f MB after 50 000, %.1f MB at the end" % (first, last))
        if last > 32 or last > first + 1:
            fault("memory grew from %.1f to %.1f MB", first, last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("parts", nargs="*")
    args = parser.parse_args()
    skip_without_helper(args.program)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    parts = {p.__name__: p for p in (slow_loris, idle_and_busy, one_address, drain, stopped_readers, million)}
    for name in args.parts or [n for n in parts if args.long or n != "million"]:
        parts[name](args.program)
    print("%d faults" % len(FAULTS))
    return 1 if FAULTS else 0


sys.exit(main())
