#!/usr/bin/python3
"""The agent skill: skill.py --program ECOCOMPUTE --source REPOSITORY

The front matter is what agents read; every link leads somewhere; every command and MCP tool it
names is in the program's table and answers; SKILL.md holds no energy figure that an agent could
repeat from memory; the references are what the program's tables say today.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys


def expect(what, true):
    if not true:
        sys.exit("skill: not so: " + what)


def front_matter(text):
    expect("front matter", text.startswith("---\n") and "\n---\n" in text[4:])
    head = text[4:text.index("\n---\n", 4)]
    return dict(line.split(": ", 1) for line in head.splitlines())


def main():
    parser = argparse.ArgumentParser(description="the agent skill")
    parser.add_argument("--program", required=True)
    parser.add_argument("--source", required=True)
    args = parser.parse_args()
    folder = pathlib.Path(args.source, "skills", "ecocompute")
    text = (folder / "SKILL.md").read_text()
    head = front_matter(text)
    expect("the name is the folder's", head["name"] == folder.name)
    expect("the description fits", 40 < len(head["description"]) <= 1024)

    schema = {op["name"]: op for op in json.loads(subprocess.run(
        [args.program, "help", "--schema"], capture_output=True, text=True, check=True).stdout)}
    rows = re.findall(r"^\| .* \| `ecocompute (\w+)[^|]*` (?:or `[^`]*` )?\| `(\w+)` \|$", text,
                      re.M)
    expect("the table of tools is read", len(rows) == 8)
    for verb, tool in rows:
        expect("'%s' is a command" % verb, verb in schema)
        expect("'%s' is the tool of '%s'" % (tool, verb),
               tool == (schema[verb].get("tool") or "measure_energy"))
    for link in re.findall(r"\]\(([^)]+)\)", text):
        expect("'%s' is there" % link, (folder / link).exists())
    figures = re.findall(r"[-+]?\d+(?:\.\d+)?\s*(?:%(?! range)|J\b|Wh\b|kWh|W\b|USD|tok)", text)
    expect("no figures to repeat: %s" % figures, not figures)
    wrong = subprocess.run([str(pathlib.Path(args.source, "tools", "skill-references")),
                            args.program, "--check"], capture_output=True, text=True, check=False)
    expect(wrong.stderr.strip(), wrong.returncode == 0)

    # What an agent does first with it: a question in words, then the numbers out of the result.
    done = subprocess.run([args.program, "ask", "--json",
                           "Lobster, I want to deploy Qwen2.5-3B on an RTX 5090. What's greenest?"],
                          capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    expect("ask names the command", answer["command"].startswith("ecocompute optimize "))
    expect("ask answers with numbers", answer["answer"] is not None)
    print("the skill says what the program does")


main()
