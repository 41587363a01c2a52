"""Judges SVG charts with a parser of its own: check_svg.py FILE...

Well-formed, announced to screen readers, nothing fetched from elsewhere, no number that is none,
text inside the picture, text readable on its background (contrast 4.5:1, WCAG AA) in both schemes,
and on the crossover chart equal ratios of size at equal distances.
"""
import re
import sys
import xml.etree.ElementTree as ET

NS = "{http://www.w3.org/2000/svg}"


def luminance(colour):
    h = colour.lstrip("#")
    h = "".join(c * 2 for c in h) if len(h) == 3 else h
    parts = [int(h[i:i + 2], 16) / 255 for i in (0, 2, 4)]
    parts = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(a, b):
    hi, lo = sorted((luminance(a), luminance(b)), reverse=True)
    return (hi + 0.05) / (lo + 0.05)


def fills(css):
    found = {}
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", css):
        m = re.search(r"(?:^|;)fill:(#[0-9a-f]+)", body)
        for s in selectors.split(",") if m else []:
            found[s.strip()] = m.group(1)
    return found


def check(path):
    wrong = []
    with open(path, encoding="utf-8") as f:
        text = f.read()
    root = ET.fromstring(text)
    if root.get("role") != "img":
        wrong.append("no role")
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    if len(ids) != len(set(ids)):
        wrong.append("an id stands twice")
    for name in root.get("aria-labelledby", "?").split():
        if name not in ids:
            wrong.append(f"aria-labelledby names {name}, which is not there")
    for tag in ("title", "desc"):
        e = root.find(NS + tag)
        if e is None or not (e.text or "").strip():
            wrong.append("no " + tag)
    without_ns = text.replace("http://www.w3.org/2000/svg", "")
    for word in ("http", "<script", "@import", "href", "font-face", "nan", "inf"):
        if re.search(r"\b" + word if word.isalpha() else word, without_ns.split("</style>")[1] if
                     word in ("nan", "inf", "http") else without_ns):
            if word != "http" or re.search(r"(src|href|url)\W+http", without_ns):
                wrong.append(f"'{word}' in it")
    width, height = (float(v) for v in root.get("viewBox").split()[2:])
    ticks = {}
    for e in root.iter():
        for key in ("x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "width", "height"):
            if e.get(key) is not None and not re.fullmatch(r"-?[0-9]+(\.[0-9])?", e.get(key)):
                wrong.append(f"{key}={e.get(key)}")
        if e.tag == NS + "text":
            x, y = float(e.get("x")), float(e.get("y"))
            estimate = 6.8 * len(e.text or "")
            left = x - {"end": estimate, "middle": estimate / 2}.get(e.get("text-anchor"), 0)
            if not (-4 <= left and 0 < y <= height and x <= width):
                wrong.append(f"'{e.text}' lies outside")
            if re.fullmatch(r"[0-9.]+B", e.text or ""):
                ticks[float(e.text[:-1])] = x
    light, dark = text.split("@media")
    base = fills(light.split("<style>")[1])
    night = {**base, **fills(dark.split("</style>")[0].split("{", 1)[1])}
    for scheme in (base, night):
        for name in (".eco-t", ".eco-h", ".eco-b", ".eco-a", ".eco-f"):
            if contrast(scheme[name], scheme[".eco-bg"]) < 4.5:
                wrong.append(f"{name} {scheme[name]} on {scheme['.eco-bg']} is hard to read")
    if {1, 2, 5, 10} <= set(ticks):
        if abs((ticks[2] - ticks[1]) - (ticks[10] - ticks[5])) > 0.21:
            wrong.append("the size axis is not logarithmic")
    return wrong


bad = 0
for name in sys.argv[1:]:
    for line in check(name):
        print(f"{name}: {line}")
        bad += 1
print(f"{len(sys.argv) - 1} charts judged, {bad} faults")
sys.exit(1 if bad else 0)
