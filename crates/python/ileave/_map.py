"""Where the sectors of a volume go."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _ileave

Size = Union[int, str]
"""A number of 512-byte sectors, or a size with its unit, as in "64KiB"."""


class Map:
    """A level laid out over members."""

    def __init__(
        self,
        level: str,
        interleave: Optional[Size] = None,
        *,
        members: Union[int, str, Sequence[Size]],
        member_size: Optional[Size] = None,
        reserved: Optional[Size] = None,
    ) -> None:
        if not isinstance(members, (int, str)):
            members = ",".join(str(size) for size in members)
        self._map = _ileave.Map(
            level, _text(interleave), str(members), _text(member_size), _text(reserved)
        )
        self.shape: Dict[str, Any] = json.loads(self._map.shape())
        """Level, sectors, members, and a picture of the first rows."""

    @property
    def sectors(self) -> int:
        """Sectors of the volume."""
        return self.shape["sectors"]

    def where(self, asked: Union[int, str]) -> List[Dict[str, Any]]:
        """Where a sector (`7`), the sectors of a range (`"0-127"`) or a request (`"100+64"`) go: of each, `places`
        has a member and its sector, and one of these more for every copy."""
        return json.loads(self._map.answer(str(asked)))

    def __str__(self) -> str:
        return "\n".join(self.shape["picture"])


def map(
    level: str,
    interleave: Optional[Size] = None,
    *,
    members: Union[int, str, Sequence[Size]],
    member_size: Optional[Size] = None,
    reserved: Optional[Size] = None,
) -> Map:
    """Lays `level` out over `members`: their number, or their sizes."""
    return Map(level, interleave, members=members, member_size=member_size, reserved=reserved)


def _text(size: Optional[Size]) -> Optional[str]:
    return None if size is None else str(size)
