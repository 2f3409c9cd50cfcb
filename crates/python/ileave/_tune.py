"""Which layout to build."""

from __future__ import annotations

import json
import warnings
from types import SimpleNamespace
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _ileave


class Tuned:
    """What to build. `print(tuned)` shows what `ileave tune` shows."""

    def __init__(self, data: Dict[str, Any], text: str, experiment: str) -> None:
        self.data = data
        """All of it, as `ileave tune --json` prints it."""
        self.experiment = experiment
        """Everything assumed, as an experiment for `run`."""
        self._text = text

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

    def __str__(self) -> str:
        return self._text


def tune(
    drives: str,
    workload: str,
    *,
    survive: Optional[int] = None,
    capacity: Optional[str] = None,
    spares: int = 0,
    budget: Optional[float] = None,
    price: Optional[float] = None,
    safe: bool = False,
    level: Union[str, Sequence[str]] = (),
    objective: Optional[str] = None,
    subject_to: Union[str, Sequence[str]] = (),
    seed: int = 1,
) -> Tuned:
    """Which layout to build of `drives` ("8x ST18000NM000J") for `workload` (a name, or the path of an experiment or of a
    fio job). The other arguments are the flags of `ileave tune`."""
    wanted = SimpleNamespace(
        drives=drives,
        workload=workload,
        survive=survive,
        capacity=capacity,
        spares=spares,
        budget=budget,
        price=price,
        safe=safe,
        level=[level] if isinstance(level, str) else list(level),
        objective=objective,
        subject_to=[subject_to] if isinstance(subject_to, str) else list(subject_to),
        seed=seed,
    )
    data, text, experiment, said = _ileave.tune(wanted)
    for warning in said:
        warnings.warn(warning, stacklevel=2)
    return Tuned(json.loads(data), text, experiment)
