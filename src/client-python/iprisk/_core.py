"""What both clients share, without I/O. Safe for several threads."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Callable, List, Optional, Sequence, Union

from ._address.text import parse_address
from ._cache import AnswerCache
from ._circuit import Circuit
from ._failure_log import FailureLog
from ._reply import NO_ANSWER, Meaning, NoReply, Reply, meaning_of, mistake_in
from ._results import Checked, CheckResult, Failure, Json, Unchecked
from ._settings import Settings

_CHECK_PATH = "/v1/intelligence/ip-risk/check"
BATCH_ADDRESSES_MAX = 10_000
#: Many times the longest answer to a check, and several times that to a full batch.
CHECK_BYTES_MAX = 1024 * 1024
_BATCH_BYTES_MAX = 64 * 1024 * 1024


@dataclass(frozen=True)
class Request:
    path: str
    body: bytes
    bytes_max: int
    #: Of batches and reports, which have a circuit of their own: a full pool may refuse them alone.
    is_heavy: bool


@dataclass(frozen=True)
class CheckTerms:
    """What is asked of one address."""

    ip: str
    policy: Optional[str] = None
    #: What is wrong, if the application's setup hides the visitor's address.
    no_address: Optional[str] = None
    #: The fallback of ``limited`` unless the client's options set one.
    when_limited: str = "allow"
    previous: Optional[Json] = None
    agent: Optional[Json] = None


_NOT_AN_ADDRESS = Failure(
    "invalid_address", "The value to check is not an IP address; nothing was sent."
)
_WRONG_POLICY = Failure("misconfigured", "policy must be a string; nothing was sent.")
_NO_DECISION = Failure(
    "misconfigured",
    "A policy was named, but the answer has no decision: the server has no policies.",
)
_CIRCUIT_OPEN = Meaning(
    failure=Failure("unavailable", "The server failed recently, so this request was not sent."),
    server="unknown",
)


class Core:
    def __init__(self, settings: Settings, now: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self.log = FailureLog(settings.on_misconfigured, settings.on_unavailable, now)
        self._cache = AnswerCache(settings.cache_max, settings.cache_seconds, now)
        self._light, self._heavy = (
            Circuit(settings.circuit_failures, settings.circuit_seconds, now) for _ in range(2)
        )

    # One request: admitted by its circuit, sent by the caller, and what its reply means.

    def admit(self, request: Request) -> Optional[object]:
        return self._circuit(request).admit()

    def meaning(self, request: Request, admission: object, reply: Union[Reply, NoReply]) -> Meaning:
        meaning = meaning_of(reply)
        if self._circuit(request).end(admission, meaning.server):
            self.log.count("opened")
        return meaning

    def refused(self) -> Meaning:
        """For a request that was not admitted."""
        return _CIRCUIT_OPEN

    def withdraw(self, request: Request, admission: object) -> None:
        """The caller no longer waits: that says nothing about the server."""
        self._circuit(request).end(admission, "unknown")

    def _circuit(self, request: Request) -> Circuit:
        return self._heavy if request.is_heavy else self._light

    # A check.

    def begin(self, terms: CheckTerms) -> Union[CheckResult, Request]:
        """A result where no request is needed."""
        ip, policy = terms.ip, terms.policy
        if parse_address(ip) is None:
            if terms.no_address is None:
                return self.unchecked(_NOT_AN_ADDRESS)
            return self.unchecked(Failure("misconfigured", terms.no_address))
        if policy is not None and not isinstance(policy, str):
            return self.unchecked(_WRONG_POLICY)
        context = _context(terms)
        known = None if context else self._cache.find(ip, policy or "")
        if known is not None:
            self.log.count("cached")
            return self._checked(known)
        query = "?include=prefix" if self._cache.is_on else ""
        body = _body(policy, ip=ip, **context)
        return Request(_CHECK_PATH + query, body, CHECK_BYTES_MAX, False)

    def finish(self, terms: CheckTerms, meaning: Meaning) -> CheckResult:
        failure, answer = meaning.failure, meaning.body
        if failure is None:
            failure = self._mistake_in(answer, terms.ip, terms.policy)
        if failure is not None or answer is None:
            return self.unchecked(failure or NO_ANSWER, terms)
        self.log.answered()
        if terms.previous is None and terms.agent is None:
            self._cache.keep(terms.ip, terms.policy or "", answer, meaning.chars)
        return self._checked(answer)

    def _mistake_in(self, answer: object, ip: str, policy: Optional[str]) -> Optional[Failure]:
        mistake = mistake_in(answer, ip, policy)
        if mistake is None and policy is not None and isinstance(answer, dict):
            return None if "decision" in answer else _NO_DECISION
        return mistake

    def _checked(self, answer: Json) -> Checked:
        self.log.count("checked")
        return Checked(answer, answer.get("decision"))

    def unchecked(
        self, failure: Failure, terms: Optional[CheckTerms] = None, *, times: int = 1
    ) -> Unchecked:
        """Counted and reported: ``times`` checks have this one result."""
        self.log.fail(failure, times)
        otherwise = "allow" if terms is None else terms.when_limited
        fallback = self._settings.fallback.get(failure.reason, otherwise)
        return Unchecked(failure.reason, fallback)

    # A batch: each address has a result of its own, in order, as if it had been checked alone.

    def batch_request(self, ips: Sequence[str], policy: Optional[str]) -> Request:
        bytes_max = min(_BATCH_BYTES_MAX, len(ips) * CHECK_BYTES_MAX)
        body = _body(policy, ips=ips)
        return Request(_CHECK_PATH + "/batch", body, bytes_max, True)

    def finish_batch(
        self, ips: Sequence[str], policy: Optional[str], meaning: Meaning
    ) -> List[CheckResult]:
        if meaning.failure is not None:
            return [self.unchecked(meaning.failure, times=len(ips))] * len(ips)
        rows = (meaning.body or {}).get("results")
        each = rows if isinstance(rows, list) else []
        answers = [each[at] if at < len(each) else None for at in range(len(ips))]
        mistakes = [self._mistake_in(row, ip, policy) for row, ip in zip(answers, ips)]
        if None in mistakes:
            self.log.answered()
        # What fails for many addresses is reported once.
        failed = {
            mistake: self.unchecked(mistake, times=mistakes.count(mistake))
            for mistake in set(mistakes)
            if mistake is not None
        }
        return [
            self._checked(answer) if mistake is None else failed[mistake]
            for answer, mistake in zip(answers, mistakes)
        ]

    def not_addresses(self, times: int) -> Unchecked:
        return self.unchecked(_NOT_AN_ADDRESS, times=times)

    def report_request(self, outcomes: Sequence[Json]) -> Request:
        path = _CHECK_PATH.replace("/check", "/feedback")
        return Request(path, _body(None, outcomes=outcomes), CHECK_BYTES_MAX, True)


def unexpected(error: BaseException) -> Failure:
    """Something that no part of the client expects."""
    return Failure("unavailable", str(error) or type(error).__name__)


def _context(terms: CheckTerms) -> Json:
    given = {"previous": (terms.previous, 1000), "agent": (terms.agent, 8192)}
    return {
        name: _plain(value, chars_max)
        for name, (value, chars_max) in given.items()
        if value is not None
    }


def _plain(value: object, chars_max: int) -> object:
    """As JSON has it; None, which the server reports, if that is nothing or too long."""
    try:
        text = json.dumps(value, allow_nan=False)
        return json.loads(text) if len(text) <= chars_max else None
    except Exception:
        return None


def _body(policy: Optional[str], **members: object) -> bytes:
    if policy is not None:
        members["policy"] = policy
    return json.dumps(members, separators=(",", ":")).encode()
