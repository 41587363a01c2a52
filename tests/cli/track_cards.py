#!/usr/bin/python3
"""`track` over eight scripted cards, one of them lost: a row with the reason, a sum of 7 of 8 with
its interval. `doctor` names the card as the driver's library does."""
import argparse
import json
import os
import subprocess
import tempfile


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--program", required=True)
    p.add_argument("--nvml", required=True)
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "cards")
        with open(script, "w", encoding="utf-8") as f:
            f.write("gpus 8\nlost 5 0\n")
        env = {k: v for k, v in os.environ.items() if k != "CUDA_VISIBLE_DEVICES"}
        env["ECO_FAKE_NVML"] = script

        def run(*words):
            where = ["--sysfs", "/nonexistent", "--nvml-library", a.nvml, "--json"]
            done = subprocess.run([a.program, words[0], *where, *words[1:]], env=env, timeout=60,
                                  capture_output=True, check=True)
            return json.loads(done.stdout)

        track = run("track", "--", "sleep", "5.3")
        rows = track["sources"]
        assert [r["device"][:5] for r in rows] == [f"GPU {i}" for i in range(8)], rows
        assert all((r["energy_j"] is None) == (i == 5) for i, r in enumerate(rows)), rows
        assert "GPU is lost" in rows[5]["reason"], rows[5]
        assert "7 of 8 devices" in track["verdict"] and " \u00b1 " in track["verdict"], track
        assert run("doctor")["gpu"] == "NVIDIA GeForce RTX 4090" or os.path.exists(
            "/proc/driver/nvidia")
    print("ok")


if __name__ == "__main__":
    main()
