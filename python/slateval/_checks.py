"""Checks of what numbers rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Check(dict[str, Any]):
    """One check of what a policy's numbers rest on, as a dict: `name`, `status` (ok, warn, fail), `value`, `message`.

    Parameters
    ----------
    facts : mapping
        The check as the JSON has it.
    policy : str
        The policy that was checked.
    segment : optional
        The value of the segment, for a check in one segment.

    Examples
    --------
    >>> Check({"name": "support", "status": "ok", "value": None, "message": "fine"}, "new")
    ok    support: fine
    """

    def __init__(self, facts: Mapping[str, Any], policy: str, segment: Any = None) -> None:
        super().__init__(facts)
        self.policy = policy
        self.segment = segment

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Check, (dict(self), self.policy, self.segment)

    def __repr__(self) -> str:
        return f"{self['status']:<5} {self['name']}: {self['message']}"
