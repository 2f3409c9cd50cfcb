"""Which layout to build."""

from __future__ import annotations

import json
import numbers
import operator
import os
import warnings
from types import SimpleNamespace
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _ileave
from ._ileave import InputError
from ._results import Path, _assignments, _experiment, _words


class Tuned:
    """What to build. `print(tuned)` shows what `ileave tune` shows."""

    def __init__(self, native: _ileave.Tuned) -> None:
        self._native = native
        self.data: Dict[str, Any] = json.loads(native.json())
        """All of it, as `ileave tune --json` prints it."""
        self.experiment = native.experiment()
        """Everything assumed, as an experiment for `run`: what `ileave tune --save` writes."""
        self.notes: List[str] = native.notes()
        """What was taken of the inventories of `from_`, what is in use and what was left out."""

    @property
    def verdict(self) -> str:
        """What to do, in a sentence."""
        return self.data["verdict"]

    @property
    def best(self) -> Dict[str, Any]:
        """What to build: factor and value."""
        return self.data["best"]

    @property
    def front(self) -> List[Dict[str, Any]]:
        """What no other layout beats in speed, room, survival, risk and rebuild time together."""
        return self.data["front"]

    @property
    def commands(self) -> List[Dict[str, Any]]:
        """How to build it, and how to check that."""
        return self.data["commands"]

    def html(self) -> str:
        """One self-contained page."""
        return self._native.html()

    def __str__(self) -> str:
        return self._native.text()


def tune(
    drives: Optional[str] = None,
    workload: Union[Path, None] = None,
    *,
    experiment: Union[Path, Mapping[str, Any], None] = None,
    set: Union[Mapping[str, Any], Iterable[str], None] = None,
    choose: Union[str, Sequence[str]] = (),
    results: Optional[Path] = None,
    from_: Union[Path, Sequence[Path]] = (),
    survive: Optional[int] = None,
    capacity: Optional[str] = None,
    spares: Optional[int] = None,
    replace_after: Optional[str] = None,
    budget: Optional[float] = None,
    price: Optional[float] = None,
    safe: bool = False,
    level: Union[str, Sequence[str]] = (),
    objective: Optional[str] = None,
    subject_to: Union[str, Sequence[str]] = (),
    seed: Optional[int] = None,
) -> Tuned:
    """Which layout to build of `drives` ("8x ST18000NM000J") for `workload` (a name, or the path of an experiment, a fio
    job or a block trace), or which of its own layouts an `experiment` (a path or a dict) should choose.

    The arguments are the flags of `ileave tune`: `experiment` is its FILE, `from_` is `--from`, and `set` takes what
    `run` takes. `spares=0` means none; without it, spares are tried where they lower the risk. The command alone has
    `--fs`, `--confirm` and `--on`, which need a real kernel, and `--time-limit` and `--what-if`. `--save` is
    `Tuned.experiment`, `--json` is `Tuned.data`, and `--html` is `Tuned.html()`.
    """
    of_drives = dict(
        drives=drives,
        from_=_paths(from_),
        workload=None if workload is None else os.fspath(workload),
        survive=_count("survive", survive),
        capacity=capacity,
        spares=_count("spares", spares),
        replace_after=replace_after,
        budget=_dollars("budget", budget),
        level=_words(level),
    )
    of_experiment = dict(
        choose=_words(choose),
        results=None if results is None else os.fspath(results),
    )
    _check(of_drives, of_experiment, experiment is not None)
    path, text = (None, None) if experiment is None else _experiment(experiment)
    wanted = SimpleNamespace(
        path=path,
        json=text,
        assignments=_assignments(set),
        price=_dollars("price", price),
        safe=safe,
        objective=objective,
        subject_to=_words(subject_to),
        seed=_count("seed", seed),
        **of_drives,
        **of_experiment,
    )
    native = _ileave.tune(wanted)
    for warning in native.warnings():
        warnings.warn(warning, stacklevel=2)
    return Tuned(native)


def _check(of_drives: Dict[str, Any], of_experiment: Dict[str, Any], has_experiment: bool) -> None:
    """Says which arguments do not go together."""

    def given(arguments: Dict[str, Any]) -> str:
        return ", ".join(name for name, value in arguments.items() if value not in (None, []))

    if has_experiment:
        if given(of_drives):
            raise InputError(f"{given(of_drives)}: an experiment has its own drives and work; leave it out, or `experiment`")
        return
    if given(of_experiment):
        raise InputError(f"{given(of_experiment)}: give the `experiment` that it belongs to")
    if not of_drives["drives"] and not of_drives["from_"]:
        raise InputError("give `drives`, `from_` or `experiment`")
    if not of_drives["workload"]:
        raise InputError("give `workload`: a name, as in \"postgres\", or the path of a file")


def _paths(given: Union[Path, Sequence[Path]]) -> List[str]:
    return [os.fspath(path) for path in ([given] if isinstance(given, (str, os.PathLike)) else given)]


def _count(name: str, value: Any) -> Optional[int]:
    if value is None:
        return None
    try:
        count = operator.index(value)
    except TypeError:
        count = -1
    if isinstance(value, bool) or not 0 <= count < 1 << 63:
        raise InputError(f"{name}={value!r}: give a whole number, 0 or more")
    return count


def _dollars(name: str, value: Any) -> Optional[float]:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < value < 1e9:
        raise InputError(f"{name}={value!r}: give an amount in US$ above 0, as in 3000")
    return float(value)
