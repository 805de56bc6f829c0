"""Counts everything that ends, calls the application's functions, and logs if it has none: at
once, then once a minute, and on recovery. No visitor may be let in silently.

At most two lines a minute and kind are logged; while requests continue, each failure is in some line.
"""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import dataclass
from typing import Callable, Dict, List, Literal, NamedTuple, Optional

from ._results import REASONS, Failure

_log = logging.getLogger("iprisk")
_EVERY_SECONDS = 60.0

FailureHook = Optional[Callable[[Failure], object]]
_Kind = Literal["misconfigured", "outage", "limited", "report"]


class _Words(NamedTuple):
    says: str
    #: Seconds without a failure after which an answer ends the episode. While visitors spend a
    #: rate, answers and refusals alternate; a mistake concerns only some requests.
    over: float


_WORDS: Dict[_Kind, _Words] = {
    "misconfigured": _Words("is misconfigured", float("inf")),
    "outage": _Words("is unavailable", 0.0),
    "limited": _Words("is refusing requests over the key's rate or quota", 10.0),
    "report": _Words("does not accept reports", 0.0),
}


@dataclass
class _Episode:
    since: float
    last: float
    count: int = 0
    is_told: bool = False


class FailureLog:
    def __init__(
        self, on_misconfigured: FailureHook, on_unavailable: FailureHook, now: Callable[[], float]
    ) -> None:
        self._on_misconfigured, self._on_unavailable = on_misconfigured, on_unavailable
        self._now = now
        self._lock = threading.Lock()
        self._episodes: Dict[_Kind, _Episode] = {}
        self._told_at: Dict[_Kind, float] = {}
        names = ("checked", "cached", "retried", "opened", *REASONS, "reported", "lost")
        self._counts = dict.fromkeys(names, 0)

    def count(self, name: str, times: int = 1) -> None:
        with self._lock:
            self._counts[name] += times

    def counts(self) -> Dict[str, int]:
        with self._lock:
            return dict(self._counts)

    def fail(self, failure: Failure, times: int = 1) -> None:
        """``times`` checks ended without an answer, for one reason."""
        self.count(failure.reason, times)
        if failure.reason == "invalid_address":
            return
        kind: _Kind = "outage"
        if failure.reason == "misconfigured" or failure.reason == "limited":
            kind = failure.reason
        self._tell(kind, failure, times)

    def lose(self, failure: Failure, times: int) -> None:
        """Counts lost outcomes; none if they are sent again."""
        self.count("lost", times)
        self._tell("report", failure, times)

    def answered(self, kind: _Kind = "outage") -> None:
        """The server answered a check or, with ``report``, took a report."""
        if not self._episodes:
            return
        lines: List[str] = []
        with self._lock:
            for one, episode in list(self._episodes.items()):
                if (one == "report") != (kind == "report"):
                    continue
                if self._now() - episode.last < _WORDS[one].over:
                    continue
                if not episode.is_told:
                    if self._is_quiet(one):
                        continue
                    self._told_at[one] = self._now()
                del self._episodes[one]
                lines.append(f"answers again; {_lost(one, episode)}")
        for line in lines:
            _log.warning("iprisk %s", line)

    def _tell(self, kind: _Kind, failure: Failure, times: int) -> None:
        is_mistake = failure.reason == "misconfigured"
        hook = self._on_misconfigured if is_mistake else self._on_unavailable
        if hook is not None:
            try:
                hook(failure)
            except Exception:  # It must not become the login's problem.
                _log.exception("iprisk: a function for failures raised")
            return
        with self._lock:
            now = self._now()
            episode = self._episodes.setdefault(kind, _Episode(now, now))
            episode.last = now
            episode.count += times
            if self._is_quiet(kind):
                return
            self._told_at[kind] = now
            episode.is_told = True
            lost = _lost(kind, episode)
        # Quoted as JSON: what a proxy in between wrote must not look like another line.
        why = json.dumps(f"{failure.code or ''} {failure.message}".strip())
        _log.error("iprisk %s; %s: %s", _WORDS[kind].says, lost, why)

    def _is_quiet(self, kind: _Kind) -> bool:
        return self._now() - self._told_at.get(kind, float("-inf")) < _EVERY_SECONDS


def _lost(kind: _Kind, episode: _Episode) -> str:
    """``12 requests were not checked in 60 s``."""
    noun, done = ("outcome", "lost") if kind == "report" else ("request", "not checked")
    verb = " was" if episode.count == 1 else "s were"
    seconds = round(episode.last - episode.since)
    time = f" in {seconds} s" if seconds else ""
    return f"{episode.count} {noun}{verb} {done}{time}"
