#!/usr/bin/env python3
"""Executes a notebook and holds its texts against those that are stored in it. `--write` stores them.

Usage: .ci/notebook.py [--write] NOTEBOOK
"""

import os
import sys

import nbformat
from nbclient import NotebookClient


def texts(notebook):
    """What each cell prints or shows as text. Pictures depend on fonts."""
    shown = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "image/png" not in data:
                shown.append(output.get("text") or data.get("text/plain"))
            else:
                shown.append("a picture")
    return shown


write = "--write" in sys.argv
path = sys.argv[-1]
notebook = nbformat.read(path, as_version=4)
stored = texts(notebook)
client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": os.path.dirname(path)}})
client.execute()
if write:
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(notebook, path)
else:
    assert "a picture" in stored, "the notebook draws nothing"
    assert texts(notebook) == stored, f"{path} says {texts(notebook)}, and stored is {stored}; `.ci/notebook.py --write`"
