#!/usr/bin/python3
"""The server on loopback against nginx `return 200`: bench_server.py BUILD [--seconds S] [--rounds N].

wrk with one thread and 64 kept connections; each round asks nginx, us, us, nginx (ABBA), and a round's
ratio is of its own two sums, so that a load on the machine falls on both. The published worker
is named by its figures, measured under Node on this machine type: 3 116 estimates/s, 982 optimizes/s.
"same": one question again and again (the server keeps the reply); "new": another size every time.
Latency is of h2load (nghttp2-client), which sends at a constant rate, 80 % of the rate just reached, over 64
connections; it shares the processors with the server, so a rate that it could not send is said.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "server"))
from service import Service, helper_is_built  # noqa: E402

WORKER = {"estimate": 3116, "optimize": 982}
SAME = {
    "estimate published, same": "/v1/estimate?params_b=7&arch=ada&precision=NF4&calibration=published",
    "estimate default, same": "/v1/estimate?params_b=7&arch=ada&precision=NF4",
    "optimize published, same": "/v1/optimize?params_b=7&arch=ada&calibration=published&compat=true",
    "optimize default, same": "/v1/optimize?params_b=7&gpu=rtx4090",
}
NEW = {
    "estimate published, new": "/v1/estimate?arch=ada&precision=NF4&calibration=published&params_b=",
    "estimate default, new": "/v1/estimate?arch=ada&precision=NF4&params_b=",
    "optimize published, new": "/v1/optimize?arch=ada&calibration=published&compat=true&params_b=",
    "optimize default, new": "/v1/optimize?gpu=rtx4090&params_b=",
}
LUA = """local n = %d
request = function()
  n = n + 1
  return wrk.format("GET", "%s" .. string.format("%%.6f", 0.5 + (n %% 2000000) * 0.00001))
end
"""
CONF = """worker_processes 2; daemon off; pid %s/pid; error_log stderr crit;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000; client_body_temp_path %s; proxy_temp_path %s;
fastcgi_temp_path %s; uwsgi_temp_path %s; scgi_temp_path %s;
server { listen 127.0.0.1:%d; location / { return 200 "ok\\n"; } } }
"""


def wrk(url, seconds, *more):
    """Requests a second, and replies that were none."""
    out = subprocess.run(["wrk", "-t1", "-c64", "-d%gs" % seconds, *more, url],
                         capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    return rate, int(bad.group(1)) if bad else 0


def at_rate(top, base, name, rate, seconds):
    """Quantiles in ms of requests that are sent at `rate` in all, the rate that was sent, and failures."""
    urls, log = pathlib.Path(top, "urls"), pathlib.Path(top, "log")
    many = 40000 if name in NEW else 1  # more than the server keeps
    urls.write_text("".join("%s%s\n" % (base, SAME.get(name) or "%s%.6f" % (NEW[name], 30 + i * 1e-5))
                            for i in range(many)))
    log.unlink(missing_ok=True)
    subprocess.run(["h2load", "--h1", "-t1", "-c64", "--rps=%.3f" % (rate / 64), "-D%g" % seconds, "-i", str(urls),
                    "--log-file=%s" % log], check=True, stdout=subprocess.DEVNULL)
    rows = [line.split("\t") for line in log.read_text().splitlines()]
    took = sorted(int(r[2]) / 1e3 for r in rows)
    quantiles = {q: took[min(len(took) - 1, int(len(took) * q / 100))] for q in (50, 99, 99.9)}
    return quantiles, len(rows) / seconds, sum(r[1] != "200" for r in rows)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", help="folder of the build: build-bench")
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", help="only cells whose name has this")
    args = parser.parse_args()
    args.program = str(pathlib.Path(args.build, "ecocompute"))
    if not shutil.which("wrk") or not shutil.which("nginx") or not helper_is_built(args.program):
        print("bench_server: needs wrk, nginx and ecocompute-serve")
        return 77
    print("load before: %.1f; %d processors" % (os.getloadavg()[0], os.cpu_count()))
    bad = 0
    with tempfile.TemporaryDirectory() as top, Service(
            args.program, "--rate-limit", "0", "--access-log", "off") as service:
        conf = pathlib.Path(top, "nginx.conf")
        port = service.port + 1 if service.port < 65000 else service.port - 1000
        conf.write_text(CONF % (*[top] * 6, port))
        nginx = subprocess.Popen(["nginx", "-c", str(conf)])
        time.sleep(0.5)
        ours, theirs = "http://127.0.0.1:%d" % service.port, "http://127.0.0.1:%d/" % port
        peak = {}
        for name, target in {**SAME, **NEW}.items():
            if args.only not in name:
                continue
            rates, ratios, base = [], [], []
            for turn in range(args.rounds):
                script = pathlib.Path(top, "new.lua")
                script.write_text(LUA % (turn * 400000, target))
                more = ["-s", str(script)] if name in NEW else []
                url = ours + target + ("1" if name in NEW else "")
                a1, b1, b2, a2 = (wrk(theirs, args.seconds), wrk(url, args.seconds, *more),
                                  wrk(url, args.seconds, *more), wrk(theirs, args.seconds))
                bad += b1[1] + b2[1]
                rates += [b1[0], b2[0]]
                base += [a1[0], a2[0]]
                ratios.append((b1[0] + b2[0]) / (a1[0] + a2[0]))
            peak[name] = statistics.median(rates)
            print("%-26s %7.0f/s (%.0f to %.0f)  %.2fx nginx (%.2f to %.2f; nginx %.0f/s)  %.1fx the published worker"
                  % (name, peak[name], min(rates), max(rates), statistics.median(ratios), min(ratios),
                     max(ratios), statistics.median(base), peak[name] / WORKER[name.split()[0]]))
        for name in peak if shutil.which("h2load") else ():
            quantiles, rate, more_bad = at_rate(top, ours, name, 0.8 * peak[name], args.seconds * 2)
            bad += more_bad
            print("%-26s at %.0f %% of the peak: p50 %.2f, p99 %.2f, p99.9 %.2f ms (load %.1f)" % (
                name, 100 * rate / peak[name], quantiles[50], quantiles[99], quantiles[99.9], os.getloadavg()[0]))
        print("memory %.1f MB; replies other than 2xx: %d; load after: %.1f" % (
            service.memory_mb(), bad, os.getloadavg()[0]))
        nginx.terminate()
        nginx.wait()
    return 1 if bad else 0


sys.exit(main())
