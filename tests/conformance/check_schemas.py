"""Judges reports by an independent validator (python3-jsonschema, draft 7).

usage: check_schemas.py OUR_SCHEMA PUBLISHED_SCHEMA CASES.jsonl REPORT...
A report's file name says what must hold: both-*.json is valid under both schemas, ours-*.json under
ours only, bad-*.json under neither of them. The cases are judged by PUBLISHED_SCHEMA, which proves
that file right. Exit status 77: the validator is not installed.
"""
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    print("SKIPPED: python3-jsonschema is not installed (scripts/setup.sh test)")
    sys.exit(77)


def strict(text):
    def refuse(word):
        raise ValueError(word)
    return json.loads(text, parse_constant=refuse)


def main():
    ours_path, published_path, cases, reports = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    validators = {}
    for name, path in (("ours", ours_path), ("published", published_path)):
        with open(path, encoding="utf-8") as f:
            schema = json.load(f)
        jsonschema.Draft7Validator.check_schema(schema)
        validators[name] = jsonschema.Draft7Validator(schema)
    wrong = 0
    for path in reports:
        with open(path, encoding="utf-8") as f:
            document = strict(f.read())
        kind = os.path.basename(path).split("-")[0]
        want = {"both": (True, True), "ours": (True, False), "bad": (False, False)}[kind]
        for name, expected in zip(("ours", "published"), want):
            errors = [e.message for e in validators[name].iter_errors(document)]
            if (not errors) != expected:
                wrong += 1
                print(f"{path}: {name} says {errors[:3] or 'valid'}")
    judged = 0
    with open(cases, encoding="utf-8") as f:
        for line in f:
            case = json.loads(line)
            if not case["json"]:
                continue
            errors = list(validators["published"].iter_errors(strict(case["text"])))
            judged += 1
            if (not errors) != case["valid"] or len(errors) != len(case["errors"]):
                wrong += 1
                print(f"{case['id']}: {[e.message[:80] for e in errors]}")
    print(f"{len(reports)} reports and {judged} cases judged, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
