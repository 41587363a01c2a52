#!/usr/bin/python3
"""/metrics, and what --export-power adds to it: metrics.py --program PATH [--nvml LIB]. A fake driver draws
known watts; the energy must be theirs. promtool judges the text where it is installed.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from service import Asker, Service, skip_without_helper

FAULTS = []


def fault(text, *args):
    FAULTS.append(text % args)
    print("FAULT " + FAULTS[-1])


def lint(text):
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
        if done.returncode or done.stderr.strip():
            fault("promtool: %s", done.stderr.strip()[:300])
    else:
        print("promtool is not installed: its judgement is left out")
    names = re.findall(r"^# TYPE (\S+)", text, re.M)
    if len(names) != len(set(names)):
        fault("a metric is described twice")
    for line in text.splitlines():
        if not line.startswith("#") and not re.fullmatch(
                r'[a-z_]+(\{([a-z0-9_]+="([^"\\]|\\.)*",?)*\})? [-+0-9.e]+', line):
            fault("line %.100s", line)


def scrape(ask):
    status, _, raw = ask.plain("GET", "/metrics")
    if status != 200:
        fault("/metrics: %d", status)
    return raw.decode()


def value(text, start):
    rows = [line for line in text.splitlines() if line.startswith(start)]
    return float(rows[0].rsplit(" ", 1)[1]) if rows else None


def power(program, nvml):
    with tempfile.TemporaryDirectory() as top:
        script = pathlib.Path(top, "script")
        script.write_text("gpus 1\nname 0 NVIDIA GeForce RTX 4090\nphase on 250\nphases %s/phases\n" % top)
        pathlib.Path(top, "phases").write_text("on\n")
        env = {"PATH": "/usr/bin:/bin", "ECO_FAKE_NVML": str(script)}
        options = ["--export-power", "--nvml-library", nvml, "--sysfs", top, "--access-log", "off"]
        with Service(program, *options, env=env) as service:
            ask = Asker(service)
            time.sleep(1)
            first, t0 = scrape(ask), time.monotonic()
            time.sleep(3)
            text, t1 = scrape(ask), time.monotonic()
            lint(text)
            row = 'ecocompute_%s{source="nvml",device="GPU 0: NVIDIA GeForce RTX 4090"'
            watts = value(text, row % "power_watts")
            if watts is None or abs(watts - 250) > 5:
                fault("250 W are exported as %s", watts)
            for basis in ("counter", "integral"):
                pattern = r'^ecocompute_energy_joules_total\{.*RTX 4090.*basis="%s"\} (\S+)$' % basis
                then, now = (re.search(pattern, t, re.M) for t in (first, text))
                if not now:
                    fault("no energy by %s:\n%s", basis, text[-800:])
                    continue
                joules = float(now.group(1)) - float(then.group(1))
                # a counter is read once a second: up to a second's energy is open at either end
                if abs(joules - 250 * (t1 - t0)) > (280 if basis == "counter" else 80):
                    fault("%s: %.0f J in %.2f s of 250 W", basis, joules, t1 - t0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--nvml")
    args = parser.parse_args()
    skip_without_helper(args.program)
    with Service(args.program, "--rate-limit", "0", "--access-log", "off") as service:
        ask = Asker(service)
        for target in ("/v1/gpus", "/v1/gpus?x=1", "/nope", "/v1/estimate?params_b=7&arch=ada"):
            ask.plain("GET", target)
        text = scrape(ask)
        lint(text)
        for start, want in (('ecocompute_http_requests_total{route="/v1/gpus",status="400"}', 1),
                            ('ecocompute_http_requests_total{route="other",status="404"}', 1),
                            ('ecocompute_http_request_duration_seconds_count{route="/v1/gpus"}', 2)):
            if value(text, start) != want:
                fault("%s is %s", start, value(text, start))
        if "ecocompute_power" in text:
            fault("power is exported without --export-power")
    if args.nvml:
        power(args.program, args.nvml)
    print("%d faults" % len(FAULTS))
    return 1 if FAULTS else 0


sys.exit(main())
