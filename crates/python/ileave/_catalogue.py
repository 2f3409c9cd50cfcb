"""Drives, each figure with its source."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from . import _ileave


@dataclass(frozen=True)
class Figure:
    """A figure of a drive: what it is, how it came about, and where from."""

    key: str
    value: Any
    unit: str
    meaning: str
    kind: str
    source: str
    note: Optional[str] = None
    fitted_to: List[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Drive:
    """A drive of the catalogue, or of a catalogue file."""

    name: str
    title: str
    also: List[str]
    note: Optional[str]
    digest: str
    figures: Dict[str, Figure]
    """What its file states, by key."""
    derived: Dict[str, float]
    """What follows from that, by key."""

    def __str__(self) -> str:
        lines = [f"{self.title} ({self.name})"]
        for figure in self.figures.values():
            lines.append(f"  {figure.key} = {figure.value} {figure.unit}".rstrip() + f"  ({figure.kind})")
        return "\n".join(lines)


def drive(name: str) -> Drive:
    """The drive of this name; a model number or the path of a catalogue file will do."""
    said = json.loads(_ileave.drive(name))
    figures = {row["key"]: Figure(**row) for row in said["figures"]}
    derived = {row["key"]: row["value"] for row in said["derived"]}
    return Drive(
        name=said["name"],
        title=said["title"],
        also=said["also"],
        note=said.get("note"),
        digest=said["digest"],
        figures=figures,
        derived=derived,
    )


def drives() -> List[str]:
    """The names of all drives of the catalogue."""
    return _ileave.drives()
