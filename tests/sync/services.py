#!/usr/bin/python3
"""The same values over query string, JSON body and MCP give what the command line and its JSON give, and
the same wrong values the same error: services.py --program PATH. Questions and wrong values are sync.py's.
"""
import argparse
import json
import pathlib
import sys
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "server"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "mcp"))
import sync  # noqa: E402
from protocol import Session, hello, request  # noqa: E402
from service import Asker, Service, skip_without_helper  # noqa: E402

# Operations without --batch-file: the command line is what the others must agree with.
EXTRA = {
    "gpus": [{}, {"arch": "ada"}, {"detect": "NVIDIA H100 80GB HBM3"}, {"arch": "zzz"}],
    "models": [{"name": "qwen2.5"}, {"name": "no such model"}],
    "data": [{}, {"gpu": "rtx4090", "precision": "NF4"}, {"action": "path"}, {"grade": "Z"}],
    "architectures": [{}, {"calibration": "x"}],
}


def by_query(ask, path, question):
    pairs = urllib.parse.urlencode({n: sync.as_text(v) for n, v in question.items()})
    return ask.ask("GET", path + "?" + pairs)[2]


def by_mcp(session, tool, question):
    session.send(request("tools/call", {"name": tool, "arguments": question}))
    result = session.get()["result"]
    return json.loads(result["content"][0]["text"]) if result.get("isError") else result["structuredContent"]


def same(answer, other, text):
    """Equal; of two errors the code and the parameter, and from JSON also the words."""
    if "error" in answer and "error" in other:
        a, b = answer["error"], other["error"]
        return a["code"] == b["code"] and a["param"] == b["param"] and (text or a["message"] == b["message"])
    return answer == other


def cases_of(operations):
    for verb, op in operations.items():
        if not op["batch"] or not op["path"]:
            continue
        cases = [dict(q) for q in sync.GOOD[verb]]
        for name, parameter in op["parameters"]["properties"].items():
            if name not in ("svg", "force"):
                cases += [{**sync.GOOD[verb][0], name: v} for v in sync.bad_values(parameter)]
        cases += [{**sync.GOOD[verb][0], "nothing": 1}, {"gpu": "rtx4090"}, {"model": "no such model"}]
        yield verb, op, cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    program = str(pathlib.Path(parser.parse_args().program).resolve())
    skip_without_helper(program)
    operations = sync.operations_of(program)
    passed, failed = 0, 0

    def judge(verb, question, way, answer, other, text):
        nonlocal passed, failed
        if same(answer, other, text):
            passed += 1
            return
        failed += 1
        print("%s %s\n  command: %.200s\n  %s: %.200s" % (verb, question, json.dumps(answer), way, json.dumps(other)))

    session = Session(program)
    session.ask(hello())
    with Service(program, "--rate-limit", "0", "--access-log", "off") as service:
        ask = Asker(service)
        for verb, op, cases in cases_of(operations):
            for question, answer in zip(cases, sync.by_json(program, verb, cases)):
                body = json.dumps(question).encode()
                judge(verb, question, "query", answer, by_query(ask, op["path"], question), True)
                judge(verb, question, "body", answer, ask.ask("POST", op["path"], body)[2], False)
                judge(verb, question, "mcp", answer, by_mcp(session, op["tool"], question), False)
        for verb, questions in EXTRA.items():
            op = operations[verb]
            for question in questions:
                status, said = sync.by_argv(program, verb, question)
                body = ask.ask("POST", op["path"], json.dumps(question).encode())[2]
                query = by_query(ask, op["path"], question)
                judge(verb, question, "query and body", body, query, True)
                if status in (0, 1):
                    judge(verb, question, "body", said, body, False)
                elif "error" not in body or sync.EXIT[body["error"]["code"]] != status:
                    judge(verb, question, "body", {"status": status}, body, False)
                if op["tool"] and status == 0:
                    judge(verb, question, "mcp", said, by_mcp(session, op["tool"], question), False)
        failed += len(ask.faults)
    session.end()
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


sys.exit(main())
