"""How should these disks be laid out for this work, and why?

    trials = ileave.run("experiments/fair-2006.toml")   # a pandas.DataFrame, one row a trial
    trials.attrs["answer"]
    print(ileave.tune("4x 980 pro 1tb", "postgres"))    # what to build

Everything here is simulated. The command `ileave` of the same package runs experiments on real disks and in real kernels
as well; `ileave.report` reads the results of both.
"""

from ._ileave import Failure, InputError, __version__
from ._catalogue import Drive, Figure, drive, drives
from ._map import Map, map
from ._results import Report, report, run
from ._tune import Tuned, tune

__all__ = [
    "Drive",
    "Failure",
    "Figure",
    "InputError",
    "Map",
    "Report",
    "Tuned",
    "__version__",
    "drive",
    "drives",
    "map",
    "report",
    "run",
    "tune",
]
