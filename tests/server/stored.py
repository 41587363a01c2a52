"""What the tests of the store over HTTP share: a report, a store of their own, or the reason to leave out."""
import json
import os
import subprocess
import sys

from service import SKIP

STORE = "/v1/reports?action=store&consent=true"
CURVE_PCT = -28.5  # near the published one for 7B NF4 on ada


def report(serial, gpu="RTX 4090", arch="ada", precision="NF4", params_b=7, delta_pct=CURVE_PCT, **more):
    return {
        "schema_version": "ecocompute-energy/1.1", "benchmark": "x", "scenario": "SingleStream",
        "certified_benchmark_result": False,
        "system_under_test": {"gpu": gpu, "gpu_arch": arch, "accelerator_count": 1},
        "workload": {"model_name": "m-%d" % serial, "params_b": params_b, "precision": precision, "batch_size": 1},
        "measurement": {"method": "m", "sample_rate_hz": 10},
        "results": {"energy_per_token_mj": 3900.25, "vs_fp16_energy_pct": delta_pct,
                    "vs_fp16_ci95_pct": [-31.5, -25.25], "basis": "measured"},
        "statistics": {"n": 4}, **more}


def text(document):
    return json.dumps(document).encode()


def store_url(folder, name):
    """A store of its own for each server of this test."""
    server = os.environ.get("ECO_STORE_URL")
    if not server:
        return "sqlite:%s/%s.db" % (folder, name)
    subprocess.run([*os.environ["ECO_STORE_ADMIN"].split(), "CREATE SCHEMA %s" % name], check=True)
    return "%spostgres?options=-csearch_path%%3D%s" % (server, name)


def skip_without_store(program, folder):
    """The server may be built without SQLite or without PostgreSQL's library."""
    if os.environ.get("ECO_STORE_URL"):
        url = store_url(folder, "probe")
    else:
        url = "sqlite:%s/probe.db" % folder
    words = [program, "serve", "--port", "0", "--store", url, "--bind", "192.0.2.1"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if "this build has no" in done.stderr or "not built" in done.stderr:
        print("SKIPPED: %s" % done.stderr.strip())
        sys.exit(1 if os.environ.get("CI") else SKIP)
