#!/usr/bin/env python3
"""Cells drawn at random, to hold the model to the kernel where nobody has looked.

Usage: benches/draw.py [--open | --closed | --streams] SEED CELLS >draw.toml
       ileave run draw.toml --out model; ileave run draw.toml --on kernel --guest-memory 8GiB --out kernel
       benches/draw.py --compare draw.toml model kernel
       benches/draw.py --latencies draw.toml model kernel

Each workload is one cell: its own drives, level, chunk, requests, jobs, cache, flushes, bitmap, failed member. Both
runs draw the same requests, as long as the file is the same. Printed: how far the model's MB/s is from the kernel's, and
the cells that differ by more than 5 %. Cells of a few hundred requests can differ by accident: run those again with more
before you look for a reason.

With --open the requests come by the clock, and three cells each are the same load on the same drives in other layouts.
With --closed three cells each are a load as well, of direct requests with so many in flight.
With --streams a cell is a database: pages, beside them a log whose every write is flushed, and at times checkpoints.
--latencies compares how long requests take, stream by stream, and which of two layouts of a load answers sooner.
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


def load(dice):
    """Three cells of one load that comes by the clock, on three layouts of the same drives."""
    drive = dice.choice(DISKS + FLASH)
    members = dice.randint(3, 8)
    fitting = [level for level, (least, most) in LEVELS.items() if least <= members <= most]
    layouts = [(dice.choice(fitting), dice.choice([16, 64, 128, 256, 512, 1024])) for _ in range(3)]
    block = dice.choice([4, 8, 16, 32, 64, 128])
    reads_percent = dice.choice([100, 90, 70, 50, 0])
    # Of what the members could do, if each write took as long as it does on RAID 5.
    per_member = 100 if drive in DISKS else 100_000 / (1 + block / 8)
    commands = (reads_percent + 4 * (100 - reads_percent)) / 100
    rate = max(1, int(dice.choice([0.1, 0.3, 0.6, 0.9]) * members * per_member / commands))
    keys = [
        'kind = "random"',
        f'block = "{block}KiB"',
        f"reads_percent = {reads_percent}" if reads_percent < 100 else 'op = "read"',
        'arrivals = "poisson"',
        f"requests_per_s = {rate}",
        "count = 12000",
        f'volume.drives = "{members}x{drive}"',
    ]
    if drive in DISKS:
        keys.append(f'drive.write_cache = {dice.choice(["true", "false", "false"])}')
    if reads_percent < 100 and dice.random() < 0.2:
        keys.append("flush_every = 16")
    return [keys + [f'volume.level = "{level}"'] + of_chunk(level, kib) for level, kib in layouts]


def closed(dice):
    """Three cells of one load with so many requests in flight, on three layouts of the same drives."""
    drive = dice.choice(DISKS + FLASH)
    members = dice.randint(3, 8)
    fitting = [level for level, (least, most) in LEVELS.items() if least <= members <= most]
    layouts = [(dice.choice(fitting), dice.choice([16, 64, 128, 256, 512, 1024])) for _ in range(3)]
    is_random = dice.random() < 0.6
    block = dice.choice([4, 8, 16, 32, 64, 128, 256, 512, 1024] if is_random else [64, 128, 256, 512, 1024, 2048, 4096])
    reads_percent = dice.choice([100, 100, 70, 50, 0, 0]) if is_random else dice.choice([100, 0])
    depth = dice.choice([1, 4, 16, 32, 64, 128])
    if is_random:
        count = min(40000 if drive in FLASH else 6000, max(1000, 512 * 1024 // block))
    else:
        count = max(400, min(40000, 2048 * 1024 // block))
    keys = [
        f'kind = "{"random" if is_random else "sequential"}"',
        f'block = "{block}KiB"',
        'op = "read"' if reads_percent == 100 else 'op = "write"' if not reads_percent else f"reads_percent = {reads_percent}",
        f"depth = {depth}",
        f"count = {count}",
        f'volume.drives = "{members}x{drive}"',
    ]
    if drive in DISKS:
        keys.append(f'drive.write_cache = {dice.choice(["true", "false"])}')
    # The kernel rig sends by io_uring, which matters to the model where more than 1 MiB is written over parity.
    is_large = reads_percent == 0 and block > 1024
    engine = lambda level: ['engine = "io_uring"'] if is_large and level in ("md-raid4", "md-raid5", "md-raid6") else []
    return [keys + engine(level) + [f'volume.level = "{level}"'] + of_chunk(level, kib) for level, kib in layouts]


def of_chunk(level, kib):
    return [] if level in WITHOUT_CHUNK else [f'volume.interleave = "{kib}KiB"']


def streams(dice):
    """Three cells of one database on three layouts of the same drives: of each its streams, by their names."""
    drive = dice.choice(DISKS + FLASH)
    members = dice.randint(3, 8)
    fitting = [level for level, (least, most) in LEVELS.items() if least <= members <= most]
    layouts = [(dice.choice(fitting), dice.choice([16, 64, 128, 256, 512, 1024])) for _ in range(3)]
    per_member = 100 if drive in DISKS else 20_000
    block, reads_percent = dice.choice([4, 8, 16]), dice.choice([90, 70, 50])
    pages = ['kind = "random"', f'block = "{block}KiB"', f"reads_percent = {reads_percent}"]
    share = dice.choice([0.1, 0.2, 0.4])
    is_closed = dice.random() < 0.4
    if is_closed:
        depth = dice.choice([4, 16, 32])
        pages += [f"depth = {depth}", f"programs = {depth}"]
    else:
        pages += ['arrivals = "poisson"', f"requests_per_s = {int(share * members * per_member)}"]
    wal = ['kind = "sequential"', 'op = "write"', "flush_every = 1", 'offset = "2GiB"', 'span = "512MiB"']
    wal += [dice.choice(['block = "4KiB"', 'block = "8KiB"', 'sizes = "8KiB/6:16KiB/3:64KiB/1"'])]
    if not is_closed and dice.random() < 0.7:
        wal += ['arrivals = "poisson"', f"requests_per_s = {10 if drive in DISKS else 200}", "group_commit = true"]
    of_all = {"pages": pages, "wal": wal}
    if not is_closed and dice.random() < 0.5:
        burst = 32 if drive in DISKS else 256
        of_all["checkpoint"] = ['kind = "random"', 'op = "write"', f'block = "{block}KiB"', 'arrivals = "fixed"']
        of_all["checkpoint"] += [f"burst = {burst}", f"requests_per_s = {burst if drive in DISKS else 4 * burst}"]
    runtime = "120s" if drive in DISKS else "4s"
    volume = [f'runtime = "{runtime}"', f'volume.drives = "{members}x{drive}"']
    if drive in DISKS:
        volume.append(f'drive.write_cache = {dice.choice(["true", "false", "false"])}')
    for level, kib in layouts:
        own = [f'volume.level = "{level}"'] + of_chunk(level, kib)
        yield {name: keys + volume + own for name, keys in of_all.items()}


def draw(seed, cells, kind=None):
    dice = random.Random(seed)
    print('name = "draw"\nvolume = { drives = "4xmd-hdd", level = "md-raid5" }')
    for number in range(cells // 3 if kind else cells):
        drawn = {"open": load, "closed": closed, "streams": streams}[kind](dice) if kind else [cell(dice)]
        for letter, keys in zip("abc" if kind else [""], drawn):
            name = f"w{number:03}{letter}"
            of_all = keys if kind == "streams" else {"": keys}
            for stream, own in of_all.items():
                own = [f'group = "{name}"'] + own if stream else own
                print(f"workload.{name}{stream and '-'}{stream} = {{ {', '.join(own)} }}")


def trials(directory):
    """The samples of each cell; of a cell of several streams those of each stream, as `cell-stream`."""
    found = {}
    for trial in map(json.loads, (Path(directory) / "trials.jsonl").read_text().splitlines()):
        cell, samples = trial["workload"], trial["samples"]
        streams = {name.split(".")[0] for name in samples if name.startswith(f"{cell}-")}
        for stream in streams or [cell]:
            own = {name.removeprefix(f"{stream}."): value for name, value in samples.items() if stream == cell or name.startswith(f"{stream}.")}
            found[stream] = own | {"overloaded": samples.get("overloaded")}
    return found


def rates(directory):
    return {name: samples["mb_per_s"] for name, samples in trials(directory).items()}


def keys_of(experiment):
    return dict(re.findall(r"workload\.(w[\w-]+) = \{ (.*) \}", Path(experiment).read_text()))


def latencies(experiment, model, kernel):
    keys, model, kernel = keys_of(experiment), trials(model), trials(kernel)
    is_overloaded = lambda name: [bool(of[name].get("overloaded")) for of in (model, kernel)]
    unlike = [name for name in kernel if name in model and len(set(is_overloaded(name))) > 1]
    steady = [name for name in kernel if name in model and not any(is_overloaded(name))]
    print(f"{len(steady)} of {len(kernel)} cells keep up in both; overloaded in one of them: {', '.join(unlike) or 'none'}")
    every = steady
    for sample in ("latency_mean_ms", "latency_p50_ms", "latency_p99_ms", "commit_mean_ms", "commit_p99_ms"):
        steady = [name for name in every if sample in model[name] and sample in kernel[name]]
        if not steady:
            continue
        ratios = sorted((model[name][sample] / kernel[name][sample], name) for name in steady)
        errors = sorted(abs(math.log(ratio)) for ratio, _ in ratios)
        within = {most: sum(error <= math.log(1 + most / 100) for error in errors) for most in (5, 10, 25, 50)}
        print(f"{sample}: median {100 * math.expm1(errors[len(errors) // 2]):.1f} %;", end=" ")
        print(", ".join(f"{cells} within {most} %" for most, cells in within.items()))
        for ratio, name in ratios:
            if abs(math.log(ratio)) > math.log(1.25):
                print(f"  {ratio:.2f}  {name}  kernel {kernel[name][sample]:.4g} ms  {keys[name]}")
        pairs = [(a, b) for a in steady for b in steady if a < b and a[:4] == b[:4] and a[5:] == b[5:]]
        apart = [[math.log(of[a][sample] / of[b][sample]) for of in (model, kernel)] for a, b in pairs]
        counted = [ours * theirs > 0 for ours, theirs in apart if abs(theirs) > math.log(1.05)]
        print(f"  {sum(counted)} of {len(counted)} pairs that differ by more than 5 % in the kernel are the right way round")


def compare(experiment, model, kernel):
    keys = keys_of(experiment)
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
    elif len(sys.argv) == 5 and sys.argv[1] == "--latencies":
        latencies(*sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] in ("--open", "--closed", "--streams"):
        draw(*map(int, sys.argv[2:]), kind=sys.argv[1].removeprefix("--"))
    elif len(sys.argv) == 3 and all(word.isdigit() for word in sys.argv[1:]):
        draw(*map(int, sys.argv[1:]))
    else:
        sys.exit(__doc__)
