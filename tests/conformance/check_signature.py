"""Judges signatures by openssl and the canonical form by Python: check_signature.py DIR.

DIR holds key and key.pub (PEM), signed.json (ours), message (what ours says was signed) and
plain.json. Writes foreign.json: plain.json signed by openssl, for ours to check. Exit status 77:
openssl is not installed.
"""
import base64
import json
import pathlib
import shutil
import subprocess
import sys


def canonical(document):
    """RFC 8785 for documents of ASCII keys, whose numbers Python and JavaScript write alike."""
    def number(value):
        if isinstance(value, float) and value == int(value) and abs(value) < 1e16:
            return int(value)
        return value

    def walk(value):
        if isinstance(value, dict):
            return {k: walk(v) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        return number(value)

    text = json.dumps(walk(document), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()


def openssl(*words):
    return subprocess.run(["openssl", *words], capture_output=True, text=True, check=False)


def main():
    if not shutil.which("openssl"):
        print("SKIPPED: openssl is not installed")
        return 77
    folder = pathlib.Path(sys.argv[1])
    document = json.loads((folder / "signed.json").read_text(encoding="utf-8"))
    signature = document.pop("signature")
    message = canonical(document)
    if message != (folder / "message").read_bytes():
        print("Python's canonical form is another one")
        return 1
    (folder / "ours.sig").write_bytes(base64.urlsafe_b64decode(signature["value"] + "=="))
    done = openssl("pkeyutl", "-verify", "-pubin", "-inkey", str(folder / "key.pub"), "-rawin",
                   "-in", str(folder / "message"), "-sigfile", str(folder / "ours.sig"))
    if done.returncode:
        print("openssl refuses our signature:", done.stdout, done.stderr)
        return 1
    (folder / "other").write_bytes(message + b" ")
    done = openssl("pkeyutl", "-verify", "-pubin", "-inkey", str(folder / "key.pub"), "-rawin",
                   "-in", str(folder / "other"), "-sigfile", str(folder / "ours.sig"))
    if done.returncode == 0:
        print("openssl takes any message: this check could not fail")
        return 1
    plain = json.loads((folder / "plain.json").read_text(encoding="utf-8"))
    (folder / "plain").write_bytes(canonical(plain))
    done = openssl("pkeyutl", "-sign", "-inkey", str(folder / "key"), "-rawin", "-in",
                   str(folder / "plain"), "-out", str(folder / "theirs.sig"))
    if done.returncode:
        print("openssl cannot sign with our key:", done.stderr)
        return 1
    theirs = base64.urlsafe_b64encode((folder / "theirs.sig").read_bytes()).decode()
    plain["signature"] = {"algorithm": "ed25519", "public_key": signature["public_key"],
                          "value": theirs.rstrip("=")}
    (folder / "foreign.json").write_text(json.dumps(plain, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
