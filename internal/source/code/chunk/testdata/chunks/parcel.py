#!/usr/bin/env python3
"""Parcels.

def not_a_function(): pass
"""
from __future__ import annotations

import asyncio
import typing as t

MAX_WEIGHT: float = 31.5
RATES = {
    "letter": {"base": 1.2, "per_kg": 0.4},
    "parcel": {"base": 4.9, "per_kg": 0.8},
}
_cache, _misses = {}, 0

if t.TYPE_CHECKING:
    from .types import Address

try:
    import ujson as json
except ImportError:
    import json

    def fallback_dumps(value):
        return json.dumps(value, separators=(",", ":"))


class ParcelError(Exception): pass


@t.final
class Parcel(
    t.Generic[t.T],
):
    """A parcel. class Inner: nothing"""

    carrier = "post"
    limits: t.ClassVar[dict[str, int]] = {"a": 1}

    def __init__(self, weight: float, *, to: Address | None = None,
                 fragile=False):
        self.weight = weight
        self.query = f"SELECT '{weight}' FROM {'x' if fragile else 'y'}"

    @property
    def price(self) -> float:
        def rounded(x):
            return round(x, 2)
        return rounded(RATES["parcel"]["base"] + self.weight * 0.8)

    @price.setter
    def price(self, value): ...

    @staticmethod
    async def track(
        number: str,
        *,
        retries: int = 3,
    ) -> list[str]:
        pattern = r"\d+\"'"
        return [number, pattern]

    class Meta:
        ordering = ["weight"]


async def main(argv=None):
    text = '''
def also_not_a_function():
    pass
'''
    await asyncio.sleep(0)
    return text

handler = lambda event: event["x"]

if __name__ == "__main__":
    asyncio.run(main())
