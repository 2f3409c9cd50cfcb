#!/usr/bin/env python3
"""Cells drawn at random, to hold the model to the kernel where nobody has looked.

Usage: benches/draw.py SEED CELLS >draw.toml
       ileave run draw.toml --out model; ileave run draw.toml --on kernel --guest-memory 8GiB --out kernel
       benches/draw.py --compare draw.toml model kernel

Each workload is one cell: its own drives, level, chunk, requests, jobs, cache, flushes, bitmap, failed member. Both
runs draw the same requests, as long as the file is the same. Printed: how far the model's MB/s is from the kernel's, and
the cells that differ by more than 5 %. Cells of a few hundred requests can differ by accident: run those again with more
before you look for a reason.
"""

import json
import math
import random
import re
import sys
from pathlib import Path

DISKS = ["wd121kryz:8GiB", "st18000nm000j:16GiB", "md-hdd:4GiB"]
FLASH = ["980-pro-1tb:8GiB", "d3-s4610-480gb:8GiB", "p4800x-375gb:8GiB", "990-pro-2tb:8GiB"]
# The least and the most members.
LEVELS = {
    "single": (1, 1),
    "md-stripe": (2, 8),
    "md-mirror": (2, 3),
    "md-raid10": (3, 9),
    "md-raid10-f2": (2, 6),
    "md-raid10-o2": (3, 6),
    "md-raid5": (3, 8),
    "md-raid6": (4, 10),
    "dm-stripe": (2, 8),
    "lvm-stripe": (2, 6),
    "lvm-raid5": (3, 6),
}
WITHOUT_CHUNK = ["single", "md-mirror"]
WITH_BITMAP = ["md-mirror", "md-raid10", "md-raid5", "md-raid6"]
ELSEWHERE = ['access = "zipf:1.1"', 'think = "1ms"', 'sizes = "4KiB/60:64KiB/40"', 'span = "2GiB"']


def cell(dice):
    """The keys of one workload."""
    drive = dice.choice(DISKS + FLASH)
    level = dice.choice(list(LEVELS))
    members = dice.randint(*LEVELS[level])
    is_random = dice.random() < 0.67
    sizes = [4, 8, 16, 32, 64, 128, 256, 512, 1024] if is_random else [16, 64, 128, 256, 1024, 2048, 4096]
    block, jobs = dice.choice(sizes), dice.choice([1, 1, 2, 4, 8])
    reads_percent = dice.choice([None, 70, 50, 30]) if is_random else None
    op = dice.choice(["read", "write"])
    writes = reads_percent is not None or op == "write"
    mib, most = (256, 40000 if drive in FLASH else 4000) if is_random else (1024, 40000)
    count = max(400, min(most, mib * 1024 // block))
    keys = [
        f'kind = "{"random" if is_random else "sequential"}"',
        f'block = "{block}KiB"',
        f"depth = {dice.choice([1, 4, 16, 64, 128])}",
        f"jobs = {jobs}",
        f"count = {max(150, count // jobs)}",
        f'volume.drives = "{members}x{drive}"',
        f'volume.level = "{level}"',
        f'op = "{op}"' if reads_percent is None else f"reads_percent = {reads_percent}",
    ]
    if level not in WITHOUT_CHUNK:
        keys.append(f'volume.interleave = "{dice.choice([16, 64, 128, 256, 512, 1024])}KiB"')
    if drive in DISKS:
        keys.append(f'drive.write_cache = {dice.choice(["true", "false"])}')
    if writes and dice.random() < 0.3:
        keys.append(f"flush_every = {dice.choice([1, 4, 16])}")
    elif is_random and dice.random() < 0.3:
        keys.append(dice.choice(ELSEWHERE))
    if level in WITH_BITMAP and dice.random() < 0.4:
        keys.append('volume.bitmap = "internal"')
    if level in WITH_BITMAP and dice.random() < 0.2:
        keys.append(f'volume.failed = "{dice.randrange(members)}"')
    return keys


def draw(seed, cells):
    dice = random.Random(seed)
    print('name = "draw"\nvolume = { drives = "4xmd-hdd", level = "md-raid5" }')
    for number in range(cells):
        print(f"workload.w{number:03} = {{ {', '.join(cell(dice))} }}")


def rates(directory):
    trials = (Path(directory) / "trials.jsonl").read_text().splitlines()
    return {trial["workload"]: trial["samples"]["mb_per_s"] for trial in map(json.loads, trials)}


def compare(experiment, model, kernel):
    keys = dict(re.findall(r"workload\.(w\d+) = \{ (.*) \}", Path(experiment).read_text()))
    model, kernel = rates(model), rates(kernel)
    ratios = sorted((model[name] / kernel[name], name) for name in kernel if name in model)
    errors = sorted(abs(math.log(ratio)) for ratio, _ in ratios)
    within = {most: sum(error <= math.log(1 + most / 100) for error in errors) for most in (1, 5, 10)}
    print(f"{len(errors)} cells, median {100 * errors[len(errors) // 2]:.2f} %;", end=" ")
    print(", ".join(f"{cells} within {most} %" for most, cells in within.items()))
    for ratio, name in ratios:
        if abs(math.log(ratio)) > math.log(1.05):
            print(f"{ratio:.2f}  {name}  kernel {kernel[name]:.4g} MB/s  {keys[name]}")


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "--compare":
        compare(*sys.argv[2:])
    elif len(sys.argv) == 3 and all(word.isdigit() for word in sys.argv[1:]):
        draw(*map(int, sys.argv[1:]))
    else:
        sys.exit(__doc__)
