#!/usr/bin/env python3
"""How far `ileave submit` scales: a simulation of its schedule from measured overheads.

Usage: benches/schedule.py [--trials 100000] [--trial-ms 10] [--KEY VALUE…]

An engine hands tasks (shards) to workers one after the other. A task starts the program, which plans the whole
experiment and runs the trials of its shard one by one. Then one process merges all and says the verdict. The defaults are
what docs/scale.md says was measured; `--help` names each.

Printed: for each number of workers how long all takes, and how that compares with the trials alone shared out evenly.
"""

import argparse
import heapq
import random

# Seconds. docs/scale.md says how each was measured.
MEASURED = {
    "hand_over_s": (0.006, "what the engine spends on a task, one after the other"),
    "start_s": (0.01, "a task: the program starts"),
    "plan_trial_s": (0.000021, "a task: planning, for each trial of the whole experiment"),
    "trial_s": (0.0006, "a trial beside the trial itself: its lines, its share of a sync"),
    "merge_trial_s": (0.000025, "merging, for each trial"),
    "verdict_trial_s": (0.000037, "the verdict, for each trial"),
}


def shards(trials, count):
    """How many trials each shard has: by their hashes, as thrown by dice."""
    dice = random.Random(1)
    sizes = [0] * count
    for _ in range(trials):
        sizes[dice.randrange(count)] += 1
    return sizes


def schedule(asked, workers, count):
    """The time until the last task has ended, with a server that hands over one task at a time."""
    free = [0.0] * workers
    start = asked.start_s + asked.trials * asked.plan_trial_s
    # The command itself plans, too, before it hands anything over.
    server = start
    end = 0.0
    for size in shards(asked.trials, count):
        if size == 0:
            continue
        at = max(heapq.heappop(free), server)
        server = at + asked.hand_over_s
        done = server + start + size * (asked.trial_ms / 1000 + asked.trial_s)
        heapq.heappush(free, done)
        end = max(end, done)
    return end


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100_000)
    parser.add_argument("--trial-ms", type=float, default=10.0)
    parser.add_argument("--shards", type=int, default=0, help="shards in all [default: 8 for each worker]")
    for name, (value, words) in MEASURED.items():
        parser.add_argument("--" + name.replace("_", "-"), type=float, default=value, help=f"{words} [default: {value}]")
    asked = parser.parse_args()
    print("workers  shards  tasks end s  merged s  verdict s  ideal s  times as long")
    for workers in [1, 2, 8, 32, 100, 300, 1000]:
        count = min(asked.shards or workers * 8, asked.trials)
        tasks = schedule(asked, workers, count)
        merged = tasks + asked.trials * asked.merge_trial_s
        all_s = merged + asked.trials * asked.verdict_trial_s
        ideal = asked.trials * asked.trial_ms / 1000 / workers
        print(f"{workers:7}  {count:6}  {tasks:11.1f}  {merged:8.1f}  {all_s:9.1f}  {ideal:7.1f}  {all_s / ideal:13.2f}")


main()
