"""Clients without a server, for an application's tests: chosen answers, decisions and failures.

    client = FakeClient({"203.0.113.7": "block", "203.0.113.8": "timeout"})

Like the real ones they check the address, apply the fallback, and count. They send nothing.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

from ._address.text import parse_address
from ._failure_log import FailureHook, FailureLog
from ._results import REASONS, Checked, CheckResult, Failure, Json, Unchecked, fallback_for


class _Fake:
    def __init__(
        self,
        answers: Optional[Mapping[str, Union[str, Json]]] = None,
        otherwise: Union[str, Json] = "allow",
        *,
        fallback: Union[str, Mapping[str, str], None] = None,
        on_misconfigured: FailureHook = None,
        on_unavailable: FailureHook = None,
    ) -> None:
        """By address: a decision's action, a reason why there is no answer, or members of the
        answer; ``otherwise`` is for all others."""
        self.asked: List[str] = []
        #: Address and outcome of each report.
        self.reported: List[Tuple[str, str]] = []
        self._answers, self._otherwise = dict(answers or {}), otherwise
        self._fallback = fallback_for(fallback)
        self._log = FailureLog(
            on_misconfigured or _ignore, on_unavailable or _ignore, lambda: 0.0
        )

    def report(
        self, ip: str, outcome: str, *, at: Optional[datetime] = None, note: str = ""
    ) -> bool:
        self.reported.append((ip, outcome))
        return True

    def counts(self) -> Dict[str, int]:
        return self._log.counts()

    def _result(
        self, ip: str, policy: Optional[str], no_address: Optional[str], when_limited: str
    ) -> CheckResult:
        self.asked.append(ip)
        given = self._answers.get(ip, self._otherwise)
        if parse_address(ip) is None:
            given = "invalid_address" if no_address is None else "misconfigured"
        if isinstance(given, str) and given in REASONS:
            reason = REASONS[given]
            self._log.fail(Failure(reason, no_address or "Set by the test."))
            return Unchecked(reason, self._fallback.get(reason, when_limited))
        self._log.count("checked")
        answer: Dict[str, Any] = {
            "ip": ip,
            "classification": "clean",
            "risk_level": "low",
            "risk_score": 0,
            "reasons": [],
            "table": "fake",
        }
        if isinstance(given, str):
            answer["decision"] = {"action": given, "rule": "fake", "policy": policy or "default"}
        else:
            answer.update(given)
        return Checked(answer, answer.get("decision"))


class FakeClient(_Fake):
    """In place of a ``Client``."""

    def check(
        self,
        ip: str,
        *,
        policy: Optional[str] = None,
        no_address: Optional[str] = None,
        when_limited: str = "allow",
        previous: Optional[Json] = None,
        agent: Optional[Json] = None,
    ) -> CheckResult:
        return self._result(ip, policy, no_address, when_limited)

    def check_batch(
        self, ips: Iterable[str], *, policy: Optional[str] = None
    ) -> List[CheckResult]:
        return [self.check(ip, policy=policy) for ip in ips]

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> "FakeClient":
        return self

    def __exit__(self, *_error: object) -> None:
        """Nothing is open."""


class AsyncFakeClient(_Fake):
    """In place of an ``AsyncClient``."""

    async def check(
        self,
        ip: str,
        *,
        policy: Optional[str] = None,
        no_address: Optional[str] = None,
        when_limited: str = "allow",
        previous: Optional[Json] = None,
        agent: Optional[Json] = None,
    ) -> CheckResult:
        return self._result(ip, policy, no_address, when_limited)

    async def check_batch(
        self, ips: Iterable[str], *, policy: Optional[str] = None
    ) -> List[CheckResult]:
        return [await self.check(ip, policy=policy) for ip in ips]

    async def close(self) -> None:
        """Nothing is open."""

    async def __aenter__(self) -> "AsyncFakeClient":
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Nothing is open."""


def _ignore(_failure: Failure) -> None:
    pass
