#!/usr/bin/python3
"""What holds for every answer of the protocols, whoever tells it: properties.py --program PATH.

 - every number that is shown occurs in the JSON result of the same question in the same language,
   after rounding to what is shown; a share may be shown as a percentage, a change without its sign;
   figures that are part of a text's own words (texts.def, words.def) and the ticks of a chart's axes
   are no numbers of the answer;
 - EcoLobster says the mood first, then the alerts of every trap that is more than a note, before
   anything else; dollars always (or, when the result has none, why not); the citation last;
 - the lights, alerts, mood and fixes of a comparison agree, and what is left out is not ranked;
 - what nobody said is called assumed;
 - in the plain voice a trap stands before the first heading, right after the verdict (compare, which
   asks about no configuration, has it in a section of its own); the citation is last there too.

Questions: all scenarios, and random ones from a fixed seed; each in some of the voices, languages and
formats (all of them with --all). --inject TEXT puts TEXT into every rendering, and then every one of
them must be found wrong: the test of the test.
"""
import argparse
import decimal
import html
import itertools
import json
import pathlib
import random
import re
import sys

import golden

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"(?<![A-Za-z0-9_.])[-+−]?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
MOODS = {"en": ["[Green]", "[Yellow]", "[Orange]", "[Red]", "[Gray]"],
         "zh": ["[绿色]", "[黄色]", "[橙色]", "[红色]", "[灰色]"]}
CITATION = {"en": "data set sha256", "zh": "数据集 sha256"}
SIGN = {"en": "-- Your EcoLobster", "zh": "-- 您的 EcoLobster"}
ALERT = {"en": "Alert:", "zh": "警报："}
HEADING = {"table": None, "markdown": "\n## ", "html": "<h2>"}


def strings_of(path, macro):
    """The texts of every row of a .def file, adjacent literals joined."""
    text = path.read_text(encoding="utf-8")
    for row in re.finditer(r'^%s\((.*?)\)\n(?=\n|%s\(|/\*|\Z)' % (macro, macro), text, re.S | re.M):
        for joined in re.findall(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', row.group(1)):
            yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', joined)).replace('\\"', '"')


def own_words():
    """Patterns of the fragments between a text's arguments that hold a figure of their own."""
    fragments = set()
    texts = [re.split(r"%[-+.0-9*]*(?:lld|zu|[a-z])", s.replace("%%", "\0"))
             for s in strings_of(ROOT / "src/ops/texts.def", "T")]
    texts += [[s] for s in strings_of(ROOT / "src/ops/words.def", "W")]
    for parts in texts:
        for part in itertools.chain.from_iterable(p.split("|") for p in parts):  # a table's heads
            part = part.replace("\0", "%").strip(" ~>")
            if re.search(r"\d", part) and not re.fullmatch(r"[\d.]+", part):
                fragments.add(part)
    out = []
    for f in sorted(fragments, key=len, reverse=True):  # a line may break anywhere in it
        words = r"\s*".join(re.escape(c) for c in re.sub(r"\s", "", f))
        out.append(re.compile((r"(?<!\d)" if f[0].isdigit() else "") + words +
                              (r"(?!\d)" if f[-1].isdigit() else "")))
    return out


def rounded(value):
    """All ways in which a number may be shown."""
    out = set()
    d = decimal.Decimal(repr(value)).copy_abs()
    forms = [d] + ([d * 100] if 0 < d < 1 else [])
    for form in forms:
        out.add(form.normalize())
        if form == 0:
            continue
        digits = form.adjusted()
        for keep in range(1, 8):
            unit = decimal.Decimal(1).scaleb(digits - keep + 1)
            for way in (decimal.ROUND_HALF_UP, decimal.ROUND_HALF_EVEN, decimal.ROUND_HALF_DOWN):
                out.add(form.quantize(unit, way).normalize())
    return out


def numbers_of(node, out):
    if isinstance(node, bool) or node is None:
        return
    if isinstance(node, (int, float)):
        out.update(rounded(node))
    elif isinstance(node, str):
        for token in re.findall(r"\d+(?:\.\d+)?", node):
            out.update(rounded(float(token)) if len(token) < 16 else set())
    else:
        for member in node.values() if isinstance(node, dict) else node:
            numbers_of(member, out)


def plain_text(text, form):
    if form == "html":
        text = re.sub(r"<head>.*?</head>", " ", text, flags=re.S)
        text = html.unescape(re.sub(r"<[^>]*>", " ", text))
    if form == "markdown":
        text = re.sub(r"\\([|*<`])", r"\1", text)
    lines = [l for l in text.splitlines()  # the chart: its axis, its ticks
             if not re.search(r"[┤│└┬]", l) and not re.fullmatch(r"\s*(?:[\d.]+[MB]\s+)+[\d.]+[MB]\s*", l)]
    return "\n".join(lines)


def foreign_numbers(text, form, known, fragments):
    text = plain_text(text, form)
    text = re.sub(r"sha256\s+[0-9a-f]{12}…[，,]?\s*ecocompute\s+[\d.]+", " ", text)
    for fragment in fragments:
        text = fragment.sub(" ", text)
    bad = []
    for token in NUMBER.findall(text):
        value = decimal.Decimal(token.replace("−", "-")).copy_abs().normalize()
        if value not in known:
            bad.append(token)
    return bad


def answer_of(result):
    """The result that is told: of ask the answer's own."""
    if "by_size" in result:
        return result["answer"] or (result if result["by_size"] else None)
    return result


def has_trap(result):
    alerts = result.get("alerts") or []
    return any(a["severity"] != "info" for a in alerts)


def has_dollars(result):
    bill = result.get("cost") or result.get("bill")
    if isinstance(bill, dict) and bill.get("month", {}).get("usd") is not None:
        return True
    return any(r.get("month_usd") is not None for r in result.get("by_size", [])) or \
        result.get("worst_month_usd") is not None


def check_lobster(text, lang, result):
    first = text.strip().splitlines()[0]
    if not any(mood in first for mood in MOODS[lang]):
        yield "the mood is not first: %r" % first[:60]
    wanted = result.get("mood") if result else "Gray"
    if wanted and MOODS[lang][["Green", "Yellow", "Orange", "Red", "Gray"].index(wanted)] not in first:
        yield "the mood is not the result's %s: %r" % (wanted, first[:60])
    if result and has_trap(result):
        rest = [l for l in text.strip().splitlines()[1:] if l.strip()]
        if not rest or ALERT[lang] not in rest[0]:
            yield "no alert right after the mood: %r" % (rest[0][:60] if rest else "")
    if result and "$" not in text:
        yield "no dollars and no reason"
    if result and has_dollars(result) and not re.search(r"\$\d", text):
        yield "the result has dollars, the rendering has none"
    if result and not text.rstrip().endswith(SIGN[lang]):
        yield "not signed at the end: %r" % text.rstrip()[-60:]


def check_voice(words, form, lang, lobster, raw, result):
    text = plain_text(raw, form)
    if form == "markdown":
        text = text.replace("**", "")
    if result:
        yield from check_assumed(text, lang, lobster, result)
    if result and "left_out" in result and "rows" in result:
        yield from check_compare(result)
    if lobster:
        yield from check_lobster(text, lang, result)
    elif result and has_trap(result) and words[0] not in ("compare", "audit") and \
            "rows" not in result:
        name = next(a["name"] for a in result["alerts"] if a["severity"] != "info")
        head = re.split(r"\n#{1,6} |<h2>", raw)[0] if form != "table" else raw
        if name not in html.unescape(head).replace("\\", ""):
            yield "the trap '%s' is not before the first heading" % name
    if result and result.get("data") and (words[0] != "audit" or form != "markdown" or lobster):
        at = re.sub(r"\s+", "", text).rfind(re.sub(r"\s+", "", CITATION[lang]))
        tail = len(re.sub(r"\s+", "", text)) - at
        if at < 0 or tail > 90:
            yield "the citation is not last"


HOT = ["Gray", "Green", "Yellow", "Orange", "Red"]


def check_compare(result):
    """Lights, alerts, mood and quick fixes of one table cannot disagree."""
    rows = {(r["precision"], r["engine"]): r for r in result["rows"]}
    left = {(r["precision"], r["engine"]) for r in result["left_out"]}
    traps = [a for a in result["alerts"] if a["severity"] != "info"]
    if [r["rank"] for r in result["rows"]] != list(range(1, len(rows) + 1)) or left & set(rows):
        yield "a row is ranked twice, or ranked and left out"
    if any(not r["fits"] for r in result["rows"]):
        yield "a row is ranked that does not fit"
    if any(not r["why"] for r in result["left_out"]):
        yield "left out without a reason"
    if rows:
        about = [rows.get((a["precision"], a["engine"])) for a in traps]
        if None in about:
            yield "an alert is about no row"
            return
        if any(r["mood"] == "Green" for r in about):
            yield "a trap's row is green"
        want = max((r["mood"] for r in about), key=HOT.index) if about else result["rows"][0]["mood"]
        if result["mood"] != want:
            yield "the mood is %s, the rows say %s" % (result["mood"], want)
        for a in traps:  # the fix names a row of this table: it must be calm
            for key, r in rows.items():
                if re.search(r"(run|用) %s[ （]" % re.escape(key[0]), a["fix"]) and key[1] in a["fix"] and \
                        (r["mood"] not in ("Green", "Gray") or r is rows[a["precision"], a["engine"]]):
                    yield "the fix of %s is the %s row %s" % (a["precision"], r["mood"], key[0])
    elif result["mood"] == "Green" or "rows" in result and not result["left_out"]:
        yield "nothing is ranked, and nothing says why"


def check_assumed(text, lang, lobster, result):
    """What nobody said is called assumed."""
    assumed = (result.get("input") or result).get("assumed") or []
    squeezed = re.sub(r"\s+", "", text)
    told = {"en": "Assumed:", "zh": "假定："}[lang]
    if "gpu" in assumed and told not in squeezed:
        yield "the card is a guess, and not called one"
    if lobster and "gpu" in assumed and lang == "en" and re.search(r"\bYour [\w./-]+ on ", text):
        yield "a guess is called yours"


def random_questions(n):
    draw = random.Random(20261130)
    models = ["Qwen2.5-0.5B", "Qwen2.5-3B", "Qwen2.5-7B", "Mistral-7B-v0.1", "Yi-1.5-6B", "Qwen2.5-14B",
              "Llama-3.1-8B-Instruct", "TinyLlama-1.1B-Chat-v1.0", "Mixtral-8x7B-v0.1", "2.7B", "34B"]
    cards = ["rtx4090", "rtx4090d", "rtx5090", "a800", "t4", "a100", "h100", "rtx3090", "l4", "v100"]
    precisions = ["FP16", "NF4", "INT8", "INT8-PURE", "FP8", "NF4-DQ", "GPTQ-INT4", "Q4_K_M", "BF16"]
    flags = ["--production", "--nightly", "--no-kv-cache", "--eager"]
    out = []
    for i in range(n):
        verb = draw.choice(["estimate", "optimize", "compare", "cost", "diagnose"])
        words = [verb, draw.choice(models), draw.choice(cards)]
        if verb in ("estimate", "cost", "diagnose"):
            words.append(draw.choice(precisions))
        if draw.random() < 0.5:
            words += ["--batch", str(draw.choice([1, 2, 8, 16, 64, 100]))]
        if draw.random() < 0.3:
            words += ["--prompt-tokens", str(draw.randint(16, 8000))]
        if draw.random() < 0.3:
            words.append(draw.choice(flags))
        if verb == "cost":
            words += draw.choice([["--users", str(draw.randint(1, 10 ** 6))], ["--requests-per-day", "777"],
                                  ["--tokens", str(draw.randint(1, 10 ** 11))], ["--hours-per-day", "7.5"],
                                  ["--characters", str(draw.randint(1, 10 ** 9))], []])
        elif draw.random() < 0.5:
            words += ["--requests", str(draw.randint(1, 10 ** 9))]
        if draw.random() < 0.3:
            words += ["--region", draw.choice(["France", "China", "Iceland", "Germany"])]
        if verb == "diagnose":
            words += ["--throughput", "%.4g" % (10 ** draw.uniform(-1, 3))]
            if draw.random() < 0.5:
                words += ["--power-w", "%d" % draw.randint(5, 900)]
        out.append(("random-%d" % i, words))
    return out


def stripped(words):
    """The question without voice, language and format."""
    out, skip = [], False
    for w in words:
        if skip:
            skip = False
        elif w in ("--persona", "--lang", "--format"):
            skip = True
        elif w != "--json":
            out.append(w)
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--all", action="store_true", help="every voice, language and format of each")
    parser.add_argument("--inject", default="", help="put this text into every rendering")
    parser.add_argument("--first", type=int, default=10 ** 6, help="only so many questions")
    parser.add_argument("--without", default="", help="a verb that is not built in")
    args = parser.parse_args()
    fragments = own_words()
    ways = list(itertools.product(["table", "markdown", "html"], ["en", "zh"], [False, True]))
    checked = failed = 0
    questions, seen = [], set()
    for name, words in golden.scenarios() + random_questions(40):
        if tuple(stripped(words)) not in seen and words[0] != args.without:
            seen.add(tuple(stripped(words)))
            questions.append((name, stripped(words)))
    for number, (name, words) in enumerate(questions[:args.first]):
        results = {}
        # EcoLobster's order is short and strict: of the audit every way of telling is looked at
        turns = ways if args.all or words[0] == "audit" else \
            [ways[(number * 5 + k * 7) % len(ways)] for k in range(2)]
        for form, lang, lobster in turns:
            base = words + ["--lang", lang]
            try:
                if lang not in results:
                    text = golden.run(args.program, base + ["--json"])
                    known = set()
                    numbers_of(json.loads(text), known)
                    results[lang] = (json.loads(text), known)
                raw = golden.run(args.program, base + ["--format", form] +
                                 (["--persona", "ecolobster"] if lobster else []))
            except SystemExit as problem:  # a question that has no answer: the error is the answer
                if name.startswith("random-"):
                    continue
                raise problem
            if args.inject:  # under the first line
                mark = "<body>\n" if form == "html" else "\n"
                raw = raw.replace(mark, "%s%s\n" % (mark, args.inject), 1)
            result, known = results[lang]
            wrong = ["numbers that are not in the result: %s" % ", ".join(bad)
                     for bad in [foreign_numbers(raw, form, known, fragments)] if bad]
            wrong += check_voice(words, form, lang, lobster, raw, answer_of(result))
            wrong = [w for w in wrong if w.startswith("numbers")] if args.inject else wrong
            checked += 1
            failed += bool(wrong)
            for w in [] if args.inject else wrong:
                print("%s (%s, %s, %s): %s" % (name, form, lang, "ecolobster" if lobster else "plain", w))
    print("%d renderings of %d questions checked, %d wrong" % (checked, len(questions), failed))
    if args.inject:
        return 0 if checked and failed == checked else 1
    return 1 if failed or not checked else 0


sys.exit(main())
