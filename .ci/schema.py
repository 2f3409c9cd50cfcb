#!/usr/bin/env python3
"""Holds the schema of `ileave keys --schema` to the experiments: those that are shipped are valid, wrong ones are not.

Usage: .ci/schema.py ILEAVE [EXPERIMENT…]
"""

import json
import subprocess
import sys
import tomllib

from jsonschema import Draft7Validator

WRONG = {
    "a key that is none": "[volume]\ninterleeve = 3\n[workload.a]\n",
    "a key of another kind": '[workload.a]\nkind = "random"\ngap = 8\n',
    "a key of another kind than the default": "[workload.a]\ngap = 8\n",
    "a kind that is none": '[workload.a]\nkind = "randm"\n',
    "a list where one value is taken": "[run]\nseed = [1, 2]\n[workload.a]\n",
    "a number out of range": "[run]\nrepeats = 0\n[workload.a]\n",
    "a number for a text": "[volume]\ndrives = 3\n[workload.a]\n",
    "no workload": "[run]\nrepeats = 1\n",
    "a key of a workload's own volume that is none": "[workload.a.volume]\nlevle = 'raid5'\n",
}


def main(ileave, *experiments):
    schema = json.loads(subprocess.check_output([ileave, "keys", "--schema"]))
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    for path in experiments:
        with open(path, "rb") as file:
            errors = [error.message for error in validator.iter_errors(tomllib.load(file))]
        assert not errors, f"{path}: {errors}"
    for what, text in WRONG.items():
        assert not validator.is_valid(tomllib.loads(text)), f"{what} is valid: {text}"


main(*sys.argv[1:])
