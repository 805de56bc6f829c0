"""What a reply means. Its status says it; a body is believed where it has the API's form and
ignored elsewhere, because a proxy in between may have written it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Dict, Literal, Optional, Tuple

from ._address.text import parse_address
from ._results import Failure, Json, Reason, action_in

#: ``silent`` opens the circuit; ``unknown`` says nothing of the server.
ServerState = Literal["alive", "silent", "unknown"]

#: Longer than any of the API's: what a proxy in between wrote must not fill the log.
_MESSAGE_CHARS_MAX = 1000
_CODE_CHARS_MAX = 64


@dataclass(frozen=True)
class Reply:
    status: int
    text: str
    request_id: Optional[str] = None


@dataclass(frozen=True)
class NoReply:
    reason: Reason
    message: str


@dataclass(frozen=True)
class Meaning:
    """``body``, or else ``failure``."""

    body: Optional[Json] = None
    failure: Optional[Failure] = None
    server: ServerState = "alive"
    #: Length of the reply's text.
    chars: int = 0
    #: The member of the request that the API refuses.
    param: Optional[str] = None


def meaning_of(reply: "Reply | NoReply") -> Meaning:
    if isinstance(reply, NoReply):
        return Meaning(failure=Failure(reply.reason, reply.message), server="silent")
    body = _object_in(reply.text)
    if 200 <= reply.status < 300 and body is not None:
        return Meaning(body, chars=len(reply.text))
    error = body.get("error") if body is not None else None
    said: Dict[str, Any] = error if isinstance(error, dict) else {}
    code, message, param = said.get("code"), said.get("message"), said.get("param")
    reason, server = _reason_of(reply.status)
    failure = Failure(
        reason,
        message[:_MESSAGE_CHARS_MAX]
        if isinstance(message, str)
        else f"The server answered with status {reply.status}.",
        reply.status,
        code[:_CODE_CHARS_MAX] if isinstance(code, str) else None,
        reply.request_id,
    )
    return Meaning(
        failure=failure, server=server, param=param if isinstance(param, str) else None
    )


def _reason_of(status: int) -> Tuple[Reason, ServerState]:
    if status == 429:
        return "limited", "alive"
    # A proxy in between has waited in vain.
    if status in (408, 425):
        return "unavailable", "silent"
    # 401 and 403: the key. 404, 405, a redirection: the server's address. Others: our bytes.
    if 300 <= status < 500:
        return "misconfigured", "alive"
    return "unavailable", "silent"


def _object_in(text: str) -> Optional[Dict[str, Any]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


NO_ANSWER = Failure("unavailable", "The reply does not come from the API: its format is different.")
_OTHER_ANSWER = Failure(
    "unavailable",
    "The answer is for a different address or policy; check the proxies in between.",
)


def mistake_in(body: object, ip: str, policy: Optional[str]) -> Optional[Failure]:
    """Why a body is not an answer to the request: it lacks a member, or answers something else."""
    if not isinstance(body, dict):
        return NO_ANSWER
    score, decision = body.get("risk_score"), body.get("decision")
    is_answer = (
        isinstance(body.get("classification"), str)
        and isinstance(score, (int, float))
        and not isinstance(score, bool)
        and 0 <= score <= 100
        and isinstance(body.get("table"), str)
        and ("decision" not in body or action_in(decision) is not None)
    )
    if not is_answer:
        return NO_ANSWER
    if policy and isinstance(decision, dict) and decision.get("policy") != policy:
        return _OTHER_ANSWER
    return None if parse_address(body.get("ip")) == parse_address(ip) else _OTHER_ANSWER
