"""What a check comes to: an answer, or why there is none and what the application does instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Literal, Mapping, Optional, Union

Json = Mapping[str, Any]

#: ``timeout``: no answer in time. ``unavailable``: none to be had now. ``limited``: the key's rate
#: or quota is spent. ``misconfigured``: the server refuses what this application sends, and waiting
#: does not help. ``invalid_address``: not an address; nothing was sent.
Reason = Literal["timeout", "unavailable", "limited", "misconfigured", "invalid_address"]
REASONS: Mapping[str, Reason] = {
    "timeout": "timeout",
    "unavailable": "unavailable",
    "limited": "limited",
    "misconfigured": "misconfigured",
    "invalid_address": "invalid_address",
}

#: iprisk must not be why a login fails. But text that is not an address comes from someone who is
#: not trusted, and must not be a way around the check.
DEFAULT_FALLBACK: Mapping[str, str] = {
    "timeout": "allow",
    "unavailable": "allow",
    "misconfigured": "allow",
    "invalid_address": "challenge",
}


@dataclass(frozen=True)
class Failure:
    """Why there is no answer, for people and logs."""

    reason: Reason
    message: str
    #: The server's status, and its API's stable code, where it answered.
    status: Optional[int] = None
    code: Optional[str] = None
    request_id: Optional[str] = None


@dataclass(frozen=True)
class Checked:
    """``answer`` is the server's; ``decision`` is None where it has no policies."""

    answer: Json
    decision: Optional[Json]
    ok: Literal[True] = True
    reason: None = None
    fallback: None = None

    @property
    def action(self) -> Optional[str]:
        """None without a decision: a score is not a decision."""
        return None if self.decision is None else str(self.decision["action"])


@dataclass(frozen=True)
class Unchecked:
    """``fallback`` is what the application does in place of a decision, by its own options."""

    reason: Reason
    fallback: str
    ok: Literal[False] = False
    answer: None = None
    decision: None = None

    @property
    def action(self) -> str:
        return self.fallback


CheckResult = Union[Checked, Unchecked]


def action_in(decision: object) -> Optional[str]:
    """A decision's action; None where there is none, which must not count as ``allow``."""
    action = decision.get("action") if isinstance(decision, dict) else None
    return action if isinstance(action, str) and action else None


def fallback_for(given: Union[str, Mapping[str, str], None]) -> Dict[str, str]:
    """Raises ValueError for a reason or an action that does not exist. ``limited`` has an action
    only where one is given."""
    chosen = dict.fromkeys(REASONS, given) if isinstance(given, str) else dict(given or {})
    for reason, action in chosen.items():
        if reason not in REASONS or not isinstance(action, str) or not action:
            raise ValueError(f"fallback must be an action, or actions for {', '.join(REASONS)}")
    return {**DEFAULT_FALLBACK, **chosen}
