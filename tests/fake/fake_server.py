"""Runs openai_server.py, the server of ours, beside a test: `with FakeServer("--words") as s: s.url`."""
import pathlib
import subprocess


class FakeServer:
    def __init__(self, *words):
        program = pathlib.Path(__file__).resolve().parent / "openai_server.py"
        self.process = subprocess.Popen(["/usr/bin/python3", program, *words],
                                        stdout=subprocess.PIPE, text=True)
        self.url = "http://127.0.0.1:%d" % int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
