#!/usr/bin/env python3
"""Draws what a simulated request costs: CPU time against requests and against members, and memory against requests.

Usage: benches/curves.py [OUT.svg]        docs/speed.svg, where nothing is given
       TURNS=1 benches/curves.py OUT.svg  one turn instead of five

Builds the command and `least_work`, which is the limit: a step of the generator, one operation of a heap and four cache lines
a request, and nothing else. Every point is the least of all turns, in CPU time, for other work on the machine only adds to
it; the turns go through all points, so that no point has all of a slow minute. Prints the figures, too.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TURNS = int(os.environ.get("TURNS", "5"))
DRIVE = "xqm39100td-sw"
REQUESTS = [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000]
MEMBERS = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
# What is drawn of members has so many requests, and of the limit so many: more of what is cheaper.
MEMBERS_REQUESTS, LEAST_REQUESTS = 1_000_000, 10_000_000


def build():
    """The command and the limit, built by the release profile."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for what in (["-p", "cli"], ["-p", "sim", "--example", "least_work"]):
        subprocess.run(["cargo", "build", "--release", "--quiet", *what], cwd=ROOT, check=True)
    return target / "release" / "ileave", target / "release" / "examples" / "least_work"


def used(command):
    """The seconds of CPU time and the most memory, in MiB, of a command."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def trial(ileave, members, level, op, depth, requests):
    """The CPU time in s and the memory in MiB of one trial: random requests of 4 KiB."""
    with tempfile.TemporaryDirectory() as here:
        file, out = Path(here, "case.toml"), Path(here, "out")
        file.write_text(
            f'name = "case"\nabout = "Random requests of 4 KiB"\n[volume]\ndrives = "{members}{DRIVE}"\nlevel = "{level}"\n'
            f'interleave = 128\n[workload.random]\nkind = "random"\nop = "{op}"\nblock = "4KiB"\ndepth = {depth}\n'
            f"count = {requests}\n"
        )
        _, memory = used([ileave, "run", file, "--out", out])
        lines = (json.loads(line) for line in (out / "attempts.jsonl").read_text().splitlines())
        return sum(line.get("cpu_s", 0) for line in lines), memory


def least(program, members, in_flight):
    """The CPU time in µs of the least that a request can be."""
    start, _ = used([program, str(members), str(in_flight), "0"])
    whole, _ = used([program, str(members), str(in_flight), str(LEAST_REQUESTS)])
    return (whole - start) / LEAST_REQUESTS * 1e6


def measured(ileave, program):
    """All points: name of a line → {x: y}."""
    lines = {}

    def note(line, x, y):
        points = lines.setdefault(line, {})
        points[x] = min(y, points.get(x, y))

    for turn in range(TURNS):
        print(f"turn {turn + 1} of {TURNS}", file=sys.stderr)
        for requests in REQUESTS:
            for line, case in (("stripe of 8, reads", (8, "stripe", "read")), ("RAID 5 of 8, writes", (8, "raid5", "write"))):
                seconds, memory = trial(ileave, *case, 16, requests)
                note((line, "s"), requests, seconds)
                note((line, "MiB"), requests, memory)
        note(("least", "µs"), 0, least(program, 8, 16))
        for members in MEMBERS:
            for line, depth in (("16 in flight", 16), ("two in flight a member", 2 * members)):
                seconds, _ = trial(ileave, members, "stripe", "read", depth, MEMBERS_REQUESTS)
                note((line, "µs"), members, seconds / MEMBERS_REQUESTS * 1e6)
                note((f"the limit, {line}", "µs"), members, least(program, members, depth))
    least_us = lines.pop(("least", "µs"))[0]
    lines[("the limit", "s")] = {requests: least_us * requests / 1e6 for requests in REQUESTS}
    return lines


# The drawing: three panels side by side, each with logarithmic axes.
WIDE, HIGH, LEFT, TOP = 330, 260, 62, 40
COLOURS = ["#1f5fa8", "#c2571a"]


def panel(place, title, x_name, y_name, lines, decades):
    """One panel; of `lines` each is (name, points, colour, whether it is a limit); `decades` are the powers of ten of y."""
    from math import log10

    xs = [x for _, points, _, _ in lines for x in points]
    low, high = log10(min(xs)), log10(max(xs))
    first, last = decades
    at_x = lambda x: LEFT + (log10(x) - low) / (high - low) * (WIDE - LEFT - 18)
    at_y = lambda y: TOP + HIGH - (log10(y) - first) / (last - first) * HIGH
    out = [f'<g transform="translate({place * (WIDE + 12)},0)">', f'<text x="{LEFT}" y="20" class="title">{title}</text>']
    for power in range(first, last + 1):
        y = at_y(10.0**power)
        label = f"{10.0 ** power:g}"
        out.append(f'<line x1="{LEFT}" x2="{WIDE - 18}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="number">{label}</text>')
    marks = sorted(set(xs))
    for x in marks[:: -max(1, round(len(marks) / 5))]:
        out.append(f'<text x="{at_x(x):.1f}" y="{TOP + HIGH + 16}" class="mark">{short(x)}</text>')
    out.append(f'<text x="{(LEFT + WIDE) / 2}" y="{TOP + HIGH + 34}" class="mark">{x_name}</text>')
    out.append(f'<text x="{LEFT - 50}" y="{TOP - 9}" class="axis">{y_name}</text>')
    for number, (name, points, colour, is_limit) in enumerate(lines):
        path = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in sorted(points.items()))
        dash = ' stroke-dasharray="5 4"' if is_limit else ""
        out.append(f'<polyline points="{path}" stroke="{colour}"{dash}/>')
        if not is_limit:
            out += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="2.5" fill="{colour}"/>' for x, y in points.items()]
        y = TOP + HIGH + 56 + 16 * number
        out.append(f'<line x1="{LEFT}" x2="{LEFT + 24}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"{dash}/>')
        out.append(f'<text x="{LEFT + 30}" y="{y + 4}">{name}</text>')
    return "\n".join([*out, "</g>"])


def short(number):
    """10000 → 10k."""
    for size, unit in ((1_000_000, "M"), (1000, "k")):
        if number >= 10_000 and number >= size:
            return f"{number / size:g}{unit}"
    return str(number)


def drawn(lines):
    """All of it as SVG."""
    blue, brown = COLOURS
    reads, writes = "stripe of 8, reads", "RAID 5 of 8, writes"
    few, many = "16 in flight", "two in flight a member"
    panels = [
        panel(0, "Time against requests", "requests", "CPU time, s",
              [(reads, lines[reads, "s"], blue, False), (writes, lines[writes, "s"], brown, False),
               ("the limit", lines["the limit", "s"], "#555", True)], (-4, 1)),
        panel(1, "Time against members", "members of a stripe, reads", "CPU time a request, µs",
              [(few, lines[few, "µs"], blue, False), (many, lines[many, "µs"], brown, False),
               (f"the limit, {few}", lines[f"the limit, {few}", "µs"], blue, True),
               (f"the limit, {many}", lines[f"the limit, {many}", "µs"], brown, True)], (-2, 1)),
        panel(2, "Memory against requests", "requests", "most memory of the command, MiB",
              [(reads, lines[reads, "MiB"], blue, False), (writes, lines[writes, "MiB"], brown, False)], (0, 3)),
    ]
    wide, high = 3 * (WIDE + 12), TOP + HIGH + 120
    style = (
        "text{font:12px sans-serif;fill:#222}.title{font-weight:bold;font-size:13px}.number{text-anchor:end}"
        ".mark{text-anchor:middle}.grid{stroke:#ddd}polyline{fill:none;stroke-width:2}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" aria-label="CPU time against requests and '
        f'against members, and memory against requests">\n<style>{style}</style>\n<rect width="{wide}" height="{high}" fill="#fff"/>\n'
        + "\n".join(panels)
        + "\n</svg>\n"
    )


def main():
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "speed.svg"
    lines = measured(*build())
    for (name, unit), points in lines.items():
        print(f"{name}, {unit}: " + ", ".join(f"{short(x)} {y:.4g}" for x, y in sorted(points.items())))
    out.write_text(drawn(lines))


if __name__ == "__main__":
    main()
