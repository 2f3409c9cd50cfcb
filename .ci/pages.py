#!/usr/bin/env python3
"""Runs what stands on pages of docs/, in order, a page in a directory of its own: commands of `console` blocks, `python`
blocks, and `sql` blocks by DuckDB. A block that fails ends it.

Usage: .ci/pages.py PAGE…
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile

import duckdb

ROOT = os.getcwd()
BLOCK = re.compile(r"^```(console|python|sql)\n(.*?)^```$", re.M | re.S)


def run(kind, text, names):
    if kind == "python":
        exec(compile(text, "block", "exec"), names)
    elif kind == "sql":
        print(duckdb.sql(text))
    else:
        for line in re.findall(r"^\$ (.*)$", text, re.M):
            subprocess.run(line, shell=True, check=True, stdout=subprocess.DEVNULL)


for page in sys.argv[1:]:
    with open(page) as file:
        blocks = BLOCK.findall(file.read())
    assert blocks, f"{page} has no block"
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        # The experiments that a page names are those that are shipped.
        os.symlink(os.path.join(ROOT, "experiments"), "experiments")
        names = {}
        for kind, text in blocks:
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    run(kind, text, names)
            except Exception:
                print(f"{page}: this block fails:\n{text}", file=sys.stderr)
                raise
        os.chdir(ROOT)
